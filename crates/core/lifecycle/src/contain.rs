//! A panic becomes a value.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic said. The payload is gone already, without harm even when its drop panics in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic(String);

/// Runs code that is not ours to trust; a panic in it is an error of this call and nothing more.
///
/// The default panic hook still runs: a program that wants silence installs its own.
pub fn contain<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panic::of)
}

impl Panic {
    /// From what `catch_unwind` gave.
    pub fn of(payload: Box<dyn Any + Send>) -> Self {
        let words = payload.downcast_ref::<&str>().copied();
        let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let said = words.unwrap_or("it panicked without words").to_owned();
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            leak(second);
        }
        Self(said)
    }
}

/// A payload that panics when it is dropped may do so for ever; a leak is the lesser evil.
#[expect(clippy::mem_forget, reason = "dropping it is what must not happen")]
fn leak(payload: Box<dyn Any + Send>) {
    std::mem::forget(payload);
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panic {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::panic_any;

    #[test]
    fn a_panic_says_what_it_said() {
        assert_eq!(contain(|| 1), Ok(1));
        let said = |run: fn()| contain(run).unwrap_err().to_string();
        assert_eq!(said(|| panic!("plain")), "plain");
        assert_eq!(said(|| panic!("{}", 1)), "1");
        assert_eq!(said(|| panic_any(5)), "it panicked without words");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic_any(Self);
            }
        }
        assert!(contain(|| panic_any(Bomb)).is_err());
    }
}
