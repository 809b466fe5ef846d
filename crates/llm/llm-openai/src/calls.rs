//! Which tool call a delta belongs to.
//!
//! The protocol tells calls apart by an index. Servers leave it out, give every call the same one, or repeat ids and
//! names with each delta; all of these end up as the calls that were meant.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_llm::Chunk;

/// One delta of a call, as the server wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The call's number; absent where the server gives none.
    pub(crate) wire: Option<i64>,
    pub(crate) id: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    all: Vec<Call>,
    /// The call that the last delta with this number was for.
    by_wire: BTreeMap<i64, usize>,
    by_wire_and_id: BTreeMap<(i64, Arc<str>), usize>,
    by_id: BTreeMap<Arc<str>, usize>,
    last: Option<usize>,
}

#[derive(Debug)]
struct Call {
    block: u32,
    id: Arc<str>,
    /// May arrive in parts, so it is told with the first arguments.
    name: String,
    has_arguments: bool,
    id_told: bool,
    name_told: bool,
}

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes one delta and the arguments in it; a new call gets the next block.
    pub(crate) fn take(
        &mut self,
        piece: &Piece,
        arguments: Option<Arc<str>>,
        next_block: &mut u32,
        out: &mut Vec<Chunk>,
    ) {
        let id = piece.id.as_ref().filter(|id| !id.is_empty());
        let name = piece.name.as_ref().filter(|name| !name.is_empty());
        let at = self.find(piece.wire, id, name.is_some()).unwrap_or_else(|| {
            let block = *next_block;
            *next_block = block.saturating_add(1);
            out.push(Chunk::BlockStart { index: block, block_type: "tool-call".into() });
            self.all.push(Call::new(block));
            self.all.len() - 1
        });
        self.remember(at, piece.wire, id);
        let Some(call) = self.all.get_mut(at) else { return };
        let renamed = name.and_then(|name| call.name(name));
        if let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) {
            call.has_arguments = true;
            out.push(call.delta(arguments));
        }
        if let Some(name) = renamed {
            // A contradiction; whoever assembles the answer says so.
            let (index, id, empty) = (call.block, "".into(), "".into());
            out.push(Chunk::ToolCallDelta { index, id, name: Some(name), arguments_delta: empty });
        }
    }

    /// Tells the ids and names that no arguments came after.
    pub(crate) fn flush(&mut self, out: &mut Vec<Chunk>) {
        let untold = self.all.iter_mut().filter(|call| !call.is_told());
        out.extend(untold.map(|call| call.delta("".into())));
    }

    fn find(&self, wire: Option<i64>, id: Option<&Arc<str>>, named: bool) -> Option<usize> {
        let latest = wire.map_or(self.last, |wire| self.by_wire.get(&wire).copied());
        let call = latest.and_then(|at| self.all.get(at))?;
        match (wire, id) {
            (Some(wire), Some(id)) => {
                let same = self.by_wire_and_id.get(&(wire, Arc::clone(id))).copied();
                same.or(latest.filter(|_| call.id.is_empty()))
            }
            (Some(_), None) => latest,
            (None, Some(id)) => {
                let unnamed = call.id.is_empty() && !(named && call.has_arguments);
                self.by_id.get(id).copied().or(latest.filter(|_| unnamed))
            }
            // A name after arguments is the next call's.
            (None, None) => latest.filter(|_| !(named && call.has_arguments)),
        }
    }

    fn remember(&mut self, at: usize, wire: Option<i64>, id: Option<&Arc<str>>) {
        self.last = Some(at);
        if let Some(wire) = wire {
            self.by_wire.insert(wire, at);
        }
        let Some(id) = id else { return };
        if let Some(call) = self.all.get_mut(at)
            && call.id.is_empty()
        {
            call.id = Arc::clone(id);
            self.by_id.insert(Arc::clone(id), at);
        }
        if let Some(wire) = wire {
            self.by_wire_and_id.entry((wire, Arc::clone(id))).or_insert(at);
        }
    }
}

impl Call {
    fn new(block: u32) -> Self {
        let (id, name) = ("".into(), String::new());
        Self { block, id, name, has_arguments: false, id_told: false, name_told: false }
    }

    fn is_told(&self) -> bool {
        (self.id_told || self.id.is_empty()) && (self.name_told || self.name.is_empty())
    }

    /// Takes a name: the whole, a part, or the same again. A different one after it was told is returned.
    fn name(&mut self, piece: &Arc<str>) -> Option<Arc<str>> {
        if **piece == *self.name {
            return None;
        }
        if self.name_told {
            return Some(Arc::clone(piece));
        }
        if piece.starts_with(&self.name) {
            self.name.clear();
        }
        self.name.push_str(piece);
        None
    }

    fn delta(&mut self, arguments_delta: Arc<str>) -> Chunk {
        let id = if self.id_told { "".into() } else { Arc::clone(&self.id) };
        self.id_told = !self.id.is_empty();
        let name = (!self.name_told && !self.name.is_empty()).then(|| self.name.as_str().into());
        self.name_told = !self.name.is_empty();
        Chunk::ToolCallDelta { index: self.block, id, name, arguments_delta }
    }
}

#[cfg(test)]
mod tests;
