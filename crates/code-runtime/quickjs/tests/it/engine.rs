//! The engine's half alone, at the end of a port that is a list.
#![expect(clippy::unwrap_used, reason = "a test's own functions fail as tests do")]

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dsh_code_runtime::wire::{Brake, Call, FromEngine, Gone, Job, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Limits, contract};
use dsh_json::Json;
use dsh_quickjs::{STACK_BYTES, serve};

/// A host that says these messages, one whenever it is asked, and then is gone.
struct Listed {
    says: VecDeque<ToEngine>,
    heard: Sender<FromEngine>,
    brake: Brake,
}

impl Port for Listed {
    fn send(&mut self, message: FromEngine) -> Result<(), Gone> {
        self.heard.send(message).map_err(|_| Gone)
    }

    fn receive(&mut self, _patience: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        self.says.pop_front().map(Some).ok_or(Gone)
    }

    fn brake(&self) -> Brake {
        self.brake.clone()
    }
}

/// Serves one run; gives what the engine said, but for what it used, and whether it found its host gone.
fn served(says: Vec<ToEngine>, brake: Brake) -> (Vec<FromEngine>, Result<(), Gone>) {
    let (mut said, result) = served_whole(says, brake);
    for message in &mut said {
        if let FromEngine::Done { used, .. } = message {
            *used = None;
        }
    }
    (said, result)
}

fn done(result: Result<Option<Json>, Failure>) -> FromEngine {
    FromEngine::Done { result, used: None }
}

fn served_whole(says: Vec<ToEngine>, brake: Brake) -> (Vec<FromEngine>, Result<(), Gone>) {
    let (heard, said): (_, Receiver<FromEngine>) = channel();
    let port = Listed { says: says.into(), heard, brake };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(port)).unwrap();
    let result = thread.join().unwrap();
    (said.into_iter().collect(), result)
}

fn job(program: &str) -> ToEngine {
    ToEngine::Run(Job {
        program: program.into(),
        namespaces: vec![contract::tools()],
        limits: Limits::default(),
    })
}

fn reply(id: u64, answer: Result<i64, &str>) -> ToEngine {
    ToEngine::Reply { id, answer: answer.map(Json::from).map_err(str::to_owned) }
}

fn call(id: u64, args: i64) -> FromEngine {
    FromEngine::Call(Call { id, namespace: "tools".into(), name: "echo".into(), args: args.into() })
}

#[test]
fn replies_to_no_call_and_second_replies_are_nothing() {
    let program = "const a = await tools.echo(1); const b = await tools.echo(2); return [a, b];";
    let says = vec![
        reply(1, Ok(9)),
        job(program),
        reply(7, Ok(70)),
        reply(0, Err("stray")),
        reply(1, Ok(10)),
        reply(1, Err("again")),
        job("return 'another'"),
        reply(2, Ok(20)),
    ];
    let end = done(Ok(Some(dsh_json::array![10, 20])));
    assert_eq!(served(says, Brake::default()), (vec![call(1, 1), call(2, 2), end], Ok(())));
}

#[test]
fn replies_settle_calls_in_any_order() {
    let program =
        "return await Promise.all([tools.echo(1), tools.echo(2).catch(e => e.toolName + e.message)]);";
    let says = vec![job(program), reply(2, Err(" no")), reply(1, Ok(10))];
    let end = done(Ok(Some(dsh_json::array![10, "echo no"])));
    assert_eq!(served(says, Brake::default()), (vec![call(1, 1), call(2, 2), end], Ok(())));
}

#[test]
fn a_program_ends_with_its_host() {
    let stopped = done(Err(Failure::new(FailureKind::WorkerExit, "the program was told to stop")));
    let waiting = || job("await tools.echo(1); console.log('never');");
    assert_eq!(served(vec![waiting()], Brake::default()), (vec![call(1, 1), stopped.clone()], Ok(())));
    assert_eq!(served(vec![waiting(), ToEngine::Cancel], Brake::default()).0, [call(1, 1), stopped.clone()]);
    assert_eq!(served(vec![ToEngine::Cancel], Brake::default()), (vec![], Ok(())));
    assert_eq!(served(vec![], Brake::default()), (vec![], Err(Gone)));

    let brake = Brake::default();
    brake.pull();
    assert_eq!(served(vec![job("for (;;) {}")], brake).0, [stopped]);
}

#[test]
fn a_text_that_is_no_program_is_the_end_at_once() {
    let (said, _) = served(vec![job("enum E { A }")], Brake::default());
    let [FromEngine::Done { result: Err(failure), .. }] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(failure.kind, FailureKind::Syntax);
}

#[test]
fn an_engine_says_what_it_used_however_the_program_ended() {
    let used = |program: &str| {
        let (said, _) = served_whole(vec![job(program)], Brake::default());
        let [FromEngine::Done { used: Some(used), .. }] = said.as_slice() else { panic!("{said:?}") };
        *used
    };
    let idle = used("return 1");
    assert!((10_000..2_000_000).contains(&idle.peak_memory), "{idle:?}");
    // What was let go of before the end is in the peak.
    let large = used("let text = 'x'.repeat(20_000_000); text = ''; return 1");
    assert!((20_000_000..30_000_000).contains(&large.peak_memory), "{large:?}");
    let computing = "const end = Date.now() + 100; while (Date.now() < end) {}";
    // Others use the machine too, so that this thread may have had a part of the time only.
    let failed = used(&format!("{computing}\nthrow new Error('no');"));
    assert!(failed.busy > idle.busy && failed.busy >= Duration::from_millis(10), "{failed:?} {idle:?}");
    let waiting = used("await new Promise((go) => setTimeout(go, 300));");
    assert!(waiting.busy < Duration::from_millis(200), "{waiting:?}");
    assert!(used("enum E { A }").peak_memory < 2_000_000, "the engine has nothing but its world");
}

/// A reply that is there when the program ends is not taken.
#[test]
fn an_engine_says_how_many_replies_it_took() {
    let says = vec![job("tools.echo(1); await tools.echo(2); return 3;"), reply(2, Ok(0)), reply(1, Ok(0))];
    let (said, _) = served_whole(says, Brake::default());
    let Some(FromEngine::Done { used: Some(used), .. }) = said.last() else { panic!("{said:?}") };
    assert_eq!(used.replies, 1);
}
