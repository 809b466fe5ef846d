//! What a server says about a failure, and which failure it is.

use dsh_json::Json;
use dsh_llm::ErrorFacts;

use crate::codes::{
    MODEL_AUTH, MODEL_CONTENT_FILTERED, MODEL_CONTEXT_LENGTH, MODEL_HTTP, MODEL_OVERLOADED,
    MODEL_PROVIDER_ERROR, MODEL_QUOTA, MODEL_RATE_LIMITED,
};

/// A server's words about a failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Complaint {
    /// Its own code and kind, such as `rate_limit_exceeded`.
    code: String,
    kind: String,
    message: String,
}

impl Complaint {
    /// What the body of a refusal says: JSON in one of the usual forms, or plain words.
    pub(crate) fn in_body(body: &str) -> Self {
        let Ok(json) = Json::parse(body) else {
            let is_markup = body.trim_start().starts_with('<');
            let message = if is_markup { String::new() } else { body.to_owned() };
            return Self { message, ..Self::default() };
        };
        let json = json.at(0).unwrap_or(&json);
        Self::in_event(json).unwrap_or_else(|| Self::of(json))
    }

    /// The failure that an event of a stream tells, if it tells one.
    pub(crate) fn in_event(event: &Json) -> Option<Self> {
        match event.get("error") {
            Some(Json::Null) | None => {}
            Some(error) => return Some(Self::of(error)),
        }
        let is_error = event.get("object").and_then(Json::as_str) == Some("error");
        is_error.then(|| Self::of(event))
    }

