//! What the threads of one search share: whether to go on, what it has cost, what went wrong.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use dsh_fs::{SearchError, SearchLimits, SearchWarning, WarningKind, Warnings};
use dsh_lifecycle::Cancel;
use parking_lot::Mutex;

/// What a hit costs besides its text, in bytes of the budget.
const HIT_COST: usize = 64;

/// The state of one search.
pub(super) struct Progress {
    cancel: Cancel,
    limits: SearchLimits,
    bytes: AtomicUsize,
    overflowed: AtomicBool,
    warnings: Mutex<WarningLog>,
}

#[derive(Default)]
struct WarningLog {
    first: BTreeSet<SearchWarning>,
    more: usize,
}

impl Progress {
    pub(super) fn new(limits: SearchLimits, cancel: Cancel) -> Self {
        Self {
            cancel,
            limits,
            bytes: AtomicUsize::new(0),
            overflowed: AtomicBool::new(false),
            warnings: Mutex::default(),
        }
    }

    pub(super) fn limits(&self) -> &SearchLimits {
        &self.limits
    }

    /// Whether to stop at once: asked for every entry, every match and every piece of a file.
    pub(super) fn stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.overflowed.load(Relaxed)
    }

    /// Notes what could not be looked at. The first ones in order are kept, whenever they come.
    pub(super) fn warn(&self, path: String, kind: WarningKind) {
        let mut log = self.warnings.lock();
        log.first.insert(SearchWarning { path: path.into(), kind });
        if log.first.len() > self.limits.max_warnings.get() {
            log.first.pop_last();
            log.more += 1;
        }
    }

    /// Ends the search: what it has to warn of, unless it was stopped.
    pub(super) fn finish(&self) -> Result<Warnings, SearchError> {
        if self.cancel.is_cancelled() {
            return Err(SearchError::Aborted);
        }
        if self.overflowed.load(Relaxed) {
            return Err(SearchError::Overflow { limit: self.limits.max_bytes });
        }
        let log = std::mem::take(&mut *self.warnings.lock());
        Ok(Warnings { shown: log.first.into_iter().collect(), more: log.more })
    }

    fn charge(&self, bytes: usize) {
        if self.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes) > self.limits.max_bytes.get() {
            self.overflowed.store(true, Relaxed);
        }
    }

    fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }
}

/// A hit: what it costs and where it stands.
pub(super) trait Hit {
    /// The bytes of its text.
    fn text_bytes(&self) -> usize;
    /// The order of results; total, so that no walk order shows through.
    fn order(&self, other: &Self) -> Ordering;
}

/// The hits of one thread: all of them, or the first ones in order.
pub(super) struct Kept<T> {
    hits: Vec<T>,
    max: Option<NonZeroUsize>,
    dropped: bool,
}

impl<T: Hit> Kept<T> {
    pub(super) fn new(progress: &Progress) -> Self {
        Self { hits: Vec::new(), max: progress.limits.max_hits, dropped: false }
    }

    pub(super) fn push(&mut self, hit: T, progress: &Progress) {
        progress.charge(hit.text_bytes() + HIT_COST);
        self.hits.push(hit);
        if let Some(max) = self.max
            // Twice the maximum, so that the cost of cutting is spread over as many hits again.
            && self.hits.len() >= max.get().saturating_mul(2)
        {
            self.hits.select_nth_unstable_by(max.get() - 1, T::order);
            let gone: usize = self.hits.drain(max.get()..).map(|hit| hit.text_bytes() + HIT_COST).sum();
            progress.release(gone);
            self.dropped = true;
        }
    }

    /// All hits of all threads in order, and whether some were left out.
    pub(super) fn merge(all: Vec<Self>) -> (Vec<T>, bool) {
        let max = all.first().and_then(|kept| kept.max);
        let mut dropped = all.iter().any(|kept| kept.dropped);
        let mut hits: Vec<T> = all.into_iter().flat_map(|kept| kept.hits).collect();
        hits.sort_by(T::order);
        if let Some(max) = max {
            dropped |= hits.len() > max.get();
            hits.truncate(max.get());
        }
        (hits, dropped)
    }

