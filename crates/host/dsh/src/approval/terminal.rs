//! The person at the terminal.

use std::io::{self, IsTerminal as _};

use async_trait::async_trait;
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::keyboard::Keyboard;
use crate::cards::{Asked, Look, question};
use crate::{floor, output};

/// Shows what will happen and reads a line. One question at a time; others wait.
pub(super) struct Terminal(Mutex<Keyboard>);

/// What a person said.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    This(Answer),
    ShowAll,
    Unclear,
}

/// How many lines of a call are shown at first.
const SHOWN: usize = 24;

impl Terminal {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Keyboard::new()))
    }
}

#[async_trait]
impl Answerer for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    async fn answer(&self, asked: &Question) -> Result<Option<Answer>, AnswerError> {
        let mut keyboard = self.0.lock().await;
        let Some(_floor) = floor::take() else { return Err("the screen belongs to another question".into()) };
        let mut shown = Shown(true);
        let asked = seen(asked);
        let mut whole = draw(&asked, SHOWN).await?;
        loop {
            let more = if whole { "" } else { ", all (shows all of it)" };
            // What was typed before this line was there is no answer to it.
            keyboard.forget();
            write(format!("Allow it? y, n, never{more}: ")).await?;
            let Some(line) = keyboard.next().await? else {
                shown.0 = false;
                write("\n".to_owned()).await?;
                return Err("the standard input has ended".into());
            };
            if !io::stdin().is_terminal() {
                // Nobody else breaks the line.
                write("\n".to_owned()).await?;
            }
            match said(&line) {
                Said::This(answer) => {
                    shown.0 = false;
                    return Ok(Some(answer));
                }
                Said::ShowAll => whole = draw(&asked, usize::MAX).await?,
                Said::Unclear => write(UNCLEAR.to_owned()).await?,
            }
        }
    }
}

const UNCLEAR: &str = "y allows this one call, n refuses it, never refuses it and everything that needs approval from now on.\n";

/// Shows the question, over a spinner if there is one. Whether all of the call is shown.
async fn draw(asked: &Asked, body: usize) -> io::Result<bool> {
    let (asked, look) = (asked.clone(), Look { body, ..Look::new(output::width(&io::stderr())) });
    let drawn = spawn_blocking(move || {
        let (drawn, whole) = question(&asked, look);
        output::ask(&format!("\r\x1b[2K{drawn}")).map(|()| whole)
    });
    drawn.await?
}

/// Writes beside the runtime, whose threads a screen that nobody reads must not hold up.
async fn write(text: String) -> io::Result<()> {
    spawn_blocking(move || output::ask(&text)).await?
}

/// A question on the screen, and whether an answer is still waited for. Whoever sits there is told when it is withdrawn.
struct Shown(bool);

impl Drop for Shown {
    fn drop(&mut self) {
        if let (true, Ok(runtime)) = (self.0, tokio::runtime::Handle::try_current()) {
            // Nobody is left to tell if it can't be written.
            runtime.spawn_blocking(|| output::ask("\nNo answer is needed any more.\n"));
        }
    }
}

fn seen(asked: &Question) -> Asked {
    let arguments = asked.call.as_ref().map(|call| call.arguments.clone());
    let view = asked.definition.as_ref().zip(arguments.as_ref());
    Asked {
        tool: asked.tool.clone(),
        view: view.and_then(|(tool, arguments)| tool.present_call(arguments)),
        arguments,
        reason: asked.reason.clone(),
        by_program: asked.call.as_ref().is_some_and(|call| call.parent.is_some()),
    }
}

fn said(line: &str) -> Said {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Said::This(Approval::AllowedOnce.into()),
        "n" | "no" => Said::This(Approval::Rejected.into()),
        "never" => Said::This(Answer::NEVER),
        "all" => Said::ShowAll,
        _ => Said::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clear_words_are_answers() {
        let yes = Said::This(Approval::AllowedOnce.into());
        for (line, expected) in [
            ("y\n", yes),
            (" YES ", Said::This(Approval::AllowedOnce.into())),
            ("n", Said::This(Approval::Rejected.into())),
            ("never\r\n", Said::This(Answer::NEVER)),
            ("all", Said::ShowAll),
            ("", Said::Unclear),
            ("\n", Said::Unclear),
            ("yep", Said::Unclear),
            ("y y", Said::Unclear),
        ] {
            assert_eq!(said(line), expected, "{line:?}");
        }
    }
}
