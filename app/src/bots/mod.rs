//! `foretell bots`: many players of a server over the real network, in one process, and what they and the server measure.

mod bot;
mod scrape;
mod table;

use anyhow::{Context, Result, ensure};
use bot::{BotFigures, Orders};
use clap::Args;
use foretell::SendRate;
use foretell_arena::{Game, Pitch};
use foretell_dedicated::GameName;
use foretell_net::random_key;
use foretell_pile::Pile;
use scrape::{Scrape, Server};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

#[derive(Args)]
pub struct BotsArgs {
    /// How many.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,
    /// The address that `foretell serve --insecure` prints. For more than 16 bots the server needs
    /// `--set limits.per_address_max=1000`, for more than 64 `--set session.players_max=1000` as well; a pile takes 12, and
    /// 16 with `--set limits.joins_per_second=4`.
    url: String,
    /// What the server plays.
    #[arg(long, value_enum, default_value_t)]
    game: GameName,
    /// For so long they are measured, in seconds.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Where the server tells its metrics; its own figures come from there.
    #[arg(long, default_value = "http://127.0.0.1:9464/metrics")]
    metrics: String,
    /// How many datagrams of inputs go out in a second; without it one in each tick.
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u16).range(1..))]
    send_rate: Option<u16>,
}

/// Between two who join.
const APART: Duration = Duration::from_millis(20);
/// After the last one has joined, before it is measured.
const SETTLING: Duration = Duration::from_secs(5);

/// Joins, plays, measures, leaves, and prints a table.
pub fn run(args: &BotsArgs) -> Result<ExitCode> {
    crate::log::start("warn");
    let runtime = foretell_net::runtime().context("the runtime can't start")?;
    match args.game {
        GameName::Arena => runtime.block_on(play::<Pitch>(args)),
        GameName::Pile => runtime.block_on(play::<Pile>(args)),
    }
}

async fn play<G: Game>(args: &BotsArgs) -> Result<ExitCode> {
    let whole = Duration::from_secs(args.seconds.into());
    let begins = Instant::now() + APART * args.count.into() + SETTLING;
    let [a, b, c, d, ..] = random_key();
    let crowd = u32::from_le_bytes([a, b, c, d]);
    let send_rate = args.send_rate.map_or(SendRate::EveryTick, SendRate::Hz);
    let mut bots = JoinSet::new();
    for number in 0..args.count {
        let (url, measured) = (args.url.clone(), begins..begins + whole);
        bots.spawn(bot::play::<G>(Orders { url, crowd, number, send_rate, measured }));
        sleep(APART).await;
    }
    let figures = tokio::spawn(figures(args.metrics.clone(), begins, begins + whole));
    let seen: Vec<Result<BotFigures>> = bots.join_all().await;
    let failed = seen.iter().filter_map(|seen| seen.as_ref().err()).collect::<Vec<_>>();
    if let Some(error) = failed.first() {
        eprintln!("{} of {} bots failed, the first: {error:#}", failed.len(), args.count);
    }
    let seen: Vec<_> = seen.iter().flatten().collect();
    ensure!(!seen.is_empty(), "no bot has played");
    let server = figures.await.context("the figures of the server")?;
    if let Err(error) = &server {
        eprintln!("no figures of the server: {error:#}");
    }
    print!("{}", table::table(&seen, server.ok().as_ref(), whole));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the server counts between two instants.
async fn figures(metrics: String, begins: Instant, ends: Instant) -> Result<Server> {
    sleep(begins.saturating_duration_since(Instant::now())).await;
    let before = Scrape::read(&metrics).await?;
    sleep(ends.saturating_duration_since(Instant::now())).await;
    Ok(Scrape::read(&metrics).await?.since(&before))
}
