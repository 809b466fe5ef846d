//! Files and searches on the local disk, held beneath their roots.
//!
//! [`LocalFs`] implements [`dsh_fs::FileSystem`], [`LocalSearch`] implements [`dsh_fs::Search`]. How it holds files beneath a root:
//!
//! 1. A path is resolved to its canonical name, and the policy decides about that name.
//! 2. The root is opened, and the canonical name is walked from there by descriptors, one name at a time, following no
//!    link: a canonical name has none, so a link is one that was put there in between, and the operation ends.
//! 3. Everything else (look, read, stage, publish, sync) is relative to the descriptor of the last directory.
//!
//! Links that existed before, and lead to where the policy reaches, work; all others are denied. Blocking work runs on
//! other threads and looks at the cancellation between pieces. A write is awaited; reads and searches, which change
//! nothing, end with their cancellation even when the disk does not answer.
//!
//! ```no_run
//! use dsh_fs::FileSystem;
//! use dsh_fs_local::{LocalFs, canonical_policy};
//! use dsh_lifecycle::Cancel;
//! use dsh_sandbox_policy::SandboxMode;
//! use std::path::Path;
//!
//! # async fn example() -> Result<(), dsh_fs::FsError> {
//! let policy = canonical_policy(SandboxMode::ReadOnly, Path::new("."), []);
//! let (fs, cancel) = (LocalFs::default(), Cancel::new());
//! let target = fs.resolve("README.md", &policy.workspace_root, &policy, &cancel).await?;
//! let read = fs.read_text(&target, 1 << 20, &policy, &cancel).await?;
//! # Ok(()) }
//! ```

mod beneath;
mod edit;
mod encoding;
mod errors;
mod local;
mod locks;
mod read;
mod resolve;
mod search;
mod stage;
mod sweep;
mod text;
mod work;
mod write;

pub use local::{LocalFs, LocalFsConfig, canonical_policy};
pub use search::LocalSearch;
