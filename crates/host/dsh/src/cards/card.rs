//! What a card is, before it is drawn.

use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_session::{CodedError, TurnEndReason};
use dsh_tools_core::{Approval, CallView, ResultView};

/// One thing to show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Card {
    /// What a person asked for.
    Prompt { turn: u32, text: Arc<str> },
    /// What was said along with calls.
    Said { turn: u32, step: u32, text: Arc<str> },
    /// A call begins.
    Call(CallCard),
    /// Somebody was asked whether a call may run.
    Decision(DecisionCard),
    /// A call has its result.
    Result(ResultCard),
    /// The turn ended, and not because all was done.
    End { turn: u32, reason: TurnEndReason },
    /// The last thing that the model said in the turn.
    Answer { turn: u32, text: Arc<str> },
}

/// A call that begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallCard {
    pub(crate) place: Place,
    pub(crate) view: CallView,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionCard {
    pub(crate) turn: u32,
    pub(crate) tool: Arc<str>,
    pub(crate) outcome: Approval,
    pub(crate) by: Option<Arc<str>>,
    pub(crate) cause: Option<Arc<str>>,
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResultCard {
    pub(crate) place: Place,
    /// Of the call, where the view has none.
    pub(crate) title: Arc<str>,
    pub(crate) is_error: bool,
    pub(crate) error: Option<CodedError>,
    pub(crate) view: ResultView,
}

/// Which call a card is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) turn: u32,
    pub(crate) step: u32,
    pub(crate) call_id: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Card {
    /// The card for a program.
    pub(crate) fn to_json(&self) -> Json {
        let mut object = Object::new();
        match self {
            Self::Prompt { turn, text } => {
                object.insert("type", "prompt");
                object.insert("turn", *turn);
                object.insert("text", Arc::clone(text));
            }
            Self::Said { turn, step, text } => {
                object.insert("type", "said");
                object.insert("turn", *turn);
                object.insert("step", *step);
                object.insert("text", Arc::clone(text));
            }
            Self::Call(card) => {
                object.insert("type", "call");
                card.place.put(&mut object);
                // Views are texts and small numbers, which always are JSON.
                object.insert("view", Json::from_serialize(&card.view).unwrap_or_default());
            }
            Self::Decision(card) => {
                object.insert("type", "decision");
                object.insert("turn", card.turn);
                object.insert("tool", Arc::clone(&card.tool));
                // A word.
                object.insert("outcome", Json::from_serialize(&card.outcome).unwrap_or_default());
                for (key, told) in [("by", &card.by), ("cause", &card.cause)] {
                    if let Some(told) = told {
                        object.insert(key, Arc::clone(told));
                    }
                }
            }
            Self::Result(card) => {
                object.insert("type", "result");
                card.place.put(&mut object);
                object.insert("title", Arc::clone(&card.title));
                object.insert("isError", card.is_error);
                if let Some(CodedError { name, code }) = &card.error {
                    object.insert("error", dsh_json::object! { "name": name, "code": code });
                }
                object.insert("view", Json::from_serialize(&card.view).unwrap_or_default());
            }
            Self::End { turn, reason } => {
                object.insert("type", "end");
                object.insert("turn", *turn);
                object.insert("reason", reason.to_json());
            }
            Self::Answer { turn, text } => {
                object.insert("type", "answer");
                object.insert("turn", *turn);
                object.insert("text", Arc::clone(text));
            }
        }
        object.into()
    }
}

impl Place {
    fn put(&self, object: &mut Object) {
        object.insert("turn", self.turn);
        object.insert("step", self.step);
        object.insert("callId", Arc::clone(&self.call_id));
        object.insert("name", Arc::clone(&self.name));
    }
}
