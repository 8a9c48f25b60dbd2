//! HTTP on a thread of its own beside the game's, with limits of connections and of the time that each may take.
//!
//! Clients that read slowly, or not at all, cost what the system keeps to be sent, [`SEND_BUFFER`], until they are cut.

use super::visitors::{Limits, Room, Visitors};
use anyhow::{Context, Result};
use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// For so long a connection may take for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// For so long it may take nothing of what is written to it.
const TAKE_WITHIN: Duration = Duration::from_secs(10);
/// And for so long it may ask at all: a module over 5 kB/s.
const ALL_WITHIN: Duration = Duration::from_secs(300);
/// How much the system keeps for a connection to be sent, in bytes. Linux takes twice of it: what goes through a path of 100 ms
/// at 5 Mbit/s. It wakes who writes when a third of that is free: so much has to be taken within `TAKE_WITHIN`, 2 kB/s.
const SEND_BUFFER: usize = 32_768;
/// The longest head of a request, in bytes.
const HEAD_MAX: usize = 16_384;
/// How many wait for the thread until it has time for them.
const QUEUE: i32 = 1024;
/// How much the thread steps back behind the game's, on the system's scale up to 19, where both want the same processor.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// What is served at a port.
pub struct Site {
    /// Where it is served.
    pub listener: TcpListener,
    /// What answers.
    pub router: Router,
    /// How many may ask at once.
    pub limits: Limits,
    /// Who may ask for many.
    pub is_proxy: Box<dyn Fn(IpAddr) -> bool + Send>,
}

/// Serves for as long as the program runs, on one thread.
///
/// # Errors
/// When the system gives no means to wait for sockets, or no thread.
pub fn start(sites: Vec<Site>) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build().context("HTTP can't be served")?;
    sites.iter().try_for_each(|site| prepare(&site.listener)).context("HTTP can't be served")?;
    let work = move || {
        step_back();
        let mut serving = JoinSet::new();
        runtime.block_on(async {
            sites.into_iter().for_each(|site| drop(serving.spawn(serve(site))));
            while let Some(ended) = serving.join_next().await {
                if let Ok(Err(error)) = ended {
                    tracing::error!(%error, "HTTP is not served any more");
                }
            }
        });
    };
    std::thread::Builder::new().name("http".into()).spawn(work).context("HTTP has no thread")?;
    Ok(())
}

fn prepare(listener: &TcpListener) -> std::io::Result<()> {
    SockRef::from(listener).listen(QUEUE)?;
    listener.set_nonblocking(true)
}

/// The game's thread goes first.
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS) {
        tracing::warn!(%error, "requests of the page may take time from the game");
    }
}

async fn serve(site: Site) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(site.listener)?;
    let (mut visitors, mut tasks) = (Visitors::<AbortHandle>::new(site.limits), JoinSet::new());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(ended) = tasks.join_next_with_id() => {
                let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                visitors.leave(|one| one.id() == id);
                continue;
            }
        };
        match accepted {
            Ok((stream, from)) => {
                let who = Some(from.ip()).filter(|ip| !(site.is_proxy)(*ip));
                match visitors.make_room(who) {
                    Room::Free => {}
                    Room::Of(other) => other.abort(),
                    Room::None => {
                        tracing::debug!(%from, "a connection is one too many");
                        continue;
                    }
                }
                visitors.enter(who, tasks.spawn(attend(stream, from, site.router.clone())));
            }
            // None of theirs is left, or of the system's: an end of one may help.
            Err(error) => {
                tracing::debug!(%error, "no connection could be taken");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn attend(stream: TcpStream, from: SocketAddr, router: Router) {
    if let Err(error) = bound(&stream) {
        tracing::debug!(%from, %error, "a connection is gone already");
        return;
    }
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(TAKE_WITHIN));
    let service = TowerToHyperService::new(router.layer(Extension(ConnectInfo(from))));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(HEAD_MAX);
    match timeout(ALL_WITHIN, http.serve_connection(TokioIo::new(Box::pin(stream)), service)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%from, %error, "a connection has failed"),
        Err(_) => tracing::debug!(%from, "a connection was too slow"),
    }
}

/// Bounds what the system keeps for a connection, and for how long, also when we have closed it.
fn bound(stream: &TcpStream) -> std::io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_send_buffer_size(SEND_BUFFER)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(TAKE_WITHIN))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::thread;
    use std::time::Instant;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A site that answers with the address of who asks.
    fn site(limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("bound");
        let from = |ConnectInfo(from): ConnectInfo<SocketAddr>| async move { from.ip().to_string() };
        let router = Router::new().route("/", get(from));
        start(vec![Site { listener, router, limits, is_proxy: Box::new(|_| false) }]).expect("started");
        at
    }

    fn open(at: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(at).expect("open");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        stream
    }

    fn asked(at: SocketAddr, end: &str) -> String {
        let (mut stream, mut answer) = (open(at), String::new());
        write!(stream, "GET / HTTP/1.1\r\nHost: a\r\n{end}Connection: close\r\n\r\n").expect("writable");
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn who_says_nothing_or_goes_on_asking_without_end_is_cut_after_five_seconds() {
        let at = site(Limits { connections_max: 8, per_address_max: 8 });
        let says = ["", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"];
        let cut = says.map(|says| {
            thread::spawn(move || {
                let (mut stream, began) = (open(at), Instant::now());
                stream.write_all(says.as_bytes()).expect("writable");
                stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a time");
                let mut heard = [0; 1000];
                // Its head never ends, and never stands still.
                while stream.read(&mut heard).map_or(true, |length| length > 0) && began.elapsed() < PATIENCE {
                    let _ = stream.write_all(if says.is_empty() { b"" } else { b"x" });
                }
                began.elapsed()
            })
        });
        for (cut, says) in cut.into_iter().zip(says) {
            let after = cut.join().expect("it ends").as_secs_f64();
            assert!((3.0..12.0).contains(&after), "{says:?}: after {after} s");
        }
        assert!(asked(at, "").ends_with("127.0.0.1"));
    }

    #[test]
    fn an_address_that_has_all_its_places_gets_no_more_and_a_head_has_so_many_bytes() {
        let at = site(Limits { connections_max: 4, per_address_max: 2 });
        assert!(asked(at, "").ends_with("127.0.0.1"));
        let long = format!("X: {}\r\n", "x".repeat(2 * HEAD_MAX));
        assert!(!asked(at, &long).starts_with("HTTP/1.1 200"));
        let held = [open(at), open(at)];
        let mut third = open(at);
        assert!(matches!(third.read(&mut [0]), Ok(0) | Err(_)), "cut at once");
        drop(held);
        let served = || asked(at, "").ends_with("127.0.0.1");
        assert!((0..100).any(|_| served() || {
            thread::sleep(Duration::from_millis(50));
            false
        }));
    }
}
