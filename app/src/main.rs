//! The `foretell` program: a lab for netcode.
#![forbid(unsafe_code)]

use std::process::ExitCode;

mod bots;
mod cli;
mod dedicated;
mod game;
mod join;
mod lab;
mod log;
mod over;
mod plan;
mod replay;
mod site;
mod sweep;

fn main() -> ExitCode {
    cli::run()
}
