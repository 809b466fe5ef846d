use dsh_json::object;
use proptest::prelude::*;

use super::*;
use crate::content::text;

fn delta(index: u32, words: &str) -> Chunk {
    Chunk::TextDelta { index, text: words.into() }
}

fn thought(index: u32, words: &str) -> Chunk {
    Chunk::ReasoningDelta { index, text: words.into() }
}

fn call_delta(index: u32, id: &str, name: &str, arguments: &str) -> Chunk {
    let name = (!name.is_empty()).then(|| name.into());
    Chunk::ToolCallDelta { index, id: id.into(), name, arguments_delta: arguments.into() }
}

fn start(index: u32, block_type: &str) -> Chunk {
    Chunk::BlockStart { index, block_type: block_type.into() }
}

fn end(index: u32, block: ContentBlock) -> Chunk {
    Chunk::BlockEnd { index, block }
}

fn over(reason: Finish) -> Chunk {
    Chunk::Finish { reason, replay_state: Some(Json::from("replay")) }
}

fn words(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        provider_call_id: None,
    }
}

fn assemble(chunks: impl IntoIterator<Item = Chunk>) -> Assembled {
    let mut assembler = Assembler::default();
    for chunk in chunks {
        assembler.push(&chunk);
    }
    assembler.finish()
}

/// The stream ends in an error of `code` whose message contains `words`.
fn fails(chunks: impl IntoIterator<Item = Chunk>, code: &str, words: &str) {
    let chunks = chunks.into_iter().chain([over(Finish::Stop)]);
    let Finish::Error(facts) = assemble(chunks).finish else { panic!("no error") };
    assert_eq!(&*facts.code, code);
    assert!(facts.message.contains(words), "{}", facts.message);
}

#[test]
fn interleaved_blocks_come_out_by_index() {
    let answer = assemble([
        start(1, "tool-call"),
        delta(0, "He"),
        call_delta(1, "c1", "read", "{\"a\""),
        thought(7, "hm"),
        delta(0, "llo"),
        call_delta(1, "", "", ":1}"),
        over(Finish::ToolCalls),
    ]);
    let expected =
        [words("Hello"), call("c1", "read", "{\"a\":1}"), ContentBlock::Reasoning { text: "hm".into() }];
    assert_eq!(*answer.content, expected);
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(answer.replay_state, Some(Json::from("replay")));
}

#[test]
fn a_block_s_end_wins_over_its_deltas() {
    let answer = assemble([
        delta(0, "Hel"),
        end(0, words("Hello")),
        end(1, call("c", "n", "{}")),
        start(2, "video"),
        end(2, ContentBlock::Other(object! { "type": "video" })),
        over(Finish::Stop),
    ]);
    let expected = [words("Hello"), call("c", "n", "{}"), ContentBlock::Other(object! { "type": "video" })];
    assert_eq!(*answer.content, expected);
}

#[test]
fn max_tokens_drops_calls_and_keeps_words() {
    let answer = assemble([
        delta(0, "so far"),
        end(1, call("c1", "read", "{}")),
        call_delta(2, "c2", "read", "{\"pa"),
        over(Finish::MaxTokens),
    ]);
    assert_eq!(answer.content, text("so far"));
    assert_eq!(answer.finish, Finish::MaxTokens);
    assert_eq!(answer.replay_state, None);
}

#[test]
fn max_tokens_without_calls_keeps_the_replay_state() {
    let answer = assemble([delta(0, "so far"), over(Finish::MaxTokens)]);
    assert_eq!(answer.replay_state, Some(Json::from("replay")));
}

#[test]
fn nothing_said_is_an_empty_answer() {
    let answer = assemble([start(0, "text"), delta(0, ""), start(1, "video"), over(Finish::Stop)]);
    assert_eq!(answer.content.len(), 0);
    assert_eq!(answer.finish, Finish::Stop);
}

#[test]
fn a_missing_call_id_is_made_up_and_is_no_one_else_s() {
    let answer = assemble([
        call_delta(0, "", "a", ""),
        call_delta(1, "call-0", "b", ""),
        call_delta(2, "", "c", ""),
        over(Finish::ToolCalls),
    ]);
    assert_eq!(*answer.content, [call("call-1", "a", ""), call("call-0", "b", ""), call("call-2", "c", "")]);
}

#[test]
fn the_last_usage_counts() {
    let usage = |output_tokens| Usage { output_tokens, ..Usage::default() };
    let answer = assemble([
        Chunk::Usage { usage: usage(1) },
        Chunk::Usage { usage: usage(2) },
        over(Finish::Stop),
        Chunk::Usage { usage: usage(3) },
    ]);
    assert_eq!(answer.usage, Some(usage(2)));
}

#[test]
fn after_the_finish_nothing_is_taken() {
    let answer = assemble([delta(0, "a"), over(Finish::Stop), delta(0, "b"), over(Finish::Aborted)]);
    assert_eq!((answer.content, answer.finish), (text("a"), Finish::Stop));
}

#[test]
fn a_stream_without_a_finish_ended_early() {
    let answer = assemble([delta(0, "a")]);
    let facts = ErrorFacts::new(STREAM_ENDED_EARLY, "the model's answer ended before it was finished");
    assert_eq!((answer.content, answer.finish), (text("a"), Finish::Error(facts)));
}

