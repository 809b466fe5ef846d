//! Turns with a model behind a real socket.

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_harness::{Environment, Harness, ModelChoice, Provider, Providers};
use dsh_lifecycle::Cancel;
use dsh_llm::{ModelRequest, plain_text, text};
use dsh_llm_openai::{Dialect, MaxTokensField, request_body};
use dsh_session::{Event, Payload as _, RequestHeader, Session, SessionSpec, StepStart, TurnEndReason};

use crate::world::{World, agent, verdict};

const KEY: &str = "sk-secret-0123456789";

/// A harness whose model is `m` at this server.
fn at(world: &World, server: &ChatServer) -> Harness {
    let url = server.url();
    let variable = move |name: &str| match name {
        "OPENAI_API_KEY" => Some(KEY.to_owned()),
        "OPENAI_BASE_URL" => Some(url.clone()),
        _ => None,
    };
    let environment = Environment { providers: Providers::read(variable), ..world.environment() };
    Harness::builder(environment).model(ModelChoice::Of(Provider::OpenAi, Some("m".into()))).build().unwrap()
}

/// Two reads at once, then a program, then words.
fn answers() -> [Reply; 3] {
    let reads = [
        sse::reasoning("Both at once."),
        sse::call(0, "call_a", "read", ""),
        sse::call(1, "call_b", "read", ""),
        sse::arguments(0, r#"{"file_path": "#),
        sse::arguments(1, r#"{"file_path": "b.txt"}"#),
        sse::arguments(0, r#""a.txt"}"#),
        sse::finish("tool_calls"),
        sse::done(),
    ];
    let code = r#"{"description": "Counts lines", "code": "const { paths } = await tools.glob({ pattern: '*.txt' }); return paths.length"}"#;
    let program =
        [sse::call(0, "call_c", "run_code", code), sse::finish("tool_calls"), sse::usage(10, 5), sse::done()];
    [
        Reply::stream().send_cut(reads.concat(), 7),
        Reply::stream().send(sse::comment("keep-alive")).send_cut(program.concat(), 1),
        Reply::stream().send_cut(sse::answer("Zwei Dateien: über 1 ✓"), 1),
    ]
}

/// The request that the log says was made in its last step, if its events end with the request's own records.
fn derived(whole: &Session, events: &[std::sync::Arc<Event>]) -> ModelRequest {
    let spec = SessionSpec {
        header: whole.header().clone(),
        vocabulary: std::sync::Arc::clone(whole.vocabulary()),
        clock: std::sync::Arc::new(dsh_lifecycle::SteppingClock::starting_at(0)),
        sink: None,
    };
    let events = events.iter().map(|event| Event::clone(event)).collect();
    let session = Session::resume(spec, events).unwrap();
    let [header, _] = session.last_request();
    let form = header.unwrap().read::<RequestHeader>().unwrap().unwrap().header;
    ModelRequest {
        system: form.system,
        messages: session.messages(),
        tools: form.tools.unwrap_or_default(),
        max_tokens: form.config.max_tokens,
    }
}

#[tokio::test]
async fn a_turn_with_parallel_tools_and_a_program_sends_what_the_log_derives() {
    let world = World::new();
    world.put("root/a.txt", "one\n");
    world.put("root/b.txt", "two\n");
    let server = ChatServer::start(answers()).await.unwrap();
    let harness = at(&world, &server);
    let agent = agent(&harness);
    let outcome = harness.run_turn(&agent, text("How many?"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome.reason, TurnEndReason::Completed, "{outcome:?}");
    assert_eq!(plain_text(&outcome.answer.unwrap()), "Zwei Dateien: über 1 ✓");
    let session = agent.session();
    assert!(verdict(session).is_ok());

    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    let events = session.events();
    let starts = events.iter().enumerate().filter(|(_, event)| *event.kind == *StepStart::TYPE);
    for ((start, _), sent) in starts.zip(&sent) {
        // A request is made of what is in the log when its first chunk arrives.
        let chunk = events.iter().skip(start).position(|event| *event.kind == *"assistant/chunk").unwrap();
        let request = derived(session, &events[..start + chunk]);
        let dialect = Dialect { max_tokens_field: MaxTokensField::default(), send_reasoning: false };
        assert_eq!(sent.text(), request_body(&request, "m", dialect));
    }
    assert_eq!(sent[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert!(!format!("{events:?}").contains(KEY) && !sent.iter().any(|sent| sent.text().contains(KEY)));
    harness.shut_down().await;
}

#[tokio::test]
async fn what_a_provider_refuses_ends_the_turn_with_facts() {
    for (reply, code) in [
        (Reply::refusal(401, "invalid_api_key", &format!("Incorrect API key provided: {KEY}")), "MODEL_AUTH"),
        (Reply::stream().send(sse::text("half")).drop_connection(), "STREAM_ENDED_EARLY"),
    ] {
        let world = World::new();
        let server = ChatServer::start([reply]).await.unwrap();
        let harness = at(&world, &server);
        let agent = agent(&harness);
        let outcome = harness.run_turn(&agent, text("Hello."), &Cancel::new()).await.unwrap();
        let TurnEndReason::Error { error } = &outcome.reason else { panic!("{outcome:?}") };
        assert!(*error.code == *code && !error.message.contains(KEY), "{error:?}");
        assert!(verdict(agent.session()).is_ok());
        harness.shut_down().await;
    }
}
