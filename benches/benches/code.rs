//! What a program costs: the check before it, its start, and its calls one after the other and all at once.
//!
//! `docs/spec/06-code-mode.md` §14.6 asks for a start in well under a millisecond. Types are stripped in every check, so a check
//! without namespaces is what stripping costs.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dsh_code_runtime::wire::Call;
use dsh_code_runtime::{BindingSchemas, BoxFuture, CodeRuntime, Host, Limits, Namespace, Request};
use dsh_json::Json;
use dsh_json_schema::Schema;
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
    let runtime = QuickJs::on_threads(Limits::default());
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

/// Tools that all take the same.
struct Tools(BTreeMap<String, Schema>);

impl Tools {
    fn new(count: usize) -> Option<Self> {
        let filter =
            Schema::object().closed().required("kind", Schema::string()).optional("deep", Schema::boolean());
        let mode = Schema::string().enumeration(["fast", "exact", "both"]);
        let parameters = Schema::params()
            .required("path", Schema::string())
            .optional("limit", Schema::integer())
            .optional("mode", mode)
            .optional("filter", filter);
        let schema = parameters.build().ok()?;
        Some(Self((0..count).map(|n| (format!("tool_{n}"), schema.clone())).collect()))
    }
}

impl BindingSchemas for Tools {
    fn namespace(&self) -> &'static str {
        "tools"
    }

    fn parameters(&self, name: &str) -> Option<&Schema> {
        self.0.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

/// A hundred lines with forty calls. Half of the arguments are written out.
fn usual() -> String {
    let step = |n: usize| {
        format!(
            "interface Row{n} {{ path: string; size: number; tags?: string[] }}
const rows{n}: Row{n}[] = [];
for (const path of [\"src/a.rs\", \"src/b.rs\", `src/${{{n}}}.rs`] as const) {{
  const found = await tools.tool_1({{ path, limit: 100, mode: \"fast\" }});
  const more = await tools.tool_2({{ path: \"src/lib.rs\", limit: {n}, filter: {{ kind: \"file\", deep: true }} }});
  const sizes = (found as Row{n}[]).map((row) => row.size).filter((size): size is number => size > 10);
  rows{n}.push({{ path, size: sizes.reduce((sum, size) => sum + size, 0) + (more as any).length }});
}}
const [first{n}, second{n}] = await Promise.all([tools.tool_3({{ path: \"a\" }}), tools.tool_4({{ path: rows{n}[0]!.path }})]);
console.log(`step {n}: ${{rows{n}.length}} rows`, first{n} ?? null, second{n} ?? null);
"
        )
    };
    (0..10).map(step).collect()
}

fn checks(criterion: &mut Criterion) {
    let runtime = QuickJs::on_threads(Limits::default());
    let (Some(few), Some(many)) = (Tools::new(10), Tools::new(1_000)) else { return };
    let program = usual();
    let mut group = criterion.benchmark_group("check");
    let namespaces: [(&str, &[&dyn BindingSchemas]); 3] = [
        ("strip alone", &[]),
        ("strip and check, 10 tools", &[&few]),
        ("strip and check, 1000 tools", &[&many]),
    ];
    for (name, namespaces) in namespaces {
        assert!(runtime.check(&program, namespaces).is_ok());
        group.bench_function(name, |bench| bench.iter(|| runtime.check(black_box(&program), namespaces)));
    }
    let wrong = program.replace("{ path: \"a\" }", "{ pth: \"a\" }").replace("tool_4", "tol_4");
    assert!(runtime.check(&wrong, &[&many]).is_err());
    group.bench_function("refused, 1000 tools", |bench| {
        bench.iter(|| runtime.check(black_box(&wrong), &[&many]));
    });
    let long = program.repeat((1 << 20) / program.len());
    let long = format!("{{\n{}}}", long.replace("interface Row", "}{ interface Row"));
    assert!(runtime.check(&long, &[&many]).is_ok());
    group.throughput(Throughput::Bytes(u64::try_from(long.len()).unwrap_or(u64::MAX)));
    group.sample_size(20);
    group.bench_function("1 MB, 1000 tools", |bench| {
        bench.iter(|| runtime.check(black_box(&long), &[&many]));
    });
    group.finish();
}

criterion_group!(benches, checks, programs);
criterion_main!(benches);
