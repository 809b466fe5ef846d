//! Which failures are tried again, and when.

use std::time::{Duration, UNIX_EPOCH};

use dsh_lifecycle::Clock;
use dsh_llm::ErrorFacts;
use reqwest::header::HeaderMap;

use crate::codes::{MODEL_QUOTA, MODEL_UNREACHABLE};
use crate::config::{OpenAiConfig, duration};

/// The bounds of trying again. Waits have no random part: the same failures give the same waits.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    most: u32,
    base: Duration,
    cap: Duration,
    asked_cap: Duration,
}

impl Retry {
    pub(crate) fn of(config: &OpenAiConfig) -> Self {
        Self {
            most: config.max_retries,
            base: duration(config.backoff_base_ms),
            cap: duration(config.backoff_cap_ms),
            asked_cap: duration(config.retry_after_cap_ms),
        }
    }

    /// How long to wait before the next try, when `tries` have failed and the last one like this; `None` when it stands.
    ///
    /// A provider that asks for a longer wait than the cap is not asked earlier: its refusal stands.
    pub(crate) fn after(&self, facts: &ErrorFacts, tries: u32) -> Option<Duration> {
        let passes = match facts.status {
            None => *facts.code == *MODEL_UNREACHABLE,
            Some(status) => matches!(status, 408 | 409 | 429 | 500..=599) && *facts.code != *MODEL_QUOTA,
        };
        let asked = duration(facts.provider_retry_after_ms.unwrap_or(0));
        if !passes || tries > self.most || asked > self.asked_cap {
            return None;
        }
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        Some(doubled.min(self.cap).max(asked))
    }
}

/// How long a refusal asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn asked_wait(headers: &HeaderMap, clock: &dyn Clock) -> Option<u64> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let count = |text: &str| text.parse::<f64>().ok().filter(|count| count.is_finite() && *count >= 0.0);
    if let Some(wait) = text("retry-after-ms").and_then(count) {
        return Some(whole(wait));
    }
    let asked = text("retry-after")?;
    if let Some(seconds) = count(asked) {
        return Some(whole(seconds * 1_000.0));
    }
    let until = httpdate::parse_http_date(asked).ok()?.duration_since(UNIX_EPOCH).ok()?;
    let now = u64::try_from(clock.now_ms()).unwrap_or(0);
    Some(u64::try_from(until.as_millis()).unwrap_or(u64::MAX).saturating_sub(now))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the count is not negative, and a longer one than fits becomes the longest"
)]
fn whole(milliseconds: f64) -> u64 {
    milliseconds.ceil() as u64
}

#[cfg(test)]
mod tests {
    use dsh_lifecycle::SteppingClock;
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::codes::{MODEL_AUTH, MODEL_RATE_LIMITED, MODEL_TIMEOUT_IDLE};

    fn failure(code: &str, status: Option<u64>, asked: Option<u64>) -> ErrorFacts {
        ErrorFacts { status, provider_retry_after_ms: asked, ..ErrorFacts::new(code, "") }
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end() {
        let config =
            OpenAiConfig { max_retries: 4, backoff_base_ms: 100, backoff_cap_ms: 500, ..Default::default() };
        let retry = Retry::of(&config);
        let busy = failure(MODEL_RATE_LIMITED, Some(429), None);
        let waits: Vec<_> =
            (1..=5).map(|tries| retry.after(&busy, tries).map(|wait| wait.as_millis())).collect();
        assert_eq!(waits, [Some(100), Some(200), Some(400), Some(500), None]);
        let long = OpenAiConfig { max_retries: u32::MAX, ..Default::default() };
        assert_eq!(Retry::of(&long).after(&busy, u32::MAX), Some(Duration::from_secs(30)));
    }

    #[test]
    fn what_can_pass_is_tried_again() {
        let retry = Retry::of(&OpenAiConfig::default());
        for (code, status, asked, expected) in [
            (MODEL_UNREACHABLE, None, None, Some(500)),
            (MODEL_TIMEOUT_IDLE, None, None, None),
            (MODEL_RATE_LIMITED, Some(429), None, Some(500)),
            (MODEL_QUOTA, Some(429), None, None),
            ("X", Some(408), None, Some(500)),
            ("X", Some(409), None, Some(500)),
            ("X", Some(599), None, Some(500)),
            ("X", Some(400), None, None),
            (MODEL_AUTH, Some(401), None, None),
            (MODEL_RATE_LIMITED, Some(429), Some(100), Some(500)),
            (MODEL_RATE_LIMITED, Some(429), Some(60_000), Some(60_000)),
            (MODEL_RATE_LIMITED, Some(429), Some(60_001), None),
        ] {
            let wait = retry.after(&failure(code, status, asked), 1).map(|wait| wait.as_millis());
            assert_eq!(wait, expected, "{code} {status:?} {asked:?}");
        }
    }

    #[test]
    fn the_asked_wait_is_read_in_every_form() {
        for (name, value, expected) in [
            ("retry-after", "2", Some(2_000)),
            ("retry-after", " 0.0501 ", Some(51)),
            ("retry-after-ms", "70", Some(70)),
            ("retry-after", "Thu, 01 Jan 1970 00:00:10 GMT", Some(7_000)),
            ("retry-after", "Thu, 01 Jan 1970 00:00:01 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("retry-after", "1e99", Some(u64::MAX)),
            ("x", "2", None),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            assert_eq!(asked_wait(&headers, &SteppingClock::starting_at(3_000)), expected, "{name}: {value}");
        }
    }
}
