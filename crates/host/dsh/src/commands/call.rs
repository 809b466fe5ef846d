//! `dsh call`: one tool call through the whole pipeline, in a turn of its own.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, OnceLock};

use anyhow::anyhow;
use dsh_harness::{CallTurn, Harness, RequestedCall, SessionChoice};
use dsh_json::{Json, Object, object};
use dsh_llm::{Content, ContentBlock, content_to_json, plain_text};
use dsh_session::{Session, ToolResult as Logged};
use dsh_tools_core::{Execution, Observer, ToolResult, codes};

use super::run::conclude;
use crate::cards::Look;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::screen::{Screen, Show};
use crate::setup::Needs;
use crate::{input, output};

/// Calls `tool` and prints what came of it.
pub(crate) async fn call(global: &Global, tool: &str, arguments: String) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    let harness = global.harness(Needs::Calls)?;
    let arguments = if arguments == "-" { interrupts.unless(input::stdin()).await? } else { arguments };
    made(global, &interrupts, harness, CALL, (tool, arguments), |answer, _| answer.print(global.json)).await
}

const CALL: Origin = Origin { name: "call", note: "This call was made with `dsh call`, not by a model." };

/// Who makes the call, as the log says it.
pub(super) struct Origin {
    pub(super) name: &'static str,
    pub(super) note: &'static str,
}

/// Makes the call as a turn of its own, and prints its answer.
pub(super) async fn made(
    global: &Global,
    interrupts: &Interrupts,
    harness: Harness,
    origin: Origin,
    (tool, arguments): (&str, String),
    print: impl FnOnce(&Answer, &Session) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let session = harness.open_session(&global.session_or(SessionChoice::Memory))?.session;
    let agent = harness.agent(session);
    let host = harness.host();
    let published = Arc::new(Published::default());
    let observing = host.tools.on_result(Some(agent.scope()), Arc::clone(&published) as _);
    let screen = Screen::open(agent.session(), host.tools.clone(), show(global), interrupts.cancel());
    let turn = CallTurn {
        origin: origin.name.into(),
        note: origin.note.into(),
        calls: vec![RequestedCall {
            id: host.environment.ids.fresh(),
            name: tool.into(),
            arguments: arguments.into(),
        }],
    };
    let ended = harness.run_calls(&agent, turn, interrupts.cancel()).await;
    let shown = screen.close().await;
    drop(observing);
    let session = agent.session().clone();
    let answer = Answer::of(&session, published.0.get());
    drop(agent);
    harness.shut_down().await;
    if let (Some(answer), Ok(_), Ok(())) = (&answer, &ended, &shown) {
        print(answer, &session)?;
    }
    conclude(ended, shown)?;
    answer.map_or(Ok(()), Answer::conclude)
}

fn show(global: &Global) -> Show {
    let look = Look::new(output::width(&io::stderr()));
    if global.json {
        Show::Nothing
    } else if io::stdout().is_terminal() {
        // The result stands right below.
        Show::Calls(Look { body: 0, ..look })
    } else {
        Show::Calls(look)
    }
}

/// Keeps the result of the turn's one call, which the log does not hold the value of. A program's calls are others.
#[derive(Default)]
struct Published(OnceLock<Arc<ToolResult>>);

impl Observer for Published {
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>) {
        if call.parent.is_none() {
            // There is one.
            let _ = self.0.set(Arc::clone(result));
        }
    }
}

/// What the log has of the call, and what only its result has.
pub(super) struct Answer {
    pub(super) content: Content,
    pub(super) is_error: bool,
    pub(super) logged: Logged,
    pub(super) published: Option<Arc<ToolResult>>,
}

impl Answer {
    fn of(session: &Session, published: Option<&Arc<ToolResult>>) -> Option<Self> {
        let events = session.events();
        let logged = events.iter().rev().find_map(|event| event.read::<Logged>())?.ok()?;
        let [ContentBlock::ToolResult { content, is_error, .. }] = &*logged.message.content else {
            return None;
        };
        let (content, is_error) = (Arc::clone(content), *is_error);
        Some(Self { content, is_error, logged, published: published.cloned() })
    }

    fn print(&self, json: bool) -> Result<(), Failure> {
        let text = if json { self.to_json().to_text() } else { plain_text(&self.content) };
        Ok(output::line(&text)?)
    }

    fn to_json(&self) -> Json {
        let mut answer = Object::new();
        answer.insert("isError", self.is_error);
        answer.insert("content", content_to_json(&self.content));
        if let Some(value) = self.published.as_ref().and_then(|result| result.value()) {
            answer.insert("value", value.clone());
        }
        if self.is_error {
            answer.insert(
                "error",
                match &self.logged.error {
                    Some(error) => {
                        object! { "name": &error.name, "code": &error.code, "message": self.message() }
                    }
                    None => object! { "message": self.message() },
                },
            );
        }
        if let Some(meta) = &self.logged.meta {
            answer.insert("meta", meta.clone());
        }
        answer.into()
    }

    /// Why it failed, without the word that the model reads in front of it.
    pub(super) fn message(&self) -> String {
        if let Some(error) = self.published.as_ref().and_then(|result| result.error()) {
            return error.message.clone();
        }
        let text = plain_text(&self.content);
        text.strip_prefix("Error: ").unwrap_or(&text).to_owned()
    }

    fn conclude(self) -> Result<(), Failure> {
        if !self.is_error {
            return Ok(());
        }
        let message = self.message();
        Err(match &self.logged.error {
            Some(error) => Failure::new(exit_of(&error.code), anyhow!("{message} ({})", error.code)),
            None => Failure::new(Exit::Failed, anyhow!(message)),
        })
    }
}

fn exit_of(code: &str) -> Exit {
    let refused = code == codes::DENIED || code == "FS_SANDBOX_DENIED" || code.starts_with("APPROVAL_");
    if refused { Exit::Refused } else { Exit::Failed }
}
