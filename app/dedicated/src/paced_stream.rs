//! A connection of a site: written at the site's pace, for as long as it takes what is written.

use super::connections::ConnectionSlot;
use super::write_pacing::WritePacing;
use socket2::SockRef;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;

/// How much is written at a time, in bytes: who leaves is charged what was written.
const PIECE_BYTES: usize = 32_768;
/// How much at first, and what the system keeps to be sent by then: to ask and not to read takes no more of what others may be
/// written. Linux takes twice of it.
const FIRST_BYTES: usize = 8192;
/// Who has taken so many bytes reads.
const READS_FROM: usize = 65_536;
/// How much the system keeps for a connection that reads to be sent, in bytes. Linux takes twice of it: what goes through a path
/// of 100 ms at 5 Mbit/s.
const SEND_BUFFER: usize = 32_768;

/// What may be written of what was asked for.
#[derive(Debug)]
struct Turn {
    who: IpAddr,
    bytes: usize,
    /// Until it is one's turn.
    told: Option<oneshot::Receiver<()>>,
}

/// A TCP connection, as HTTP has it.
#[derive(Debug)]
pub struct PacedStream {
    tcp: Pin<Box<TimeoutWriter<TcpStream>>>,
    slot: Arc<ConnectionSlot>,
    pace: WritePacing,
    turn: Option<Turn>,
    /// How many bytes it has taken.
    written: usize,
    /// Whether it is of no use to wait for who reads.
    has_failed: bool,
    /// Whether something was written since somebody was served.
    is_answering: bool,
}

impl PacedStream {
    /// One that ends when it takes nothing for so long.
    ///
    /// # Errors
    /// When it is gone already.
    pub fn new(
        tcp: TcpStream,
        slot: Arc<ConnectionSlot>,
        pace: WritePacing,
        take_within: Duration,
    ) -> io::Result<PacedStream> {
        bound(&tcp)?;
        let mut tcp = TimeoutWriter::new(tcp);
        tcp.set_timeout(Some(take_within));
        Ok(PacedStream {
            tcp: Box::pin(tcp),
            slot,
            pace,
            turn: None,
            written: 0,
            has_failed: false,
            is_answering: false,
        })
    }

    /// Waits until the other end has closed its side as well: then it has read all. What has not been read after so long is
    /// discarded.
    pub async fn linger(mut self, within: Duration) {
        if self.written == 0 || self.has_failed || self.shutdown().await.is_err() {
            return;
        }
        let closed = async {
            let mut rest = [0; 1024];
            while self.read(&mut rest).await.is_ok_and(|length| length > 0) {}
        };
        let _ = timeout(within, closed).await;
    }

    /// How much of `bytes` bytes may be written.
    fn poll_turn(&mut self, cx: &mut Context<'_>, bytes: usize) -> Poll<usize> {
        let (pace, slot) = (&self.pace, &self.slot);
        let piece = if self.written < READS_FROM { FIRST_BYTES } else { PIECE_BYTES };
        let turn = self.turn.get_or_insert_with(|| {
            let (who, bytes) = (slot.asker(), bytes.min(piece));
            Turn { who, bytes, told: pace.ask(who, bytes) }
        });
        if let Some(told) = &mut turn.told {
            // Who tells lives as long as the site.
            if Pin::new(told).poll(cx).is_pending() {
                slot.note_waits();
                return Poll::Pending;
            }
            turn.told = None;
            slot.note_progress(Instant::now());
        }
        Poll::Ready(turn.bytes.min(bytes))
    }

    /// So much of one's turn was used.
    fn note_written(&mut self, bytes: usize) {
        self.slot.note_progress(Instant::now());
        let read_before = self.written >= READS_FROM;
        (self.written, self.is_answering) = (self.written.saturating_add(bytes), true);
        if !read_before && self.written >= READS_FROM {
            // With less it goes on, more slowly.
            let _ = SockRef::from(self.tcp.get_ref()).set_send_buffer_size(SEND_BUFFER);
        }
        match &mut self.turn {
            Some(turn) if turn.bytes > bytes => turn.bytes -= bytes,
            turn => *turn = None,
        }
    }
}

/// Bounds what the system keeps for a connection. When we close it, nothing: who has not read all by then was given time.
fn bound(tcp: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(tcp);
    socket.set_send_buffer_size(FIRST_BYTES)?;
    socket.set_linger(Some(Duration::ZERO))?;
    // A short answer does not wait until the other end has said that it has the head.
    socket.set_tcp_nodelay(true)
}

impl AsyncRead for PacedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(self.tcp.as_mut().poll_read(cx, into));
        if into.filled().len() > before {
            self.slot.note_progress(Instant::now());
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let length = ready!(self.poll_turn(cx, bytes.len()));
        let written = ready!(self.tcp.as_mut().poll_write(cx, &bytes[..length]));
        match &written {
            Ok(written) => self.note_written(*written),
            Err(_) => self.has_failed = true,
        }
        Poll::Ready(written)
    }

    /// Of several slices the first, without copies.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.poll_write(cx, first.map_or(&[], |slice| slice))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// HTTP asks for it when it has nothing left to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.is_answering) {
            self.slot.note_answered();
        }
        self.tcp.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.tcp.as_mut().poll_shutdown(cx)
    }
}

impl Drop for PacedStream {
    fn drop(&mut self) {
        // Whose turn has not come yet is charged nothing.
        if let Some(turn) = self.turn.take_if(|turn| turn.told.as_mut().is_none_or(|told| told.try_recv().is_ok())) {
            self.pace.give_back(turn.who, turn.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::connections::{Connections, Limits};
    use super::*;
    use socket2::{Domain, Socket, Type};
    use std::net::Ipv4Addr;
    use tokio::net::TcpListener;

    /// How many bytes are written to who reads nothing and lets its system receive so many, and what it is charged for them
    /// while more are to be written, and then.
    async fn written_to_who_reads_nothing(received_max: usize) -> (usize, u64, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_recv_buffer_size(received_max).expect("a size");
        socket.connect(&listener.local_addr().expect("bound").into()).expect("it listens");
        let (tcp, _) = listener.accept().await.expect("it has come");
        let (who, now) = (IpAddr::V4(Ipv4Addr::LOCALHOST), Instant::now());
        let connections = Connections::new(Limits { connections_max: 1, per_address_max: 1 });
        let admitted = connections.enter(now, who, false);
        let pace = WritePacing::new(u32::MAX.into(), now);
        let keeper = tokio::spawn(pace.clone().keep());
        let mut stream =
            PacedStream::new(tcp, Arc::new(admitted.slot), pace.clone(), Duration::from_secs(60)).expect("open");
        let (asked, mut written) = (vec![0; 20_000_000], 0);
        while let Ok(more) = timeout(Duration::from_millis(200), stream.write(&asked[written..])).await {
            written += more.expect("it is open");
        }
        assert!(written < asked.len(), "{written}");
        let charged = pace.written(who);
        drop(stream);
        keeper.abort();
        (written, charged, pace.written(who))
    }

    #[tokio::test]
    async fn who_goes_is_charged_what_was_written_and_not_what_was_asked_for() {
        let (written, charged, at_last) = written_to_who_reads_nothing(500_000).await;
        assert!(written > READS_FROM, "{written}");
        assert!(charged > at_last, "a turn that waits for who reads");
        assert_eq!(at_last, written as u64);
    }

    #[tokio::test]
    async fn who_asks_and_reads_nothing_takes_little_of_what_others_may_be_written() {
        let (written, charged, _) = written_to_who_reads_nothing(4096).await;
        assert!(charged < PIECE_BYTES as u64, "{charged} for {written}");
    }
}
