//! `foretell serve`: a dedicated server of the arena or the pile, for programs and browsers.

mod address;
mod budget;
mod bundle;
mod config;
mod metrics;
mod pace;
mod page;
mod proxies;
mod serving;
mod setup;
mod stream;
mod usage;
mod visitors;

use crate::game::GameName;
use anyhow::{Context, Result, ensure};
use clap::Args;
use config::{Config, LogFormat, LogKeys};
use foretell_arena::{Game, Pitch};
use foretell_pile::Pile;
use std::io::{IsTerminal, stderr};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

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
    if args.print_config {
        print!("{}", config::DEFAULT);
        return Ok(());
    }
    let mut config = Config::read(args.config.as_deref(), &args.set)?;
    if let Some(listen) = args.listen {
        config.server.listen = listen;
    }
    check_reach(config.server.listen, &args)?;
    start_log(&config.log)?;
    let runtime = foretell_net::runtime().context("the runtime can't start")?;
    match config.session.game {
        GameName::Arena => runtime.block_on(serve(&config, args.insecure, Pitch::default())),
        GameName::Pile => runtime.block_on(serve(&config, args.insecure, Pile::new(config.session.cubes))),
    }
}

/// Anybody may play in anybody's name where nobody else can reach the server, or where it was said twice.
fn check_reach(listen: SocketAddr, args: &ServeArgs) -> Result<()> {
    ensure!(
        !args.insecure || args.insecure_for_all || listen.ip().to_canonical().is_loopback(),
        "--insecure lets anybody play in anybody's name, and others than this machine can reach {listen}: let guests in by \
         --set access.guests=true, or say --insecure-for-all too"
    );
    Ok(())
}

async fn serve<G: Game>(config: &Config, insecure: bool, world: G) -> Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let listen = config.server.listen;
    let (mut serve_config, guests) = setup::set_up::<G>(config, insecure)?;
    let page = config.page.listen.map(page::bind).transpose()?;
    serve_config.origins.extend(page.iter().flat_map(|page| page::origins(page, &config.page)));
    let running = foretell_net::serve(listen, world, serve_config)
        .await
        .with_context(|| format!("server.listen: {listen} can't be served"))?;
    println!("foretell serve: the {}, players join {}", G::NAME, running.url(&config.server.host));
    let players = page::Players::new(G::NAME, &config.server.host, &running, guests);
    let page = page.map(|listener| page::site(listener, &config.page, players)).transpose()?;
    let metrics = metrics::site(&config.metrics, running.watch())?;
    serving::start(page.into_iter().chain(metrics).collect())?;
    let mut status = running.watch();
    // Told once it waits for its players, told twice it says good-bye to them at once.
    for limit in [config.drain(), Duration::ZERO] {
        tokio::select! {
            () = told_to_end(&mut terminate, &mut interrupt) => running.drain(limit),
            // Nobody reports any more: the server has ended, or the game has failed.
            _ = status.wait_for(|_| false) => break,
        }
    }
    tokio::select! {
        ended = running.ended() => ended.context("the game has failed, and the server with it")?,
        () = told_to_end(&mut terminate, &mut interrupt) => tracing::warn!("told three times to end"),
    }
    Ok(())
}

async fn told_to_end(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

fn start_log(keys: &LogKeys) -> Result<()> {
    let filter = EnvFilter::try_new(&keys.filter).context("log.filter is like info, or foretell_net=debug,info")?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    match keys.format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}