#[test]
fn a_contradiction_ends_the_answer() {
    let fails = |chunks: Vec<Chunk>, words| fails(chunks, STREAM_INVALID, words);
    fails(vec![start(0, "text"), start(0, "text")], "starts twice");
    fails(vec![start(0, "tool-call"), delta(0, "x")], "changes its type");
    fails(vec![delta(0, "x"), thought(0, "y")], "changes its type");
    fails(vec![delta(0, "x"), call_delta(0, "c", "n", "")], "changes its type");
    fails(vec![delta(0, "x"), end(0, call("c", "n", ""))], "changes its type");
    fails(vec![start(0, "video"), delta(0, "x")], "changes its type");
    fails(vec![end(0, words("x")), delta(0, "y")], "had ended");
    fails(vec![end(0, words("x")), end(0, words("x"))], "had ended");
    fails(vec![call_delta(0, "c1", "n", ""), call_delta(0, "c2", "", "")], "changes its id or name");
    fails(vec![call_delta(0, "c1", "n", ""), call_delta(0, "", "m", "")], "changes its id or name");
    fails(vec![call_delta(0, "c1", "", "{}")], "without a name");
    fails(vec![end(0, ContentBlock::Other(Json::Null))], "without a type");
    let result = ContentBlock::ToolResult { tool_call_id: "c".into(), content: text("x"), is_error: false };
    fails(vec![end(0, result)], "a tool result");
}

#[test]
fn a_repeated_id_and_name_are_no_contradiction() {
    let answer =
        assemble([call_delta(0, "c", "n", "{"), call_delta(0, "c", "n", "}"), over(Finish::ToolCalls)]);
    assert_eq!(*answer.content, [call("c", "n", "{}")]);
}

#[test]
fn limits_are_named_when_they_are_hit() {
    let mut assembler = Assembler::new(AssemblyLimits { max_blocks: 2, max_bytes: 5 });
    assembler.push(&delta(0, "12345"));
    assert!(!assembler.is_over());
    assembler.push(&delta(0, "é"));
    assert!(assembler.is_over());
    let facts =
        ErrorFacts::new(MODEL_OUTPUT_TOO_LONG, "the model's answer is longer than 5 bytes, the limit");
    let answer = assembler.finish();
    assert_eq!((answer.content, answer.finish), (text("12345"), Finish::Error(facts)));

    let mut assembler = Assembler::new(AssemblyLimits { max_blocks: 2, max_bytes: 5 });
    for index in 0..3 {
        assembler.push(&start(index, "text"));
        assembler.push(&delta(index, "x"));
    }
    let facts =
        ErrorFacts::new(MODEL_OUTPUT_TOO_LONG, "the model's answer has more than 2 blocks, the limit");
    // Counts the types' names, too, so the bytes come first here.
    let Finish::Error(error) = assembler.finish().finish else { panic!() };
    assert_eq!(error.code, facts.code);

    let mut assembler = Assembler::new(AssemblyLimits { max_blocks: 2, max_bytes: 5 });
    for index in 0..3 {
        assembler.push(&delta(index, "x"));
    }
    assert_eq!(assembler.finish().finish, Finish::Error(facts));
}

#[test]
fn an_end_replaces_the_bytes_of_its_deltas() {
    let mut assembler = Assembler::new(AssemblyLimits { max_blocks: 2, max_bytes: 5 });
    assembler.push(&delta(0, "1234"));
    assembler.push(&end(0, words("12345")));
    assert!(!assembler.is_over());
}

fn any_block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        "[a-c]{0,3}".prop_map(|text| words(&text)),
        "[a-c]{0,3}".prop_map(|text| ContentBlock::Reasoning { text: text.into() }),
        ("[ab]{0,1}", "[ab]{0,1}").prop_map(|(id, name)| call(&id, &name, "{")),
        Just(ContentBlock::Image { attachment: Json::Null }),
        Just(ContentBlock::Other(object! { "type": "video" })),
        Just(ContentBlock::Other(Json::Null)),
        Just(ContentBlock::ToolResult { tool_call_id: "c".into(), content: text("x"), is_error: true }),
    ]
}

fn any_chunk() -> impl Strategy<Value = Chunk> {
    prop_oneof![
        4 => (0..4_u32, "[a-c]{0,3}").prop_map(|(index, text)| delta(index, &text)),
        2 => (0..4_u32, "[a-c]{0,3}").prop_map(|(index, text)| thought(index, &text)),
        4 => (0..4_u32, "[ab]{0,1}", "[ab]{0,1}").prop_map(|(index, id, name)| call_delta(index, &id, &name, "{")),
        2 => (0..4_u32, "text|tool-call|video|").prop_map(|(index, kind)| start(index, &kind)),
        2 => (0..4_u32, any_block()).prop_map(|(index, block)| end(index, block)),
        1 => prop_oneof![Just(Finish::Stop), Just(Finish::MaxTokens), Just(Finish::Aborted)].prop_map(over),
    ]
}

proptest! {
    #[test]
    fn whatever_a_stream_does_the_answer_is_one_that_can_be_stored(chunks in prop::collection::vec(any_chunk(), 0..24)) {
        let mut assembler = Assembler::new(AssemblyLimits { max_blocks: 3, max_bytes: 20 });
        for chunk in &chunks {
            assembler.push(chunk);
        }
        let answer = assembler.finish();
        prop_assert!(answer.content.len() <= 3);
        for block in answer.content.iter() {
            prop_assert!(block.check().is_ok());
            prop_assert_ne!(block.block_type(), "tool-result");
            if matches!(answer.finish, Finish::Stop | Finish::ToolCalls) {
                prop_assert!(!is_nameless_call(block));
            }
        }
        if answer.finish == Finish::MaxTokens {
            prop_assert!(answer.content.iter().all(|block| block.block_type() != "tool-call"));
        }
    }
}
