//! The first frame in each direction: what the child shall be, and whether it is.

use dsh_confinement::{Demand, Level, Limits};
use dsh_json::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest greeting.
pub(crate) const MOST: usize = 64 << 10;

/// What a child is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Boot {
    pub(crate) role: String,
    pub(crate) limits: Limits,
    pub(crate) threads: bool,
    pub(crate) demand: Demand,
    pub(crate) max_frame_bytes: usize,
}

/// What a child answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Answer {
    /// It waits for its first frame. It says the token that it was started with, which output of another program can't.
    Ready { token: String, level: Level },
    /// It is not confined as demanded, and ends.
    Unconfined { message: String },
    /// It can't be what it was asked to be, and ends.
    Refused { message: String },
}

pub(crate) fn encode(greeting: &impl Serialize) -> Vec<u8> {
    // Greetings are texts, small numbers and lists of them; they can always be written.
    Json::from_serialize(greeting).map(|json| json.to_string().into_bytes()).unwrap_or_default()
}

pub(crate) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    Json::parse(std::str::from_utf8(payload).ok()?).ok()?.read().ok()
}

#[cfg(test)]
mod tests {
    use dsh_confinement::{Demand, Level, Limits, Part};

    use super::{Answer, Boot, decode, encode};

    #[test]
    fn greetings_are_json() {
        let boot = Boot {
            role: "typescript".into(),
            limits: Limits { max_memory_bytes: Some(1 << 26), max_cpu_seconds: None },
            threads: true,
            demand: Demand::BestEffort,
            max_frame_bytes: 99,
        };
        let text = r#"{"role":"typescript","limits":{"maxMemoryBytes":67108864,"maxCpuSeconds":null},"threads":true,"demand":"best-effort","maxFrameBytes":99}"#;
        assert_eq!(String::from_utf8(encode(&boot)).unwrap(), text);
        assert_eq!(decode(text.as_bytes()), Some(boot));
        for (answer, text) in [
            (
                Answer::Ready { token: "t".into(), level: Level::Full },
                r#"{"ready":{"token":"t","level":"full"}}"#,
            ),
            (
                Answer::Ready { token: "t".into(), level: Level::Partial { missing: vec![Part::Files] } },
                r#"{"ready":{"token":"t","level":{"partial":{"missing":["files"]}}}}"#,
            ),
            (Answer::Refused { message: "no".into() }, r#"{"refused":{"message":"no"}}"#),
        ] {
            assert_eq!(String::from_utf8(encode(&answer)).unwrap(), text);
            assert_eq!(decode(text.as_bytes()), Some(answer));
        }
        assert_eq!(decode::<Answer>(b"\xff"), None);
        assert_eq!(decode::<Answer>(b"{}"), None);
    }
}
