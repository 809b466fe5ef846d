//! Keeps texts whole in private files, one directory for each session (spec 08 §2).
//!
//! ```text
//! <root>/session-<h>/<r>-<name>
//!        0700        0600
//! ```
//!
//! - `h` is the first twelve hexadecimal digits of SHA-256 of the session's id; `name` is the suggested name, in which
//!   everything but letters, digits, `.`, `_` and `-` of ASCII is written as `~` and a number.
//! - `r` is the first twelve hexadecimal digits of BLAKE3 of the text. So its place is known before anything is written, and
//!   the same text under the same name is stored once. If something else has the place, a damaged copy included, the next
//!   twelve digits are tried, five times in all.
//!
//! A text is there whole or not at all. It is written under a hidden name, brought to the device, and then given its name,
//! which never replaces anything. A failure, a cancellation, or dropping the future before it has its name leaves nothing
//! of it; what a killed process leaves is removed by [`LocalSpill::sweep`].
//!
//! A place that is not private is refused, with one of the codes [`NOT_A_DIRECTORY`], [`FOREIGN_OWNER`] and [`LOOSE_MODE`]:
//! a session's directory that is a link, or someone else's, or not of mode 0700; a root of someone else's, or one in which
//! others can replace what is not theirs. A root in a shared place such as `/tmp` is fine. What is above the root is up to
//! whoever configures it.
//!
//! All work on the disk is on threads for blocking work. Cancelling ends the wait at once, but in the short moment in which
//! a complete text gets its name.

mod config;
mod file;
mod local;
mod name;
mod place;
mod quota;
mod root;
mod sweep;
mod work;

pub use config::{ConfigError, LocalSpillConfig};
pub use local::LocalSpill;
pub use place::{FOREIGN_OWNER, LOOSE_MODE, NOT_A_DIRECTORY};
pub use sweep::Swept;
