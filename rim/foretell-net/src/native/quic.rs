//! WebTransport over QUIC as a [`Transport`]: three tasks for each connection, for datagrams, messages in, messages out.

use crate::control::{Control, MESSAGE_MAX};
use crate::inbox::{Inbox, Quota};
use crate::native::Clock;
use crate::transport::{Came, Closed, PathFacts, Transport, Unsent};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use wtransport::error::{ConnectionError, SendDatagramError};
use wtransport::proto::datagram::Datagram as H3Datagram;
use wtransport::proto::ids::QStreamId;
use wtransport::{Connection, RecvStream, SendStream, VarInt};

/// How many messages wait to be sent at most: tickets are a minute apart.
const MESSAGES_MAX: usize = 16;
/// For so long the other end may take in a farewell before the connection is cut.
const FAREWELL: Duration = Duration::from_millis(300);

/// A WebTransport session that was admitted. Dropping it cuts the connection: to the other end it is lost.
pub(crate) struct Quic {
    connection: Connection,
    inbox: Arc<Inbox>,
    messages: mpsc::Sender<Vec<u8>>,
    readers: [AbortHandle; 2],
    /// Until it is closed.
    closing: Option<oneshot::Sender<Closed>>,
}

impl Quic {
    /// Takes over a connection and its reliable stream, after what was said on it of admission.
    pub(crate) fn start(
        connection: Connection,
        send: SendStream,
        recv: RecvStream,
        clock: Clock,
        quota: Quota,
    ) -> Quic {
        let inbox = Arc::new(Inbox::new(quota));
        let (messages, taken) = mpsc::channel(MESSAGES_MAX);
        let (closing, closed) = oneshot::channel();
        let datagrams = tokio::spawn(read_datagrams(connection.clone(), Arc::clone(&inbox), clock));
        let said = tokio::spawn(read_messages(connection.clone(), recv, Arc::clone(&inbox)));
        tokio::spawn(write_messages(connection.clone(), send, taken, closed));
        let readers = [datagrams.abort_handle(), said.abort_handle()];
        Quic { connection, inbox, messages, readers, closing: Some(closing) }
    }

    fn cut(&self, why: Closed) {
        self.connection.close(code(why), b"");
    }
}

impl Transport for Quic {
    fn send(&mut self, datagram: &[u8]) -> Result<(), Unsent> {
        self.connection.send_datagram(datagram).map_err(|error| match error {
            SendDatagramError::TooLarge => Unsent::TooLong,
            SendDatagramError::NotConnected | SendDatagramError::UnsupportedByPeer => Unsent::Closed,
        })
    }

    fn tell(&mut self, message: &[u8]) -> Result<(), Unsent> {
        self.messages.try_send(message.to_vec()).map_err(|_| Unsent::HeldBack)
    }

