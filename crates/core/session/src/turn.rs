//! The events that open and close turns and steps.

use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_llm::{ErrorFacts, Fields, ShapeError};
use serde::{Deserialize, Serialize};

use crate::payload::Payload;

/// `turn/start`: a turn begins. Turns count from 1 through the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnStart {
    /// Its number.
    pub turn: u32,
}

/// `turn/end`: a turn is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnEnd {
    /// Its number.
    pub turn: u32,
    /// Why.
    pub reason: TurnEndReason,
}

/// `step/start`: one model request and its calls begin. Steps count from 1 within their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepStart {
    /// The turn.
    pub turn: u32,
    /// The step's number.
    pub step: u32,
}

/// `step/end`: the calls of a step are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepEnd {
    /// The turn.
    pub turn: u32,
    /// The step's number.
    pub step: u32,
}

/// `session/end-seed`: what comes before was written by an earlier life of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndSeed {}

/// Why a turn ended (spec 02 C.4): `{"kind":…}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum TurnEndReason {
    /// The model stopped, a tool concluded, or there was nothing to do.
    Completed,
    /// A step reached the model's ceiling.
    MaxTokens,
    /// The turn used up its steps (design §4.5).
    StepLimit,
    /// A hook refused a step.
    Blocked,
    /// It was cancelled.
    Aborted {
        /// By whom.
        reason: AbortReason,
    },
    /// It failed.
    Error {
        /// What is known of the failure.
        error: ErrorFacts,
    },
    /// The process ended under it; written by repair only.
    Interrupted,
}

/// Who cancelled a turn: `{"kind":"user"|"parent"|"disposed"|"hook","reason"?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum AbortReason {
    /// A person.
    User,
    /// The agent that this one works for.
    Parent,
    /// The agent's end.
    Disposed,
    /// A hook, and in its words why.
    Hook(Arc<str>),
}

impl TurnEndReason {
    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(2);
        match self {
            Self::Completed => object.insert("kind", "completed"),
            Self::MaxTokens => object.insert("kind", "max-tokens"),
            Self::StepLimit => object.insert("kind", "step-limit"),
            Self::Blocked => object.insert("kind", "blocked"),
            Self::Aborted { .. } => object.insert("kind", "aborted"),
            Self::Error { .. } => object.insert("kind", "error"),
            Self::Interrupted => object.insert("kind", "interrupted"),
        };
        match self {
            Self::Aborted { reason } => {
                object.insert("reason", reason.to_json());
            }
            Self::Error { error } => {
                object.insert("error", error.to_json());
            }
            Self::Completed | Self::MaxTokens | Self::StepLimit | Self::Blocked | Self::Interrupted => {}
        }
        object.into()
    }

    /// Reads the stored form.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let reason = match &*fields.text("kind")? {
            "completed" => Self::Completed,
            "max-tokens" => Self::MaxTokens,
            "step-limit" => Self::StepLimit,
            "blocked" => Self::Blocked,
            "aborted" => {
                let reason = AbortReason::from_json(fields.json("reason")?);
                Self::Aborted { reason: reason.map_err(|error| error.within("reason"))? }
            }
            "error" => {
                let error = ErrorFacts::from_json(fields.json("error")?);
                Self::Error { error: error.map_err(|error| error.within("error"))? }
            }
            "interrupted" => Self::Interrupted,
            _ => return Err(ShapeError::new("unknown reason").within("kind")),
        };
        fields.end()?;
        Ok(reason)
    }
}

impl AbortReason {
    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(2);
        match self {
            Self::User => object.insert("kind", "user"),
            Self::Parent => object.insert("kind", "parent"),
            Self::Disposed => object.insert("kind", "disposed"),
            Self::Hook(_) => object.insert("kind", "hook"),
        };
        if let Self::Hook(reason) = self {
            object.insert("reason", Arc::clone(reason));
        }
        object.into()
    }

    /// Reads the stored form.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let reason = match &*fields.text("kind")? {
            "user" => Self::User,
            "parent" => Self::Parent,
            "disposed" => Self::Disposed,
            "hook" => Self::Hook(fields.text("reason")?),
            _ => return Err(ShapeError::new("unknown cause").within("kind")),
        };
        fields.end()?;
        Ok(reason)
    }
}

