//! Derives for `foretell`: `Input` and `State`.
#![forbid(unsafe_code)]