    fn drain(&mut self, each: &mut dyn FnMut(Came<'_>)) {
        self.inbox.drain(each);
    }

    fn path(&self) -> PathFacts {
        let stats = self.connection.quic_connection().stats();
        PathFacts {
            rtt: stats.path.rtt,
            datagram_max: datagram_max(&self.connection),
            sent: stats.path.sent_packets,
            lost: stats.path.lost_packets,
            acks: stats.frame_rx.acks,
        }
    }

    fn closed(&self) -> Option<Closed> {
        self.inbox.closed()
    }

    fn close(&mut self, why: Closed) {
        self.inbox.close(why);
        self.readers.iter().for_each(AbortHandle::abort);
        if self.closing.take().is_some_and(|closing| closing.send(why).is_err()) {
            self.cut(why);
        }
    }
}

impl Drop for Quic {
    fn drop(&mut self) {
        self.readers.iter().for_each(AbortHandle::abort);
        if self.closing.is_some() {
            self.cut(Closed::Lost);
        }
    }
}

/// The longest datagram of the session that fits. The other end may say that it takes none in which there is room for the
/// header, for which `wtransport` has no answer.
fn datagram_max(connection: &Connection) -> usize {
    let header = H3Datagram::header_size(QStreamId::from_session_id(connection.session_id()));
    connection.quic_connection().max_datagram_size().unwrap_or(0).saturating_sub(header)
}

/// What a connection is closed with for this reason.
pub(crate) fn code(why: Closed) -> VarInt {
    VarInt::try_from(why.code()).expect("codes are small")
}

/// The first datagram comes from `wtransport`, the others from below it. It has one task take in a datagram when another has
/// taken the one before: where many connections share a thread that is busy, what has heaped up is never worked off, and waits
/// for as long as QUIC's buffer is. What it has taken in meanwhile, which is one, it keeps to the end.
async fn read_datagrams(connection: Connection, inbox: Arc<Inbox>, clock: Clock) {
    match connection.receive_datagram().await {
        Ok(datagram) => inbox.datagram(clock.now(), &datagram),
        Err(error) => return inbox.close(reason(&error)),
    }
    while let Ok(bytes) = connection.quic_connection().read_datagram().await {
        match H3Datagram::read(&bytes) {
            Ok(datagram) if datagram.qstream_id().into_session_id() == connection.session_id() => {
                inbox.datagram(clock.now(), datagram.payload());
            }
            // Of no session that there is.
            Ok(_) => {}
            Err(_) => {
                inbox.close(Closed::Violation);
                return connection.close(code(Closed::Violation), b"");
            }
        }
    }
    // It is over, and `wtransport` knows why.
    loop {
        if let Err(error) = connection.receive_datagram().await {
            return inbox.close(reason(&error));
        }
    }
}

async fn read_messages(connection: Connection, mut recv: RecvStream, inbox: Arc<Inbox>) {
    while let Some(message) = read_message(&mut recv).await {
        if let Some(Control::Closing(why)) = Control::read(&message) {
            return inbox.close(why);
        }
        if !inbox.message(message) {
            break;
        }
    }
    // The stream is as long as the connection. When it ends because that does, somebody else knows why.
    if connection.quic_connection().close_reason().is_none() {
        inbox.close(Closed::Violation);
        connection.close(code(Closed::Violation), b"");
    }
}

/// The next message of a stream, without its length; `None` when it ends, or claims to be longer than any is.
pub(crate) async fn read_message(recv: &mut RecvStream) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    recv.read_exact(&mut length).await.ok()?;
    let length = usize::from(u16::from_le_bytes(length));
    if length > MESSAGE_MAX {
        return None;
    }
    let mut message = vec![0; length];
    recv.read_exact(&mut message).await.ok()?;
    Some(message)
}

/// Writes what is told, then the farewell. Whoever reads nothing can't keep the connection open by that.
async fn write_messages(
    connection: Connection,
    mut send: SendStream,
    mut messages: mpsc::Receiver<Vec<u8>>,
    mut closing: oneshot::Receiver<Closed>,
) {
    let why = loop {
        let message = tokio::select! {
            biased;
            Some(message) = messages.recv() => message,
            why = &mut closing => break why,
        };
        tokio::select! {
            biased;
            written = send.write_all(&message) => if written.is_err() { return },
            why = &mut closing => {
                // Half a message is on the stream: nothing can follow it.
                return if let Ok(why) = why { connection.close(code(why), b"") };
            }
        }
    };
    // Who is dropped without a reason is cut.
    if let Ok(why) = why {
        say_farewell(&connection, &mut send, why).await;
    }
}

/// Tells the other end why the connection ends, on the stream and, for who can read it, in the code of the connection.
async fn say_farewell(connection: &Connection, send: &mut SendStream, why: Closed) {
    let told = async {
        send.write_all(&Control::Closing(why).framed()).await.ok()?;
        send.finish().await.ok()
    };
    // Finished means acknowledged.
    let _ = timeout(FAREWELL, told).await;
    connection.close(code(why), b"");
}

/// Tells the other end on the stream why it is not admitted, and waits until it knows.
pub(crate) async fn refuse(connection: Connection, mut send: SendStream, message: &[u8]) {
    if send.write_all(message).await.is_ok() {
        let _ = timeout(FAREWELL, send.finish()).await;
    }
    connection.close(code(Closed::Refused), b"");
}

/// `H3_NO_ERROR`: browsers close with it.
const NO_ERROR: u64 = 0x100;

