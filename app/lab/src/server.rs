//! The lab's server: the page's files over HTTP, and one run per WebSocket.

use crate::connection::PageConnection;
use crate::page;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The longest message that is read: a link and some.
const MESSAGE_BYTES_MAX: usize = 65_536;
/// How many pages may be open at once.
const PAGES_MAX: usize = 32;
/// A page that has said nothing for so long is asked whether it is there; when it does not answer for as long it is not.
const PATIENCE: Duration = Duration::from_secs(30);
/// For so long at most the end of the program waits for what is open.
const FAREWELL: Duration = Duration::from_secs(1);

/// The lab on an address, where browsers that come already wait until it is served.
#[derive(Debug)]
pub struct Lab {
    listener: TcpListener,
    address: SocketAddr,
    patience: Duration,
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    address: SocketAddr,
    patience: Duration,
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
        Ok(Lab { listener, address, patience: PATIENCE })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the page, and a run for each WebSocket, until `stopped`; open pages are told so, and who takes longer than
    /// a moment over it is cut off.
    ///
    /// # Errors
    /// When no connection can be taken any more.
    pub async fn serve(self, stopped: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (end, ending) = watch::channel(false);
        let mut ended = ending.clone();
        let places = Arc::new(Semaphore::new(PAGES_MAX));
        let shared = Shared { address: self.address, patience: self.patience, places, ending };
        let router = Router::new().route("/ws", get(talk)).fallback(get(file)).with_state(shared);
        let until_stopped = async move {
            stopped.await;
            // Nobody may be listening.
            let _ = end.send(true);
        };
        let over = async move {
            // It can't change but to the end.
            let _ = ended.changed().await;
            sleep(FAREWELL).await;
        };
        tokio::select! {
            served = axum::serve(self.listener, router).with_graceful_shutdown(until_stopped).into_future() => served,
            () = over => Ok(()),
        }
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
    upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX).on_upgrade(move |socket| async move {
        tracing::info!("a page has connected");
        if let Err(error) = hold(socket, shared.patience, shared.ending).await {
            tracing::debug!(%error, "the connection broke");
        }
        tracing::info!("a page has left");
        drop(place);
    })
}

/// Answers the page until it leaves, is lost, or the program ends.
async fn hold(mut socket: WebSocket, patience: Duration, mut ending: watch::Receiver<bool>) -> Result<(), axum::Error> {
    let mut dialogue = PageConnection::new();
    tell(&mut socket, patience, Message::Text(dialogue.greeting().into())).await?;
    let mut asked = false;
    loop {
        let message = tokio::select! {
            message = socket.recv() => message,
            () = sleep(patience) => {
                if asked {
                    return Ok(());
                }
                asked = true;
                tell(&mut socket, patience, Message::Ping(Bytes::new())).await?;
                continue;
            }
            _ = ending.changed() => {
                let goodbye = CloseFrame { code: close_code::AWAY, reason: "the program has ended".into() };
                return tell(&mut socket, patience, Message::Close(Some(goodbye))).await;
            }
        };
        let Some(message) = message.transpose()? else { return Ok(()) };
        asked = false;
        let answer = match &message {
            Message::Text(text) => dialogue.answer(text.as_str()),
            // Not JSON, and so the sentence that says so.
            Message::Binary(_) => dialogue.answer(""),
            Message::Ping(_) | Message::Pong(_) => None,
            Message::Close(_) => return Ok(()),
        };
        if let Some(answer) = answer {
            tell(&mut socket, patience, Message::Text(answer.into())).await?;
        }
    }
}

/// Sends the page a message, unless it takes none for so long.
async fn tell(socket: &mut WebSocket, patience: Duration, message: Message) -> Result<(), axum::Error> {
    timeout(patience, socket.send(message)).await.unwrap_or_else(|late| Err(axum::Error::new(late)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    /// What never happens takes so long.
    const NEVER: Duration = Duration::from_secs(10);

    async fn lab() -> Lab {
        Lab::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port is free")
    }

    /// A connection on which this is said.
    async fn say(address: SocketAddr, words: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("the lab listens");
        stream.write_all(words.as_bytes()).await.expect("the lab reads");
        stream
    }

    /// All that comes until the lab ends a connection.
    async fn hear(mut stream: TcpStream) -> Vec<u8> {
        let mut heard = Vec::new();
        let read = timeout(NEVER, stream.read_to_end(&mut heard)).await;
        read.expect("the lab ends it").expect("it is ended in order");
        heard
    }

    #[tokio::test]
    async fn a_page_that_answers_is_asked_again_whether_it_is_there_and_loses_its_place_when_it_does_not() {
        let lab = Lab { patience: Duration::from_millis(300), ..lab().await };
        let address = lab.address();
        tokio::spawn(lab.serve(std::future::pending()));
        let page = format!(
            "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let mut stream = say(address, &page).await;
        let (mut heard, ping, pong) = (Vec::new(), [0x89, 0], [0x8a, 0x80, 0, 0, 0, 0]);
        while !heard.ends_with(&ping) {
            let read = timeout(NEVER, stream.read_buf(&mut heard)).await;
            assert_ne!(read.expect("it is asked").expect("it is there"), 0, "it is asked before it loses its place");
        }
        assert!(heard.starts_with(b"HTTP/1.1 101"));
        stream.write_all(&pong).await.expect("the lab reads");
        assert_eq!(hear(stream).await, ping, "it is asked once more, and told nothing else");
    }

    #[tokio::test]
    async fn the_lab_ends_soon_after_it_is_told_to_though_a_request_is_never_finished() {
        let lab = lab().await;
        let address = lab.address();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let serving = tokio::spawn(lab.serve(async { stopped.await.expect("it is told") }));
        let _half = say(address, "GET / HTTP/1.1\r\n").await;
        // The lab has taken that one when it answers a later one.
        let whole = say(address, &format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).await;
        assert!(hear(whole).await.starts_with(b"HTTP/1.1 200"));
        stop.send(()).expect("it listens");
        timeout(NEVER, serving).await.expect("it ends").expect("it does not panic").expect("it has served");
    }
}
