//! What a failed file operation tells the model to do next.

use dsh_fs::{FsError, FsErrorCode};
use dsh_tools_core::ToolError;

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Reading,
    Writing,
    Editing,
}

/// The failure as the model gets it: code and sentence of the file system, and what to do next.
pub(crate) fn failed(error: FsError, doing: Doing) -> ToolError {
    if error.kind() == FsErrorCode::Aborted {
        return ToolError::aborted();
    }
    let error = match remedy(error.kind(), doing) {
        Some(remedy) => error.with_remedy(remedy),
        None => error,
    };
    ToolError::new(FsError::NAME, error.code(), error.to_string())
}

/// A denial by the sandbox where the model may ask for more reach.
pub(crate) fn denied(error: &FsError, remedy: &str) -> ToolError {
    ToolError::new(FsError::NAME, error.code(), format!("{error}.\n{remedy}"))
}

fn remedy(code: FsErrorCode, doing: Doing) -> Option<&'static str> {
    Some(match (code, doing) {
        (FsErrorCode::NotFound, Doing::Reading) => "Check the path.",
        (FsErrorCode::NotFound, Doing::Editing) => "Check the path, or create the file with `write`.",
        (FsErrorCode::NotFound | FsErrorCode::NotDirectory, _) => "Check the directories of the path.",
        (FsErrorCode::NotRegularFile, _) => "Give the path of a file.",
        (FsErrorCode::NotText, Doing::Editing) => {
            "Nothing was changed; such a file can't be edited without loss. Ask the user to convert it to UTF-8."
        }
        (FsErrorCode::NotText, _) => {
            "This tool takes UTF-8, and UTF-16 with a byte order mark; if it is text in another encoding, make a copy in \
             UTF-8, for example with `iconv`, and read that."
        }
        (FsErrorCode::TooLarge, Doing::Editing) => "Ask the user to change it, or to raise the bound.",
        (FsErrorCode::TooLarge, _) => "Take a part of it.",
        (FsErrorCode::PermissionDenied, _) => "Use another file, or ask the user to change the permissions.",
        (FsErrorCode::SandboxDenied, _) => "Do without it, or ask the user.",
        (FsErrorCode::IoError, _) => "Repeating it will probably not help; tell the user.",
        (FsErrorCode::StaleVersion, Doing::Reading) => "Read it again.",
        (FsErrorCode::StaleVersion, Doing::Writing | Doing::Editing) => {
            "Read it again, then repeat the change on what it is now."
        }
        (FsErrorCode::NotObserved, _) => "Read it first, then repeat the change.",
        (FsErrorCode::AmbiguousEdit | FsErrorCode::EditNotFound | FsErrorCode::Aborted, _) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_sentences_are_kept_and_the_way_on_is_added() {
        let check = |code, doing, expected: &str| {
            let error = failed(FsError::new(code, "/w/a is so"), doing);
            assert_eq!(error.message, expected);
            let info = error.info.unwrap();
            assert_eq!((&*info.name, &*info.code), ("FsError", code.as_str()));
        };
        check(FsErrorCode::NotFound, Doing::Reading, "/w/a is so. Check the path.");
        check(
            FsErrorCode::StaleVersion,
            Doing::Writing,
            "/w/a is so. Read it again, then repeat the change on what it is now.",
        );
        check(FsErrorCode::NotObserved, Doing::Writing, "/w/a is so. Read it first, then repeat the change.");
        check(
            FsErrorCode::TooLarge,
            Doing::Editing,
            "/w/a is so. Ask the user to change it, or to raise the bound.",
        );
        // These say themselves what to do.
        check(FsErrorCode::EditNotFound, Doing::Editing, "/w/a is so");
        check(FsErrorCode::AmbiguousEdit, Doing::Editing, "/w/a is so");
        check(FsErrorCode::SandboxDenied, Doing::Reading, "/w/a is so. Do without it, or ask the user.");
    }

    #[test]
    fn a_cancelled_operation_is_a_cancelled_call() {
        let info = failed(FsError::aborted(), Doing::Writing).info.unwrap();
        assert_eq!((&*info.name, &*info.code), ("AbortError", "ABORTED"));
    }
}
