//! `cargo run --release -p shooter -- --json FILE`: plays the shooter with bots, and says how it was.
#![allow(missing_docs, reason = "a program")]

use clap::Parser;
use foretell::Tick;
use shooter::measure::{Terms, conditions, measure};
use shooter::play::Play;
use std::path::PathBuf;
use std::time::Duration;

/// Plays a shooter with bots over a simulated network, and measures it.
#[derive(Parser)]
struct Arguments {
    /// Where to write the figures as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// How long is measured, in seconds, after 20 s of joining.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// How many bots play.
    #[arg(long, default_value_t = 16)]
    bots: usize,
    /// Round trip, in milliseconds.
    #[arg(long, default_value_t = 150)]
    rtt_ms: u64,
    /// The share of datagrams that are lost, from 0 to 1.
    #[arg(long, default_value_t = 0.05)]
    loss: f64,
    /// Another number is another session.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draws what the first bot sees, in this terminal; nothing is measured.
    #[arg(long)]
    watch: bool,
    /// Plays over sockets of this machine, at its own pace, and says how the server fared.
    #[arg(long)]
    sockets: bool,
    /// Also says what was corrected and where the bytes went.
    #[arg(long)]
    details: bool,
}

fn main() -> Result<(), shooter::sockets::Failed> {
    let Arguments { json, seconds, bots, rtt_ms, loss, seed, details, watch, sockets } = Arguments::parse();
    let terms = Terms { bots, seconds, rtt: Duration::from_millis(rtt_ms), loss, seed };
    if watch {
        let (play, session) = Play::begin(bots, &conditions(&terms), seed, Tick::new(30 * seconds));
        shooter::watch::watch(play, session, seconds);
        return Ok(());
    }
    if sockets {
        let (status, ends) = tokio::runtime::Runtime::new()?.block_on(shooter::sockets::play(bots, seconds))?;
        println!("{status:#?}\n{} of {bots} have heard of the end", ends.iter().filter(|end| **end).count());
        return Ok(());
    }
    let (report, where_it_went) = measure(terms);
    if details {
        println!("{where_it_went}");
    }
    let text = serde_json::to_string_pretty(&report)?;
    println!("{text}");
    json.map_or(Ok(()), |path| std::fs::write(path, text + "\n"))?;
    Ok(())
}
