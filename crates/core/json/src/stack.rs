//! Room on the stack for the recursion that serde imposes.

/// Always kept free below a guard: what foreign code between two guards may use.
const RED_ZONE: usize = 128 * 1024;
/// Kept free for each level still to come. Code that serde generates may recurse through a buffered value,
/// or drop it, without passing a guard of ours.
const PER_LEVEL: usize = 8 * 1024;

/// Runs `body` with enough stack to recurse through `height` levels of a value.
pub(crate) fn guarded<T>(height: usize, body: impl FnOnce() -> T) -> T {
    let room = RED_ZONE + height * PER_LEVEL;
    stacker::maybe_grow(room, room + room / 2 + 1024 * 1024, body)
}
