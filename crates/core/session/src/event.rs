//! The envelope: one event of the log.

use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_llm::{Fields, ShapeError};

use crate::payload::Payload;

/// The largest integer of an envelope: what a double holds exactly.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// One event: a closed envelope around a payload of any type (spec 03 §1).
///
/// Stored as `{"type","seq","time","data","surfaceOp"?,"sourceEventSeqs"?,"ignorable"?}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The payload's type, such as `turn/start`.
    pub kind: Arc<str>,
    /// The place in the log, from 0, without gaps.
    pub seq: u64,
    /// Unix milliseconds; not necessarily rising.
    pub time: i64,
    /// The payload.
    pub data: Json,
    /// What the event does to the model-visible order; present exactly on surface types.
    pub surface_op: Option<SurfaceOp>,
    /// The events that this one was made from; only on surface types.
    pub source_event_seqs: Option<Arc<[u64]>>,
    /// Whether a reader that does not know the type may skip the event.
    pub ignorable: bool,
}

/// What a surface event does to the model-visible order (spec 03 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceOp {
    /// Comes last.
    Append,
    /// Takes the place of the nodes from `start` to `end`, both included.
    Replace {
        /// The seq of the first node that is replaced.
        start: u64,
        /// The seq of the last node that is replaced.
        end: u64,
    },
}

impl Event {
    /// The payload as `P`: `None` when the event is of another type, an error when it claims the type and does not fit.
    pub fn read<P: Payload>(&self) -> Option<Result<P, ShapeError>> {
        (*self.kind == *P::TYPE).then(|| P::from_json(&self.data))
    }

    /// The stored form, keys in the order of the table of spec 03 §1.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(7);
        object.insert("type", Arc::clone(&self.kind));
        object.insert("seq", self.seq);
        object.insert("time", self.time);
        object.insert("data", self.data.clone());
        if let Some(op) = self.surface_op {
            object.insert("surfaceOp", op.to_json());
        }
        if let Some(seqs) = &self.source_event_seqs {
            object.insert("sourceEventSeqs", seqs.iter().map(|seq| Json::from(*seq)).collect::<Vec<Json>>());
        }
        if self.ignorable {
            object.insert("ignorable", true);
        }
        object.into()
    }

    /// Reads the stored form. A key that the envelope does not have, a missing one, an integer outside the safe range
    /// and an `ignorable` other than `true` are refused, with the place. The payload is not looked at.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let event = Self {
            kind: fields.name("type")?,
            seq: fields.u64("seq")?,
            time: time(fields.json("time")?).map_err(|error| error.within("time"))?,
            data: fields.json("data")?.clone(),
            surface_op: fields
                .optional("surfaceOp")
                .map(SurfaceOp::from_json)
                .transpose()
                .map_err(|error| error.within("surfaceOp"))?,
            source_event_seqs: fields
                .optional("sourceEventSeqs")
                .map(seqs)
                .transpose()
                .map_err(|error| error.within("sourceEventSeqs"))?,
            ignorable: match fields.optional("ignorable") {
                None => false,
                Some(Json::Bool(true)) => true,
                Some(_) => return Err(ShapeError::new("must be true or absent").within("ignorable")),
            },
        };
        fields.end()?;
        event.check()?;
        Ok(event)
    }

    /// The bounds of the envelope's integers, and that it has a type.
    pub(crate) fn check(&self) -> Result<(), ShapeError> {
        if self.kind.is_empty() {
            return Err(ShapeError::new("must not be empty").within("type"));
        }
        if self.seq > MAX_SAFE_INTEGER {
            return Err(unsafe_integer().within("seq"));
        }
        if self.time.unsigned_abs() > MAX_SAFE_INTEGER {
            return Err(unsafe_integer().within("time"));
        }
        Ok(())
    }
}

impl SurfaceOp {
    /// `"append"` or `{"op":"replace","start","end"}`.
    pub fn to_json(self) -> Json {
        match self {
            Self::Append => Json::from("append"),
            Self::Replace { start, end } => {
                let mut object = Object::with_capacity(3);
                object.insert("op", "replace");
                object.insert("start", start);
                object.insert("end", end);
                object.into()
            }
        }
    }

    /// Reads the stored form; exactly the keys above are allowed.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        if json.as_str() == Some("append") {
            return Ok(Self::Append);
        }
        let expected = || ShapeError::new("expected `append` or an object with `op`, `start` and `end`");
        let mut fields = Fields::of(json).map_err(|_| expected())?;
        if &*fields.text("op")? != "replace" {
            return Err(expected());
        }
        let op = Self::Replace { start: fields.u64("start")?, end: fields.u64("end")? };
        fields.end()?;
        Ok(op)
    }
}

fn time(json: &Json) -> Result<i64, ShapeError> {
    json.as_i64().ok_or_else(|| ShapeError::new("expected an integer"))
}

fn seqs(json: &Json) -> Result<Arc<[u64]>, ShapeError> {
    let items = json.as_array().ok_or_else(|| ShapeError::new("expected an array"))?;
    let seq = |(index, item): (usize, &Json)| {
        let seq = item.as_u64().filter(|seq| *seq <= MAX_SAFE_INTEGER);
        seq.ok_or_else(|| ShapeError::new("expected a non-negative integer").at(index))
    };
    items.iter().enumerate().map(seq).collect()
}

fn unsafe_integer() -> ShapeError {
    ShapeError::new(format!("beyond {MAX_SAFE_INTEGER}, the largest integer of an envelope"))
}

#[cfg(test)]
mod tests;
