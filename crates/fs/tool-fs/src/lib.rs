//! The tools `read`, `write` and `edit`: text files, through whatever file system is mounted.
//!
//! This crate owns what the model sees: parameters, checks of values, windows of lines, sentences, differences, and the
//! cards on a person's screen. It does no I/O: files are behind [`dsh_fs::FileSystem`], reach is decided by the policy
//! that a [`PolicySource`](dsh_sandbox_policy::PolicySource) gives for each call.
//!
//! A large result that was stored elsewhere is read like a file, by its locator: where a spill store
//! [says](dsh_spill::SpillStore::reads) that a `file_path` is one of its locators, word for word, `read` shows windows of what
//! the store gives, and `write` and `edit` refuse it. Such a text is no file: no policy reaches it, the store decides for which
//! session it gives it, and nothing is noted of it for later changes. A file of the same name is reached by `./` and its name.
//!
//! [`FsTools`] holds what the tools share and registers them with their prompt sections. `read` may overlap with other
//! calls, `write` and `edit` run alone. Errors keep the codes of [`dsh_fs::FsErrorCode`] under the name `FsError`, those of
//! stored texts the codes of [`dsh_spill::SpillReadError`] under the name `SpillError`, and say what to do next.

mod access;
mod advice;
mod config;
mod diff;
mod edit;
mod lang;
mod read;
mod register;
mod shared;
mod stored;
mod write;

pub use config::FsToolsConfig;
pub use register::{FsTools, FsToolsError};
