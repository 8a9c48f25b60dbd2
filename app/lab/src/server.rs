//! The lab's server: the page's files over HTTP, and one run per WebSocket.

use crate::connection::PageConnection;
use crate::page;
use axum::Router;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// The longest message that is read: a link and some.
const MESSAGE_BYTES_MAX: usize = 65_536;
/// How many pages may be open at once.
const PAGES_MAX: usize = 32;

/// The lab on an address, where browsers that come already wait until it is served.
#[derive(Debug)]
pub struct Lab {
    listener: TcpListener,
    address: SocketAddr,
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    address: SocketAddr,
    places: Arc<Semaphore>,
    /// Becomes true when the program ends.
    ending: watch::Receiver<bool>,
}

impl Lab {
    /// Takes an address; of port 0 it takes any port that is free. An address that others than this machine can reach lets
    /// others in.
    ///
    /// # Errors
    /// When the port is taken, or the address is not one of this machine.
    pub async fn bind(wanted: SocketAddr) -> io::Result<Lab> {
        let listener = TcpListener::bind(wanted).await?;
        let address = listener.local_addr()?;
        Ok(Lab { listener, address })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the page, and a run for each WebSocket, until `stopped`; open pages are told of that.
    ///
    /// # Errors
    /// When no connection can be taken any more.
    pub async fn serve(self, stopped: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (end, ending) = watch::channel(false);
        let shared = Shared { address: self.address, places: Arc::new(Semaphore::new(PAGES_MAX)), ending };
        let router = Router::new().route("/ws", get(talk)).fallback(get(file)).with_state(shared);
        let until_stopped = async move {
            stopped.await;
            // Nobody may be listening.
            let _ = end.send(true);
        };
        axum::serve(self.listener, router).with_graceful_shutdown(until_stopped).await
    }
}

/// A file of the page.
async fn file(State(shared): State<Shared>, headers: HeaderMap, uri: Uri) -> Response {
    let host = match foretell_http::check(&headers, shared.address, None) {
        Ok(host) => host,
        Err(sentence) => return foretell_http::refuse(&sentence),
    };
    let Some(file) = page::find(uri.path()) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    (foretell_http::headers(file.kind, &format!("connect-src 'self' ws://{host}")), file.bytes).into_response()
}

/// A WebSocket: a run.
async fn talk(State(shared): State<Shared>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if let Err(sentence) = foretell_http::check(&headers, shared.address, None) {
        return foretell_http::refuse(&sentence);
    }
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return foretell_http::refuse(&format!("The lab has {PAGES_MAX} pages open already: close one of them."));
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
    let mut dialogue = PageConnection::new();
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