    pub(super) fn take(&mut self) -> Self {
        Self { hits: std::mem::take(&mut self.hits), max: self.max, dropped: self.dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_lifecycle::Cause;

    impl Hit for u32 {
        fn text_bytes(&self) -> usize {
            0
        }
        fn order(&self, other: &Self) -> Ordering {
            self.cmp(other)
        }
    }

    fn progress(max_hits: usize, max_bytes: usize) -> Progress {
        let limits = SearchLimits {
            max_hits: NonZeroUsize::new(max_hits),
            max_bytes: NonZeroUsize::new(max_bytes).unwrap(),
            max_warnings: NonZeroUsize::new(2).unwrap(),
        };
        Progress::new(limits, Cancel::new())
    }

    #[test]
    fn the_first_hits_in_order_are_kept() {
        for (max, kept, truncated) in
            [(0, vec![1, 2, 3, 4, 5], false), (5, vec![1, 2, 3, 4, 5], false), (2, vec![1, 2], true)]
        {
            let progress = progress(max, 10_000);
            let threads = [vec![5, 1, 4], vec![3, 2]].map(|hits| {
                let mut kept = Kept::new(&progress);
                for hit in hits {
                    kept.push(hit, &progress);
                }
                kept
            });
            assert_eq!(Kept::merge(threads.into()), (kept, truncated));
        }
    }

    #[test]
    fn only_what_is_kept_counts() {
        // Two kept hits and two in the waiting room: 4 * 64 bytes.
        let progress = progress(2, 4 * HIT_COST);
        let mut kept = Kept::new(&progress);
        for hit in 0..1000_u32 {
            kept.push(hit, &progress);
        }
        assert!(progress.finish().is_ok());
    }

    #[test]
    fn one_byte_over_the_limit_is_too_much() {
        for (limit, fits) in [(2 * HIT_COST, true), (2 * HIT_COST - 1, false)] {
            let progress = progress(0, limit);
            let mut kept = Kept::new(&progress);
            for hit in 0..2_u32 {
                kept.push(hit, &progress);
            }
            assert_eq!(progress.stopped(), !fits);
            assert_eq!(progress.finish().is_ok(), fits);
        }
    }

    #[test]
    fn the_first_warnings_are_kept_and_the_rest_counted() {
        let progress = progress(0, 1);
        for path in ["c", "a", "d", "b"] {
            progress.warn(path.to_owned(), WarningKind::BadIgnoreRules);
        }
        let warnings = progress.finish().unwrap();
        assert_eq!(warnings.shown.iter().map(|warning| &*warning.path).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(warnings.more, 2);
    }

    #[test]
    fn a_cancelled_search_is_aborted_whatever_else_happened() {
        let cancel = Cancel::new();
        let limits = *progress(0, 1).limits();
        let progress = Progress::new(limits, cancel.clone());
        Kept::new(&progress).push(1_u32, &progress);
        cancel.cancel(Cause::User);
        assert!(matches!(progress.finish(), Err(SearchError::Aborted)));
    }

    proptest::proptest! {
        #[test]
        fn the_result_does_not_show_which_thread_found_what(
            threads in proptest::collection::vec(proptest::collection::vec(0..50_u32, 0..40), 0..6),
            max in 0..60_usize,
        ) {
            let progress = progress(max, usize::MAX);
            let mut all: Vec<u32> = threads.concat();
            all.sort_unstable();
            let truncated = max > 0 && all.len() > max;
            if max > 0 {
                all.truncate(max);
            }
            let kept = threads.into_iter().map(|hits| {
                let mut kept = Kept::new(&progress);
                for hit in hits {
                    kept.push(hit, &progress);
                }
                kept
            });
            proptest::prop_assert_eq!(Kept::merge(kept.collect()), (all, truncated));
            proptest::prop_assert!(progress.finish().is_ok());
        }
    }
}
