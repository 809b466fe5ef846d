//! What does text from outside cost to become a value, and a value to become text?
//!
//! Rows: ten thousand small records, and one string of a megabyte. Dropping the value is part of reading it.

use std::error::Error;

use criterion::{Criterion, Throughput};
use dsh_benches::{criterion, records};
use dsh_json::Json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    let rows = records(10_000)?;
    let string = Json::from("A line of text, with a tab\tand a break.\n".repeat(25_000));
    for (name, value) in [("10000 records", rows), ("1 MB string", string)] {
        both_ways(&mut criterion, name, &value)?;
    }
    criterion.final_summary();
    Ok(())
}

fn both_ways(criterion: &mut Criterion, name: &str, value: &Json) -> Result<(), Box<dyn Error>> {
    let text = value.to_text();
    assert_eq!(&Json::parse(&text)?, value);
    let mut group = criterion.benchmark_group("json_ingress");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(format!("parse and drop, {name}"), |bencher| bencher.iter(|| Json::parse(&text)));
    group.bench_function(format!("to_text, {name}"), |bencher| bencher.iter(|| value.to_text()));
    group.finish();
    Ok(())
}
