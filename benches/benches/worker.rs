//! What does a program pay for a process of its own?
//!
//! Goal: less than 1 ms from asking for a worker to its first answer, when one is in stock. Each row is a median; the worker
//! is this very program, in the role of an echo.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use dsh_benches::median;
use dsh_worker::{Entry, Limits, WorkerPool, WorkerSpec, child_main_if_asked};
use tokio::time::Instant;

#[expect(clippy::print_stdout, reason = "the answers of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    child_main_if_asked(|_, start| {
        let mut channel = start.confine();
        while let Ok(Some(payload)) = channel.recv(None) {
            if channel.send(&payload).is_err() {
                return;
            }
        }
    });
    // `--test` shows that it works.
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { 300 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (name, times) in runtime.block_on(measure(rounds))? {
        println!("{name:40} {:>10.2?}", median(times).unwrap_or_default());
    }
    Ok(())
}

type Row = (&'static str, Vec<Duration>);

async fn measure(rounds: usize) -> Result<[Row; 5], Box<dyn Error>> {
    let limits = Limits { max_memory_bytes: Some(64 << 20), max_cpu_seconds: Some(60) };
    let spec = WorkerSpec { limits, idle: 0, ..WorkerSpec::new(Entry::Reexec, "echo") };
    let payload = vec![b'x'; 1_024];
    let [mut cold, mut stocked, mut first, mut rest, mut kill] = [const { Vec::new() }; 5];

    let without_stock = WorkerPool::new(spec.clone());
    let with_stock = WorkerPool::new(WorkerSpec { idle: 4, ..spec });
    for _ in 0..rounds {
        let start = Instant::now();
        let worker = without_stock.take().await?;
        cold.push(start.elapsed());
        let start = Instant::now();
        black_box(worker.kill().await);
        kill.push(start.elapsed());

        // The stock has time to fill, as between two programs of a model.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let start = Instant::now();
        let mut worker = with_stock.take().await?;
        stocked.push(start.elapsed());
        worker.send(&payload).await?;
        black_box(worker.recv().await?);
        first.push(start.elapsed());
        for _ in 0..20 {
            let start = Instant::now();
            worker.send(&payload).await?;
            black_box(worker.recv().await?);
            rest.push(start.elapsed());
        }
        worker.kill().await;
    }
    without_stock.close().await;
    with_stock.close().await;
    Ok([
        ("start of a worker until it is ready", cold),
        ("take one that is in stock", stocked),
        ("take one, send 1 KB, first answer", first),
        ("each further 1 KB and answer", rest),
        ("kill one and reap it", kill),
    ])
}