    fn of(error: &Json) -> Self {
        let text = |name: &str| match error.get(name) {
            Some(Json::String(text)) => text.as_ref().to_owned(),
            Some(number @ Json::Number(_)) => number.to_text(),
            Some(Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_)) | None => String::new(),
        };
        let message = match error {
            Json::String(message) => message.as_ref().to_owned(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                ["message", "detail", "error_msg"]
                    .map(text)
                    .into_iter()
                    .find(|text| !text.is_empty())
                    .unwrap_or_default()
            }
        };
        Self { code: text("code"), kind: text("type"), message }
    }

    /// The failure as facts. Its message is `what`, the server's code and words, and what to do about it; not yet bounded.
    pub(crate) fn facts(&self, what: &str, status: Option<u16>) -> ErrorFacts {
        let (code, advice) = self.class(status.or_else(|| self.code.parse().ok()), status.is_some());
        let mut message = what.to_owned();
        let named = [&self.code, &self.kind].into_iter().find(|name| !name.is_empty());
        if let Some(name) = named {
            message.push_str(" (");
            message.push_str(name);
            message.push(')');
        }
        if !self.message.trim().is_empty() {
            message.push_str(": ");
            message.push_str(self.message.trim());
        }
        if let Some(advice) = advice {
            message.push_str("; ");
            message.push_str(advice);
        }
        ErrorFacts { status: status.map(u64::from), ..ErrorFacts::new(code, message) }
    }

    fn class(&self, status: Option<u16>, refused: bool) -> (&'static str, Option<&'static str>) {
        let (code, kind, words) =
            (self.code.to_lowercase(), self.kind.to_lowercase(), self.message.to_lowercase());
        let named = |names: &[&str]| names.iter().any(|name| code.contains(name) || kind.contains(name));
        let said = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        if named(&["context_length", "exceed_context"])
            || said(&["maximum context length", "context length", "context window", "available context size"])
        {
            (MODEL_CONTEXT_LENGTH, Some("the conversation is longer than this model can read"))
        } else if named(&["content_filter", "content_policy"]) || said(&["content exists risk"]) {
            (MODEL_CONTENT_FILTERED, Some("the provider's content filter refused the conversation"))
        } else if status == Some(402)
            || named(&["insufficient_quota", "billing"])
            || said(&["insufficient balance"])
        {
            (MODEL_QUOTA, Some("the account has nothing left to spend"))
        } else if matches!(status, Some(401 | 403))
            || named(&["invalid_api_key", "authentication", "permission"])
        {
            (MODEL_AUTH, Some("check the key, and that it may use this model"))
        } else if status == Some(429) || named(&["rate_limit", "too_many_requests"]) {
            (MODEL_RATE_LIMITED, None)
        } else if matches!(status, Some(500 | 502 | 503 | 504 | 529))
            || named(&["overloaded", "server_error", "unavailable"])
        {
            (MODEL_OVERLOADED, None)
        } else if refused {
            (MODEL_HTTP, (status == Some(404)).then_some("check the base URL and the model's name"))
        } else {
            (MODEL_PROVIDER_ERROR, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart() {
        for (status, body, code, message) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                MODEL_AUTH,
                "it said 401 (invalid_api_key): Incorrect API key; check the key, and that it may use this model",
            ),
            (
                402,
                r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
                MODEL_QUOTA,
                "it said 402 (unknown_error): Insufficient Balance; the account has nothing left to spend",
            ),
            (
                429,
                r#"{"error":{"message":"Slow down","code":null}}"#,
                MODEL_RATE_LIMITED,
                "it said 429: Slow down",
            ),
            (
                429,
                r#"{"error":{"message":"Used up","type":"insufficient_quota"}}"#,
                MODEL_QUOTA,
                "it said 429 (insufficient_quota): Used up; the account has nothing left to spend",
            ),
            (503, "<html>busy</html>", MODEL_OVERLOADED, "it said 503"),
            (500, "oops", MODEL_OVERLOADED, "it said 500: oops"),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 65536 tokens.","code":400}}"#,
                MODEL_CONTEXT_LENGTH,
                "it said 400 (400): This model's maximum context length is 65536 tokens.; the conversation is longer than this model can read",
            ),
            (
                400,
                r#"{"error":{"message":"Content Exists Risk"}}"#,
                MODEL_CONTENT_FILTERED,
                "it said 400: Content Exists Risk; the provider's content filter refused the conversation",
            ),
            (
                404,
                r#"{"detail":"Not Found"}"#,
                MODEL_HTTP,
                "it said 404: Not Found; check the base URL and the model's name",
            ),
            (
                400,
                r#"[{"error":{"message":"bad","code":400,"status":"INVALID"}}]"#,
                MODEL_HTTP,
                "it said 400 (400): bad",
            ),
            (422, r#"{"error":"no"}"#, MODEL_HTTP, "it said 422: no"),
            (422, "", MODEL_HTTP, "it said 422"),
        ] {
            let facts = Complaint::in_body(body).facts(&format!("it said {status}"), Some(status));
            assert_eq!((&*facts.code, &*facts.message), (code, message), "{body}");
            assert_eq!(facts.status, Some(u64::from(status)));
        }
    }

    #[test]
    fn failures_within_a_stream_are_told_apart() {
        for (event, code) in [
            (r#"{"error":{"message":"x","type":"server_error"}}"#, Some(MODEL_OVERLOADED)),
            (r#"{"error":{"message":"x","code":429}}"#, Some(MODEL_RATE_LIMITED)),
            (r#"{"error":{"message":"x","code":"odd"}}"#, Some(MODEL_PROVIDER_ERROR)),
            (r#"{"error":"the context length is exceeded"}"#, Some(MODEL_CONTEXT_LENGTH)),
            (r#"{"object":"error","message":"x","code":400}"#, Some(MODEL_PROVIDER_ERROR)),
            (r#"{"error":null,"choices":[]}"#, None),
            (r#"{"choices":[]}"#, None),
        ] {
            let found =
                Complaint::in_event(&Json::parse(event).unwrap()).map(|told| told.facts("failed", None));
            assert_eq!(found.as_ref().map(|facts| &*facts.code), code, "{event}");
            assert_eq!(found.and_then(|facts| facts.status), None);
        }
    }
}
