//! What a session may reach: the sandbox modes and the roots that they speak of.
//!
//! A [`SandboxPolicy`] is a mode, one workspace root and any number of read roots. It answers two questions about a
//! path, [`may_read`](SandboxPolicy::may_read) and [`may_write`](SandboxPolicy::may_write), by looking at the words of
//! the path only: roots and paths arrive canonical, because this crate does no I/O. Whoever opens the file still has
//! to open it beneath the root, so that a link that was swapped in the meantime can't win.
//!
//! | mode | reads | writes |
//! |---|---|---|
//! | `read-only` | workspace and read roots | nothing |
//! | `workspace-write` | workspace and read roots | workspace |
//! | `danger-full-access` | everything | everything |
//!
//! A session may have a mode of its own, which its log keeps: [`SessionModes`]. A call may ask for a wider mode for itself alone: an [`Escalation`], which a person has to allow.
//!
//! ```
//! use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
//! use std::path::Path;
//!
//! let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "/ws", ["/usr".into()]);
//! assert!(policy.may_write(Path::new("/ws/src/lib.rs")));
//! assert!(policy.may_read(Path::new("/usr/include/stdio.h")));
//! assert!(!policy.may_write(Path::new("/usr/include/stdio.h")));
//! assert!(!policy.may_read(Path::new("/wsx")));
//! ```

mod context;
mod escalation;
mod mode;
mod policy;
mod reach;
mod session_mode;
mod source;

pub use context::{CONTEXT_NAME, CONTEXT_ORDER, standing_rule};
pub use escalation::{Escalation, EscalationError, denial_marker, escalation_hint};
pub use mode::{SandboxMode, UnknownMode};
pub use policy::{SandboxPolicy, default_read_roots};
pub use reach::Reach;
pub use session_mode::{ModeChanged, SessionModes, set_session_mode};
pub use source::PolicySource;
