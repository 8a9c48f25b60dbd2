//! The `foretell` program.
#![forbid(unsafe_code)]
fn main() {}
