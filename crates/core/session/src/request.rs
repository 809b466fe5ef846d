//! What was asked of the model: the request's header and route.

use std::sync::Arc;

use dsh_llm::{ShapeError, ToolSchema};
use serde::{Deserialize, Serialize};

use crate::payload::Payload;

/// `request/header`: what every following request starts with, until the next one (spec 03 §11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestHeader {
    /// The header.
    pub header: RequestForm,
    /// Why it is stored now.
    pub reason: HeaderReason,
}

/// Model, settings, system prompt and tools of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestForm {
    /// The model and its settings.
    pub config: RequestConfig,
    /// Which settings the adapter chose rather than the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter_defaults: Option<AdapterDefaults>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// The tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Arc<[ToolSchema]>>,
}

/// The model and its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestConfig {
    /// The provider; never empty.
    pub provider: Arc<str>,
    /// The model; never empty.
    pub model: Arc<str>,
    /// The ceiling for an answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How hard the model shall think; never empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Arc<str>>,
}

/// Which settings the adapter chose; a marker needs its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdapterDefaults {
    /// The ceiling.
    #[serde(default, skip_serializing_if = "is_false")]
    pub max_tokens: bool,
    /// The effort.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reasoning_effort: bool,
}

/// Why a header is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderReason {
    /// The session's first.
    Initial,
    /// The first of a continued session.
    Resume,
    /// It differs from the last.
    Change,
}

/// `request/context`: the route, and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestContext {
    /// The provider; never empty.
    pub provider: Arc<str>,
    /// The model; never empty.
    pub model: Arc<str>,
    /// Its context window in tokens, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

impl Payload for RequestHeader {
    const TYPE: &'static str = "request/header";
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        let RequestForm { config, adapter_defaults, .. } = &self.header;
        let check = route(&config.provider, &config.model).and_then(|()| {
            if config.reasoning_effort.as_ref().is_some_and(|effort| effort.is_empty()) {
                return Err(ShapeError::new("must not be empty").within("reasoningEffort"));
            }
            Ok(())
        });
        check.map_err(|error| error.within("config").within("header"))?;
        let defaults = adapter_defaults.unwrap_or_default();
        let orphan = if defaults.max_tokens && config.max_tokens.is_none() {
            "maxTokens"
        } else if defaults.reasoning_effort && config.reasoning_effort.is_none() {
            "reasoningEffort"
        } else {
            return Ok(());
        };
        let error = ShapeError::new("marks a setting that the configuration does not have");
        Err(error.within(orphan).within("adapterDefaults").within("header"))
    }
}

impl Payload for RequestContext {
    const TYPE: &'static str = "request/context";
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        route(&self.provider, &self.model)
    }
}

fn route(provider: &str, model: &str) -> Result<(), ShapeError> {
    for (name, text) in [("provider", provider), ("model", model)] {
        if text.is_empty() {
            return Err(ShapeError::new("must not be empty").within(name));
        }
    }
    Ok(())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(marker: &bool) -> bool {
    !marker
}

#[cfg(test)]
mod tests;
