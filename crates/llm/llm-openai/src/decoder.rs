//! Bytes of a streamed answer in, chunks out.

use std::borrow::Cow;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{Chunk, ErrorFacts, Finish, STREAM_ENDED_EARLY, Usage};

use crate::calls::Calls;
use crate::codes::{MODEL_CONTENT_FILTERED, MODEL_OVERLOADED, MODEL_PROTOCOL, MODEL_RESPONSE_TOO_LARGE};
use crate::complaint::Complaint;
use crate::event::{Effect, effects, finish_reason, is_first};
use crate::sse::Splitter;
use crate::surrogates::without_lone_surrogates;
use crate::template::Template;
use crate::usage::usage;

/// Reads one answer: the body of a streaming response, in pieces that are cut anywhere.
///
/// The chunks are the same however the bytes are cut. Reasoning, text and each tool call are blocks of their own, in the
/// order in which they begin; a block starts with [`Chunk::BlockStart`] and has no end of its own. The usage is told once,
/// right before the finish. The last chunk is [`Chunk::Finish`], exactly once, when [`end`](Self::end) was called at the
/// latest:
///
/// - after `[DONE]` or the end of the bytes, as the server said; without its word [`STREAM_ENDED_EARLY`];
/// - at once with [`MODEL_PROTOCOL`] for an event that is not understood, with [`MODEL_RESPONSE_TOO_LARGE`] for one over
///   the bound, and with the failure's own code for one that the server tells.
///
/// It holds one event, and the ids and names of the calls. The work is linear in the bytes.
///
/// ```
/// use dsh_llm::{Chunk, Finish};
/// use dsh_llm_openai::Decoder;
///
/// let mut decoder = Decoder::new(1 << 20);
/// let mut chunks = Vec::new();
/// decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_re", &mut chunks);
/// decoder.push(b"ason\":\"stop\"}]}\n\ndata: [DONE]\n\n", &mut chunks);
/// assert_eq!(chunks, [
///     Chunk::BlockStart { index: 0, block_type: "text".into() },
///     Chunk::TextDelta { index: 0, text: "Hi".into() },
///     Chunk::Finish { reason: Finish::Stop, replay_state: None },
/// ]);
/// ```
#[derive(Debug)]
pub struct Decoder {
    splitter: Splitter,
    max_event_bytes: usize,
    template: Template,
    answer: Answer,
}

impl Decoder {
    /// A decoder of one answer, whose events have at most `max_event_bytes`.
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            splitter: Splitter::new(max_event_bytes),
            max_event_bytes,
            template: Template::default(),
            answer: Answer::default(),
        }
    }

    /// Takes the next bytes, and appends the chunks that they complete. After the finish nothing more is taken.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Chunk>) {
        if self.is_over() {
            return;
        }
        let Self { splitter, template, answer, .. } = self;
        if splitter.push(bytes, |data| answer.event(template, data, out)).is_err() {
            let limit = self.max_event_bytes;
            let message =
                format!("one event of the model's answer is longer than {limit} bytes, `maxEventBytes`");
            self.fail(ErrorFacts::new(MODEL_RESPONSE_TOO_LARGE, message), out);
        }
    }

    /// There are no more bytes. An event whose end is missing still counts, if it is whole.
    pub fn end(&mut self, out: &mut Vec<Chunk>) {
        if let Some(data) = self.splitter.end().filter(|data| is_whole(data)) {
            let _ = self.answer.event(&mut self.template, &data, out);
        }
        self.answer.conclude(out);
    }

    /// Ends the answer with a failure, unless the server had said why it ended: then with that.
    pub fn break_off(&mut self, facts: ErrorFacts, out: &mut Vec<Chunk>) {
        if self.is_complete() {
            self.answer.conclude(out);
        } else {
            self.fail(facts, out);
        }
    }

    /// Ends the answer with this failure.
    pub fn fail(&mut self, facts: ErrorFacts, out: &mut Vec<Chunk>) {
        self.answer.end(Finish::Error(facts), out);
    }

    /// Whether the finish was given.
    pub fn is_over(&self) -> bool {
        self.answer.over
    }

    /// Whether the server said why the answer ended. All that may follow are its usage and the end of the stream.
    pub fn is_complete(&self) -> bool {
        self.answer.finish.is_some()
    }
}

#[derive(Debug, Default)]
struct Answer {
    next_block: u32,
    text: Option<u32>,
    reasoning: Option<u32>,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<Finish>,
    over: bool,
}

