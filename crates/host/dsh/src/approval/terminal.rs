//! The person at the terminal.

use std::io::{self, IsTerminal as _};

use async_trait::async_trait;
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use tokio::sync::Mutex;

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
        // Only here the floor is taken, so it is free.
        let _floor = floor::take();
        let mut withdrawn = Withdrawn(true);
        let asked = shown(asked);
        let look = Look { body: 24, ..Look::new(output::width(&io::stderr())) };
        let (drawn, mut whole) = question(&asked, look);
        keyboard.forget();
        // Over a spinner, if there is one.
        output::ask(&format!("\r\x1b[2K{drawn}"));
        loop {
            output::ask(if whole {
                "Allow it? y, n, never: "
            } else {
                "Allow it? y, n, never, all (shows all of it): "
            });
            let Some(line) = keyboard.next().await? else {
                withdrawn.0 = false;
                output::ask("\n");
                return Err("the standard input has ended".into());
            };
            if !io::stdin().is_terminal() {
                // Nobody else breaks the line.
                output::ask("\n");
            }
            match said(&line) {
                Said::This(answer) => {
                    withdrawn.0 = false;
                    return Ok(Some(answer));
                }
                Said::ShowAll => {
                    whole = true;
                    output::ask(&question(&asked, Look { body: usize::MAX, ..look }).0);
                }
                Said::Unclear => output::ask(
                    "y allows this one call, n refuses it, never refuses it and everything that needs approval from now on.\n",
                ),
            }
        }
    }
}

/// Tells whoever sits there that no answer is waited for any more.
struct Withdrawn(bool);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if self.0 {
            output::ask("\nNo answer is needed any more.\n");
        }
    }
}

fn shown(asked: &Question) -> Asked {
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
