//! One story many times, each time stopped elsewhere: a few rounds among the other tests, all of them for
//! `cargo xtask e2e`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many run at a time.
const WORKERS: usize = 4;

/// Whether the task asks for all, instead of a slice.
#[expect(
    clippy::disallowed_methods,
    reason = "the task and the tests of a package meet in the environment only"
)]
pub(crate) fn all() -> bool {
    std::env::var_os("DSH_E2E").is_some_and(|extent| extent == "all")
}

/// Runs all rounds, counts those that pass, and says so in the last line: `N of N`.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the task reads the count, a person the rest")]
pub(crate) fn all_pass(count: usize, round: impl Fn(usize) + Sync) {
    let (next, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| round(number))) {
                Ok(()) => _ = passed.fetch_add(1, Ordering::Relaxed),
                Err(_) => eprintln!("round {number} failed"),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(work);
        }
    });
    let passed = passed.into_inner();
    println!("\n{passed} of {count}");
    assert_eq!(passed, count);
}

/// The place of one of `count` rounds between `first` and `last`, both reached.
pub(crate) fn spread(round: usize, count: usize, first: usize, last: usize) -> usize {
    first + round * (last - first) / (count - 1).max(1)
}

#[test]
fn rounds_are_spread_from_the_first_to_the_last() {
    let spread = |count| (0..count).map(|round| spread(round, count, 1, 9)).collect::<Vec<_>>();
    assert_eq!(spread(5), [1, 3, 5, 7, 9]);
    assert_eq!(spread(1), [1]);
    assert_eq!(spread(3), [1, 5, 9]);
}
