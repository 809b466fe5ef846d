//! Fuzzes `sdk_typescript`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_fuzz_targets::run("sdk_typescript", bytes));
