//! What does it cost to see? Ten thousand agents that see the same share one view, and a change is paid for once.
//!
//! Rows: ten thousand fresh scopes look at a thousand tools for the first time; the first look after a change.

use std::error::Error;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput};
use dsh_benches::{Noop, criterion, others};
use dsh_scope::Scope;
use dsh_tools_core::{Definition, Tools};

const SCOPES: u64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    first_looks(&mut criterion)?;
    after_a_change(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

fn first_looks(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let tools = Tools::new();
    let _others = others(&tools, 1000)?;
    let mut group = criterion.benchmark_group("views");
    group.throughput(Throughput::Elements(SCOPES));
    group.bench_function("10000 fresh scopes, 1000 tools", |bencher| {
        bencher.iter_batched_ref(
            || (0..SCOPES).map(|_| Scope::root()).collect::<Vec<_>>(),
            |scopes| {
                for scope in scopes {
                    black_box(tools.view(Some(scope)));
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
    Ok(())
}

fn after_a_change(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let (tools, scope) = (Tools::new(), Scope::root());
    let _others = others(&tools, 1000)?;
    let noop = Definition::typed(Noop)?;
    criterion.bench_function("views/rebuild after a change, 1000 tools", |bencher| {
        bencher.iter_batched(
            || tools.register(None, noop.clone()),
            |registration| (black_box(tools.view(Some(&scope))), registration),
            BatchSize::PerIteration,
        );
    });
    Ok(())
}
