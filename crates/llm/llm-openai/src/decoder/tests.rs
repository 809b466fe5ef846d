use std::fmt::Write as _;

use dsh_llm::{Assembled, Assembler, ContentBlock};
use proptest::prelude::*;

use super::*;

fn decode(pieces: &[&[u8]]) -> Vec<Chunk> {
    let mut decoder = Decoder::new(10_000);
    let mut chunks = vec![];
    for piece in pieces {
        decoder.push(piece, &mut chunks);
    }
    decoder.end(&mut chunks);
    decoder.end(&mut chunks);
    assert!(decoder.is_over());
    let ends = chunks.iter().filter(|chunk| matches!(chunk, Chunk::Finish { .. })).count();
    assert_eq!(ends, 1);
    assert!(matches!(chunks.last(), Some(Chunk::Finish { .. })));
    chunks
}

/// The same without a template, one event after the other.
fn decode_in_full(events: &[String]) -> Vec<Chunk> {
    let mut answer = Answer::default();
    let mut chunks = vec![];
    for event in events {
        let _ = answer.event(&mut Template::default(), event.as_bytes(), &mut chunks);
    }
    answer.conclude(&mut chunks);
    chunks
}

fn assemble(chunks: &[Chunk]) -> Assembled {
    let mut assembler = Assembler::default();
    for chunk in chunks {
        assembler.push(chunk);
    }
    assembler.finish()
}

/// Each event's data, and the chunks as their kinds and words.
fn check(events: &[&str], expected: &[&str]) {
    let stream = events.iter().map(|data| format!("data: {data}\n\n")).collect::<Vec<_>>().concat();
    let told = decode(&[stream.as_bytes()]).into_iter().map(|chunk| match chunk {
        Chunk::BlockStart { index, block_type } => format!("{index} {block_type}"),
        Chunk::TextDelta { index, text } | Chunk::ReasoningDelta { index, text } => {
            format!("{index}: {text}")
        }
        Chunk::ToolCallDelta { index, id, name, arguments_delta } => {
            format!("{index}: {id} {} {arguments_delta}", name.unwrap_or_default())
        }
        Chunk::BlockEnd { .. } => unreachable!(),
        Chunk::Usage { usage } => format!("usage {} {}", usage.input_tokens, usage.output_tokens),
        Chunk::Finish { reason: Finish::Error(facts), .. } => format!("{}: {}", facts.code, facts.message),
        Chunk::Finish { reason, .. } => format!("{reason:?}"),
    });
    assert_eq!(told.collect::<Vec<_>>(), expected, "{events:?}");
}

#[test]
fn blocks_are_numbered_as_they_begin() {
    check(
        &[
            r#"{"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"thi"}}]}"#,
            r#"{"choices":[{"delta":{"content":"","reasoning_content":"nk"}}]}"#,
            r#"{"choices":[{"delta":{"content":"say"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"content":" more"},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
            "[DONE]",
            r#"{"choices":[{"delta":{"content":"after the end"}}]}"#,
        ],
        &[
            "0 reasoning",
            "0: thi",
            "0: nk",
            "1 text",
            "1: say",
            "2 tool-call",
            "2: c f {}",
            "1:  more",
            "usage 3 4",
            "ToolCalls",
        ],
    );
}

