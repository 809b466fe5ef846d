//! `dsh replay`: the cards of a stored session.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use dsh_session_jsonl::{Contents, Tail, read};

use crate::cards::{Card, Fold, Look, draw};
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::setup::Needs;

/// Draws what the log holds; no tool runs. What comes after damage is not drawn.
pub(crate) fn replay(global: &Global, file: &Path) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let Contents { events, tail, .. } = read(file)?;
    let mut fold = Fold::new(harness.host().tools.clone());
    let look = Look::new(output::width(&io::stdout()));
    for event in &events {
        for card in fold.take(event) {
            match &card {
                card if global.json => output::line(&card.to_json().to_text())?,
                Card::Answer { text, .. } => output::line(text)?,
                Card::Prompt { .. }
                | Card::Said { .. }
                | Card::Call(_)
                | Card::Decision(_)
                | Card::Result(_)
                | Card::End { .. } => {
                    output::drawing(&draw(&card, look))?;
                }
            }
        }
    }
    let name = file.display();
    match tail {
        Tail::Clean => Ok(()),
        // The session may be running right now.
        Tail::Torn { bytes, .. } => {
            output::note(
                "note",
                &format!("{name} ends in a piece of a line ({bytes} bytes), which is not shown"),
            );
            Ok(())
        }
        Tail::Damaged { line, later_valid, .. } => Err(Failure::new(
            Exit::Log,
            anyhow!(
                "{name} is damaged at line {line}, and {later_valid} good lines from there on are not shown; see \
                 `dsh verify`, and `dsh repair` to cut it there"
            ),
        )),
    }
}
