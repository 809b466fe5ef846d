//! What does one call cost, from its arguments to its published result?
//!
//! Goal: 4 µs with three listeners, and no more than 1.2 times that beside a thousand tools.

use std::error::Error;

use criterion::Criterion;
use dsh_benches::{Noop, criterion, one_thread, others, three_listeners};
use dsh_tools_core::{CallInput, Definition, Registrations, Tools, object};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    row(&mut criterion, "bare", 1, false)?;
    row(&mut criterion, "three listeners", 1, true)?;
    row(&mut criterion, "three listeners, 1000 tools", 1000, true)?;
    criterion.final_summary();
    Ok(())
}

fn row(criterion: &mut Criterion, name: &str, count: usize, listened: bool) -> Result<(), Box<dyn Error>> {
    let tools = Tools::new();
    let _others = others(&tools, count - 1)?;
    let _noop = tools.register(None, Definition::typed(Noop)?)?;
    let _listeners = if listened { three_listeners(&tools) } else { Registrations::new() };
    let (runtime, call) = (one_thread()?, CallInput::new("c1", "noop", object! {}));
    let result = runtime.block_on(tools.execute(call.clone()));
    assert!(!result.is_error(), "{result:?}");
    criterion.bench_function(&format!("call_path/{name}"), |bencher| {
        bencher.to_async(&runtime).iter(|| tools.execute(call.clone()));
    });
    Ok(())
}
