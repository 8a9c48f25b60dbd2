//! `foretell bench`: what the netcode costs on this machine.

use foretell_bench::CrowdOptions;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `foretell bench`.
#[derive(clap::Args)]
#[command(arg_required_else_help = false)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// A crowd of entities, and of clients that see it: processor time of both ends, bytes, and how old what is shown is.
    Crowd(CrowdArgs),
}

#[derive(clap::Args)]
struct CrowdArgs {
    /// How many entities the server has besides those of its players, 1 to 60000.
    #[arg(long, value_name = "E")]
    entities: u16,
    /// How many of them move all the time; the others rest. With 0 the players stand, too.
    #[arg(long, value_name = "M")]
    moving: u16,
    /// How many clients play from the start, 1 to 1000. One more comes after half of the time.
    #[arg(long, value_name = "C")]
    clients: u16,
    /// The round trip, in ms.
    #[arg(long, value_name = "MS", default_value_t = 100)]
    rtt: u32,
    /// The share of datagrams that is lost on each way, 0 to 1.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    loss: f64,
    /// How many bytes per second each client is sent at most, or none for no limit. Default: what a server allows that is told
    /// nothing else.
    #[arg(long, value_name = "B", default_value_t = foretell::ServerConfig::default().budget, value_parser = budget)]
    budget: u32,
    /// How long the session lasts, in virtual seconds: a quarter until it has settled, a quarter that is measured, and half of
    /// it for the one who comes late.
    #[arg(long, value_name = "S", default_value_t = 16)]
    seconds: u32,
    /// What losses and names are drawn from. The same seed gives the same bytes and ages.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A number of bytes, or none for as many as there are to send.
fn budget(text: &str) -> Result<u32, String> {
    let accepted = "accepted is a number of bytes per second from 1 on, or none for no limit";
    match text {
        "none" => Ok(u32::MAX),
        _ => text.parse().ok().filter(|bytes| *bytes > 0).ok_or(accepted.into()),
    }
}

/// Measures. The code is 2 where that can't be done, or what was measured can't be written.
pub fn run(args: BenchArgs) -> ExitCode {
    let What::Crowd(args) = args.what;
    let CrowdArgs { entities, moving, clients, rtt: rtt_ms, loss, budget, seconds, seed, json } = args;
    let options = CrowdOptions { entities, moving, clients, rtt_ms, loss, budget, seconds, seed };
    match foretell_bench::run(&options, json.as_deref(), &mut std::io::stdout()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
