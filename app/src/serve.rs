//! `foretell serve`: the arguments of the dedicated server.

use anyhow::Result;
use clap::Args;
use foretell_dedicated::{DEFAULT_CONFIG, ServeOptions};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The arguments of `foretell serve`.
#[derive(Args)]
pub struct ServeArgs {
    /// A configuration in TOML.
    #[arg(long)]
    config: Option<PathBuf>,
    /// A key of the configuration and its value, over the file's: session.players_max=16.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where players connect: the key server.listen.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// INSECURE development mode: anybody may play in anybody's name.
    #[arg(long)]
    insecure: bool,
    /// The same on an address that others than this machine can reach.
    #[arg(long, requires = "insecure")]
    insecure_for_all: bool,
    /// Prints the default configuration with every key explained, and exits.
    #[arg(long)]
    print_config: bool,
}

/// Runs the server until it is told to end, and has.
pub fn run(args: ServeArgs) -> Result<()> {
    let ServeArgs { config, set, listen, insecure, insecure_for_all, print_config } = args;
    if print_config {
        print!("{DEFAULT_CONFIG}");
        return Ok(());
    }
    foretell_dedicated::run(&ServeOptions { config, set, listen, insecure, insecure_for_all })
}
