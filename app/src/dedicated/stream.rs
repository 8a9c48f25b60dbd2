//! A connection of a site: written at the site's pace, for as long as it takes what is written.

use super::pace::Pace;
use super::visitors::Seat;
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
pub struct Stream {
    tcp: Pin<Box<TimeoutWriter<TcpStream>>>,
    seat: Arc<Seat>,
    pace: Pace,
    turn: Option<Turn>,
    has_written: bool,
    /// Whether it is of no use to wait for who reads.
    has_failed: bool,
    /// Whether something was written since somebody was served.
    is_answering: bool,
}

impl Stream {
    /// One that ends when it takes nothing for so long.
    pub fn new(tcp: TcpStream, seat: Arc<Seat>, pace: Pace, take_within: Duration) -> Stream {
        let mut tcp = TimeoutWriter::new(tcp);
        tcp.set_timeout(Some(take_within));
        Stream {
            tcp: Box::pin(tcp),
            seat,
            pace,
            turn: None,
            has_written: false,
            has_failed: false,
            is_answering: false,
        }
    }

    /// Waits until the other end has closed its side as well: then it has read all. What has not been read after so long is
    /// discarded.
    pub async fn linger(mut self, within: Duration) {
        if !self.has_written || self.has_failed || self.shutdown().await.is_err() {
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
        let (pace, seat) = (&self.pace, &self.seat);
        let turn = self.turn.get_or_insert_with(|| {
            let (who, bytes) = (seat.asker(), bytes.min(PIECE_BYTES));
            Turn { who, bytes, told: pace.ask(who, bytes) }
        });
        if let Some(told) = &mut turn.told {
            // Who tells lives as long as the site.
            let _ = ready!(Pin::new(told).poll(cx));
            turn.told = None;
        }
        Poll::Ready(turn.bytes.min(bytes))
    }

    /// So much of one's turn was used.
    fn note_written(&mut self, bytes: usize) {
        self.seat.note_progress(Instant::now());
        (self.has_written, self.is_answering) = (true, true);
        match &mut self.turn {
            Some(turn) if turn.bytes > bytes => turn.bytes -= bytes,
            turn => *turn = None,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(self.tcp.as_mut().poll_read(cx, into));
        if into.filled().len() > before {
            self.seat.note_progress(Instant::now());
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Stream {
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
            self.seat.note_answered();
        }
        self.tcp.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.tcp.as_mut().poll_shutdown(cx)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Whose turn has not come yet is charged nothing.
        if let Some(turn) = self.turn.take_if(|turn| turn.told.as_mut().is_none_or(|told| told.try_recv().is_ok())) {
            self.pace.give_back(turn.who, turn.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::visitors::{Limits, Visitors};
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn who_goes_is_charged_what_was_written_and_not_what_was_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let _reader = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("it listens");
        let (tcp, _) = listener.accept().await.expect("it has come");
        let (who, now) = (IpAddr::V4(Ipv4Addr::LOCALHOST), Instant::now());
        let visitors = Visitors::new(Limits { connections_max: 1, per_address_max: 1 });
        let (seat, _made_room) = visitors.enter(now, who, false);
        let pace = Pace::new(u32::MAX.into(), now);
        let keeper = tokio::spawn(pace.clone().keep());
        let mut stream = Stream::new(tcp, Arc::new(seat), pace.clone(), Duration::from_secs(60));
        let (asked, mut written) = (vec![0; 20_000_000], 0);
        while let Ok(more) = timeout(Duration::from_millis(200), stream.write(&asked[written..])).await {
            written += more.expect("it is open");
        }
        assert!(written > PIECE_BYTES && written < asked.len(), "{written}");
        assert!(pace.written(who) > written as u64, "a turn that waits for the reader");
        drop(stream);
        assert_eq!(pace.written(who), written as u64);
        keeper.abort();
    }
}
