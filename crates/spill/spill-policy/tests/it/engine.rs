//! Code Mode over the tools of a scene: in a real engine, or played.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_code_mode::{CodeMode, CodeModeConfig};
use dsh_code_runtime::wire::Call;
use dsh_code_runtime::{CodeRuntime, Host, Isolation, Limits, Misuse, Outcome, Receipt, Request};
use dsh_json::{Json, object};
use dsh_lifecycle::{Cause, Slot};
use dsh_quickjs::QuickJs;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_sdk::Language;
use dsh_tools_core::{CallInput, DispatchSettled, DispatchStarted, Presentation, RUN_CODE};
use parking_lot::Mutex;

use crate::scene::Scene;

pub(crate) fn threads() -> Arc<dyn CodeRuntime> {
    Arc::new(QuickJs::on_threads(Limits::default()))
}

/// Each line of a program is the name of a tool, which is called and awaited. What was given to it is noted, and its end.
#[derive(Default)]
pub(crate) struct Played(pub(crate) Mutex<Vec<String>>);

#[async_trait]
impl CodeRuntime for Played {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Thread
    }

    async fn run(&self, request: Request, host: &dyn Host) -> Result<Outcome, Misuse> {
        for (id, name) in (1..).zip(request.program.lines()) {
            let call = Call { id, namespace: "tools".into(), name: name.into(), args: object! {} };
            let given = host.call(call).await.unwrap();
            self.0.lock().push(format!("{name} gave {}", given.to_text()));
        }
        request.cancel.cancel(Cause::Settled);
        self.0.lock().push("over".to_owned());
        Ok(Outcome { logs: Vec::new(), result: Ok(None), calls: Vec::new(), receipt: Receipt::default() })
    }

    async fn close(&self) {}
}

impl Scene {
    /// Mounts Code Mode, with so many calls at a time.
    pub(crate) fn runs_programs(&mut self, runtime: Arc<dyn CodeRuntime>, parallel: usize) {
        let config = object! { "maxParallelSubCalls": parallel }.read::<CodeModeConfig>().unwrap();
        let runtime = Slot::filled(runtime);
        let code_mode = CodeMode::new(self.tools.clone(), runtime, Language::TypeScript, config);
        self.kept.append(code_mode.register(&SystemPrompt::default()).unwrap());
        self.kept.push(self.tools.present_as(None, Presentation::Code).unwrap());
    }

    pub(crate) fn program(&self, program: &str) -> CallInput {
        let arguments = object! { "code": program, "description": "Tries something" };
        CallInput { agent: Some(self.agent.clone()), ..CallInput::new("c1", RUN_CODE, arguments) }
    }

    /// The log of programs' calls: `start` and `end`, with the number of the call.
    pub(crate) fn logged(&self) -> Vec<String> {
        let number = |id: &str| id.rsplit(':').next().unwrap().to_owned();
        let events = self.agent.session().events();
        let lines = events.iter().filter_map(|event| {
            if let Some(started) = event.read::<DispatchStarted>() {
                return Some(format!("start {}", number(&started.unwrap().sub_call_id)));
            }
            event.read::<DispatchSettled>().map(|end| format!("end {}", number(&end.unwrap().sub_call_id)))
        });
        lines.collect()
    }

    /// What the log has of the calls that ended.
    pub(crate) fn records(&self) -> Vec<DispatchSettled> {
        let events = self.agent.session().events();
        events.iter().filter_map(|event| event.read::<DispatchSettled>()).map(Result::unwrap).collect()
    }
}

/// What a program printed or returned.
pub(crate) fn value(result: &dsh_tools_core::ToolResult) -> &Json {
    result.value().and_then(|value| value.get("result")).unwrap()
}
