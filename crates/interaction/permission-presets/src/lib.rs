//! One choice that sets two knobs of a session: the sandbox mode, and whether a person is asked (spec 10 §C).
//!
//! ```text
//!                    permission/preset   what was chosen
//! set("read-only") ─→ sandbox/mode        only what differs     ─→ calls read the knobs, never the choice
//!                    approval/policy     only what differs
//! ```
//!
//! - What holds is what the two knobs say. The choice is kept beside them, so that of two presets with the same knobs the
//!   one is shown that was chosen, and so that a switch that was cut short can be completed. A session whose knobs fit no
//!   preset is `custom`: that is shown, and can't be chosen.
//! - **Order.** The choice is recorded first, then the knobs, in the order of [`dsh_session_permissions`]: a session whose log
//!   takes only a part of a switch is never wider than it was and wider than it was to be at the same time.
//! - **Pinning.** A new session has the choice and both knobs in its log before its first turn; later changes of the
//!   configuration do not reach it. A session that goes on keeps its knobs, and gets what its log does not say yet.
//! - **A switch that was cut short** is completed when its session is pinned again. The rule: if no turn has begun since
//!   the last choice, then each knob that has no event behind the choice is set to what the chosen preset says. A knob
//!   with an event behind it was set by the switch, or deliberately afterwards, and stays. Once a turn has begun the knobs
//!   stay as they are, since the session has worked under them.
//! - A choice that the configuration does not know any more makes no log unreadable: the session is what its knobs say.

mod config;
mod events;
mod options;
mod pinning;
mod presets;
mod switching;
mod table;

pub use config::{Preset, PresetsConfig};
pub use events::{PresetChosen, declare};
pub use options::{Options, PresetOption};
pub use presets::{Current, Presets};
pub use switching::{Changes, SetError, SwitchError};
pub use table::{CUSTOM, PresetsError, UnknownPreset};
