//! Failures as facts, without the key and within bounds.

use std::sync::Arc;

use dsh_lifecycle::Clock;
use dsh_llm::{Chunk, ErrorFacts, Finish, STREAM_ENDED_EARLY};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::ApiKey;
use crate::client::causes;
use crate::codes::{
    MODEL_PROTOCOL, MODEL_RESPONSE_TOO_LARGE, MODEL_TIMEOUT_IDLE, MODEL_TIMEOUT_TOTAL, MODEL_UNREACHABLE,
};
use crate::complaint::Complaint;
use crate::retry::asked_wait;

/// Characters of a message.
const MESSAGE: usize = 1_000;
/// Characters of a request's name.
const REQUEST_ID: usize = 200;
/// The headers in which providers name a request.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "x-ds-trace-id", "request-id"];

/// Who is told to have failed, and what is never told.
pub(crate) struct Blame {
    pub(crate) provider: &'static str,
    pub(crate) server: Arc<str>,
    pub(crate) key: Option<ApiKey>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Blame {
    /// No connection, or one that broke before an answer came.
    pub(crate) fn unreachable(&self, error: reqwest::Error) -> ErrorFacts {
        let slow = if error.is_timeout() { " within `connectTimeoutMs`" } else { "" };
        let (server, why) = (&self.server, causes(&error.without_url()));
        let message = format!("{} at {server} could not be reached{slow}: {why}", self.provider);
        ErrorFacts::new(MODEL_UNREACHABLE, message)
    }

    /// A status that is no success, with what its body says.
    pub(crate) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &str) -> ErrorFacts {
        let what = format!("{} at {} answered {}", self.provider, self.server, status.as_u16());
        let facts = Complaint::in_body(body).facts(&what, Some(status.as_u16()));
        ErrorFacts { provider_retry_after_ms: asked_wait(headers, &*self.clock), ..facts }
    }

    /// A success that holds no stream of events.
    pub(crate) fn no_stream(&self, content_type: &str, body: &str) -> ErrorFacts {
        let what = format!(
            "{} at {} answered with `{content_type}` instead of a stream",
            self.provider, self.server
        );
        match dsh_json::Json::parse(body).ok().and_then(|json| Complaint::in_event(&json)) {
            Some(complaint) => complaint.facts(&what, None),
            None => ErrorFacts::new(MODEL_PROTOCOL, format!("{what}; check the base URL")),
        }
    }

    /// The connection broke within an answer.
    pub(crate) fn broken(error: reqwest::Error) -> ErrorFacts {
        let why = causes(&error.without_url());
        let message = format!("the model's answer ended before it was finished: {why}");
        ErrorFacts::new(STREAM_ENDED_EARLY, message)
    }

    pub(crate) fn too_large(&self, limit: u64) -> ErrorFacts {
        let message =
            format!("the answer of {} is longer than {limit} bytes, `maxResponseBytes`", self.provider);
        ErrorFacts::new(MODEL_RESPONSE_TOO_LARGE, message)
    }

    pub(crate) fn idle(&self, limit_ms: u64) -> ErrorFacts {
        let message = format!("nothing came from {} for {limit_ms} ms, `idleTimeoutMs`", self.provider);
        ErrorFacts::new(MODEL_TIMEOUT_IDLE, message)
    }

    pub(crate) fn total(&self, limit_ms: u64, last: Option<&ErrorFacts>) -> ErrorFacts {
        let before = last.map(|facts| format!("; before that, {}", facts.message)).unwrap_or_default();
        let message = format!(
            "the answer of {} was not complete after {limit_ms} ms, `totalTimeoutMs`{before}",
            self.provider
        );
        ErrorFacts::new(MODEL_TIMEOUT_TOTAL, message)
    }

    /// The chunk as it may be shown: a failure names the request, and holds neither the key nor more than its bounds.
    pub(crate) fn presentable(&self, chunk: Chunk, request_id: Option<&Arc<str>>) -> Chunk {
        let Chunk::Finish { reason: Finish::Error(facts), replay_state } = chunk else { return chunk };
        let message = self.shown(&facts.message, MESSAGE).into();
        let request_id = facts.request_id.or_else(|| request_id.cloned());
        let facts = ErrorFacts { message, request_id, ..facts };
        Chunk::Finish { reason: Finish::Error(facts), replay_state }
    }

    /// The provider's name for the request.
    pub(crate) fn request_id(&self, headers: &HeaderMap) -> Option<Arc<str>> {
        let told = REQUEST_IDS.iter().find_map(|name| headers.get(*name))?;
        let told = self.shown(told.to_str().ok()?, REQUEST_ID);
        (!told.is_empty()).then(|| told.into())
    }

    /// Foreign words without the key and without control characters, cut in the middle.
    fn shown(&self, text: &str, most: usize) -> String {
        let scrubbed = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        let plain = scrubbed.chars().map(|c| if c.is_control() { ' ' } else { c });
        let count = scrubbed.chars().count();
        if count <= most {
            return plain.collect();
        }
        // What to do stands at the end.
        let end = most / 4;
        let start: String = plain.clone().take(most - end).collect();
        format!("{start}…{}", plain.skip(count - end).collect::<String>())
    }
}
