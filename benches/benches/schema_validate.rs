//! What does it cost to know that a value fits?
//!
//! Goal: 100 ns for the arguments of an ordinary call, 1 ms for ten thousand records.

use std::error::Error;
use std::hint::black_box;

use dsh_benches::{criterion, record_schema, records};
use dsh_json::object;
use dsh_json_schema::Schema;

fn main() -> Result<(), Box<dyn Error>> {
    let parameters = Schema::params()
        .required("file_path", Schema::string())
        .optional("offset", Schema::integer())
        .optional("limit", Schema::integer())
        .build()?;
    let arguments = object! { "file_path": "src/lib.rs", "offset": 1, "limit": 200 };
    let rows = [
        ("three arguments", parameters, arguments),
        ("10000 records", Schema::array(record_schema()).build()?, records(10_000)?),
    ];
    let mut criterion = criterion().configure_from_args();
    for (name, schema, value) in &rows {
        assert!(schema.is_valid(value), "{}", schema.violations(value, "$"));
        criterion.bench_function(&format!("schema_validate/{name}"), |bencher| {
            bencher.iter(|| schema.is_valid(black_box(value)));
        });
    }
    criterion.final_summary();
    Ok(())
}
