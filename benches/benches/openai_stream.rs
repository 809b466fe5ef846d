//! What does it cost to understand a streamed answer?
//!
//! Rows: streams of 1 and of 10 MB in the usual form, an event for each delta of about 20 bytes, of text and of a tool
//! call's arguments; in pieces of 16 KiB as a socket gives them, and once byte by byte. Ten times the bytes should take ten
//! times as long. Events that differ in more than their text are the costly ones, and a row of their own.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dsh_benches::criterion;
use dsh_chat_server::sse;
use dsh_llm::{Assembler, Chunk};
use dsh_llm_openai::Decoder;

const MB: usize = 1_000_000;
const PIECE: usize = 16 << 10;

/// A stream of at least this many bytes.
fn stream(bytes: usize, start: &str, delta: &str, reason: &str) -> String {
    let mut stream = start.to_owned();
    stream.push_str(&delta.repeat(bytes.div_ceil(delta.len())));
    stream.push_str(&[sse::finish(reason), sse::usage(1_000, 50_000), sse::done()].concat());
    stream
}

fn decode(stream: &str, piece: usize) -> usize {
    let mut decoder = Decoder::new(1 << 20);
    let mut chunks: Vec<Chunk> = vec![];
    let mut count = 0;
    for piece in stream.as_bytes().chunks(piece) {
        decoder.push(piece, &mut chunks);
        count += chunks.len();
        black_box(&chunks);
        chunks.clear();
    }
    decoder.end(&mut chunks);
    assert!(decoder.is_over());
    count
}

fn assemble(stream: &str) -> usize {
    let mut decoder = Decoder::new(1 << 20);
    let mut answer = Assembler::default();
    let mut chunks: Vec<Chunk> = vec![];
    for piece in stream.as_bytes().chunks(PIECE) {
        decoder.push(piece, &mut chunks);
        chunks.drain(..).for_each(|chunk| answer.push(&chunk));
    }
    answer.finish().content.len()
}

fn streams(criterion: &mut Criterion) {
    let text = |bytes| stream(bytes, "", &sse::text("twenty bytes of text"), "stop");
    let call = sse::call(0, "call_1", "write", "");
    let arguments =
        |bytes| stream(bytes, &call, &sse::arguments(0, "twenty \"bytes\" more\\n"), "tool_calls");
    let odd = |n: usize| {
        sse::text("twenty bytes of text")
            .replace("\"created\":1700000000", &format!("\"created\":{}", 1_700_000_000 + n))
    };
    let odd: String = (0..10 * MB / odd(0).len()).map(odd).collect::<Vec<_>>().concat();
    let mut group = criterion.benchmark_group("openai_stream");
    for (kind, size, stream) in [
        ("text", 1, text(MB)),
        ("text", 10, text(10 * MB)),
        ("text in events that differ", 10, stream(0, &odd, &sse::finish("stop"), "stop")),
        ("arguments", 1, arguments(MB)),
        ("arguments", 10, arguments(10 * MB)),
    ] {
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.bench_function(format!("{size} MB of {kind}"), |bench| bench.iter(|| decode(&stream, PIECE)));
        if size == 10 {
            group.bench_function(format!("{size} MB of {kind}, byte by byte"), |bench| {
                bench.iter(|| decode(&stream, 1));
            });
            group.bench_function(format!("{size} MB of {kind}, assembled"), |bench| {
                bench.iter(|| assemble(&stream));
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = criterion();
    targets = streams
}
criterion_main!(benches);
