//! Events of any kind, sound or not, as a careless program would append them.

use std::fmt::Debug;
use std::sync::Arc;

use dsh_json::{Json, Object, object};
use dsh_llm::{Chunk, Content, ContentBlock, ErrorFacts, Finish, Message, Role, Source, ToolSchema, Usage};
use dsh_session::{
    AbortReason, AdapterDefaults, AppendError, AssistantChunk, AssistantMessage, CodedError, EndSeed, Event,
    HeaderReason, Payload, RequestConfig, RequestContext, RequestForm, RequestHeader, Session, StepEnd,
    StepStart, SurfaceOp, ToolCall, ToolResult, TurnEnd, TurnEndReason, TurnStart, UserMessage,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::talk::*;

/// A payload whose type is not known to whoever appends it.
pub(crate) trait AnyPayload: Debug {
    fn append(&self, session: &Session, how: &How) -> Result<Arc<Event>, AppendError>;

    /// The event as a file would hold it; `None` when it has no JSON form.
    fn stored(&self, seq: u64, time: i64, how: &How) -> Option<Event>;

    /// Whether its stored form is read as this very value: an unknown block of a known type is not.
    fn reads_back(&self) -> bool;
}

/// What is asked of the surface.
#[derive(Debug, Clone)]
pub(crate) enum How {
    Append,
    From(Vec<u64>),
    Replace(u64, u64, Vec<u64>),
}

impl<P: Payload + Debug> AnyPayload for P {
    fn append(&self, session: &Session, how: &How) -> Result<Arc<Event>, AppendError> {
        match how {
            How::Append => session.append(self),
            How::From(sources) => session.append_from(self, sources),
            How::Replace(start, end, sources) => session.replace(self, *start, *end, sources),
        }
    }

    fn stored(&self, seq: u64, time: i64, how: &How) -> Option<Event> {
        let (op, sources) = match how {
            How::Append => (P::SURFACE.then_some(SurfaceOp::Append), None),
            How::From(sources) => (P::SURFACE.then_some(SurfaceOp::Append), Some(sources)),
            How::Replace(start, end, sources) => {
                (Some(SurfaceOp::Replace { start: *start, end: *end }), Some(sources))
            }
        };
        Some(Event {
            kind: P::TYPE.into(),
            seq,
            time,
            data: Payload::to_json(self).ok()?,
            surface_op: op,
            source_event_seqs: sources.map(|sources| Arc::from(&**sources)),
            ignorable: P::IGNORABLE,
        })
    }

    fn reads_back(&self) -> bool {
        let read = Payload::to_json(self).ok().and_then(|json| P::from_json(&json).ok());
        read.is_some_and(|read| format!("{read:?}") == format!("{self:?}"))
    }
}

/// Appends the payload of a stored event as the type that it claims; `None` when it is none of that type.
pub(crate) fn append_stored(session: &Session, event: &Event) -> Option<Result<Arc<Event>, AppendError>> {
    let sources = event.source_event_seqs.as_deref().map(<[u64]>::to_vec);
    let how = match (event.surface_op, sources) {
        (None | Some(SurfaceOp::Append), None) => How::Append,
        (None | Some(SurfaceOp::Append), Some(sources)) => How::From(sources),
        (Some(SurfaceOp::Replace { start, end }), sources) => {
            How::Replace(start, end, sources.unwrap_or_default())
        }
    };
    macro_rules! appended {
        ($($payload:ty),+) => {
            $(if *event.kind == *<$payload>::TYPE {
                return Some(<$payload as Payload>::from_json(&event.data).ok()?.append(session, &how));
            })+
        };
    }
    appended!(TurnStart, TurnEnd, StepStart, StepEnd, UserMessage, AssistantChunk, AssistantMessage);
    appended!(ToolCall, ToolResult, RequestHeader, RequestContext, EndSeed, Asked, Decided, Note);
    None
}

pub(crate) type Draft = (Arc<dyn AnyPayload>, How);

/// Some payload, mostly one that could be, and what is asked of the surface.
pub(crate) fn draft() -> impl Strategy<Value = Draft> {
    (prop_oneof![likely(), unlikely()], how())
}

fn how() -> impl Strategy<Value = How> {
    let sources = || prop_oneof![vec(0..8_u64, 0..4), (0..6_u64).prop_map(|end| (0..=end).collect())];
    prop_oneof![
        4 => Just(How::Append),
        1 => sources().prop_map(How::From),
        1 => (0..6_u64, 0..6_u64, sources()).prop_map(|(start, end, sources)| How::Replace(start, end, sources)),
    ]
}

fn likely() -> impl Strategy<Value = Arc<dyn AnyPayload>> {
    let id = || select(vec!["c1", "c2"]);
    prop_oneof![
        any(Just(start(1))),
        any(Just(end(1))),
        any(Just(step(1, 1))),
        any(Just(step_end(1, 1))),
        any(id().prop_map(|id| user(id, id))),
        any(id().prop_map(|id| answer(1, 1, "x", &[id]))),
        any(id().prop_map(|id| call(1, 1, id))),
        any((id(), name()).prop_map(|(id, words)| result(1, 1, id, words))),
        any(id().prop_map(asked)),
        any(id().prop_map(decided)),
        any(name().prop_map(|text| Note { text: text.to_owned() })),
        any(Just(EndSeed {})),
    ]
}

fn unlikely() -> impl Strategy<Value = Arc<dyn AnyPayload>> {
    prop_oneof![
        any(message().prop_map(UserMessage)),
        any((message(), option::of(usage())).prop_map(|(message, usage)| AssistantMessage {
            turn: 0,
            step: u32::MAX,
            message,
            usage
        })),
        any((message(), option::of(coded_error()), option::of(json()))
            .prop_map(|(message, error, meta)| ToolResult { turn: 1, step: 1, message, error, meta })),
        any((text(), text(), text()).prop_map(|(call_id, name, arguments)| {
            ToolCall { turn: 1, step: 0, call_id, name, arguments }
        })),
        any(chunk().prop_map(|chunk| AssistantChunk { turn: 1, step: 1, chunk })),
        any(reason().prop_map(|reason| TurnEnd { turn: 0, reason })),
        any(request_header()),
        any((text(), text(), option::of(number())).prop_map(|(provider, model, context_window)| {
            RequestContext { provider, model, context_window }
        })),
        any((0..2_u32).prop_map(|read| Crooked { read })),
        any(name().prop_map(|kind| Stranger { kind: kind.to_owned() })),
    ]
}

/// A payload that no vocabulary of these tests has.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Stranger {
    kind: String,
}

