//! The model.

use std::fmt;
use std::sync::Arc;

use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, Model, ModelRequest};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::SetupError;
use crate::answering::{Answering, Link};
use crate::client::client;
use crate::config::{Access, OpenAiConfig, Provider};
use crate::endpoint::{endpoint, is_loopback, origin};
use crate::failure::Blame;
use crate::request::{Dialect, request_body};
use crate::retry::Retry;

/// A model of a provider, or of a server that is compatible with it. Connections are kept between requests.
pub struct OpenAi {
    dialect: Dialect,
    link: Arc<Link>,
}

impl OpenAi {
    /// A model with this name at this provider. Nothing is sent.
    ///
    /// # Errors
    /// [`SetupError`] says what to change: no key for an `https` server (one without encryption, such as a server on this
    /// machine, may need none), a key that would be sent in the clear to another machine, an address that is none, no root
    /// certificates.
    pub fn new(
        provider: Provider,
        model: impl Into<Arc<str>>,
        config: OpenAiConfig,
        access: Access,
    ) -> Result<Self, SetupError> {
        let model = model.into();
        if model.is_empty() {
            return Err(SetupError::Model(provider.default_model().into()));
        }
        let url = endpoint(config.base_url.as_deref().unwrap_or(provider.default_base_url()))?;
        let Access { key, key_variable, proxy, clock } = access;
        let is_encrypted = url.scheme() == "https";
        if key.is_none() && is_encrypted {
            return Err(SetupError::NoKey { provider: provider.name().into(), variable: key_variable });
        }
        if key.is_some() && !is_encrypted && !is_loopback(&url) && !config.allow_plain_http {
            return Err(SetupError::PlainHttp { host: url.host_str().unwrap_or_default().to_owned() });
        }
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            headers.insert(AUTHORIZATION, key.header()?);
        }
        let dialect = Dialect {
            max_tokens_field: config.max_tokens_field,
            send_reasoning: config.send_reasoning.unwrap_or(provider == Provider::DeepSeek),
        };
        let link = Link {
            client: client(&url, &config, &proxy)?,
            blame: Blame { provider: provider.name(), server: origin(&url).into(), key, clock },
            url,
            headers,
            retry: Retry::of(&config),
            model,
            config,
        };
        Ok(Self { dialect, link: Arc::new(link) })
    }

    /// How the protocol is spoken: with this, [`request_body`] gives the bytes that are sent.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl Model for OpenAi {
    fn provider(&self) -> &str {
        self.link.blame.provider
    }

    fn model(&self) -> &str {
        &self.link.model
    }

    fn stream(&self, request: ModelRequest, cancel: Cancel) -> BoxStream<'static, Chunk> {
        let body = request_body(&request, &self.link.model, self.dialect);
        let answering = Answering::new(Arc::clone(&self.link), body, cancel);
        stream::unfold(answering, |mut answering| async move {
            let chunk = answering.next().await?;
            Some((chunk, answering))
        })
        .boxed()
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("provider", &self.link.blame.provider)
            .field("model", &self.link.model)
            .field("server", &self.link.blame.server)
            .finish_non_exhaustive()
    }
}
