//! Fuzzes `sdk_python`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_fuzz_targets::run("sdk_python", bytes));
