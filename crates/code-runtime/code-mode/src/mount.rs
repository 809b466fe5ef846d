//! Bringing Code Mode into a registry and a prompt.

use std::sync::Arc;

use dsh_code_runtime::CodeRuntime;
use dsh_lifecycle::{Registrations, Slot};
use dsh_system_prompt::{AssembleContext, PromptError, Section, SystemPrompt, Text};
use dsh_tool_sdk::{Language, Limits};
use dsh_tools_core::{Definition, DefinitionError, Presentation, RegisterError, Tools, Transport};

use crate::CodeModeConfig;
use crate::run_code::{RunCode, mounted};
use crate::sdk::Sections;
use crate::words;

/// Code Mode for one language.
pub struct CodeMode {
    tools: Tools,
    runtime: Slot<dyn CodeRuntime>,
    language: Language,
    config: CodeModeConfig,
}

/// Why Code Mode can't be mounted. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum CodeModeError {
    /// `run_code` has no valid definition.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// There is a transport for programs already.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The prompt has a section of this name already.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl CodeMode {
    /// Programs of this language over these tools. The runtime is looked up for each program, so it may be mounted
    /// later; one of another language runs none.
    pub fn new(
        tools: Tools,
        runtime: Slot<dyn CodeRuntime>,
        language: Language,
        config: CodeModeConfig,
    ) -> Self {
        Self { tools, runtime, language, config }
    }

    /// Mounts the transport, and the prompt sections `tools:code-only` (99) and `tools:sdk` (150), which are empty where
    /// the presentation does not need them. Which scopes present their tools to programs is
    /// [`Tools::present_as`]'s to say.
    ///
    /// Dropping what it returns takes all of it away; when it fails, nothing stays. The registry is kept alive by it.
    pub fn register(&self, prompt: &SystemPrompt) -> Result<Registrations, CodeModeError> {
        let run_code = RunCode {
            tools: self.tools.clone(),
            runtime: self.runtime.clone(),
            language: self.language,
            config: self.config.clone(),
        };
        let definition = Definition::typed(run_code)?;
        let bridge = Bridge { definition, runtime: self.runtime.clone(), language: self.language };
        let mut all = Registrations::new();
        all.push(self.tools.mount_transport(Arc::new(bridge))?);
        let tools = self.tools.clone();
        let rule = move |cx: &AssembleContext| match tools.view(cx.effective_scope()).presentation() {
            Presentation::Code => words::CODE_ONLY,
            Presentation::Native | Presentation::Both => "",
        };
        all.push(prompt.section(None, Section::new("tools:code-only", 99, Text::from_fn(rule)))?);
        let (tools, language, sections) = (self.tools.clone(), self.language, Sections::default());
        let limits = Limits { declarations_bytes: self.config.max_sdk_bytes.get(), ..Limits::default() };
        let sdk = move |cx: &AssembleContext| {
            let view = tools.view(cx.effective_scope());
            match view.presentation() {
                Presentation::Native => Ok("".into()),
                Presentation::Code | Presentation::Both => sections.of(&view, language, &limits),
            }
        };
        all.push(prompt.section(None, Section::new("tools:sdk", 150, Text::try_from_fn(sdk)))?);
        Ok(all)
    }
}

/// What the registry asks about programs.
struct Bridge {
    definition: Definition,
    runtime: Slot<dyn CodeRuntime>,
    language: Language,
}

impl Transport for Bridge {
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    fn ready(&self) -> Result<(), String> {
        mounted(&self.runtime, self.language).map(drop)
    }

    fn route(&self, tool: &str) -> String {
        words::route(tool)
    }
}
