//! The end of a program: nothing starts any more, nothing is orphaned, everything is told (spec 06 §6).

use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{Content, Context, RunContext, codes, text};

use crate::stage::Stage;

/// A runtime that makes one call and then breaks its promise.
struct Broken;

#[async_trait::async_trait]
impl dsh_code_runtime::CodeRuntime for Broken {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn isolation(&self) -> dsh_code_runtime::Isolation {
        dsh_code_runtime::Isolation::Thread
    }

    async fn run(
        &self,
        _: dsh_code_runtime::Request,
        host: &dyn dsh_code_runtime::Host,
    ) -> Result<dsh_code_runtime::Outcome, dsh_code_runtime::Misuse> {
        let args = dsh_json::object! { "label": "a" };
        let call =
            dsh_code_runtime::wire::Call { id: 1, namespace: "tools".into(), name: "held".into(), args };
        let mut call = host.call(call);
        for _ in 0..8 {
            assert!(futures_util::poll!(&mut call).is_pending());
            tokio::task::yield_now().await;
        }
        Err(dsh_code_runtime::Misuse::Closed)
    }

    async fn close(&self) {}
}

#[tokio::test]
async fn a_runtime_that_gives_up_leaves_no_call_behind() {
    let stage = Stage::over(std::sync::Arc::new(Broken));
    let result = stage.run("").await;
    let told = dsh_llm::plain_text(&result.content);
    assert!(told.starts_with("Error: code run failed (unavailable): "), "{told}");
    assert_eq!(stage.noted(), ["> a", "< a"]);
    assert_eq!(stage.logged(), ["start 1", "fail 1"]);
}

#[tokio::test]
async fn a_call_that_was_not_awaited_is_stopped_and_named() {
    let stage = Stage::new();
    let told = stage.told("await tools.echo({}); tools.held({ label: 'a' }); return 'done';").await;
    assert!(told.starts_with("done\nwarning: "), "{told}");
    assert!(told.contains("tools.held (call 2)"), "{told}");
    let logged = stage.logged();
    assert_eq!(logged.get(..2), Some(&["start 1".to_owned(), "settle 1".to_owned()][..]));
    // It may have started or not; if it did, it has settled.
    assert!(logged.len() == 2 || logged.get(2..) == Some(&["start 2".to_owned(), "fail 2".to_owned()][..]));
}

#[tokio::test]
async fn a_call_that_had_not_started_never_does() {
    let stage = Stage::new();
    // The exclusive one waits for the held one, which is stopped with the program.
    let told = stage
        .told("tools.held({ label: 'a' }); tools.change({ label: 'b' }); await null; return 'done';")
        .await;
    assert!(told.contains("done"), "{told}");
    assert!(!stage.noted().contains(&"> b".to_owned()));
    assert!(!stage.logged().iter().any(|line| line.ends_with('2')), "{:?}", stage.logged());
}

#[tokio::test]
async fn a_cancelled_program_stops_its_calls_and_is_aborted() {
    let stage = Stage::new();
    let cancel = Cancel::new();
    let program = "await Promise.all([tools.held({ label: 'a' }), tools.change({ label: 'b' })]);";
    let stop = async {
        while !stage.notes.lock().contains(&"> a".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel(Cause::User);
    };
    let (result, ()) = tokio::join!(stage.run_until(program, &cancel), stop);
    assert_eq!(result.error().unwrap().code(), Some(codes::ABORTED));
    assert_eq!(stage.noted(), ["> a", "< a"]);
    assert_eq!(stage.logged(), ["start 1", "fail 1"]);
}

#[tokio::test]
async fn a_program_that_was_cancelled_before_never_runs() {
    let stage = Stage::new();
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    let result = stage.run_until("await tools.echo({});", &cancel).await;
    assert_eq!(result.error().unwrap().code(), Some(codes::ABORTED_BEFORE_DISPATCH));
    assert!(stage.logged().is_empty());
}

fn rider(cx: &RunContext, words: &str) {
    let content: Content = text(words);
    cx.defer_context(Context { plugin: "test".into(), form: None, content });
}

#[tokio::test]
async fn messages_and_the_end_of_the_turn_are_forwarded_also_from_a_program_that_fails() {
    let mut stage = Stage::new();
    stage.tool("tell", true, |_, cx| {
        rider(cx, "by the way");
        cx.conclude_turn();
        Box::pin(async { Ok("told".into()) })
    });
    let result = stage.run("await tools.tell({}); return 1;").await;
    assert_eq!(result.contexts.len(), 1);
    assert!(matches!(result.outcome, dsh_tools_core::Outcome::Succeeded { concludes: true, .. }));
    let failed = stage.run("await tools.tell({}); throw new Error('x');").await;
    assert_eq!((failed.contexts.len(), failed.error().is_some()), (1, true));
}

/// A store that is full after so many events.
struct Full {
    room: usize,
    stored: std::sync::atomic::AtomicUsize,
}

#[async_trait::async_trait]
impl dsh_session::Sink for Full {
    fn write(&self, _: &dsh_session::Event) -> Result<(), dsh_session::SinkError> {
        let stored = self.stored.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if stored < self.room {
            return Ok(());
        }
        Err(dsh_session::SinkError::new(std::io::Error::from(std::io::ErrorKind::StorageFull)))
    }

    async fn flush(&self) -> Result<(), dsh_session::SinkError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_log_that_is_full_ends_the_program_and_leaves_no_call_behind() {
    for room in 0..4 {
        let stage = Stage::logging(std::sync::Arc::new(Full { room, stored: 0.into() }));
        let program = "
            const calls = [tools.echo({ label: 'a' }), tools.held({ label: 'b' }), tools.change({ label: 'c' })];
            await Promise.allSettled(calls);
            return 'done';";
        stage.gate.add_permits(1);
        let told = stage.told(program).await;
        assert!(told.starts_with("Error: the calls of the program could not be logged: "), "{room}: {told}");
        let noted = stage.noted();
        let (begun, ended): (Vec<_>, Vec<_>) = noted.iter().partition(|note| note.starts_with('>'));
        assert_eq!(begun.len(), ended.len(), "{room}: {noted:?}");
    }
}
