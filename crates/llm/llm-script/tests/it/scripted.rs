use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, Model, ModelRequest, plain_text};
use dsh_llm_script::ScriptedModel;
use futures_util::StreamExt as _;

const SCRIPT: &str = r#"{ "steps": [
    { "text": "one", "toolCalls": [ { "name": "read", "arguments": { "file_path": "a.txt" } } ] },
    { "reasoning": "hm", "text": "two", "chunks": 2 } ] }"#;

async fn answer(model: &ScriptedModel) -> Vec<Chunk> {
    model.stream(ModelRequest::default(), Cancel::new()).collect().await
}

async fn said(model: &ScriptedModel) -> String {
    let mut assembler = dsh_llm::Assembler::default();
    for chunk in answer(model).await {
        assembler.push(&chunk);
    }
    plain_text(&assembler.finish().content)
}

#[tokio::test]
async fn each_request_gets_the_next_step_and_then_an_empty_message() {
    let model = ScriptedModel::from_text(SCRIPT).unwrap();
    assert_eq!(said(&model).await, "one\n[tool-call]");
    assert_eq!(said(&model).await, "[reasoning]\ntwo");
    assert_eq!(said(&model).await, "");
    assert_eq!(said(&model).await, "");
}

#[tokio::test]
async fn the_same_script_gives_the_same_stream() {
    let (one, other) = (ScriptedModel::from_text(SCRIPT).unwrap(), ScriptedModel::from_text(SCRIPT).unwrap());
    for _ in 0..3 {
        assert_eq!(answer(&one).await, answer(&other).await);
    }
}

#[tokio::test]
async fn a_request_takes_its_step_even_when_it_is_not_read() {
    let model = ScriptedModel::from_text(SCRIPT).unwrap();
    drop(model.stream(ModelRequest::default(), Cancel::new()));
    assert_eq!(said(&model).await, "[reasoning]\ntwo");
}

#[test]
fn a_model_has_the_name_of_its_file() {
    let model = || ScriptedModel::from_json(&dsh_json::object! { "steps": dsh_json::array![] }).unwrap();
    assert_eq!((model().provider(), model().model()), ("script", "inline"));
    assert_eq!(model().named("two-reads").model(), "two-reads");
    assert_eq!(model().named("").model(), "inline");
}