stored_as_json!(TurnEndReason, AbortReason);

impl Payload for TurnStart {
    const TYPE: &'static str = "turn/start";
    const EXACT: bool = true;
}

impl Payload for TurnEnd {
    const TYPE: &'static str = "turn/end";
    const EXACT: bool = true;
}

impl Payload for StepStart {
    const TYPE: &'static str = "step/start";
    const EXACT: bool = true;
}

impl Payload for StepEnd {
    const TYPE: &'static str = "step/end";
    const EXACT: bool = true;
}

impl Payload for EndSeed {
    const TYPE: &'static str = "session/end-seed";
    const EXACT: bool = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_stored_and_read_back() {
        let aborted = |reason| TurnEndReason::Aborted { reason };
        let rows = [
            (TurnEndReason::Completed, r#"{"kind":"completed"}"#),
            (TurnEndReason::MaxTokens, r#"{"kind":"max-tokens"}"#),
            (TurnEndReason::StepLimit, r#"{"kind":"step-limit"}"#),
            (TurnEndReason::Blocked, r#"{"kind":"blocked"}"#),
            (TurnEndReason::Interrupted, r#"{"kind":"interrupted"}"#),
            (aborted(AbortReason::User), r#"{"kind":"aborted","reason":{"kind":"user"}}"#),
            (aborted(AbortReason::Parent), r#"{"kind":"aborted","reason":{"kind":"parent"}}"#),
            (aborted(AbortReason::Disposed), r#"{"kind":"aborted","reason":{"kind":"disposed"}}"#),
            (
                aborted(AbortReason::Hook("late".into())),
                r#"{"kind":"aborted","reason":{"kind":"hook","reason":"late"}}"#,
            ),
            (
                TurnEndReason::Error { error: ErrorFacts::new("X", "broke") },
                r#"{"kind":"error","error":{"message":"broke","code":"X"}}"#,
            ),
        ];
        for (reason, text) in rows {
            let end = TurnEnd { turn: 3, reason };
            let json = Payload::to_json(&end).unwrap();
            assert_eq!(json.to_text(), format!(r#"{{"turn":3,"reason":{text}}}"#));
            assert_eq!(<TurnEnd as Payload>::from_json(&json), Ok(end));
        }
    }

    #[test]
    fn an_unknown_reason_or_field_is_refused() {
        for text in [
            r#"{"kind":"bored"}"#,
            r#"{"kind":"completed","x":1}"#,
            r#"{"kind":"aborted"}"#,
            r#"{"kind":"aborted","reason":{"kind":"legacy"}}"#,
            r#"{"kind":"aborted","reason":{"kind":"user","reason":"x"}}"#,
        ] {
            assert!(TurnEndReason::from_json(&Json::parse(text).unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn turns_and_steps_are_stored_and_read_back() {
        fn check<P: Payload + PartialEq + std::fmt::Debug>(payload: &P, text: &str) {
            let json = payload.to_json().unwrap();
            assert_eq!(json.to_text(), text);
            assert_eq!(&P::from_json(&json).unwrap(), payload);
            let more = Json::parse(&text.replace('{', r#"{"x":1"#).replace("1\"", "1,\"")).unwrap();
            assert!(P::from_json(&more).is_err());
        }
        assert!(<TurnStart as Payload>::from_json(&Json::from(vec![Json::from(1)])).is_err());
        check(&TurnStart { turn: 1 }, r#"{"turn":1}"#);
        check(&StepStart { turn: 1, step: 2 }, r#"{"turn":1,"step":2}"#);
        check(&StepEnd { turn: 1, step: 2 }, r#"{"turn":1,"step":2}"#);
        check(&EndSeed {}, "{}");
    }
}
