//! From events to cards.

use std::sync::Arc;

use dsh_json::{Json, Limits};
use dsh_llm::{Content, ContentBlock, Source};
use dsh_session::{
    AssistantMessage, Event, Payload, ToolCall, ToolResult, TurnEnd, TurnEndReason, TurnStart, UserMessage,
};
use dsh_tools_core::{Arguments, CallView, Kind, ResultView, StoredResult, Tools};
use dsh_user_approval::{ApprovalAsked, ApprovalDecided};

use super::card::{CallCard, Card, DecisionCard, Place, ResultCard};

/// Takes the events of a session in order.
pub(crate) struct Fold {
    tools: Tools,
    turn: u32,
    /// The calls that the model made in its last message.
    asked: Vec<Asked>,
    /// Those that were started and have no result, in the order of their start.
    open: Vec<Open>,
    /// The questions that have no answer yet.
    questions: Vec<ApprovalAsked>,
    answer: Option<Arc<str>>,
}

struct Asked {
    id: Arc<str>,
    name: Arc<str>,
    arguments: Arc<str>,
}

struct Open {
    place: Place,
    arguments: Json,
    title: Arc<str>,
}

impl Fold {
    /// At the start of a session. The tools present their calls.
    pub(crate) fn new(tools: Tools) -> Self {
        Self { tools, turn: 0, asked: Vec::new(), open: Vec::new(), questions: Vec::new(), answer: None }
    }

    /// The cards that this event gives, in order. Events that can't be read are passed over.
    pub(crate) fn take(&mut self, event: &Event) -> Vec<Card> {
        match &*event.kind {
            TurnStart::TYPE => read::<TurnStart>(event, |start| self.begin(start)),
            UserMessage::TYPE => read::<UserMessage>(event, |message| self.told(message)),
            AssistantMessage::TYPE => read::<AssistantMessage>(event, |message| self.said(&message)),
            ToolCall::TYPE => read::<ToolCall>(event, |call| self.called(&call)),
            ToolResult::TYPE => read::<ToolResult>(event, |result| self.answered(result)),
            ApprovalAsked::TYPE => read::<ApprovalAsked>(event, |asked| {
                self.questions.push(asked);
                Vec::new()
            }),
            ApprovalDecided::TYPE => read::<ApprovalDecided>(event, |decided| self.decided(decided)),
            TurnEnd::TYPE => read::<TurnEnd>(event, |end| self.end(end)),
            _ => Vec::new(),
        }
    }

    /// The titles of the calls that have no result yet.
    pub(crate) fn running(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.open.iter().map(|open| &open.title)
    }

    fn begin(&mut self, start: TurnStart) -> Vec<Card> {
        self.turn = start.turn;
        self.asked.clear();
        self.open.clear();
        self.questions.clear();
        self.answer = None;
        Vec::new()
    }

    fn told(&self, UserMessage(message): UserMessage) -> Vec<Card> {
        if message.source != Source::User {
            return Vec::new();
        }
        let prompt = |text| Card::Prompt { turn: self.turn, text };
        words(&message.content).map(prompt).into_iter().collect()
    }

    fn said(&mut self, said: &AssistantMessage) -> Vec<Card> {
        self.asked = said.message.tool_calls().filter_map(Asked::of).collect();
        let Some(text) = words(&said.message.content) else { return Vec::new() };
        // What the program says of its own calls is no answer of a model.
        if !matches!(&said.message.source, Source::Model { provider, .. } if &**provider == "dsh") {
            self.answer = Some(Arc::clone(&text));
        }
        if self.asked.is_empty() {
            return Vec::new();
        }
        vec![Card::Said { turn: said.turn, step: said.step, text }]
    }

    fn called(&mut self, call: &ToolCall) -> Vec<Card> {
        let place = Place {
            turn: call.turn,
            step: call.step,
            call_id: Arc::clone(&call.call_id),
            name: Arc::clone(&call.name),
        };
        let (open, view) = self.open(place.clone(), &call.arguments);
        self.open.push(open);
        vec![Card::Call(CallCard { place, view })]
    }

