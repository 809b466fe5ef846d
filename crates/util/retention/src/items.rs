//! The first items of many.

/// Keeps the first items that it is offered.
#[derive(Debug)]
pub struct ItemRetainer<T> {
    most: usize,
    kept: Vec<T>,
    seen: usize,
}

/// What was kept of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptItems<T> {
    /// The first ones.
    pub items: Vec<T>,
    /// How many were offered.
    pub seen: usize,
    /// How many of them were let go.
    pub omitted: usize,
}

impl<T> ItemRetainer<T> {
    /// One that keeps at most so many.
    pub fn new(most: usize) -> Self {
        Self { most, kept: Vec::new(), seen: 0 }
    }

    /// Offers an item; whether it was kept. Beyond the budget they are counted all the same.
    pub fn push(&mut self, item: T) -> bool {
        self.seen += 1;
        let fits = self.kept.len() < self.most;
        if fits {
            self.kept.push(item);
        }
        fits
    }

    /// What was kept.
    pub fn finish(self) -> KeptItems<T> {
        let Self { kept, seen, .. } = self;
        KeptItems { omitted: seen - kept.len(), items: kept, seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_kept_and_all_are_counted() {
        for (most, offered, kept, omitted) in
            [(3, 2, 2, 0), (3, 3, 3, 0), (3, 9, 3, 6), (0, 4, 0, 4), (0, 0, 0, 0)]
        {
            let mut retainer = ItemRetainer::new(most);
            let fits: Vec<bool> = (0..offered).map(|item| retainer.push(item)).collect();
            assert_eq!(fits.iter().filter(|fits| **fits).count(), kept);
            let all = retainer.finish();
            assert_eq!(
                (all.items, all.seen, all.omitted),
                ((0..kept).collect(), offered, omitted),
                "{most} {offered}"
            );
        }
    }
}