impl Payload for Stranger {
    const TYPE: &'static str = "test/stranger";
}

fn any<P: Payload + Debug>(
    payload: impl Strategy<Value = P> + 'static,
) -> BoxedStrategy<Arc<dyn AnyPayload>> {
    payload.prop_map(|payload| Arc::new(payload) as Arc<dyn AnyPayload>).boxed()
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["", "a", "c1", "text", "tool-call", "tool-result", "later", "\u{0}\"\u{2028}é"])
}

fn text() -> impl Strategy<Value = Arc<str>> {
    name().prop_map(Arc::from)
}

fn number() -> impl Strategy<Value = u64> {
    select(vec![0, 1, 1 << 53, u64::MAX])
}

/// Values that look like something, and some that do not.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        Just(Json::from(true)),
        Just(Json::try_from(1.0).unwrap_or_default()),
        Just(Json::from(u64::MAX)),
        Just(object! {}),
        name().prop_map(Json::from),
        name().prop_map(|kind| object! { "type": kind }),
        name().prop_map(|kind| object! { "type": kind, "text": "x", "more": 1 }),
        name().prop_map(|kind| object! { "kind": kind }),
        Just(object! { "kind": "tool", "callId": "c1" }),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Json::from),
            vec((name(), inner), 0..3).prop_map(|fields| fields
                .into_iter()
                .map(|(key, value)| (Arc::from(key), value))
                .collect::<Object>()
                .into()),
        ]
    })
}

