//! `dsh mcp`: the visible tools for a client of the Model Context Protocol, on stdin and stdout.

use std::sync::Arc;

use anyhow::anyhow;

use dsh_code_mode::SdkSection;
use dsh_harness::{Harness, SessionChoice, TurnFailure};
use dsh_mcp_server::{Elicitation, Greeting, McpParts, McpServer, McpServerConfig, SdkText};
use dsh_tool_sdk::{Language, Limits};
use dsh_tools_core::Scope;

use crate::approval::Approve;
use crate::cli::Global;
use crate::exit::{Failure, usage};
use crate::interrupt::Interrupts;
use crate::output;
use crate::setup::Needs;

/// Serves until the client closes stdin, or an interrupt: either is how clients end a server, and no failure.
pub(crate) async fn mcp(global: &Global) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    let stop = interrupts.cancel().clone();
    let mut elicitation = Arc::<Elicitation>::default();
    let mut harness = harness(global, &elicitation)?;
    let mut input = tokio::io::stdin();
    let greeting = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        greeting = Greeting::hear(&mut input) => Some(greeting),
    };
    let Some(greeting) = greeting else {
        harness.shut_down().await;
        return Ok(());
    };
    // What is offered depends on whether anybody can be asked.
    if global.approve.is_none() && greeting.has_forms() == Some(false) {
        harness.shut_down().await;
        elicitation = Arc::new(Elicitation::of(false));
        harness = self::harness(global, &elicitation)?;
    }
    let opened = harness.open_session(&global.session_or(SessionChoice::Fresh))?;
    if let Some(file) = &opened.file {
        output::note("log", &file.display().to_string());
    }
    let agent = harness.agent(opened.session);
    let host = harness.host();
    let parts = McpParts {
        tools: host.tools.clone(),
        agent: agent.clone(),
        turns: host.turns.get().ok_or(TurnFailure::NoLoop)?,
        ids: Arc::clone(&host.environment.ids),
        elicitation,
        sdk: Arc::new(Sdk(SdkSection::new(host.tools.clone(), LANGUAGE, Limits::default()))),
    };
    let config = host.mcp.get().map(|config| McpServerConfig::clone(&config)).unwrap_or_default();
    let server = McpServer::new(parts, config);
    let input = greeting.before(input);
    // A task, so that it runs where what wakes it is waited for, and not on a thread that has to be woken then.
    let serving = tokio::spawn(async move { server.serve(input, tokio::io::stdout(), &stop).await });
    let served = serving.await;
    drop(agent);
    harness.shut_down().await;
    Ok(served.map_err(|_panicked| TurnFailure::Panicked)?.map_err(TurnFailure::Turn)?)
}

/// Everything but the session, with whoever answers questions.
fn harness(global: &Global, elicitation: &Arc<Elicitation>) -> Result<Harness, Failure> {
    // The user sits at the client; what the command line says comes before.
    let answerer = match global.approve {
        None => Arc::clone(elicitation) as _,
        Some(Approve::Ask) => {
            let words = "`--approve ask` reads answers where the client's messages come from; leave it out, and the client's user \
                         is asked";
            return Err(usage(anyhow!(words)));
        }
        Some(fixed @ (Approve::Yes | Approve::No)) => fixed.answerer(),
    };
    global.harness_with(Needs::Tools, answerer)
}

/// The language that programs are written in.
const LANGUAGE: Language = Language::TypeScript;

struct Sdk(SdkSection);

impl SdkText for Sdk {
    fn language(&self) -> &str {
        LANGUAGE.name()
    }

    fn text(&self, scope: Option<&Scope>) -> Result<Arc<str>, String> {
        self.0.text(scope).map_err(|error| format!("{error} ({})", error.code()))
    }
}
