//! What differs between the users of the lane.

use std::future::Future;
use std::num::NonZeroUsize;

/// Whether a call may overlap with its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Its body may run beside the bodies of other parallel calls.
    Parallel,
    /// A barrier: everything before it is committed first, everything behind it waits until it is committed.
    Exclusive,
}

/// How a call started.
#[derive(Debug)]
pub enum Started<Body, Output> {
    /// Its body runs from now on and takes a place.
    Running(Body),
    /// It has its output already, without a body; it takes no place and waits for its turn to commit.
    Settled(Output),
}

/// A call that was started: what its commit needs, and what runs.
pub type Begun<W> = (<W as Work>::Ticket, Started<<W as Work>::Body, <W as Work>::Output>);

/// The bounds of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many bodies may run at a time.
    pub running: NonZeroUsize,
    /// How many calls may be started and not yet committed: it bounds the results that are parked behind a slow head.
    pub uncommitted: NonZeroUsize,
    /// How many calls may wait for their start before the source is no longer asked for more.
    pub waiting: NonZeroUsize,
    /// How many pieces of side work may be unfinished before the next commit waits for one of them.
    pub side: usize,
}

/// The calls of one lane: what they are, how they start, what committing one means.
///
/// The ordered stages ([`start`](Self::start), [`commit`](Self::commit), [`skip`](Self::skip)) are never called at the
/// same time, and always in the order of the source. An error of any of them ends the lane (spec 02 §A.6); the failure
/// of a call is not such an error but part of its [`Output`](Self::Output).
pub trait Work {
    /// A call that waits for its start.
    type Call;
    /// What a started call keeps for its commit.
    type Ticket;
    /// What a body leaves behind.
    type Output;
    /// A failure of the machinery.
    type Error;
    /// The part of a call that may overlap.
    type Body: Future<Output = Self::Output> + Unpin;
    /// Work that a commit leaves for later: awaited before the lane ends, in no particular order.
    type Side: Future<Output = Result<(), Self::Error>> + Unpin;

    /// Whether the call may overlap. Asked before each start; when in doubt, [`Mode::Exclusive`].
    fn mode(&self, call: &Self::Call) -> Mode;

    /// Whether to start nothing more. Asked before each start; once true it stays true. The source must end then, too:
    /// the lane waits for it, to skip what it still brings.
    fn stopped(&self) -> bool;

    /// Begins a call. Bodies that run go on while this waits.
    fn start(&mut self, call: Self::Call) -> impl Future<Output = Result<Begun<Self>, Self::Error>>;

    /// Makes an output true, in the order of starts.
    fn commit(
        &mut self,
        ticket: Self::Ticket,
        output: Self::Output,
    ) -> impl Future<Output = Result<Option<Self::Side>, Self::Error>>;

    /// Takes note of a call that never starts, after a stop and after everything before it is committed.
    fn skip(&mut self, call: Self::Call) -> impl Future<Output = Result<(), Self::Error>>;
}
