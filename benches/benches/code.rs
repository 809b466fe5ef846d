//! What a program costs: its start, and its calls one after the other and all at once.
//!
//! `docs/spec/06-code-mode.md` §14.6 asks for a start in well under a millisecond.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dsh_code_runtime::wire::Call;
use dsh_code_runtime::{BoxFuture, CodeRuntime, Host, Limits, Namespace, Request};
use dsh_json::Json;
use dsh_lifecycle::Cancel;
use dsh_quickjs::QuickJs;

struct Nothing;

impl Host for Nothing {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Json, String>> {
        Box::pin(async move { Ok(call.args) })
    }
}

async fn run(runtime: &QuickJs, program: &str) {
    let names = (0..20).map(|n| Arc::from(format!("tool_{n}"))).collect();
    let tools = Namespace { global: "tools".into(), functions: names, error_class: None };
    let request = Request { program: program.into(), namespaces: vec![tools], cancel: Cancel::new() };
    let outcome = runtime.run(request, &Nothing).await;
    assert!(black_box(outcome).is_ok_and(|outcome| outcome.result.is_ok()));
}

fn programs(criterion: &mut Criterion) {
    let Ok(tokio) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    let runtime = QuickJs::new(Limits::default());
    let mut group = criterion.benchmark_group("program");
    group.bench_function("return 1", |bench| bench.to_async(&tokio).iter(|| run(&runtime, "return 1")));
    group.throughput(Throughput::Elements(1_000));
    for (name, program) in [
        ("1000 calls in turn", "for (let i = 0; i < 1000; i++) await tools.tool_7({ i });"),
        (
            "1000 calls at once",
            "await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.tool_7({ i })));",
        ),
    ] {
        group.bench_function(name, |bench| bench.to_async(&tokio).iter(|| run(&runtime, program)));
    }
    group.finish();
}

criterion_group!(benches, programs);
criterion_main!(benches);
