//! What a spill store is: where a text goes whole that is too large to be shown whole, and how it is found again
//! (spec 08 §1).
//!
//! A store has one task, [`SpillStore::save_text`], and answers with a [`SpillRef`]: a locator that is shown to the
//! model, and the store's own words on how to read on from there. Whether a text is too large, what is shown in its
//! place, and what becomes of a store that fails, is decided by whoever saves. There is no operation to read, list or
//! delete: a locator is read with the tools that the hint names.
//!
//! Whoever has to know the locator before anything is stored uses [`SpillStore::begin`] and then [`Pending::commit`]. A
//! store may hang or panic: [`save_within`], [`begin_within`] and [`commit_within`] wait for so long and no longer.
//!
//! A store is held as a [`Slot`](dsh_lifecycle::Slot) and looked up for each call, because it may be absent.
//!
//! ```
//! use async_trait::async_trait;
//! use dsh_lifecycle::{Cancel, Slot};
//! use dsh_spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore};
//!
//! struct Full;
//!
//! #[async_trait]
//! impl SpillStore for Full {
//!     async fn save_text(&self, _: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
//!         Err(SpillError::Failed { reason: "the store is full".to_owned() })
//!     }
//! }
//!
//! let slot = Slot::<dyn SpillStore>::empty();
//! let mounted = slot.provide(std::sync::Arc::new(Full)).unwrap();
//! assert!(slot.get().is_some());
//! drop(mounted);
//! assert!(slot.get().is_none());
//! ```

mod error;
mod pending;
mod reference;
mod request;
mod store;
mod within;

pub use error::SpillError;
pub use pending::Pending;
pub use reference::{SpillLocator, SpillRef};
pub use request::{SaveText, SpillOwner, SpillSource};
pub use store::SpillStore;
pub use within::{begin_within, commit_within, save_within};
