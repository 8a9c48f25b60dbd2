//! What the program logs, on stderr.

use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;

/// Logs what FORETELL_LOG says, as in `foretell=debug`; else what `default` does.
pub fn start(default: &str) {
    let filter = EnvFilter::try_from_env("FORETELL_LOG").unwrap_or_else(|_| default.into());
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(stderr().is_terminal()).with_writer(stderr).init();
}
