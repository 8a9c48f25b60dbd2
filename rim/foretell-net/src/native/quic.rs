//! WebTransport over QUIC as a [`Transport`]: three tasks for each connection, for datagrams, messages in, messages out.

use crate::control::{Control, MESSAGE_MAX};
use crate::native::Clock;
use crate::transport::{Came, Closed, Inbox, PathFacts, Quota, Transport, Unsent};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use wtransport::error::{ConnectionError, SendDatagramError};
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
        (send, recv): (SendStream, RecvStream),
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
            datagram_max: self.connection.max_datagram_size().unwrap_or(0),
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

fn code(why: Closed) -> VarInt {
    VarInt::try_from(why.code()).expect("codes are small")
}

async fn read_datagrams(connection: Connection, inbox: Arc<Inbox>, clock: Clock) {
    loop {
        match connection.receive_datagram().await {
            Ok(datagram) => inbox.datagram(clock.now(), &datagram),
            Err(error) => return inbox.close(reason(&error)),
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
