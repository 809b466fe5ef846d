//! A panic becomes a value.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

/// What a panic said. The payload is gone already, without harm even when its drop panics in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic(String);

/// Runs code that is not ours to trust; a panic in it is an error of this call and nothing more.
///
/// The default panic hook still runs: a program that wants silence installs its own.
pub fn contain<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panic::of)
}

/// [`contain`] for what waits: each poll runs under the guard. After a panic it is not polled again, and dropped with
/// this future.
pub fn contain_async<T>(work: impl Future<Output = T>) -> impl Future<Output = Result<T, Panic>> {
    AssertUnwindSafe(work).catch_unwind().map(|ended| ended.map_err(Panic::of))
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
    use std::future::poll_fn;
    use std::panic::panic_any;
    use std::pin::pin;
    use std::task::Poll;

    #[test]
    fn a_panic_says_what_it_said() {
        assert_eq!(contain(|| 1), Ok(1));
        let said = |run: fn()| contain(run).unwrap_err().to_string();
        assert_eq!(said(|| panic!("plain")), "plain");
        assert_eq!(said(|| panic!("{}", 1)), "1");
        assert_eq!(said(|| panic_any(5)), "it panicked without words");
    }

    #[test]
    fn a_panic_of_what_waits_says_what_it_said() {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let mut polled = |work: fn(u32) -> u32| {
            let mut polls = 0;
            let waits = poll_fn(move |_| {
                polls += 1;
                if polls < 2 { Poll::Pending } else { Poll::Ready(work(polls)) }
            });
            let mut contained = pin!(contain_async(waits));
            assert!(contained.as_mut().poll(&mut cx).is_pending());
            contained.as_mut().poll(&mut cx).map_err(|panic| panic.to_string())
        };
        assert_eq!(polled(|polls| polls), Poll::Ready(Ok(2)));
        assert_eq!(polled(|_| panic!("later")), Poll::Ready(Err("later".to_owned())));
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
