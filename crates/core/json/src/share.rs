//! Hands a whole `Json` through serde without taking it apart.
//!
//! Serde's data model has no word for "this value, as it is". A `Json` therefore announces itself as a
//! newtype of a reserved name. Foreign formats see through it; our own serialiser and deserialiser know the
//! name, and pass the shared value through a slot of this thread, while serde sees a unit.

use std::cell::RefCell;

use crate::Json;

/// The reserved name; no Rust identifier can clash with it.
pub(crate) const NAME: &str = "$dsh::Json";

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Idle) };
}

enum Slot {
    Idle,
    /// Our serialiser waits for a value.
    Wanted,
    /// A value on its way to the side that takes it.
    Given(Json),
}

/// Runs `serialize`, which may answer with a unit and [`give`] the value here instead.
pub(crate) fn receive<T>(serialize: impl FnOnce() -> T) -> (T, Option<Json>) {
    SLOT.with_borrow_mut(|slot| *slot = Slot::Wanted);
    let out = serialize();
    (out, take())
}

/// Gives the value to a waiting serialiser; false when none waits.
pub(crate) fn give(value: &Json) -> bool {
    SLOT.with_borrow_mut(|slot| {
        let wanted = matches!(slot, Slot::Wanted);
        if wanted {
            *slot = Slot::Given(value.clone());
        }
        wanted
    })
}

/// Offers the value to the visitor that `visit` calls with a unit.
pub(crate) fn offer<T>(value: &Json, visit: impl FnOnce() -> T) -> T {
    SLOT.with_borrow_mut(|slot| *slot = Slot::Given(value.clone()));
    let out = visit();
    drop(take());
    out
}

/// Takes the value that was given, if any, and leaves the slot idle.
pub(crate) fn take() -> Option<Json> {
    match SLOT.replace(Slot::Idle) {
        Slot::Given(value) => Some(value),
        Slot::Idle | Slot::Wanted => None,
    }
}
