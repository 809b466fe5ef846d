//! The two lists in memory: what a change comes to, and the change itself.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_llm::Message;

use super::{InboxError, InboxSpliced, SpliceOutcome, Target};

/// How much may wait in an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxLimits {
    /// How many messages, in both lists together (`maxInboxMessages`).
    pub messages: NonZeroUsize,
    /// How many bytes their JSON texts may have together (`maxInboxBytes`).
    pub bytes: NonZeroUsize,
}

impl Default for InboxLimits {
    fn default() -> Self {
        let some = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        Self { messages: some(1_000), bytes: some(16 * 1024 * 1024) }
    }
}

/// A change of one list, in the coordinates of an array's `splice`: a negative start counts from the end, and what is
/// beyond the list is cut.
#[derive(Debug, Clone, PartialEq)]
pub struct Splice {
    /// The list.
    pub target: Target,
    /// Where it changes.
    pub start: i64,
    /// How many messages are taken out.
    pub remove: u64,
    /// What is put in their place.
    pub insert: Vec<Message>,
}

#[derive(Debug, Default)]
pub(crate) struct Lists {
    next_turn: Vec<Waiting>,
    next_step: Vec<Waiting>,
    ids: BTreeSet<Arc<str>>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    message: Arc<Message>,
    bytes: usize,
}

impl Lists {
    pub(crate) fn messages(&self, target: Target) -> impl Iterator<Item = &Arc<Message>> {
        self.list(target).iter().map(|waiting| &waiting.message)
    }

    /// The ids of both lists.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.ids.iter()
    }

    pub(crate) fn holds(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The event of a change; `None` for one that changes nothing.
    pub(crate) fn plan(
        &self,
        splice: Splice,
        outcome: Option<SpliceOutcome>,
        limits: &InboxLimits,
    ) -> Result<Option<InboxSpliced>, InboxError> {
        let Splice { target, start, remove, insert } = splice;
        let list = self.list(target);
        let start = at(start, list.len());
        let removed = list.get(start..).unwrap_or_default();
        let removed = removed.get(..cut(remove, removed.len())).unwrap_or_default();
        if removed.is_empty() && insert.is_empty() {
            return Ok(None);
        }
        self.check(removed, &insert, limits)?;
        let (start, removed_count) = (start as u64, removed.len() as u64);
        let outcome = outcome.filter(|_| removed_count > 0);
        Ok(Some(InboxSpliced { target, start, removed_count, inserted: insert, outcome }))
    }

    /// Makes the change that an event says, and returns what it took out and put in. Coordinates of a foreign log are
    /// cut to the list.
    pub(crate) fn apply(&mut self, event: &InboxSpliced) -> (Vec<Arc<Message>>, Vec<Arc<Message>>) {
        let inserted: Vec<_> = event.inserted.iter().map(Waiting::of).collect();
        let added = inserted.iter().map(|waiting| Arc::clone(&waiting.message)).collect::<Vec<_>>();
        let gained: usize = inserted.iter().map(|waiting| waiting.bytes).sum();
        let list = match event.target {
            Target::NextTurn => &mut self.next_turn,
            Target::NextStep => &mut self.next_step,
        };
        let start = cut(event.start, list.len());
        let end = start + cut(event.removed_count, list.len() - start);
        let removed: Vec<_> = list.splice(start..end, inserted).collect();
        for waiting in &removed {
            self.ids.remove(&waiting.message.id);
            self.bytes = self.bytes.saturating_sub(waiting.bytes);
        }
        self.bytes += gained;
        self.ids.extend(added.iter().map(|message| Arc::clone(&message.id)));
        (removed.into_iter().map(|waiting| waiting.message).collect(), added)
    }

    /// Takes out the message of this id, which was said.
    pub(crate) fn said(&mut self, id: &str) -> Option<Arc<Message>> {
        if !self.ids.remove(id) {
            return None;
        }
        let lists = [&mut self.next_step, &mut self.next_turn];
        let waiting = lists.into_iter().find_map(|list| {
            let at = list.iter().position(|waiting| *waiting.message.id == *id)?;
            Some(list.remove(at))
        })?;
        self.bytes = self.bytes.saturating_sub(waiting.bytes);
        Some(waiting.message)
    }

    fn check(&self, removed: &[Waiting], insert: &[Message], limits: &InboxLimits) -> Result<(), InboxError> {
        let freed: BTreeSet<_> = removed.iter().map(|waiting| &waiting.message.id).collect();
        let mut fresh = BTreeSet::new();
        for message in insert {
            let waits = self.ids.contains(&message.id) && !freed.contains(&message.id);
            if waits || !fresh.insert(&message.id) {
                return Err(InboxError::Duplicate { id: Arc::clone(&message.id) });
            }
        }
        // What waits already may be more than a lower limit allows; it can still be taken out.
        if insert.len() > removed.len()
            && self.ids.len() - removed.len() + insert.len() > limits.messages.get()
        {
            return Err(InboxError::TooMany { limit: limits.messages.get() });
        }
        let gained: usize = insert.iter().map(size).sum();
        let freed: usize = removed.iter().map(|waiting| waiting.bytes).sum();
        if gained > freed && self.bytes.saturating_sub(freed) + gained > limits.bytes.get() {
            return Err(InboxError::TooLarge { limit: limits.bytes.get() });
        }
        Ok(())
    }

    fn list(&self, target: Target) -> &[Waiting] {
        match target {
            Target::NextTurn => &self.next_turn,
            Target::NextStep => &self.next_step,
        }
    }
}

impl Waiting {
    fn of(message: &Message) -> Self {
        Self { bytes: size(message), message: Arc::new(message.clone()) }
    }
}

fn size(message: &Message) -> usize {
    message.to_json().to_text().len()
}

fn at(start: i64, len: usize) -> usize {
    match u64::try_from(start) {
        Ok(start) => cut(start, len),
        Err(_) => len - cut(start.unsigned_abs(), len),
    }
}

fn cut(count: u64, len: usize) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).min(len)
}
