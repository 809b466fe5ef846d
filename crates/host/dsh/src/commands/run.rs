//! `dsh run`: one turn.

use std::io;

use anyhow::anyhow;
use dsh_harness::{Harness, SessionChoice, TurnFailure};
use dsh_session::{AbortReason, TurnEndReason};

use crate::cards::Look;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::fork::ForkFrom;
use crate::interrupt::Interrupts;
use crate::screen::{Screen, Show};
use crate::setup::Needs;
use crate::{input, output};

/// Runs a turn of the prompt and shows it as it happens.
pub(crate) async fn run(
    global: &Global,
    prompt: Option<String>,
    fork: Option<ForkFrom>,
) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    let harness = global.harness(Needs::Model)?;
    let prompt = interrupts.unless(input::prompt(prompt)).await?;
    let choice = match fork {
        None => global.session_or(SessionChoice::Fresh),
        Some(fork) => SessionChoice::File(fork.begin(&harness, global.session.as_deref())?),
    };
    let opened = harness.open_session(&choice)?;
    tell_demo(&harness);
    let agent = harness.agent(opened.session);
    let show = if global.json { Show::Events } else { Show::Turn(Look::new(output::width(&io::stderr()))) };
    let screen = Screen::open(agent.session(), harness.host().tools.clone(), show, interrupts.cancel());
    let ended = harness.run_turn(&agent, dsh_llm::text(prompt), interrupts.cancel()).await;
    let shown = screen.close().await;
    drop(agent);
    harness.shut_down().await;
    if let (Some(file), Ok(_)) = (&opened.file, &ended) {
        output::note("log", &file.display().to_string());
    }
    conclude(ended.map(|outcome| outcome.reason), shown)
}

/// What a turn of this end is to whoever started the program. A failure of the log comes before one of stdout.
pub(super) fn conclude(
    ended: Result<TurnEndReason, TurnFailure>,
    shown: Result<(), Failure>,
) -> Result<(), Failure> {
    let reason = ended?;
    shown?;
    let failed = |exit, words| Err(Failure::new(exit, words));
    match reason {
        TurnEndReason::Completed => Ok(()),
        TurnEndReason::MaxTokens => failed(
            Exit::Failed,
            anyhow!(
                "the model's answer reached its ceiling and is cut; ask for less, or raise `maxTokens` of [agent-loop]"
            ),
        ),
        TurnEndReason::StepLimit => failed(
            Exit::Failed,
            anyhow!(
                "the turn used up its steps; go on with --session, or raise `maxStepsPerTurn` of [agent-loop]"
            ),
        ),
        TurnEndReason::Blocked => failed(Exit::Refused, anyhow!("a policy blocked the turn")),
        TurnEndReason::Aborted { reason: AbortReason::Hook(why) } => {
            failed(Exit::Failed, anyhow!("the turn was stopped: {why}"))
        }
        TurnEndReason::Aborted {
            reason: AbortReason::User | AbortReason::Parent | AbortReason::Disposed,
        }
        | TurnEndReason::Interrupted => Err(Failure::interrupted()),
        TurnEndReason::Error { error } => {
            failed(Exit::Failed, anyhow!("the turn ended in an error: {} ({})", error.message, error.code))
        }
    }
}

fn tell_demo(harness: &Harness) {
    if harness.host().model.get().is_some_and(|model| model.provider() == "demo") {
        output::note(
            "note",
            "this is the demonstration: a script that looks around here with the real tools, whatever the prompt \
             says. For a real model set DEEPSEEK_API_KEY or OPENAI_API_KEY, or name one with --model or as `use` under \
             [model] in dsh.toml.",
        );
    }
}
