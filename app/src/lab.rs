//! `foretell lab`: the lab in the browser, until Ctrl-C.

use crate::log;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use foretell_lab::Lab;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The arguments of `foretell lab`.
#[derive(Args, Clone, Copy)]
pub struct LabArgs {
    /// The port of the page, 0 to 65535; 0 takes one that is free.
    #[arg(long, default_value_t = 7878, value_parser = port)]
    pub port: u16,
    /// The address that it is served on; any that is not loopback lets others in.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = address)]
    bind: IpAddr,
    /// Opens the page in a browser.
    #[arg(long)]
    open: bool,
}

/// Serves the lab until Ctrl-C.
pub fn run(args: LabArgs) -> Result<()> {
    log::start("info");
    let runtime = tokio::runtime::Runtime::new().context("the runtime can't start")?;
    runtime.block_on(serve(args))
}

async fn serve(args: LabArgs) -> Result<()> {
    let wanted = SocketAddr::new(args.bind, args.port);
    let lab = Lab::bind(wanted).await.map_err(|error| cannot_bind(wanted, &error))?;
    let address = lab.address();
    if !address.ip().is_loopback() {
        eprintln!("warning: with --bind {} everybody who can reach this machine can open the lab", args.bind);
    }
    println!("{}", welcome(address));
    if args.open && open::that_detached(format!("http://{address}/")).is_err() {
        eprintln!("warning: no browser could be started: open the address in one");
    }
    lab.serve(stopped()).await.context("the server failed")
}

/// Ends with Ctrl-C.
async fn stopped() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "Ctrl-C can't be waited for");
        std::future::pending::<()>().await;
    }
    tracing::info!("stopping");
}

/// What the terminal says first.
fn welcome(address: SocketAddr) -> String {
    format!(
        "foretell lab: http://{address}/\n\
         Drive a cube over a bad network there, and see what prediction, rollback and correction make of it.\n\
         --open starts a browser, Ctrl-C ends the lab.\n\
         Other commands: serve (a server to play on), join and bots (players for it), sweep (networks measured),\n\
         replay (a flight recording run again). `foretell COMMAND --help` says more."
    )
}

fn cannot_bind(wanted: SocketAddr, error: &std::io::Error) -> anyhow::Error {
    let (ip, port) = (wanted.ip(), wanted.port());
    match error.kind() {
        ErrorKind::AddrInUse => anyhow!("port {port} is taken: choose another one with --port"),
        ErrorKind::AddrNotAvailable => anyhow!("{ip} is not an address of this machine: choose one with --bind"),
        ErrorKind::PermissionDenied => anyhow!("port {port} needs rights: choose one from 1024 on with --port"),
        _ => anyhow!("{wanted} can't be served: {error}"),
    }
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "a port is a number from 0 to 65535".to_owned())
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "an address is four numbers like 127.0.0.1, or IPv6 like ::1".to_owned())
}
