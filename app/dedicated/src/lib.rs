//! A dedicated server of the arena or the pile, for programs and browsers.
//!
//! [`run`] takes [`ServeOptions`] and ends when the process is told to.
#![forbid(unsafe_code)]

mod address;
mod bundle;
mod config;
mod connections;
mod event_log;
mod game;
mod http_server;
mod metrics;
mod paced_stream;
mod page;
mod proxies;
mod read_config;
mod request_budget;
mod setup;
mod usage;
mod write_pacing;

pub use config::DEFAULT as DEFAULT_CONFIG;
pub use game::GameName;

use anyhow::{Context, Result, ensure};
use config::{Config, LogFormat, LogKeys};
use foretell_arena::{Game, Pitch};
use foretell_pile::Pile;
use std::io::{IsTerminal, stderr};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// How the server is started.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// A configuration in TOML.
    pub config: Option<PathBuf>,
    /// Keys of the configuration with their values, over the file's: `session.players_max=16`.
    pub set: Vec<String>,
    /// Where players connect: the key `server.listen`.
    pub listen: Option<SocketAddr>,
    /// Anybody may play in anybody's name.
    pub insecure: bool,
    /// The same on an address that others than this machine can reach.
    pub insecure_for_all: bool,
}

/// Runs the server until it is told to end, and has. It logs as its configuration says.
///
/// # Errors
/// When the configuration has a mistake, an address can't be served, or the game fails.
pub fn run(options: &ServeOptions) -> Result<()> {
    let mut config = read_config::read(options.config.as_deref(), &options.set)?;
    if let Some(listen) = options.listen {
        config.server.listen = listen;
    }
    check_reach(config.server.listen, options)?;
    start_log(&config.log)?;
    let runtime = foretell_net::runtime().context("the runtime can't start")?;
    match config.session.game {
        GameName::Arena => runtime.block_on(serve(&config, options.insecure, Pitch::default())),
        GameName::Pile => runtime.block_on(serve(&config, options.insecure, Pile::new(config.session.cubes))),
    }
}

/// Anybody may play in anybody's name where nobody else can reach the server, or where it was said twice.
fn check_reach(listen: SocketAddr, options: &ServeOptions) -> Result<()> {
    ensure!(
        !options.insecure || options.insecure_for_all || listen.ip().to_canonical().is_loopback(),
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
    let running = foretell_net::serve_with(listen, world, serve_config, event_log::log)
        .await
        .with_context(|| format!("server.listen: {listen} can't be served"))?;
    println!("foretell serve: the {}, players join {}", G::NAME, running.url(&config.server.host));
    let players = page::Players::new(G::NAME, &config.server.host, &running, guests);
    let page = page.map(|listener| page::site(listener, &config.page, players)).transpose()?;
    let metrics = metrics::site(&config.metrics, running.watch())?;
    http_server::start(page.into_iter().chain(metrics).collect())?;
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
