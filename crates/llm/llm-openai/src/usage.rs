//! What an answer cost.

use dsh_json::Json;
use dsh_llm::Usage;

/// The counts of a `usage` object, made disjoint: the protocol counts cached tokens as prompt tokens too, and reasoning
/// as completion tokens. `None` when it counts nothing.
pub(crate) fn usage(told: &Json) -> Option<Usage> {
    let count = |name: &str| told.get(name).and_then(Json::as_u64);
    let detail = |of: &str, name: &str| told.get(of).and_then(|of| of.get(name)).and_then(Json::as_u64);
    let (prompt, completion) = (count("prompt_tokens"), count("completion_tokens"));
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let (prompt, completion) = (prompt.unwrap_or(0), completion.unwrap_or(0));
    let cached =
        detail("prompt_tokens_details", "cached_tokens").or_else(|| count("prompt_cache_hit_tokens"));
    let reasoning = detail("completion_tokens_details", "reasoning_tokens");
    // Some servers count reasoning beside the completion; their total tells.
    let beside = prompt.saturating_add(completion).saturating_add(reasoning.unwrap_or(0));
    let is_beside = reasoning.is_some_and(|tokens| tokens > 0) && count("total_tokens") == Some(beside);
    let within = if is_beside { 0 } else { reasoning.unwrap_or(0) };
    Some(Usage {
        input_tokens: prompt.saturating_sub(cached.unwrap_or(0)),
        output_tokens: completion.saturating_sub(within),
        cache_read_tokens: cached,
        cache_write_tokens: None,
        reasoning_tokens: reasoning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_disjoint() {
        let counted = |input_tokens, output_tokens, cache_read_tokens, reasoning_tokens| {
            let cache_write_tokens = None;
            Some(Usage {
                input_tokens,
                output_tokens,
                cache_read_tokens,
                cache_write_tokens,
                reasoning_tokens,
            })
        };
        for (told, expected) in [
            (r#"{"prompt_tokens": 10, "completion_tokens": 5}"#, counted(10, 5, None, None)),
            (
                r#"{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                    "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}"#,
                counted(6, 2, Some(4), Some(3)),
            ),
            (
                r#"{"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 8,
                    "prompt_cache_miss_tokens": 2}"#,
                counted(2, 5, Some(8), None),
            ),
            (
                r#"{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18,
                    "completion_tokens_details": {"reasoning_tokens": 3}}"#,
                counted(10, 5, None, Some(3)),
            ),
            (
                r#"{"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9},
                    "completion_tokens_details": {"reasoning_tokens": 9}}"#,
                counted(0, 0, Some(9), Some(9)),
            ),
            (
                r#"{"prompt_tokens": 7, "completion_tokens": -1, "prompt_tokens_details": null}"#,
                counted(7, 0, None, None),
            ),
            (r#"{"total_tokens": 9}"#, None),
            ("[]", None),
        ] {
            assert_eq!(usage(&Json::parse(told).unwrap()), expected, "{told}");
        }
    }
}
