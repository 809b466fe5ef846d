//! Questions, answers and their record, through the public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that can't set up its scene fails, and some people panic on purpose"
)]

mod answers;
mod calls;
mod policies;
mod records;
mod scene;
