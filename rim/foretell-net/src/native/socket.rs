//! WebSocket over TLS as a [`Transport`]: the fallback for networks that let no UDP pass.
//!
//! Each binary message is a byte 0 and a datagram, or a byte 1 and a message of the reliable stream with its length. What
//! is lost delays what comes after it, so only few messages may wait, and a datagram beyond them is not sent.

use crate::control::{Control, MESSAGE_MAX};
use crate::framing;
use crate::inbox::{Inbox, Quota};
use crate::native::Clock;
use crate::transport::{Came, Closed, PathFacts, Transport, Unsent};
use foretell::Instant;
use foretell::session::DATAGRAM_MAX;
use futures_util::stream::SplitStream;
use futures_util::{Sink, SinkExt, StreamExt};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};
use url::Url;
use wtransport::Identity;
use wtransport::tls::rustls::ClientConfig;

pub(crate) type Stream = WebSocketStream<TlsStream<TcpStream>>;

/// Two ticks of the largest snapshots: what waits behind more than that comes too late.
const ORDERS_MAX: usize = 16;
/// How often the round trip is measured; an answer is the acknowledgement of all before it.
const PING: Duration = Duration::from_millis(250);
/// For so long a farewell may take.
const FAREWELL: Duration = Duration::from_millis(300);

enum Order {
    Datagram(Vec<u8>),
    Tell(Vec<u8>),
}

/// What the tasks of a socket know of its path.
#[derive(Debug, Default)]
struct Measured {
    pings: AtomicU64,
    pongs: AtomicU64,
    rtt_micros: AtomicU64,
    /// When the ping under way was sent.
    pinged: Mutex<Option<Instant>>,
}

/// What the tasks of a socket share.
#[derive(Clone)]
struct Known {
    inbox: Arc<Inbox>,
    measured: Arc<Measured>,
    clock: Clock,
}

/// A WebSocket that was admitted. Dropping it cuts the connection: to the other end it is lost.
pub(crate) struct Socket {
    inbox: Arc<Inbox>,
    orders: mpsc::Sender<Order>,
    measured: Arc<Measured>,
    reader: AbortHandle,
    writer: AbortHandle,
    /// Until it is closed.
    closing: Option<oneshot::Sender<Closed>>,
}

impl Socket {
    /// Takes over a WebSocket after what was said on it of admission. `open` is dropped when its last word is written.
    pub(crate) fn start(stream: Stream, clock: Clock, idle_timeout: Duration, quota: Quota, open: Arc<()>) -> Socket {
        let inbox = Arc::new(Inbox::new(quota));
        let measured = Arc::new(Measured::default());
        let known = Known { inbox: Arc::clone(&inbox), measured: Arc::clone(&measured), clock };
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (closing, closed) = oneshot::channel();
        let (sink, stream) = stream.split();
        let reader = tokio::spawn(read(stream, known.clone(), idle_timeout)).abort_handle();
        let writing = async move {
            write(sink, taken, closed, known).await;
            drop(open);
        };
        let writer = tokio::spawn(writing).abort_handle();
        Socket { inbox, orders, measured, reader, writer, closing: Some(closing) }
    }
}

impl Transport for Socket {
    fn send(&mut self, datagram: &[u8]) -> Result<(), Unsent> {
        if datagram.len() > DATAGRAM_MAX {
            return Err(Unsent::TooLong);
        }
        self.orders.try_send(Order::Datagram(datagram.to_vec())).map_err(|_| Unsent::HeldBack)
    }

    fn tell(&mut self, message: &[u8]) -> Result<(), Unsent> {
        self.orders.try_send(Order::Tell(message.to_vec())).map_err(|_| Unsent::HeldBack)
    }

    fn drain(&mut self, each: &mut dyn FnMut(Came<'_>)) {
        self.inbox.drain(each);
    }

    fn path(&self) -> PathFacts {
        PathFacts {
            rtt: Duration::from_micros(self.measured.rtt_micros.load(Relaxed)),
            datagram_max: DATAGRAM_MAX,
            sent: self.measured.pings.load(Relaxed),
            lost: 0,
            acks: self.measured.pongs.load(Relaxed),
        }
    }

    fn closed(&self) -> Option<Closed> {
        self.inbox.closed()
    }

    fn close(&mut self, why: Closed) {
        self.inbox.close(why);
        self.reader.abort();
        // When nobody listens the writer has ended.
        let _ = self.closing.take().map(|closing| closing.send(why));
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reader.abort();
        if self.closing.is_some() {
            self.writer.abort();
        }
    }
}

async fn read(mut stream: SplitStream<Stream>, known: Known, idle_timeout: Duration) {
    let Known { inbox, measured, clock } = known;
    let why = loop {
        match timeout(idle_timeout, stream.next()).await {
            Ok(Some(Ok(Message::Binary(bytes)))) => match framing::take(&inbox, clock.now(), &bytes) {
                Ok(()) => {}
                Err(why) => break why,
            },
            Ok(Some(Ok(Message::Pong(_)))) => measured.note_pong(clock.now()),
            Ok(Some(Ok(Message::Ping(_)))) => {}
            // Browsers close in this way when a page is left.
            Ok(Some(Ok(Message::Close(_)))) => break Closed::Goodbye,
            Ok(Some(Ok(_))) => break Closed::Violation,
            Ok(Some(Err(_)) | None) | Err(_) => break Closed::Lost,
        }
    };
    inbox.close(why);
}

/// Writes what is told, then the farewell. Whoever reads nothing can't keep the socket open by that.
async fn write(
    mut sink: impl Sink<Message> + Unpin,
    mut orders: mpsc::Receiver<Order>,
    mut closing: oneshot::Receiver<Closed>,
    known: Known,
) {
    let Known { inbox, measured, clock } = known;
    let mut pings = tokio::time::interval(PING);
    let why = loop {
        let message = tokio::select! {
            biased;
            Some(order) = orders.recv() => match order {
                Order::Datagram(datagram) => binary(framing::datagram(&datagram)),
                Order::Tell(message) => binary(framing::control(&message)),
            },
            why = &mut closing => break why,
            _ = pings.tick() => match measured.begin_ping(clock.now()) {
                true => Message::Ping(Vec::new().into()),
                false => continue,
            },
        };
        tokio::select! {
            biased;
            sent = sink.send(message) => if sent.is_err() { return inbox.close(Closed::Lost) },
            why = &mut closing => break why,
        }
    };
    // Who is dropped without a reason is cut.
    let Ok(why) = why else { return };
    let farewell = binary(framing::control(&Control::Closing(why).framed()));
    let _ = timeout(FAREWELL, async {
        drop(sink.send(farewell).await);
        sink.close().await
    })
    .await;
}

fn binary(bytes: Vec<u8>) -> Message {
    Message::Binary(bytes.into())
}

impl Measured {
    /// Whether a ping is to be sent: one is under way at a time.
    fn begin_ping(&self, now: Instant) -> bool {
        let mut pinged = self.pinged.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = pinged.is_none();
        pinged.get_or_insert(now);
        self.pings.fetch_add(u64::from(begins), Relaxed);
        begins
    }

