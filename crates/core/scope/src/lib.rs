//! Whose contributions count where: scope keys and the layers of rows that hang on them.
//!
//! A [`Scope`] is an opaque key (an agent, a preset, a mounted plugin) with an optional parent. What is registered in
//! a scope is inherited *down* its chain: a child sees what its ancestors see. What happens in a scope is heard *up*
//! the chain: a listener of an ancestor hears its descendants. [`Layers`] keeps such rows, one layer per scope and one
//! for everybody (spec 01 §3).
//!
//! Scopes route; they are not a security boundary.
//!
//! ```
//! use dsh_scope::{Layers, Scope};
//!
//! let (parent, mut rows) = (Scope::root(), Layers::default());
//! let child = parent.child();
//! rows.insert(None, "for everybody");
//! rows.insert(Some(parent.id()), "for the parent and below");
//! let seen: Vec<_> = rows.along(&child.chain()).map(|(_, row)| *row).collect();
//! assert_eq!(seen, ["for everybody", "for the parent and below"]);
//! ```

mod layers;
mod scope;

pub use layers::{Cursor, Layers, RowId};
pub use scope::{Scope, ScopeId, WeakScope};
