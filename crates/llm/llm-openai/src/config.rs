//! Settings: what a file may say, and what comes from the surroundings.

use std::fmt;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dsh_lifecycle::Clock;
use serde::Deserialize;

use crate::codes::{MODEL_CONFIG, MODEL_NO_KEY};
use crate::{ApiKey, MaxTokensField};

/// A provider of models, with what is particular to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// `deepseek`
    DeepSeek,
    /// `openai`, and any compatible server.
    OpenAi,
}

impl Provider {
    /// The provider of that name (spec 12 §2).
    pub fn named(name: &str) -> Option<Self> {
        [Self::DeepSeek, Self::OpenAi].into_iter().find(|provider| provider.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeepSeek => "deepseek",
            Self::OpenAi => "openai",
        }
    }

    /// The model that is used when none is named.
    pub fn default_model(self) -> &'static str {
        match self {
            Self::DeepSeek => "deepseek-chat",
            Self::OpenAi => "gpt-4.1",
        }
    }

    /// Where it answers.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::DeepSeek => "https://api.deepseek.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    /// The environment variable that usually holds the key.
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::DeepSeek => "DEEPSEEK_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    /// The environment variable that usually holds the base URL.
    pub fn base_url_variable(self) -> &'static str {
        match self {
            Self::DeepSeek => "DEEPSEEK_BASE_URL",
            Self::OpenAi => "OPENAI_BASE_URL",
        }
    }
}

/// The settings of a model behind this protocol.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OpenAiConfig {
    /// Where the server is, up to and without `/chat/completions`. Default: the provider's own.
    pub base_url: Option<String>,
    /// Whether the key may be sent without encryption to a server that is not this machine. Default `false`.
    pub allow_plain_http: bool,
    /// A PEM file of root certificates that are trusted beside the system's, such as a company's. Default: none.
    pub ca_file: Option<PathBuf>,
    /// How the ceiling for an answer is spelt. Default `max_tokens`; reasoning models of `OpenAI` want
    /// `max_completion_tokens`.
    pub max_tokens_field: MaxTokensField,
    /// Whether the model's reasoning is sent back to it in requests with tools. Default: for `deepseek`, whose thinking
    /// models refuse such requests without it, and for no one else.
    pub send_reasoning: Option<bool>,
    /// How long a connection may take to be made. Default 20 s.
    pub connect_timeout_ms: NonZeroU64,
    /// How long nothing may come: no answer to a request, no further byte of an answer. Default 5 min; models may think
    /// in silence.
    pub idle_timeout_ms: NonZeroU64,
    /// How long all of it may take, with all tries and waits between them. Default 1 h.
    pub total_timeout_ms: NonZeroU64,
    /// How long the end of a stream is waited for when the answer in it is complete, and how long the words of a refusal.
    /// Default 10 s.
    pub end_timeout_ms: NonZeroU64,
    /// Bytes of one answer, as they are transferred. Default 64 MiB.
    pub max_response_bytes: NonZeroU64,
    /// Bytes of one event of an answer. Default 8 MiB.
    pub max_event_bytes: NonZeroU64,
    /// How often a request is tried again, before the first byte of its answer and never after. Default 4.
    pub max_retries: u32,
    /// The wait before the first new try; each further one is twice as long. Default 500 ms.
    pub backoff_base_ms: u64,
    /// The longest such wait. Default 30 s.
    pub backoff_cap_ms: u64,
    /// The longest wait that a provider may ask for; when it asks for more, its refusal stands. Default 60 s.
    pub retry_after_cap_ms: u64,
}

impl Default for OpenAiConfig {
    fn default() -> Self {
        let number = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            base_url: None,
            allow_plain_http: false,
            ca_file: None,
            max_tokens_field: MaxTokensField::default(),
            send_reasoning: None,
            connect_timeout_ms: number(20_000),
            idle_timeout_ms: number(300_000),
            total_timeout_ms: number(3_600_000),
            end_timeout_ms: number(10_000),
            max_response_bytes: number(64 << 20),
            max_event_bytes: number(8 << 20),
            max_retries: 4,
            backoff_base_ms: 500,
            backoff_cap_ms: 30_000,
            retry_after_cap_ms: 60_000,
        }
    }
}

/// A time of the settings; a year is as good as for ever, and fits every clock.
pub(crate) fn duration(milliseconds: u64) -> Duration {
    const YEAR: u64 = 365 * 24 * 3_600 * 1_000;
    Duration::from_millis(milliseconds.min(YEAR))
}

/// What a model takes from its surroundings.
#[derive(Clone)]
pub struct Access {
    /// The key; a server on this machine may need none.
    pub key: Option<ApiKey>,
    /// The environment variable that should have held the key, for the error when it is missing.
    pub key_variable: Arc<str>,
    /// How the network is reached.
    pub proxy: Proxy,
    /// The time, for providers that say until when to wait.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, key_variable, proxy, clock: _ } = self;
        f.debug_struct("Access")
            .field("key", key)
            .field("key_variable", key_variable)
            .field("proxy", proxy)
            .finish_non_exhaustive()
    }
}

/// The proxies between here and the servers, as the usual environment variables say them. A server on this machine is
/// always reached directly.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxy {
    /// For `http` servers: a URL, or `host:port`; empty is none.
    pub http: Option<String>,
    /// For `https` servers, the same.
    pub https: Option<String>,
    /// Servers that are reached without: names, domains and networks, separated by commas; `*` is all.
    pub no_proxy: Option<String>,
}

impl fmt::Debug for Proxy {
    /// Without the addresses, which may hold passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("http", &self.http.is_some())
            .field("https", &self.https.is_some())
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

/// Why a model can't be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// No key for a server that needs one.
    #[error("no API key for {provider}: set {variable}, or choose another model")]
    NoKey {
        /// The provider.
        provider: Arc<str>,
        /// The environment variable to set.
        variable: Arc<str>,
    },
    /// The key can't be one. It is not shown.
    #[error("the API key has characters that no key has: give visible ASCII without spaces")]
    Key,
    /// The model has no name.
    #[error("the model's name is empty: name one, such as `{0}`")]
    Model(Arc<str>),
    /// The base URL is none, or of another kind.
    #[error("`baseUrl` can't be used: {0}")]
    BaseUrl(String),
    /// The key would be readable on the way.
    #[error(
        "the key would be sent to {host} without encryption: use an `https` base URL, or set `allowPlainHttp = true` \
         if you trust the network in between"
    )]
    PlainHttp {
        /// The server.
        host: String,
    },
    /// A proxy's address is none, or of another kind. It is not shown, since it may hold a password.
    #[error("the proxy for `{scheme}` can't be used: give `http://host:port` or `https://host:port`")]
    Proxy {
        /// The kind of servers that it is for.
        scheme: &'static str,
    },
    /// The file of root certificates can't be read, or holds none.
    #[error("`caFile` {path} can't be used: {problem}")]
    CaFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Encryption can't be set up, such as on a machine without root certificates.
    #[error(
        "TLS can't be set up: {0}; install the system's root certificates, or name a file of them in SSL_CERT_FILE"
    )]
    Tls(String),
}

impl SetupError {
    /// A stable code: `MODEL_NO_KEY` or `MODEL_CONFIG`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoKey { .. } => MODEL_NO_KEY,
            Self::Key
            | Self::Model(_)
            | Self::BaseUrl(_)
            | Self::PlainHttp { .. }
            | Self::Proxy { .. }
            | Self::CaFile { .. }
            | Self::Tls(_) => MODEL_CONFIG,
        }
    }
}
