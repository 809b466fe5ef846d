//! Fuzzes `import`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_fuzz_targets::run("import", bytes));