    fn open(&self, place: Place, arguments: &str) -> (Open, CallView) {
        let (arguments, malformed) = match Arguments::parse(arguments, &Limits::default()) {
            Arguments::Value { value, .. } => (value, false),
            Arguments::Malformed(bad) => (Json::String(Arc::clone(bad.text())), true),
        };
        let tool = self.tools.definition(None, &place.name).filter(|_| !malformed);
        let view = tool.and_then(|tool| tool.present_call(&arguments));
        let view = view.unwrap_or_else(|| CallView::Generic {
            title: Arc::clone(&place.name),
            kind: Kind::Other,
            raw_input: Some(arguments.clone()),
            content: None,
            locations: Vec::new(),
        });
        let (CallView::Generic { title, .. }
        | CallView::Terminal { title, .. }
        | CallView::Diff { title, .. }) = &view;
        (Open { place, arguments, title: Arc::clone(title) }, view)
    }

    fn decided(&mut self, decided: ApprovalDecided) -> Vec<Card> {
        let Some(at) = self.questions.iter().position(|asked| asked.id == decided.id) else {
            return Vec::new();
        };
        let tool = self.questions.remove(at).tool_name;
        let ApprovalDecided { outcome, by, cause, .. } = decided;
        vec![Card::Decision(DecisionCard { turn: self.turn, tool, outcome, by, cause })]
    }

    fn answered(&mut self, result: ToolResult) -> Vec<Card> {
        let [ContentBlock::ToolResult { tool_call_id, content, is_error }] = &*result.message.content else {
            return Vec::new();
        };
        let started = self.open.iter().position(|open| open.place.call_id == *tool_call_id);
        let Open { place, arguments, title } = match started {
            Some(at) => self.open.remove(at),
            // A log that was left open is closed with results also for calls that were never started.
            None => self.not_started(tool_call_id, result.turn, result.step),
        };
        let stored = StoredResult { content, is_error: *is_error, meta: result.meta.as_ref() };
        let tool = self.tools.definition(None, &place.name);
        let view = tool.and_then(|tool| tool.present_result(&arguments, &stored));
        let plain = || ResultView::Generic { title: None, content: Some(Arc::clone(content)) };
        let view = view.unwrap_or_else(plain);
        vec![Card::Result(ResultCard { place, title, is_error: *is_error, error: result.error, view })]
    }

    fn not_started(&self, call_id: &Arc<str>, turn: u32, step: u32) -> Open {
        let asked = self.asked.iter().find(|asked| asked.id == *call_id);
        let (name, arguments) = asked
            .map_or_else(Default::default, |asked| (Arc::clone(&asked.name), Arc::clone(&asked.arguments)));
        self.open(Place { turn, step, call_id: Arc::clone(call_id), name }, &arguments).0
    }

    fn end(&mut self, end: TurnEnd) -> Vec<Card> {
        self.open.clear();
        let turn = end.turn;
        let answer = self.answer.take().map(|text| Card::Answer { turn, text });
        let ended =
            (end.reason != TurnEndReason::Completed).then_some(Card::End { turn, reason: end.reason });
        ended.into_iter().chain(answer).collect()
    }
}

impl Asked {
    fn of(block: &ContentBlock) -> Option<Self> {
        let ContentBlock::ToolCall { id, name, arguments, .. } = block else { return None };
        Some(Self { id: Arc::clone(id), name: Arc::clone(name), arguments: Arc::clone(arguments) })
    }
}

fn read<P: Payload>(event: &Event, take: impl FnOnce(P) -> Vec<Card>) -> Vec<Card> {
    match P::from_json(&event.data) {
        Ok(payload) => take(payload),
        Err(problem) => {
            tracing::debug!(seq = event.seq, kind = &*event.kind, %problem, "an event could not be shown");
            Vec::new()
        }
    }
}

/// The words of a message: its text blocks, one below the other.
fn words(content: &Content) -> Option<Arc<str>> {
    let texts: Vec<&str> =
        content.iter().filter_map(ContentBlock::as_text).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n").into())
}
