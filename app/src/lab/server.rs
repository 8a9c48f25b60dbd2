//! The lab's server: the page's files over HTTP, and one run per WebSocket.
//!
//! Any page in any browser on this machine can reach a loopback address, so both `Host` and `Origin` are checked: the
//! first against names that resolve to here by somebody else's doing, the second against other sites' scripts.

use super::dialogue::Dialogue;
use super::page;
use anyhow::{Context, Result, anyhow};
use axum::Router;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, StatusCode, Uri, header};
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
    println!("foretell lab: http://{address}/");
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
    let host = match check(&headers, shared.address) {
        Ok(host) => host,
        Err(sentence) => return refuse(&sentence),
    };
    let Some(file) = page::find(uri.path()) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    let policy = format!(
        "default-src 'self'; connect-src 'self' ws://{host}; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    let headers = [
        (header::CONTENT_TYPE, file.kind),
        (header::CONTENT_SECURITY_POLICY, &policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, file.bytes).into_response()
}

/// A WebSocket: a run.
async fn talk(State(shared): State<Shared>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if let Err(sentence) = check(&headers, shared.address) {
        return refuse(&sentence);
    }
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return refuse(&format!("The lab has {PAGES_MAX} pages open already: close one of them."));
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

fn refuse(sentence: &str) -> Response {
    tracing::warn!(sentence, "refused");
    (StatusCode::FORBIDDEN, format!("{sentence}\n")).into_response()
}

/// Whether a request is meant for this server, and comes from its own page. Returns the host that it names.
fn check(headers: &HeaderMap, address: SocketAddr) -> Result<String, String> {
    let of = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = of(header::HOST).unwrap_or_default();
    if !is_ours(host, address) {
        return Err(format!("The lab is asked for as {address} or localhost, and this request names another host."));
    }
    match of(header::ORIGIN) {
        // No browser leaves it out of a script's WebSocket.
        None => Ok(host.to_owned()),
        Some(origin) if origin.strip_prefix("http://") == Some(host) => Ok(host.to_owned()),
        Some(_) => Err("Only the lab's own page may talk to it, and this request comes from another site.".to_owned()),
    }
}

/// Whether a `Host` names this server: the bound address or, where that is of all interfaces, any literal address (no
/// name: names can be made to point here); on loopback also `localhost`.
fn is_ours(host: &str, address: SocketAddr) -> bool {
    let here = |ip: IpAddr| ip == address.ip() || address.ip().is_unspecified() || ip.is_loopback();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    port == Some(address.port()) && (name == "localhost" || name.parse().is_ok_and(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, origin: Option<&str>, bound: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        check(&headers, bound.parse().expect("an address")).is_ok()
    }

    #[test]
    fn only_the_labs_own_page_under_its_own_name_is_served() {
        let bound = "127.0.0.1:7878";
        assert!(asked("127.0.0.1:7878", None, bound));
        assert!(asked("127.0.0.1:7878", Some("http://127.0.0.1:7878"), bound));
        assert!(asked("localhost:7878", Some("http://localhost:7878"), bound));
        assert!(!asked("localhost:7878", Some("http://127.0.0.1:7878"), bound));
        assert!(!asked("127.0.0.1:7878", Some("http://127.0.0.1:8000"), bound));
        assert!(!asked("127.0.0.1:7878", Some("https://evil.example"), bound));
        assert!(!asked("127.0.0.1:7878", Some("null"), bound));
        assert!(!asked("evil.example:7878", Some("http://evil.example:7878"), bound));
        assert!(!asked("127.0.0.1:1", None, bound));
        assert!(!asked("192.168.1.5:7878", None, bound));
        assert!(!asked("", None, bound));
    }

    #[test]
    fn on_all_interfaces_any_literal_address_will_do_and_no_other_name() {
        for bound in ["0.0.0.0:7878", "[::]:7878"] {
            assert!(asked("192.168.1.5:7878", Some("http://192.168.1.5:7878"), bound));
            assert!(asked("[fe80::1]:7878", None, bound));
            assert!(!asked("my.example:7878", None, bound));
        }
        assert!(asked("127.0.0.1", None, "127.0.0.1:80"));
        assert!(asked("[::1]", None, "[::1]:80"));
    }
}
