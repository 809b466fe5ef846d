//! The tools `read`, `write` and `edit`: text files, through whatever file system is mounted.
//!
//! This crate owns what the model sees: parameters, checks of values, windows of lines, sentences, differences, and the
//! cards on a person's screen. It does no I/O: files are behind [`dsh_fs::FileSystem`], reach is decided by the policy
//! that a [`PolicySource`](dsh_sandbox_policy::PolicySource) gives for each call.
//!
//! [`FsTools`] holds what the tools share and registers them with their prompt sections. `read` may overlap with other
//! calls, `write` and `edit` run alone. Errors keep the codes of [`dsh_fs::FsErrorCode`] under the name `FsError`, and say what to
//! do next.

mod access;
mod advice;
mod config;
mod diff;
mod edit;
mod lang;
mod read;
mod register;
mod shared;
mod write;

pub use config::FsToolsConfig;
pub use register::{FsTools, FsToolsError};
