//! Texts of the spill store, which have a locator where files have a path (spec 08 §1.2).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use dsh_fs::{FsError, FsErrorCode, FsLine, LineWindow, one_line};
use dsh_spill::{ReadText, SpillLocator, SpillOwner, SpillReadError, SpillStore, read_text_within};
use dsh_tools_core::{Execution, RunContext, ToolError};

/// The size of a range. Memory for a text is one of them, beside the window.
const PIECE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(256 * 1024 - 1);

/// A window of a stored text, and how many lines the text has.
///
/// All of the text is looked at, as of a file; that takes at most `deadline`.
pub(crate) async fn lines(
    store: &dyn SpillStore,
    locator: &str,
    window: LineWindow,
    deadline: Duration,
    cx: &RunContext,
) -> Result<(Vec<FsLine>, u64), ToolError> {
    let call = cx.execution();
    let text = ReadText { owners: owners(call), locator: SpillLocator::new(locator) };
    let mut window = window.start();
    let read = read_text_within(store, &text, PIECE, cx.cancel(), deadline, |piece| window.push(piece));
    match read.await {
        Ok(_) => Ok(window.finish()),
        Err(SpillReadError::Aborted) => Err(ToolError::aborted()),
        Err(error) => {
            tracing::warn!(call = &*call.call_id, locator, %error, "a stored text was not read");
            let words = words(&error, &one_line(locator));
            Err(ToolError::new(SpillReadError::NAME, error.code(), words))
        }
    }
}

/// The refusal to change a stored text. No mode of the sandbox reaches it.
pub(crate) fn unchangeable(locator: &str) -> ToolError {
    let locator = one_line(locator);
    let message =
        format!("{locator} is a stored result, not a file, and can't be changed. Give the path of a file.");
    ToolError::new(FsError::NAME, FsErrorCode::SandboxDenied.as_str(), message)
}

/// The sessions whose texts a call may read: its own, and the one that this was forked from.
fn owners(call: &Execution) -> Arc<[SpillOwner]> {
    let Some(agent) = &call.agent else { return [].into() };
    let session = agent.session();
    let ids = [session.id()].into_iter().chain(session.header().parent_session());
    ids.map(|id| SpillOwner { session_id: Arc::clone(id) }).collect()
}

/// What the model reads of a failure. What a store says itself is the operator's: it may name servers and directories.
fn words(error: &SpillReadError, locator: &str) -> String {
    const ELSE: &str = "Repeat the call that made the result, or tell the user.";
    const AGAIN: &str =
        "Try it once more; if that fails, repeat the call that made the result, or tell the user.";
    match error {
        SpillReadError::Unsupported => {
            format!(
                "{locator} can't be read: its store gives nothing back. Repeat the call that made the result, and ask for less."
            )
        }
        SpillReadError::NotFound => format!(
            "there is no stored result {locator} for this session. Check the locator; if the result is gone, repeat the call that \
             made it."
        ),
        SpillReadError::Io(_) | SpillReadError::Failed { .. } | SpillReadError::Aborted => {
            format!("{locator} could not be read: its store failed. {AGAIN}")
        }
        SpillReadError::WrongSize { given, due } => {
            format!("{locator} could not be read: its store gave {given} bytes where {due} were due. {ELSE}")
        }
        SpillReadError::Changed { before, now } => {
            format!(
                "{locator} could not be read: its store gave {before} bytes as its length, and then {now}. {ELSE}"
            )
        }
        SpillReadError::NotText { at } => {
            format!(
                "{locator} could not be read: what its store gives is not UTF-8 text, at byte {at}. {ELSE}"
            )
        }
        SpillReadError::Late { after } => format!(
            "{locator} could not be read: its store did not give all of it in time; `readStoredMs` allows {} ms. {AGAIN}",
            after.as_millis()
        ),
    }
}
