//! [`receive`](foretell_fuzz::receive), driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foretell_fuzz::receive(bytes));
