//! The lab's server: the page's files over HTTP, and one run per WebSocket.

use super::dialogue::Dialogue;
use super::page;
use crate::site;
use anyhow::{Context, Result, anyhow};
use axum::Router;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// The longest message that is read: a link and some.
const MESSAGE_BYTES_MAX: usize = 65_536;
/// How many pages may be open at once.
const PAGES_MAX: usize = 32;

/// Where the lab is served.
#[derive(Clone, Copy, Debug)]
pub struct LabOptions {
    /// 0 for any that is free.
    pub port: u16,
    pub bind: IpAddr,
    /// Whether a browser is started.
    pub open: bool,
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    address: SocketAddr,
    places: Arc<Semaphore>,
    /// Becomes true when the program ends.
    ending: watch::Receiver<bool>,
}

/// Serves the lab until Ctrl-C.
///
/// # Errors
/// When the port is taken, or the address is not one of this machine.
pub async fn serve(options: LabOptions) -> Result<()> {
    let wanted = SocketAddr::new(options.bind, options.port);
    let listener = TcpListener::bind(wanted).await.map_err(|error| cannot_bind(wanted, &error))?;
    let address = listener.local_addr().context("the listener has no address")?;
    if !address.ip().is_loopback() {
        eprintln!("warning: with --bind {} everybody who can reach this machine can open the lab", options.bind);
    }
    println!("{}", welcome(address));
    if options.open && open::that_detached(format!("http://{address}/")).is_err() {
        eprintln!("warning: no browser could be started: open the address in one");
    }
    let (end, ending) = watch::channel(false);
    let shared = Shared { address, places: Arc::new(Semaphore::new(PAGES_MAX)), ending };
    let router = Router::new().route("/ws", get(talk)).fallback(get(file)).with_state(shared);
    let until_stopped = async move {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "Ctrl-C can't be waited for");
            std::future::pending::<()>().await;
        }
        tracing::info!("stopping");
        // Nobody may be listening.
        let _ = end.send(true);
    };
    axum::serve(listener, router).with_graceful_shutdown(until_stopped).await.context("the server failed")
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

/// A file of the page.
async fn file(State(shared): State<Shared>, headers: HeaderMap, uri: Uri) -> Response {
    let host = match site::check(&headers, shared.address, None) {
        Ok(host) => host,
        Err(sentence) => return site::refuse(&sentence),
    };
    let Some(file) = page::find(uri.path()) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    (site::headers(file.kind, &format!("connect-src 'self' ws://{host}")), file.bytes).into_response()
}

/// A WebSocket: a run.
async fn talk(State(shared): State<Shared>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if let Err(sentence) = site::check(&headers, shared.address, None) {
        return site::refuse(&sentence);
    }
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return site::refuse(&format!("The lab has {PAGES_MAX} pages open already: close one of them."));
    };
    upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX).on_upgrade(|socket| async move {
        tracing::info!("a page has connected");
        if let Err(error) = hold(socket, shared.ending).await {
            tracing::debug!(%error, "the connection broke");
        }
        tracing::info!("a page has left");
        drop(place);
    })
}

/// Answers the page until it leaves or the program ends.
async fn hold(mut socket: WebSocket, mut ending: watch::Receiver<bool>) -> Result<(), axum::Error> {
    let mut dialogue = Dialogue::new();
    socket.send(Message::Text(dialogue.greeting().into())).await?;
    loop {
        let message = tokio::select! {
            message = socket.recv() => message,
            _ = ending.changed() => {
                let goodbye = CloseFrame { code: close_code::AWAY, reason: "the program has ended".into() };
                return socket.send(Message::Close(Some(goodbye))).await;
            }
        };
        let Some(message) = message.transpose()? else { return Ok(()) };
        let answer = match &message {
            Message::Text(text) => dialogue.answer(text.as_str()),
            // Not JSON, and so the sentence that says so.
            Message::Binary(_) => dialogue.answer(""),
            Message::Ping(_) | Message::Pong(_) => None,
            Message::Close(_) => return Ok(()),
        };
        if let Some(answer) = answer {
            socket.send(Message::Text(answer.into())).await?;
        }
    }
}