fn block() -> impl Strategy<Value = ContentBlock> {
    let leaf = prop_oneof![
        text().prop_map(|text| ContentBlock::Text { text }),
        text().prop_map(|text| ContentBlock::Reasoning { text }),
        json().prop_map(|attachment| ContentBlock::Image { attachment }),
        (text(), text(), text(), option::of(text())).prop_map(|(id, name, arguments, provider_call_id)| {
            ContentBlock::ToolCall { id, name, arguments, provider_call_id }
        }),
        json().prop_map(ContentBlock::Other),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        (text(), vec(inner, 0..2), proptest::bool::ANY).prop_map(|(tool_call_id, content, is_error)| {
            ContentBlock::ToolResult { tool_call_id, content: content.into(), is_error }
        })
    })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::User),
        (text(), option::of(text()), json()).prop_map(|(plugin, form, details)| {
            let details = details.as_object().cloned().unwrap_or_default();
            Source::Plugin { plugin, form, details }
        }),
        (text(), text(), option::of(json())).prop_map(|(provider, model, replay_state)| Source::Model {
            provider,
            model,
            replay_state
        }),
        text().prop_map(|call_id| Source::Tool { call_id }),
        json().prop_map(Source::Other),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let role = select(vec![Role::User, Role::Assistant]);
    let content = vec(block(), 0..3).prop_map(Content::from);
    (text(), role, content, source()).prop_map(|(id, role, content, source)| Message {
        id,
        role,
        content,
        source,
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    (number(), number(), option::of(number())).prop_map(|(input_tokens, output_tokens, more)| Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens: more,
        cache_write_tokens: None,
        reasoning_tokens: more,
    })
}

fn coded_error() -> impl Strategy<Value = CodedError> {
    (text(), text()).prop_map(|(name, code)| CodedError { name, code })
}

fn facts() -> impl Strategy<Value = ErrorFacts> {
    (text(), text(), option::of(number()), option::of(text())).prop_map(
        |(code, message, status, request_id)| ErrorFacts {
            status,
            request_id,
            ..ErrorFacts::new(code, message)
        },
    )
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let finish = prop_oneof![
        select(vec![Finish::Stop, Finish::ToolCalls, Finish::MaxTokens, Finish::Aborted]),
        facts().prop_map(Finish::Error),
    ];
    prop_oneof![
        text().prop_map(|block_type| Chunk::BlockStart { index: 0, block_type }),
        text().prop_map(|text| Chunk::TextDelta { index: u32::MAX, text }),
        text().prop_map(|text| Chunk::ReasoningDelta { index: 0, text }),
        (text(), option::of(text()), text()).prop_map(|(id, name, arguments_delta)| {
            Chunk::ToolCallDelta { index: 0, id, name, arguments_delta }
        }),
        block().prop_map(|block| Chunk::BlockEnd { index: 0, block }),
        usage().prop_map(|usage| Chunk::Usage { usage }),
        (finish, option::of(json()))
            .prop_map(|(reason, replay_state)| Chunk::Finish { reason, replay_state }),
    ]
}

fn reason() -> impl Strategy<Value = TurnEndReason> {
    let aborted = |reason| TurnEndReason::Aborted { reason };
    prop_oneof![
        select(vec![TurnEndReason::Blocked, TurnEndReason::Interrupted, aborted(AbortReason::Parent)]),
        text().prop_map(move |why| aborted(AbortReason::Hook(why))),
        facts().prop_map(|error| TurnEndReason::Error { error }),
    ]
}

fn request_header() -> impl Strategy<Value = RequestHeader> {
    let config = (text(), text(), option::of(number()), option::of(text())).prop_map(
        |(provider, model, max_tokens, reasoning_effort)| RequestConfig {
            provider,
            model,
            max_tokens,
            reasoning_effort,
        },
    );
    let defaults = (proptest::bool::ANY, proptest::bool::ANY)
        .prop_map(|(max_tokens, reasoning_effort)| AdapterDefaults { max_tokens, reasoning_effort });
    let tool = (text(), json()).prop_map(|(name, parameters)| ToolSchema {
        description: Arc::clone(&name),
        name,
        parameters,
    });
    let tools = option::of(vec(tool, 0..2).prop_map(Arc::from));
    (config, option::of(defaults), option::of(text()), tools).prop_map(
        |(config, adapter_defaults, system, tools)| RequestHeader {
            header: RequestForm { config, adapter_defaults, system, tools },
            reason: HeaderReason::Change,
        },
    )
}
