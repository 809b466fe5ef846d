//! What was not read is not overwritten: each session's memory of the files that it saw (spec 07 §4).
//!
//! | | unseen, or nobody acts | seen to be absent | seen at a version |
//! |---|---|---|---|
//! | write | creates only | creates only | replaces that version only |
//! | edit | `FS_NOT_OBSERVED` | `FS_NOT_FOUND` | changes that version only |
//!
//! A look at any part of a file is enough: what counts is that the file is still the one that was seen. A session's own
//! writes are noted, so it need not read again in between. Sessions know nothing of each other's looks.
//!
//! [`ObservationPolicy`] is a provider of [`dsh_fs::Intents`]. It lives as long as it is mounted, remembers a bounded
//! number of files, and what it forgets counts as unseen. It touches no file: the guard that it answers is checked by
//! the file system when the change is made.
//!
//! ```
//! use dsh_fs::{FsObservation, FsTarget, Intents, WriteIntent};
//! use dsh_observation_policy::{ObservationConfig, ObservationPolicy};
//!
//! let policy = ObservationPolicy::new(&ObservationConfig::default());
//! let file = FsTarget { key: "1".into(), display: "/w/a".into(), path: std::path::Path::new("/w/a").into() };
//! assert_eq!(policy.write_intent(&file, Some("session"))?, Some(WriteIntent::CreateIfAbsent));
//! assert_eq!(policy.edit_intent(&file, Some("session")).unwrap_err().code(), "FS_NOT_OBSERVED");
//! policy.observed(&file, FsObservation::Absent, Some("session"));
//! assert_eq!(policy.edit_intent(&file, Some("session")).unwrap_err().code(), "FS_NOT_FOUND");
//! # Ok::<(), dsh_fs::FsError>(())
//! ```

mod config;
mod policy;

pub use config::ObservationConfig;
pub use policy::ObservationPolicy;