fn reason(error: &ConnectionError) -> Closed {
    match error {
        ConnectionError::ApplicationClosed(close) if close.code().into_inner() == NO_ERROR => Closed::Goodbye,
        ConnectionError::ApplicationClosed(close) => Closed::from_code(close.code().into_inner()),
        ConnectionError::LocalH3Error(_) => Closed::Violation,
        _ => Closed::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::window::transport_config;
    use futures_util::FutureExt;
    use wtransport::quinn::TransportConfig;
    use wtransport::{ClientConfig, Endpoint, Identity, ServerConfig};

    const IDLE: Duration = Duration::from_secs(10);

    /// Both ends of a session on loopback, and what keeps them.
    async fn pair() -> (Connection, Connection, impl Sized) {
        pair_by(transport_config(IDLE)).await
    }

    /// The same with what the client says of itself: the second end.
    async fn pair_by(transport: TransportConfig) -> (Connection, Connection, impl Sized) {
        let identity = Identity::self_signed(["localhost"]).expect("a certificate");
        let hash = identity.certificate_chain().as_slice()[0].hash();
        let config =
            ServerConfig::builder().with_bind_default(0).with_custom_transport(identity, transport_config(IDLE));
        let server = Endpoint::server(config.build()).expect("a port");
        let url = format!("https://localhost:{}", server.local_addr().expect("bound").port());
        let config = ClientConfig::builder().with_bind_default().with_server_certificate_hashes([hash]);
        let mut config = config.build();
        config.quic_config_mut().transport_config(Arc::new(transport));
        let client = Endpoint::client(config).expect("a port");
        let accept = async { server.accept().await.await.expect("asked").accept().await.expect("accepted") };
        let (theirs, ours) = tokio::join!(accept, client.connect(url));
        (theirs, ours.expect("accepted"), (server, client))
    }

    #[tokio::test]
    async fn to_a_client_that_has_no_room_for_datagrams_the_longest_that_fits_has_no_bytes() {
        for room in [0, 8, 9, 10] {
            let mut transport = transport_config(IDLE);
            transport.datagram_receive_buffer_size(Some(room));
            let (ours, _theirs, _ends) = pair_by(transport).await;
            assert_eq!(datagram_max(&ours), 0, "{room}");
        }
        let (ours, _theirs, _ends) = pair().await;
        assert_eq!(Some(datagram_max(&ours)), ours.max_datagram_size(), "else it is what the library says");
    }

    #[tokio::test]
    async fn what_has_heaped_up_in_a_connection_is_taken_in_at_once() {
        let (theirs, ours, _ends) = pair().await;
        for number in 0..40_u8 {
            theirs.send_datagram([number]).expect("open");
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let inbox = Arc::new(Inbox::new(Quota::FROM_SERVER));
        let reading = read_datagrams(ours, Arc::clone(&inbox), Clock::start());
        assert!(reading.now_or_never().is_none(), "the connection stays");
        let mut taken = 0;
        inbox.drain(&mut |came| taken += usize::from(matches!(came, Came::Datagram(..))));
        assert_eq!(taken, 40, "without anybody else having had a turn");
    }

    #[tokio::test]
    async fn of_many_datagrams_no_more_than_one_stays_with_the_library() {
        let (theirs, ours, _ends) = pair().await;
        let inbox = Arc::new(Inbox::new(Quota::FROM_SERVER));
        tokio::spawn(read_datagrams(ours, Arc::clone(&inbox), Clock::start()));
        for number in 0..40_u8 {
            theirs.send_datagram([number]).expect("open");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut taken = Vec::new();
        inbox.drain(&mut |came| {
            if let Came::Datagram(_, bytes) = came {
                taken.push(bytes[0])
            }
        });
        assert!(taken.len() >= 39, "{taken:?}");
        assert!(taken.is_sorted(), "{taken:?}");
        theirs.close(code(Closed::ServerEnded), b"");
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if let Some(why) = inbox.closed() {
                assert_eq!(why, Closed::ServerEnded);
                return;
            }
        }
        panic!("it has not been told why the connection is over");
    }
}
