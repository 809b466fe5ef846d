//! Looking for a message before sleeping until it comes.

use std::time::{Duration, Instant};

/// Between two times that others are let run.
const LOOKS: u32 = 16;

/// A short while after something was said, in which an answer is likely.
///
/// Being woken by another processor costs tens of microseconds, more on an idle machine; a look costs less than one. An end
/// that looks for [`LASTS`](Self::LASTS) before it sleeps answers at once what is answered quickly, and pays for a long
/// wait at most about twice what it would have paid. The time that is spent looking is processor time of whoever looks.
#[derive(Debug, Default)]
pub struct Attention {
    end: Option<Instant>,
    looks: u32,
}

impl Attention {
    /// How long it lasts: about what it costs to be woken.
    pub const LASTS: Duration = Duration::from_micros(100);

    /// From now on.
    pub fn raised() -> Self {
        let mut this = Self::default();
        this.raise();
        this
    }

    /// Starts anew.
    pub fn raise(&mut self) {
        *self = Self { end: now().checked_add(Self::LASTS), looks: 0 };
    }

    /// To be called when there was nothing to see: whether to look again. Once it is over it stays over, at no cost.
    ///
    /// Lets other threads run now and then: the one that will answer may have been put on this very processor.
    pub fn lasts(&mut self) -> bool {
        let lasts = self.end.is_some_and(|end| now() < end);
        self.looks = self.looks.wrapping_add(1);
        if !lasts {
            self.end = None;
        } else if self.looks.is_multiple_of(LOOKS) {
            std::thread::yield_now();
        }
        lasts
    }
}

/// No time of a program: it paces a loop.
#[expect(clippy::disallowed_methods, reason = "how long to look is a matter of real time")]
fn now() -> Instant {
    Instant::now()
}
