//! The built-in entries and their configuration.

use dsh_lifecycle::Registrations;
use serde::Deserialize;

use crate::{PromptError, Section, SystemPrompt, Text, ToolOrder};

/// The name of the section that says what the model works in. Order −100.
pub const HARNESS_IDENTITY: &str = "harness:identity";

/// The name of the section with the configured persona. Order 0.
pub const PERSONA: &str = "deployment:persona";

/// The built-in entries (spec 11 §A.1). Keys are in camel case in a file; unknown ones are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct PromptConfig {
    /// Whether the prompt begins with the fixed sentences about the harness.
    pub include_harness_identity: bool,
    /// Whether the model is told about the state of the session. Whatever the contexts describe stays in force.
    pub include_runtime_context: bool,
    /// A text of the deployment's own. It may refer to variables.
    pub persona: String,
    /// The order of the tools in a request; by name when absent.
    pub tool_order: Option<ToolOrder>,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self {
            include_harness_identity: true,
            include_runtime_context: true,
            persona: String::new(),
            tool_order: None,
        }
    }
}

impl SystemPrompt {
    /// A registry that has the built-in entries for as long as it lives.
    pub fn with_config(config: PromptConfig) -> Result<Self, PromptError> {
        let prompt = Self::default();
        prompt.configure(config)?.keep();
        Ok(prompt)
    }

    /// Adds the built-in entries to this registry. Refused, without residue, when it has them already or somebody took
    /// their names.
    pub fn configure(&self, config: PromptConfig) -> Result<Registrations, PromptError> {
        let PromptConfig { include_harness_identity, include_runtime_context, persona, tool_order } = config;
        let mut built_in = Registrations::new();
        if include_harness_identity {
            built_in.push(self.section(None, Section::new(HARNESS_IDENTITY, -100, IDENTITY))?);
        }
        // Always there, so that the name is taken; an empty text leaves no trace.
        built_in.push(self.section(None, Section::new(PERSONA, 0, Text::from(persona)))?);
        if !include_runtime_context {
            built_in.push(self.suppress_contexts(None));
        }
        if let Some(order) = tool_order {
            built_in.push(self.set_tool_order(order)?);
        }
        Ok(built_in)
    }
}

/// What the model is told about where it is.
const IDENTITY: &str = "You are an agent at work in dsh, a program that runs tools for you on the user's machine. \
You see and change things only through the tools of this conversation.";
