//! HTTP for whoever asks: so many connections at once, and so long for each.

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// How long a connection may take for the head of a request, and for all that it asks.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
const ALL_WITHIN: Duration = Duration::from_secs(300);

/// Serves for ever, at most so many connections at once: who comes then waits for the end of another.
pub async fn serve(listener: TcpListener, router: Router, connections_max: usize) {
    let seats = Arc::new(Semaphore::new(connections_max));
    loop {
        let seat = Arc::clone(&seats).acquire_owned().await.expect("never closed");
        match listener.accept().await {
            Ok((stream, from)) => drop(tokio::spawn(attend(stream, from, router.clone(), seat))),
            // None of theirs is left, or of the system's: an end of one may help.
            Err(error) => {
                tracing::debug!(%error, "no connection could be taken");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn attend(stream: TcpStream, from: SocketAddr, router: Router, _seat: OwnedSemaphorePermit) {
    let service = TowerToHyperService::new(router.layer(Extension(ConnectInfo(from))));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    match timeout(ALL_WITHIN, http.serve_connection(TokioIo::new(stream), service)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%from, %error, "a connection has failed"),
        Err(_) => tracing::debug!(%from, "a connection was too slow"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    async fn asked(at: SocketAddr) -> String {
        let (mut stream, mut answer) = (TcpStream::connect(at).await.expect("open"), String::new());
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.expect("writable");
        stream.read_to_string(&mut answer).await.expect("readable");
        answer
    }

    #[tokio::test]
    async fn those_who_say_nothing_hold_their_places_for_five_seconds() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("bound");
        let from = |ConnectInfo(from): ConnectInfo<SocketAddr>| async move { from.ip().to_string() };
        tokio::spawn(serve(listener, Router::new().route("/", get(from)), 3));
        let mut silent = Vec::new();
        for _ in 0..2 {
            silent.push(TcpStream::connect(at).await.expect("open"));
        }
        assert!(asked(at).await.ends_with("127.0.0.1"), "there is a place left");
        silent.push(TcpStream::connect(at).await.expect("open"));
        let start = Instant::now();
        assert!(asked(at).await.ends_with("127.0.0.1"));
        let waited = start.elapsed().as_secs_f64();
        assert!((3.0..8.0).contains(&waited), "after {waited} s");
    }
}
