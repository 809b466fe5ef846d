//! What a spill store is: where a text goes whole that is too large to be shown whole, and how it is found again
//! (spec 08 §1).
//!
//! A store has one task, [`SpillStore::save_text`], and answers with a [`SpillRef`]: a locator that is shown to the
//! model, and the store's own words on how to read on from there. Whether a text is too large, what is shown in its
//! place, and what becomes of a store that fails, is decided by whoever saves. There is no operation to list or delete.
//!
//! Whoever has to know the locator before anything is stored uses [`SpillStore::begin`] and then [`Pending::commit`]. A
//! store may hang or panic: [`save_within`], [`begin_within`] and [`commit_within`] wait for so long and no longer.
//!
//! A locator is read with the tools that the hint names. Where it is a path, they reach it as they reach any file. Where it is
//! none, the store gives the text back by its locator: it [says](SpillStore::reads) which words are locators of its own, and
//! answers with [ranges](SpillStore::read_range) of their bytes to whom it lets see them. [`read_within`] and
//! [`read_text_within`] wait for so long and no longer, and believe nothing that does not fit together.
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
mod read;
mod read_error;
mod reading;
mod reference;
mod request;
mod store;
mod within;

pub use error::SpillError;
pub use pending::Pending;
pub use read::{ReadText, SpillPart};
pub use read_error::SpillReadError;
pub use reading::{read_text_within, read_within, reads};
pub use reference::{SpillLocator, SpillRef};
pub use request::{SaveText, SpillOwner, SpillSource};
pub use store::SpillStore;
pub use within::{begin_within, commit_within, save_within};
