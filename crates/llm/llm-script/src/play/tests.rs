use std::time::Duration;

use dsh_lifecycle::Cause;
use dsh_llm::{Assembled, Assembler};
use proptest::prelude::*;
use tokio::time::Instant;

use super::*;

async fn played(step: Step) -> Vec<Chunk> {
    play(step, Cancel::new()).collect().await
}

fn call() -> ToolCall {
    ToolCall { id: "c".into(), name: "read".into(), arguments: r#"{"p":"é"}"#.into() }
}

fn in_pieces(count: usize, step: Step) -> Step {
    Step { chunks: NonZeroUsize::new(count).unwrap(), ..step }
}

fn assembled(chunks: &[Chunk]) -> Assembled {
    let mut assembler = Assembler::default();
    for chunk in chunks {
        assembler.push(chunk);
    }
    assembler.finish()
}

#[tokio::test]
async fn a_step_is_streamed_block_by_block() {
    let step = Step { reasoning: Some("hm".into()), ..Step::calls("well", vec![call()]) };
    let lines: Vec<_> =
        played(in_pieces(2, step)).await.iter().map(|chunk| chunk.to_json().to_text()).collect();
    assert_eq!(
        lines,
        [
            r#"{"type":"block-start","index":0,"blockType":"reasoning"}"#,
            r#"{"type":"reasoning-delta","index":0,"text":"h"}"#,
            r#"{"type":"reasoning-delta","index":0,"text":"m"}"#,
            r#"{"type":"block-end","index":0,"block":{"type":"reasoning","text":"hm"}}"#,
            r#"{"type":"block-start","index":1,"blockType":"text"}"#,
            r#"{"type":"text-delta","index":1,"text":"we"}"#,
            r#"{"type":"text-delta","index":1,"text":"ll"}"#,
            r#"{"type":"block-end","index":1,"block":{"type":"text","text":"well"}}"#,
            r#"{"type":"block-start","index":2,"blockType":"tool-call"}"#,
            r#"{"type":"tool-call-delta","index":2,"id":"c","name":"read","argumentsDelta":"{\"p\":"}"#,
            r#"{"type":"tool-call-delta","index":2,"id":"c","argumentsDelta":"\"é\"}"}"#,
            r#"{"type":"block-end","index":2,"block":{"type":"tool-call","id":"c","name":"read","arguments":"{\"p\":\"é\"}"}}"#,
            r#"{"type":"finish","reason":{"kind":"tool-calls"}}"#,
        ]
    );
}

#[tokio::test]
async fn a_step_that_says_nothing_only_finishes() {
    assert_eq!(played(Step::text("")).await, [finish(Finish::Stop)]);
}

#[tokio::test]
async fn an_answer_at_the_ceiling_leaves_its_last_block_open() {
    let step = Step { finish: Finish::MaxTokens, ..Step::calls("well", vec![call()]) };
    let chunks = played(step).await;
    assert!(matches!(chunks[chunks.len() - 2], Chunk::ToolCallDelta { .. }));
    let answer = assembled(&chunks);
    assert_eq!((answer.finish, answer.content.len()), (Finish::MaxTokens, 1));
}

#[test]
fn pieces_are_cut_between_characters() {
    let check = |text: &str, count, want: &[&str]| {
        let pieces = pieces(&text.into(), NonZeroUsize::new(count).unwrap());
        assert_eq!(pieces.iter().map(|piece| &**piece).collect::<Vec<_>>(), want);
    };
    check("", 1, &[""]);
    check("", 3, &[""]);
    check("abc", 1, &["abc"]);
    check("abcde", 2, &["abc", "de"]);
    check("aé😀", 3, &["a", "é", "😀"]);
    check("aé", usize::MAX, &["a", "é"]);
}

#[tokio::test(start_paused = true)]
async fn the_delay_comes_before_the_first_chunk() {
    let before = Instant::now();
    let mut stream = play(Step { delay: Duration::from_millis(1500), ..Step::text("late") }, Cancel::new());
    stream.next().await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_millis(1500));
    assert_eq!(stream.count().await, 3);
    assert_eq!(before.elapsed(), Duration::from_millis(1500));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_the_delay() {
    let cancel = Cancel::new();
    let before = Instant::now();
    let stream = play(Step { delay: Duration::from_secs(60), ..Step::text("never") }, cancel.clone());
    let (chunks, ()) = tokio::join!(stream.collect::<Vec<_>>(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel(Cause::User);
    });
    assert_eq!(chunks, [finish(Finish::Aborted)]);
    assert_eq!(before.elapsed(), Duration::from_secs(1));
}

#[tokio::test]
async fn a_cancellation_ends_the_stream_between_two_chunks() {
    let cancel = Cancel::new();
    let mut stream = play(Step::text("begun"), cancel.clone());
    assert!(matches!(stream.next().await, Some(Chunk::BlockStart { .. })));
    cancel.cancel(Cause::User);
    assert_eq!(stream.collect::<Vec<_>>().await, [finish(Finish::Aborted)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_number_of_pieces_gives_the_same_answer(text in "[a-zé😀 ]{0,20}", arguments in ".{0,20}", count in 1_usize..30) {
        let call = ToolCall { arguments: arguments.into(), ..call() };
        let step = Step::calls(text.as_str(), vec![call]);
        let whole = assembled(&chunks(step.clone()));
        prop_assert_eq!(assembled(&chunks(in_pieces(count, step))), whole);
    }
}