impl Answer {
    fn event(&mut self, template: &mut Template, data: &[u8], out: &mut Vec<Chunk>) -> ControlFlow<()> {
        if self.over {
            return ControlFlow::Break(());
        }
        let text = String::from_utf8_lossy(data);
        if let Some((effect, word)) = template.read(&text) {
            self.apply(effect, Some(word), out);
        } else if text.trim_ascii() == "[DONE]" {
            self.conclude(out);
        } else if !text.trim_ascii().is_empty() {
            match parse(&text) {
                Ok(event) => {
                    self.take(&event, out);
                    template.learn(&text, &event);
                }
                Err(problem) => {
                    let message = format!("an event of the model's answer can't be understood: {problem}");
                    self.end(Finish::Error(ErrorFacts::new(MODEL_PROTOCOL, message)), out);
                }
            }
        }
        if self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn take(&mut self, event: &Json, out: &mut Vec<Chunk>) {
        if let Some(told) = event.get("usage").and_then(usage) {
            self.usage = Some(told);
        }
        if let Some(complaint) = Complaint::in_event(event) {
            self.end(
                Finish::Error(complaint.facts("the provider ended the answer with an error", None)),
                out,
            );
            return;
        }
        for choice in event.get("choices").and_then(Json::as_array).unwrap_or_default() {
            if !is_first(choice) {
                continue;
            }
            if let Some(delta) = choice.get("delta") {
                effects(delta, |effect, word| self.apply(&effect, word, out));
            }
            if let (Some(reason), None) = (finish_reason(choice), &self.finish) {
                self.finish = Some(finish(reason));
            }
        }
    }

    fn apply(&mut self, effect: &Effect, word: Option<Arc<str>>, out: &mut Vec<Chunk>) {
        match (effect, word.filter(|word| !word.is_empty())) {
            (Effect::Words, Some(text)) => {
                let index = started(&mut self.text, &mut self.next_block, "text", out);
                out.push(Chunk::TextDelta { index, text });
            }
            (Effect::Thought, Some(text)) => {
                let index = started(&mut self.reasoning, &mut self.next_block, "reasoning", out);
                out.push(Chunk::ReasoningDelta { index, text });
            }
            (Effect::Words | Effect::Thought, None) => {}
            (Effect::Call(piece), arguments) => self.calls.take(piece, arguments, &mut self.next_block, out),
        }
    }

    fn conclude(&mut self, out: &mut Vec<Chunk>) {
        let calls = !self.calls.is_empty();
        let reason = match self.finish.take() {
            // Some servers say `stop` after calls.
            Some(Finish::Stop | Finish::ToolCalls) if calls => Finish::ToolCalls,
            Some(Finish::Stop | Finish::ToolCalls) => Finish::Stop,
            Some(reason @ (Finish::MaxTokens | Finish::Error(_) | Finish::Aborted)) => reason,
            None => Finish::Error(ErrorFacts::new(
                STREAM_ENDED_EARLY,
                "the model's answer ended before it was finished: the provider did not say why it ended",
            )),
        };
        self.end(reason, out);
    }

    fn end(&mut self, reason: Finish, out: &mut Vec<Chunk>) {
        if mem::replace(&mut self.over, true) {
            return;
        }
        self.calls.flush(out);
        out.extend(self.usage.map(|usage| Chunk::Usage { usage }));
        out.push(Chunk::Finish { reason, replay_state: None });
    }
}

fn started(block: &mut Option<u32>, next: &mut u32, block_type: &str, out: &mut Vec<Chunk>) -> u32 {
    *block.get_or_insert_with(|| {
        let index = *next;
        *next = index.saturating_add(1);
        out.push(Chunk::BlockStart { index, block_type: block_type.into() });
        index
    })
}

/// What a `finish_reason` means, the spellings of other servers included. An unknown one is a failure: the answer may be
/// cut, and then its calls must not run.
fn finish(reason: &str) -> Finish {
    match reason {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        "length" | "max_tokens" | "model_length" => Finish::MaxTokens,
        "content_filter" => Finish::Error(ErrorFacts::new(
            MODEL_CONTENT_FILTERED,
            "the provider's content filter ended the answer",
        )),
        "insufficient_system_resource" => Finish::Error(ErrorFacts::new(
            MODEL_OVERLOADED,
            "the provider ended the answer for want of resources; try again later",
        )),
        other => {
            let shown: String = other.chars().filter(|c| !c.is_control()).take(60).collect();
            let message = format!("the model's answer ended for a reason that is not known here, `{shown}`");
            Finish::Error(ErrorFacts::new(MODEL_PROTOCOL, message))
        }
    }
}

fn parse(text: &str) -> Result<Json, Cow<'static, str>> {
    let event = match Json::parse(text) {
        // Half a character in an escape: foreign text is mended, not refused.
        Err(error) if error.code() == "JSON_STRING" => Json::parse(&without_lone_surrogates(text)),
        parsed => parsed,
    };
    match event {
        Ok(event @ Json::Object(_)) => Ok(event),
        Ok(other) => Err(format!("expected an object, found {}", other.kind()).into()),
        Err(error) => Err(error.to_string().into()),
    }
}

/// Whether the data of an event without an end is one that can be read.
fn is_whole(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    text.trim_ascii() == "[DONE]" || parse(&text).is_ok()
}

#[cfg(test)]
mod tests;