#[test]
fn other_servers_spellings_are_understood() {
    let stop = r#"{"choices":[{"finish_reason":"stop"}]}"#;
    check(&[r#"{"choices":[{"delta":{"reasoning":"x"}}]}"#, stop], &["0 reasoning", "0: x", "Stop"]);
    check(
        &[r#"{"choices":[{"delta":{"reasoning":"x","reasoning_content":"y"}}]}"#, stop],
        &["0 reasoning", "0: y", "Stop"],
    );
    check(&[r#"{"choices":[{"delta":{"refusal":"no"}}]}"#, stop], &["0 text", "0: no", "Stop"]);
    check(
        &[
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"odd"},{"text":"b"}]}}]}"#,
            stop,
        ],
        &["0 text", "0: a", "0: b", "Stop"],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{"}}}]}"#,
            r#"{"choices":[{"delta":{"function_call":{"arguments":"}"}},"finish_reason":"function_call"}]}"#,
        ],
        &["0 tool-call", "0:  f {", "0:   }", "ToolCalls"],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]}}]}"#,
            stop,
        ],
        &["0 tool-call", "0: c f {\"a\":1}", "ToolCalls"],
    );
    check(
        &[
            r#"{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"mine"}}]}"#,
            stop,
        ],
        &["0 text", "0: mine", "Stop"],
    );
    check(&[r#"{"choices":[{"finish_reason":"stop"}],"usage":null,"error":null}"#], &["Stop"]);
    check(&[r#"{"choices":[{"delta":{"content":"a\ud83db"}}]}"#, stop], &["0 text", "0: a\u{fffd}b", "Stop"]);
}

#[test]
fn reasons_end_the_answer_as_what_they_mean() {
    for (reason, expected) in [
        ("stop", "Stop"),
        ("eos", "Stop"),
        ("tool_calls", "Stop"),
        ("length", "MaxTokens"),
        ("content_filter", "MODEL_CONTENT_FILTERED: the provider's content filter ended the answer"),
        (
            "insufficient_system_resource",
            "MODEL_OVERLOADED: the provider ended the answer for want of resources; try again later",
        ),
        ("odd\\u0007", "MODEL_PROTOCOL: the model's answer ended for a reason that is not known here, `odd`"),
    ] {
        check(&[&format!(r#"{{"choices":[{{"finish_reason":"{reason}"}}]}}"#)], &[expected]);
    }
    check(
        &[
            r#"{"choices":[{"finish_reason":"length"}]}"#,
            r#"{"choices":[{"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
        &["MaxTokens"],
    );
}

#[test]
fn an_answer_without_a_reason_ended_early() {
    let early = "STREAM_ENDED_EARLY: the model's answer ended before it was finished: the provider did not say why it ended";
    check(&[], &[early]);
    check(&["[DONE]"], &[early]);
    check(&[r#"{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}"#], &["0 text", "0: a", early]);
    // What is cut off is not what ended it.
    let cut = br#"data: {"choices":[{"finish_reas"#;
    assert_eq!(decode(&[cut]), decode(&[]));
    let whole = br#"data: {"choices":[{"finish_reason":"stop"}]}"#;
    assert_eq!(decode(&[whole]), [Chunk::Finish { reason: Finish::Stop, replay_state: None }]);
}

#[test]
fn failures_end_the_answer_at_once() {
    let after = r#"{"choices":[{"delta":{"content":"after"}}]}"#;
    check(
        &[r#"{"error":{"message":"busy","type":"overloaded_error"}}"#, after],
        &["MODEL_OVERLOADED: the provider ended the answer with an error (overloaded_error): busy"],
    );
    check(
        &[r#"{"usage":{"prompt_tokens":1,"completion_tokens":1}}"#, "{", after],
        &[
            "usage 1 1",
            "MODEL_PROTOCOL: an event of the model's answer can't be understood: expected a key in double quotes or `}` but \
             the text ended at line 1 column 2 (byte 1)",
        ],
    );
    check(
        &["[1]"],
        &[
            "MODEL_PROTOCOL: an event of the model's answer can't be understood: expected an object, found array",
        ],
    );
    check(
        &[&format!("{{\"x\":\"{}\"}}", "y".repeat(10_000))],
        &[
            "MODEL_RESPONSE_TOO_LARGE: one event of the model's answer is longer than 10000 bytes, `maxEventBytes`",
        ],
    );
}

#[test]
fn events_of_any_shape_are_borne() {
    for event in [
        "{}",
        r#"{"choices":{}}"#,
        r#"{"choices":[1,null,[],{"delta":[]},{"delta":{"tool_calls":{}}},{"delta":{"tool_calls":[1,{}]}}]}"#,
        r#"{"choices":[{"index":-1,"delta":{"content":{"a":1},"reasoning_content":7,"function_call":"x"},"finish_reason":7}]}"#,
        r#"{"usage":{"prompt_tokens":"1"}}"#,
    ] {
        let chunks = decode(&[format!("data: {event}\n\n").as_bytes()]);
        assert!(
            matches!(assemble(&chunks).finish, Finish::Error(facts) if *facts.code == *STREAM_ENDED_EARLY),
            "{event}"
        );
    }
}

/// A stream with characters of every length, in every form that the format allows.
fn hostile() -> Vec<u8> {
    let mut stream = "\u{feff}: keep-alive\r\n\r\n".to_owned();
    for (text, end) in [
        ("é", "\n"),
        ("€uro", "\r\n"),
        ("🦀\u{301}", "\r"),
        (r"\ud83e\udd80 \u00e9", "\n"),
        ("naïve", "\r\n"),
    ] {
        write!(stream, ": {text}{end}data: {{\"choices\":{end}data:[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}{end}{end}").unwrap();
        let call = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":"{text}"}}}}]}}}}]}}"#
        );
        write!(stream, "event: message{end}data: {call}{end}{end}").unwrap();
    }
    stream.push_str("data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\r\r");
    stream.push_str(
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n",
    );
    stream.into_bytes()
}

#[test]
fn every_single_cut_gives_the_same_chunks() {
    let stream = hostile();
    let whole = decode(&[&stream]);
    let answer = assemble(&whole);
    assert_eq!(answer.finish, Finish::ToolCalls);
    let text = "é€uro🦀\u{301}🦀 énaïve";
    let call = ContentBlock::ToolCall {
        id: "c".into(),
        name: "f".into(),
        arguments: text.into(),
        provider_call_id: None,
    };
    assert_eq!(*answer.content, [ContentBlock::Text { text: text.into() }, call]);
    for at in 0..=stream.len() {
        let (head, tail) = stream.split_at(at);
        assert_eq!(decode(&[head, tail]), whole, "cut at {at}");
    }
    for size in 1..20 {
        assert_eq!(decode(&stream.chunks(size).collect::<Vec<_>>()), whole, "pieces of {size}");
    }
}

/// Words as they are written, some of them in escapes, some of them not well.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[xyé]{0,2}",
        1 => prop::sample::select(vec![r"\n", r"\u0078", r"x\\", r"\ud83d", r"\", r#"x","refusal":"y"#]).prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_cuts_give_the_same_chunks(mut cuts in prop::collection::vec(0..hostile().len(), 0..40)) {
        let stream = hostile();
        cuts.sort_unstable();
        let mut pieces = vec![];
        let mut from = 0;
        for cut in cuts {
            pieces.push(&stream[from..cut]);
            from = cut;
        }
        pieces.push(&stream[from..]);
        prop_assert_eq!(decode(&pieces), decode(&[&stream]));
    }

    #[test]
    fn like_events_are_read_as_others_are(
        events in prop::collection::vec(
            ("[xy]", prop::sample::select(vec!["content", "reasoning_content", "refusal"]), word(), 0..3, word()).prop_map(
                |(id, name, word, kind, other)| match kind {
                    0 => format!(r#"{{"id":"{id}","choices":[{{"delta":{{"{name}":"{word}"}}}}]}}"#),
                    1 => format!(r#"{{"id":"{other}","choices":[{{"delta":{{"{name}":"{word}"}}}}]}}"#),
                    _ => format!(
                        r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"arguments":"{word}"}}}}]}}}}]}}"#
                    ),
                },
            ),
            0..30,
        )
    ) {
        let stream = events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
        prop_assert_eq!(decode(&[stream.as_bytes()]), decode_in_full(&events));
    }

    #[test]
    fn any_bytes_end_in_one_finish(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                (0..hostile().len(), 0..60_usize).prop_map(|(at, length)| hostile().into_iter().skip(at).take(length).collect()),
            ],
            0..20,
        )
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let chunks = decode(&pieces);
        prop_assert!(chunks.iter().all(|chunk| chunk.check().is_ok()));
    }
}
