//! The right to the screen: who asks a question has it until the answer, and drawings wait meanwhile.

use parking_lot::{Condvar, Mutex};

/// One for the process, as there is one screen.
static FLOOR: Floor = Floor { taken: Mutex::new(false), free: Condvar::new() };

struct Floor {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The right itself. Dropping it lets drawings go on.
pub(crate) struct Held(());

/// Takes the floor, unless somebody has it.
pub(crate) fn take() -> Option<Held> {
    let mut taken = FLOOR.taken.lock();
    (!std::mem::replace(&mut *taken, true)).then_some(Held(()))
}

/// Draws unless somebody has the floor, and says whether it did.
pub(crate) fn unless_taken(draw: impl FnOnce()) -> bool {
    let taken = FLOOR.taken.lock();
    if !*taken {
        draw();
    }
    !*taken
}

/// Draws as soon as nobody has the floor. Whoever has it must not call this.
pub(crate) fn when_free<T>(draw: impl FnOnce() -> T) -> T {
    let mut taken = FLOOR.taken.lock();
    FLOOR.free.wait_while(&mut taken, |taken| *taken);
    // Under the lock, so that no question begins in the middle of it.
    draw()
}

impl Drop for Held {
    fn drop(&mut self) {
        *FLOOR.taken.lock() = false;
        FLOOR.free.notify_all();
    }
}
