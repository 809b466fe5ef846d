//! An engine that waits: after the first program there is one on a thread, for one more program.

use std::collections::BTreeSet;

use dsh_code_runtime::contract::{TestHost, request};
use dsh_code_runtime::{CodeRuntime as _, Limits};
use dsh_quickjs::QuickJs;

/// The engines' threads of this process. Each test is a process of its own, or sees those of its siblings.
fn threads() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|task| task.path());
    tasks
        .filter(|task| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "dsh-quickjs")
        })
        .map(|task| task.to_string_lossy().into_owned())
        .collect()
}

async fn run(runtime: &QuickJs, program: &str) {
    let request = request(program);
    let host = TestHost::of(&request);
    assert!(runtime.run(request, &host).await.is_ok_and(|outcome| outcome.result.is_ok()), "{program}");
}

#[tokio::test]
async fn a_waiting_engine_is_used_once_and_ends_with_its_provider() {
    let before = threads();
    let runtime = QuickJs::on_threads(Limits::default());
    assert_eq!(threads(), before, "there is none before the first program");
    // What one program leaves in its world the next does not see.
    for _ in 0..3 {
        run(&runtime, "if (globalThis.mark) throw new Error('seen'); globalThis.mark = true; return 1").await;
    }
    runtime.close().await;
    assert_eq!(runtime.unstopped(), 0);
    while threads().difference(&before).next().is_some() {
        tokio::task::yield_now().await;
    }
    let dropped = QuickJs::on_threads(Limits::default());
    run(&dropped, "return 1").await;
    drop(dropped);
    while threads().difference(&before).next().is_some() {
        tokio::task::yield_now().await;
    }
}
