//! The `foretell` program: a lab for netcode.
#![forbid(unsafe_code)]

use std::process::ExitCode;

mod bench;
mod bots;
mod cli;
mod disconnect;
mod join;
mod lab;
mod log;
mod replay;
mod serve;
mod sweep;

fn main() -> ExitCode {
    cli::run()
}
