//! What does it cost to keep a text whole, from the choice of its place to the file?
//!
//! The files lie where flushing costs nothing, in memory if the system has such a directory; one row flushes all the same.
//!
//! Goals: 8 ms to choose the place of 5 MB and to save them there; no more to find that they are there already.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use dsh_benches::{criterion, one_thread};
use dsh_lifecycle::{Cancel, SteppingClock};
use dsh_spill::{SaveText, SpillError, SpillOwner, SpillSource, SpillStore as _};
use dsh_spill_local::{LocalSpill, LocalSpillConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    for (name, bytes, sync) in
        [("100 kB", 100_000, false), ("5 MB", 5_000_000, false), ("5 MB, flushed", 5_000_000, true)]
    {
        let root = Some(dir.path().join("spill"));
        let config = LocalSpillConfig { root, sync, ..LocalSpillConfig::default() };
        let store = LocalSpill::new(config, dir.path(), Arc::new(SteppingClock::starting_at(0)))?;
        new(&mut criterion, name, &store, &"line of a text\n".repeat(bytes / 15))?;
        again(&mut criterion, name, &store, &"line of a text\n".repeat(bytes / 15))?;
    }
    criterion.final_summary();
    Ok(())
}

/// A text that is not there yet.
fn new(criterion: &mut Criterion, name: &str, store: &LocalSpill, text: &str) -> Result<(), Box<dyn Error>> {
    let runtime = one_thread()?;
    criterion.bench_function(&format!("spill_store/{name}"), |bencher| {
        let fresh = || {
            if let Ok(root) = store.root() {
                // There is none before the first one.
                let _ = std::fs::remove_dir_all(root);
            }
            request(text)
        };
        bencher.iter_batched(fresh, |text| runtime.block_on(save(store, text)), BatchSize::PerIteration);
    });
    Ok(())
}

/// A text that is there already.
fn again(
    criterion: &mut Criterion,
    name: &str,
    store: &LocalSpill,
    text: &str,
) -> Result<(), Box<dyn Error>> {
    let runtime = one_thread()?;
    let text = request(text);
    runtime.block_on(save(store, text.clone()))?;
    criterion.bench_function(&format!("spill_store/{name}, again"), |bencher| {
        bencher.iter(|| runtime.block_on(save(store, text.clone())));
    });
    Ok(())
}

async fn save(store: &LocalSpill, text: SaveText) -> Result<(), SpillError> {
    let cancel = Cancel::new();
    store.begin(text, &cancel).await?.commit(&cancel).await.map(drop)
}

fn request(text: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session_id: "bench".into() },
        source: SpillSource {
            tool_name: "bash".into(),
            call_id: "c1".into(),
            label: SpillSource::RESULT.into(),
        },
        suggested_name: "bash.txt".into(),
        content: text.into(),
    }
}
