//! The event that most events of a stream are like.
//!
//! Servers write one event for each word, and nothing differs between them but the word. Once an event was read in full,
//! the text around its word is remembered; an event with the same text around a string is the same event with that string
//! in it, so that only the string has to be read. What differs elsewhere is read in full, as the first one was.

use std::sync::Arc;

use dsh_json::Json;

use crate::event::Effect;

/// The text around the one string of an event that changes.
#[derive(Debug, Default)]
pub(crate) struct Template {
    /// Up to and with the opening quote.
    before: String,
    /// From the closing quote.
    after: String,
    effect: Option<Effect>,
    misses: u32,
}

/// Streams whose events differ elsewhere are not worth the attempts.
const MISSES: u32 = 16;

impl Template {
    /// What this event means, if it is like the one that was learned.
    pub(crate) fn read(&mut self, event: &str) -> Option<(&Effect, Arc<str>)> {
        let effect = self.effect.as_ref()?;
        let word = event.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        let word = if is_plain(word) {
            word.into()
        } else {
            // With its quotes, and whole or not at all.
            match Json::parse(event.get(self.before.len() - 1..event.len() - self.after.len() + 1)?) {
                Ok(Json::String(word)) => word,
                Ok(_) | Err(_) => return None,
            }
        };
        self.misses = 0;
        Some((effect, word))
    }

    /// Learns from an event that was read in full.
    pub(crate) fn learn(&mut self, text: &str, event: &Json) {
        if self.misses >= MISSES {
            return;
        }
        self.misses += 1;
        self.effect = None;
        let Some((effect, word)) = Effect::only(event) else { return };
        let literal = Json::String(Arc::clone(&word)).to_text();
        let Some(at) = text.find(&literal).filter(|at| text.rfind(&literal) == Some(*at)) else { return };
        let (before, after) = text.split_at(at + literal.len() - 1);
        // The same words may stand elsewhere, and these be written in other escapes: another word in this place tells.
        let trial = Json::parse(&format!("{before}.{after}"));
        let other: Arc<str> = format!("{word}.").into();
        if trial.ok().and_then(|event| Effect::only(&event)) == Some((effect.clone(), other)) {
            text.split_at(at + 1).0.clone_into(&mut self.before);
            after.clone_into(&mut self.after);
            self.effect = Some(effect);
        }
    }
}

/// Whether this text stands for itself between quotes.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the second event is read as the first one was learned, and as which word.
    fn check(first: &str, second: &str, expected: Option<&str>) {
        let mut template = Template::default();
        template.learn(first, &Json::parse(first).unwrap());
        let read = template.read(second).map(|(effect, word)| (effect.clone(), word));
        assert_eq!(read.as_ref().map(|(_, word)| &**word), expected, "{first} {second}");
        if let Some(read) = read {
            assert_eq!(Effect::only(&Json::parse(second).unwrap()), Some(read));
        }
    }

    #[test]
    fn an_event_of_the_same_form_is_read_by_its_word() {
        let event = |word: &str| {
            format!(r#"{{"id":"x","choices":[{{"delta":{{"content":{word}}},"finish_reason":null}}]}}"#)
        };
        let first = event(r#""one""#);
        for (word, expected) in [
            (r#""two""#, Some("two")),
            (r#""é 🦀""#, Some("é 🦀")),
            (r#""a \"b\" \n \u00e9""#, Some("a \"b\" \n é")),
            (r#""\\""#, Some("\\")),
            (r#""a","refusal":"b""#, None),
            (r#""\ud83d""#, None),
            ("\"a\nb\"", None),
            (r#""\""#, None),
            ("null", None),
        ] {
            check(&first, &event(word), expected);
        }
        check(&first, r#"{"id":"x","choices":[{"delta":{"content":""#, None);
        check(&first, &event(r#""two""#).replace("\"x\"", "\"y\""), None);
    }

    #[test]
    fn what_means_more_than_one_word_is_not_learned() {
        for first in [
            r#"{"id":"one","choices":[{"delta":{"content":"one"}}]}"#,
            r#"{"id":"one","choices":[{"delta":{"content":"\u006fne"}}]}"#,
            r#"{"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"content":"one","refusal":"two"}}]}"#,
            r#"{"choices":[{"delta":{"content":"one"}},{"delta":{"content":"two"}}]}"#,
            r#"{"usage":{"prompt_tokens":1},"choices":[{"delta":{"content":"one"}}]}"#,
            r#"{"error":"one","choices":[{"delta":{"content":"two"}}]}"#,
            r#"{"object":"error","choices":[{"delta":{"content":"one"}}]}"#,
            r#"{"choices":[{"delta":{"content":"content"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"one"}}]}}]}"#,
        ] {
            check(first, &first.replace("one", "new"), None);
        }
    }

    #[test]
    fn each_kind_of_word_is_learned() {
        for first in [
            r#"{"choices":[{"delta":{"content":null,"reasoning_content":"one"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"one"}}],"usage":null}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":3,"id":"c","function":{"name":"f","arguments":"one"}}]}}]}"#,
            r#"{ "choices" : [ { "delta" : { "refusal" : "one" } } ] }"#,
            r#"{"choices":[{"delta":{"content":"\n\"one\""}}]}"#,
        ] {
            let second = first.replace(r#"\n\"one\""#, "new").replace("one", "new");
            check(first, &second, Some("new"));
        }
    }

    #[test]
    fn a_stream_whose_events_differ_elsewhere_is_left_alone() {
        let event = |n: u32| format!(r#"{{"n":{n},"choices":[{{"delta":{{"content":"one"}}}}]}}"#);
        let mut template = Template::default();
        for n in 0..MISSES {
            assert_eq!(template.read(&event(n)), None);
            template.learn(&event(n), &Json::parse(&event(n)).unwrap());
        }
        assert!(template.read(&event(MISSES - 1)).is_some());
        let mut template = Template { misses: MISSES, ..Template::default() };
        template.learn(&event(0), &Json::parse(&event(0)).unwrap());
        assert_eq!(template.read(&event(0)), None);
    }
}