    fn note_pong(&self, now: Instant) {
        let Some(pinged) = self.pinged.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let micros = u64::try_from(now.since(pinged).as_micros()).unwrap_or(u64::MAX);
        self.rtt_micros.store(micros, Relaxed);
        self.pongs.fetch_add(1, Relaxed);
    }
}

/// No message of a session is longer, and what can't be sent for long is not kept.
fn limits() -> WebSocketConfig {
    let largest = 1 + DATAGRAM_MAX.max(2 + MESSAGE_MAX);
    WebSocketConfig::default()
        .max_message_size(Some(largest))
        .max_frame_size(Some(largest))
        .read_buffer_size(4 * 1024)
        .write_buffer_size(0)
        .max_write_buffer_size(64 * 1024)
}

/// What accepts TLS with the certificate that QUIC has.
pub(crate) fn acceptor(identity: &Identity) -> TlsAcceptor {
    let mut config = wtransport::tls::server::build_default_tls_config(identity.clone_identity());
    config.alpn_protocols.clear();
    TlsAcceptor::from(Arc::new(config))
}

/// Accepts a WebSocket, when its origin is welcome.
pub(crate) async fn accept(
    stream: TcpStream,
    tls: &TlsAcceptor,
    is_welcome: impl Fn(Option<&str>) -> bool + Unpin,
) -> Option<Stream> {
    stream.set_nodelay(true).ok()?;
    let stream = TlsStream::from(tls.accept(stream).await.ok()?);
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        let origin = request.headers().get("origin").map(|origin| origin.to_str().unwrap_or(""));
        if is_welcome(origin) {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = StatusCode::FORBIDDEN;
        Err(refusal)
    };
    accept_hdr_async_with_config(stream, check, Some(limits())).await.ok()
}

/// Opens a WebSocket to a server, over a connection to it.
pub(crate) async fn open(stream: TcpStream, url: &Url, mut tls: ClientConfig) -> io::Result<Stream> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    tls.alpn_protocols.clear();
    stream.set_nodelay(true)?;
    let stream = TlsStream::from(TlsConnector::from(Arc::new(tls)).connect(name, stream).await?);
    let url = url.as_str().replacen("https", "wss", 1);
    let (socket, _) = client_async_with_config(url, stream, Some(limits())).await.map_err(io::Error::other)?;
    Ok(socket)
}

/// The next control message, without its length; `None` when something else comes.
pub(crate) async fn read_control(socket: &mut Stream) -> Option<Vec<u8>> {
    loop {
        match socket.next().await? {
            Ok(Message::Binary(bytes)) => return framing::read_control(&bytes).map(<[u8]>::to_vec),
            // The other end may measure already.
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            _ => return None,
        }
    }
}

/// Sends a control message with its length. When it fails the next thing that is asked of the socket does too.
pub(crate) async fn write_control(socket: &mut Stream, framed: &[u8]) {
    let _ = socket.send(binary(framing::control(framed))).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// The other end takes nothing.
    struct Stuck;

    impl Sink<Message> for Stuck {
        type Error = Infallible;

        fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Pending
        }

        fn start_send(self: Pin<&mut Self>, _: Message) -> Result<(), Infallible> {
            Ok(())
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Pending
        }

        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn a_socket_whose_other_end_reads_nothing_is_closed_all_the_same() {
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (closing, closed) = oneshot::channel();
        let inbox = Arc::new(Inbox::new(Quota::FROM_CLIENT));
        let known = Known { inbox, measured: Arc::default(), clock: Clock::start() };
        let writer = tokio::spawn(write(Stuck, taken, closed, known));
        orders.send(Order::Datagram(vec![0; 100])).await.expect("it waits");
        tokio::time::sleep(Duration::from_millis(20)).await;
        closing.send(Closed::Replaced).expect("it waits");
        timeout(10 * FAREWELL, writer).await.expect("it ends").expect("no panic");
    }
}
