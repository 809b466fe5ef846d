//! Why a large text stays as it is.

use dsh_spill::SpillError;

/// Why a large text stays as it is. For the operator's log; the model and the call notice nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GiveUp {
    /// Nobody would own what is stored.
    #[error("the call belongs to no session")]
    NoOwner,
    /// There is nowhere to store it.
    #[error("no spill store is mounted")]
    NoStore,
    /// The store refused, failed, panicked or was stopped.
    #[error("{0}")]
    Store(SpillError),
    /// The store took too long.
    #[error("the spill store did not answer in time: `saveMs` allows {allowed}")]
    Late {
        /// The time limit in milliseconds.
        allowed: u64,
    },
    /// The store says that it keeps less than the text, or more.
    #[error("the spill store answers for {said} bytes, and the text has {there}")]
    WrongBytes {
        /// How many bytes the store speaks of.
        said: u64,
        /// How many there are.
        there: usize,
    },
    /// The store promised one place and stored in another.
    #[error("the spill store stored the text elsewhere than it said before")]
    Moved,
    /// The locator is empty or has control characters, so that a notice of one line can't show it as it is.
    #[error("the locator of the spill store can't be shown in a line")]
    Locator,
    /// What would be shown does not fit.
    #[error("the notice alone takes {needed} bytes, and `maxInlineBytes` allows {allowed}")]
    TooLarge {
        /// The size of the smallest replacement.
        needed: usize,
        /// The cap.
        allowed: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::GiveUp;

    #[test]
    fn limits_are_named_with_their_keys() {
        for (why, key) in [
            (GiveUp::Late { allowed: 70 }, "`saveMs` allows 70"),
            (GiveUp::TooLarge { needed: 130, allowed: 9 }, "130 bytes, and `maxInlineBytes` allows 9"),
        ] {
            assert!(why.to_string().contains(key), "{why}");
        }
    }
}
