//! Which model: `demo`, a script, or one of a provider (spec 12 §2).

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use dsh_llm::Model;
use dsh_llm_openai::{OpenAiConfig, Provider, SetupError};
use dsh_llm_script::{DemoModel, ScriptedModel};
use serde::Deserialize;

use crate::Environment;

/// A model by its name on the command line or in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ModelChoice {
    /// The embedded demonstration: a real piece of work on the workspace, without network and key.
    Demo,
    /// Answers from a file.
    Script(PathBuf),
    /// A model of a provider on the network; its usual one, where none is named.
    Of(Provider, Option<Arc<str>>),
}

/// The table `[model]` of the configuration: a choice, and the settings of each provider.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelConfig {
    #[serde(rename = "use")]
    pub(crate) choice: Option<ModelChoice>,
    deepseek: OpenAiConfig,
    openai: OpenAiConfig,
}

/// Why a model can't be had.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A name that nobody knows.
    #[error("unknown model `{0}`; there are `deepseek[:NAME]`, `openai[:NAME]`, `script:FILE` and `demo`")]
    Unknown(String),
    /// A model of a provider can't be set up.
    #[error("{source} ({})", source.code())]
    Provider {
        /// What is missing.
        #[from]
        source: SetupError,
    },
    /// The script can't be read.
    #[error("failed to read the script {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The script is no script.
    #[error("{}: {source}", file.display())]
    Script {
        /// The file.
        file: PathBuf,
        /// Where and what.
        source: dsh_llm_script::ScriptError,
    },
}

impl TryFrom<String> for ModelChoice {
    type Error = ModelError;

    fn try_from(text: String) -> Result<Self, ModelError> {
        text.parse()
    }
}

impl FromStr for ModelChoice {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let (kind, name) = text.split_once(':').map_or((text, None), |(kind, name)| (kind, Some(name)));
        match (kind, name) {
            ("demo", None) => Some(Self::Demo),
            ("script", Some(file)) if !file.is_empty() => Some(Self::Script(file.into())),
            (kind, None) => Provider::named(kind).map(|provider| Self::Of(provider, None)),
            (kind, Some(name)) if !name.is_empty() => {
                Provider::named(kind).map(|provider| Self::Of(provider, Some(name.into())))
            }
            (_, Some(_)) => None,
        }
        .ok_or_else(|| ModelError::Unknown(text.to_owned()))
    }
}

impl ModelChoice {
    /// The same with a relative file placed at `base`.
    #[must_use]
    pub fn based(self, environment: &Environment, base: &Path) -> Self {
        match self {
            Self::Demo | Self::Of(..) => self,
            Self::Script(file) => Self::Script(environment.expand(&file, base)),
        }
    }

    pub(crate) fn load(
        self,
        environment: &Environment,
        config: ModelConfig,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let file = match self {
            Self::Demo => return Ok(Arc::new(DemoModel)),
            Self::Of(provider, name) => {
                let Environment { providers, clock, .. } = environment;
                let config = match provider {
                    Provider::DeepSeek => config.deepseek,
                    Provider::OpenAi => config.openai,
                };
                return Ok(Arc::new(providers.model(provider, name.as_deref(), config, clock)?));
            }
            Self::Script(file) => file,
        };
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(source) => return Err(ModelError::Unreadable { file, source }),
        };
        let name =
            file.file_stem().map_or_else(|| "script".into(), |stem| stem.to_string_lossy().into_owned());
        match ScriptedModel::from_text(&text) {
            Ok(model) => Ok(Arc::new(model.named(&*name))),
            Err(source) => Err(ModelError::Script { file, source }),
        }
    }
}
