//! Bringing Code Mode into a registry and a prompt.

use std::sync::Arc;

use dsh_code_runtime::CodeRuntime;
use dsh_lifecycle::{Registrations, Slot};
use dsh_system_prompt::{AssembleContext, PromptError, Section, SystemPrompt, Text};
use dsh_tool_sdk::{Language, Limits};
use dsh_tools_core::{Definition, DefinitionError, Presentation, RegisterError, Tools, Transport};

use crate::CodeModeConfig;
use crate::run_code::{RunCode, mounted};
use crate::sdk::SdkSection;
use crate::words;

/// Code Mode for one language.
pub struct CodeMode {
    tools: Tools,
    runtime: Slot<dyn CodeRuntime>,
    language: Language,
    config: CodeModeConfig,
    measures: bool,
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
        Self { tools, runtime, language, config, measures: true }
    }

    /// The same without times and memory in the account of a run, so that equal runs write equal logs.
    #[must_use]
    pub fn without_measures(self) -> Self {
        Self { measures: false, ..self }
    }

    /// Mounts the transport, and the prompt sections `tools:code-only` (99), `tools:choice` (149) and `tools:sdk` (150), which
    /// are empty where the presentation does not need them. Which scopes present their tools to programs is
    /// [`Tools::present_as`]'s to say.
    ///
    /// Dropping what it returns takes all of it away; when it fails, nothing stays. The registry is kept alive by it.
    pub fn register(&self, prompt: &SystemPrompt) -> Result<Registrations, CodeModeError> {
        let run_code = RunCode {
            tools: self.tools.clone(),
            runtime: self.runtime.clone(),
            language: self.language,
            config: self.config.clone(),
            measures: self.measures,
        };
        let definition = Definition::typed(run_code)?;
        let bridge = Bridge { definition, runtime: self.runtime.clone(), language: self.language };
        let mut all = Registrations::new();
        all.push(self.tools.mount_transport(Arc::new(bridge))?);
        for (name, order, shown, words) in [
            ("tools:code-only", 99, Presentation::Code, words::CODE_ONLY),
            ("tools:choice", 149, Presentation::Both, words::CHOICE),
        ] {
            let tools = self.tools.clone();
            let text = move |cx: &AssembleContext| {
                if tools.view(cx.effective_scope()).presentation() == shown { words } else { "" }
            };
            all.push(prompt.section(None, Section::new(name, order, Text::from_fn(text)))?);
        }
        let limits = Limits { declarations_bytes: self.config.max_sdk_bytes.get(), ..Limits::default() };
        let section = SdkSection::new(self.tools.clone(), self.language, limits);
        let sdk = move |cx: &AssembleContext| section.text(cx.effective_scope());
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
