//! Models on the network: who has them, what opens the door, which way leads there.

use std::sync::Arc;

use dsh_lifecycle::Clock;
use dsh_llm_openai::{Access, ApiKey, OpenAi, OpenAiConfig, Provider, Proxy, SetupError};

/// What the environment says about models on the network.
#[derive(Debug, Clone)]
pub struct Providers {
    deepseek: Door,
    openai: Door,
    proxy: Proxy,
}

/// What the environment says about one provider.
#[derive(Debug, Clone)]
struct Door {
    /// What is no key is told when it is used.
    key: Result<Option<ApiKey>, SetupError>,
    base_url: Option<String>,
}

impl Providers {
    /// Reads the variables that are in use for this (spec 12 §2): `*_API_KEY`, `*_BASE_URL`, and `HTTP_PROXY`,
    /// `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, these in lower case, too.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|text| !text.trim().is_empty());
        let either = |name: &str| set(name).or_else(|| set(&name.to_lowercase()));
        let door = |provider: Provider| Door {
            key: ApiKey::new(&set(provider.key_variable()).unwrap_or_default()),
            base_url: set(provider.base_url_variable()),
        };
        let all = || either("ALL_PROXY");
        Self {
            deepseek: door(Provider::DeepSeek),
            openai: door(Provider::OpenAi),
            proxy: Proxy {
                http: either("HTTP_PROXY").or_else(all),
                https: either("HTTPS_PROXY").or_else(all),
                no_proxy: either("NO_PROXY"),
            },
        }
    }

    /// Nothing: no keys, no proxies.
    pub fn none() -> Self {
        Self::read(|_| None)
    }

    /// The first provider that there is a key for.
    pub(crate) fn with_key(&self) -> Option<Provider> {
        [Provider::DeepSeek, Provider::OpenAi]
            .into_iter()
            .find(|provider| !matches!(self.door(*provider).key, Ok(None)))
    }

    /// A model of a provider. Nothing is sent.
    pub(crate) fn model(
        &self,
        provider: Provider,
        name: Option<&str>,
        mut config: OpenAiConfig,
        clock: &Arc<dyn Clock>,
    ) -> Result<OpenAi, SetupError> {
        let door = self.door(provider);
        config.base_url = config.base_url.or_else(|| door.base_url.clone());
        let access = Access {
            key: door.key.clone()?,
            key_variable: provider.key_variable().into(),
            proxy: self.proxy.clone(),
            clock: Arc::clone(clock),
        };
        OpenAi::new(provider, name.unwrap_or(provider.default_model()), config, access)
    }

    fn door(&self, provider: Provider) -> &Door {
        match provider {
            Provider::DeepSeek => &self.deepseek,
            Provider::OpenAi => &self.openai,
        }
    }
}
