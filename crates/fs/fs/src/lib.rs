//! What a file system and a search are: targets, versions, intents, outcomes, errors, and the traits of the two.
//!
//! Nothing here touches a disk. A provider implements [`FileSystem`]; tools hold it as a trait object and never learn
//! where the files are. Three ideas carry the rest:
//!
//! - A [`FsTarget`] is a name that was resolved once: a `key` that is the same for every spelling of a file, and a
//!   `display` path for people and models.
//! - A [`FsVersion`] is an opaque freshness token. What a reader saw, a writer hands back as a [`WriteIntent`], so that
//!   nothing is overwritten unseen. Who remembers what was seen is behind [`Intents`].
//! - A [`LineWindow`] is the pure rule of what part of a text is shown; providers feed it text in pieces, in bounded
//!   memory, and it counts every line.
//!
//! Each operation takes the policy in force and a cancellation. Denial is the error `FS_SANDBOX_DENIED`, never a
//! silent fallback (design §7).
//!
//! ```
//! use dsh_fs::LineWindow;
//!
//! let mut window = LineWindow::default().start();
//! window.push("one\r\ntw");
//! window.push("o");
//! let (lines, total) = window.finish();
//! assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
//! assert_eq!(total, 2);
//! ```

mod edit;
mod error;
mod intent;
mod one_line;
mod search;
mod system;
mod target;
mod version;
mod window;
mod write;

pub use edit::{EditMiss, EditOutcome, EditRequest, Edited, Near, Tolerance};
pub use error::{FsError, FsErrorCode};
pub use intent::{Intents, tell};
pub use one_line::one_line;
pub use search::{
    GlobHits, GlobRequest, GrepHits, GrepMatch, GrepRequest, Search, SearchError, SearchLimits,
    SearchWarning, WarningKind, Warnings,
};
pub use system::{BytesRead, FileSystem, LinesRead, TextRead};
pub use target::{FileKind, FsEntry, FsInfo, FsTarget};
pub use version::{FsObservation, FsVersion};
pub use window::{Cut, FsLine, LineWindow, WindowBuilder};
pub use write::{WriteIntent, WriteOperation, WriteOutcome, WriteRequest};
