//! HTTP on a thread of its own beside the game's.
//!
//! What protects the game from it: of processor time the one thread, which steps back behind the game's; of the way out the
//! pace of each site; of memory the number of its connections, for each of which the system keeps 64 kB and HTTP
//! [`HEAD_MAX`], while the files that they read are shared. Who reads slowly costs no more than who reads fast, so they may;
//! but who gets on least goes when somebody else wants the place.

use super::connections::{Admitted, Connections, Limits};
use super::paced_stream::PacedStream;
use super::proxies::Proxies;
use super::write_pacing::WritePacing;
use anyhow::{Context, Result};
use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// For so long a connection may take for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// For so long what was written last may be on its way to who reads it, after all that they have asked for.
const LINGER: Duration = Duration::from_secs(60);
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
    /// What answers. To each request [`Asker`] is added.
    pub router: Router,
    /// How many may ask at once.
    pub limits: Limits,
    /// How fast all of them together are answered.
    pub bytes_per_second: u64,
    /// For so long who asks may take nothing of what is written. Who reads at a few kB/s does it by tens of kB, in between
    /// which their system says nothing.
    pub take_within: Duration,
    /// Who is believed for whom they ask.
    pub proxies: Proxies,
}

/// Who asks: who is connected, or for whom a proxy asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker(pub IpAddr);

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
    let connections = Connections::new(site.limits);
    let pace = WritePacing::new(site.bytes_per_second, Instant::now());
    tokio::spawn(pace.clone().keep());
    let answering =
        Arc::new(Answering { router: site.router, pace, take_within: site.take_within, proxies: site.proxies });
    loop {
        match listener.accept().await {
            Ok((tcp, from)) => {
                let from = from.ip();
                let entered = connections.enter(Instant::now(), from, answering.proxies.contains(from));
                tokio::spawn(Arc::clone(&answering).attend(tcp, from, entered));
            }
            // None of theirs is left, or of the system's: an end of one may help.
            Err(error) => {
                tracing::debug!(%error, "no connection could be taken");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// What all connections of a site have in common.
struct Answering {
    router: Router,
    pace: WritePacing,
    take_within: Duration,
    proxies: Proxies,
}

impl Answering {
    async fn attend(self: Arc<Answering>, tcp: TcpStream, from: IpAddr, admitted: Admitted) {
        let slot = Arc::new(admitted.slot);
        let stream = match PacedStream::new(tcp, Arc::clone(&slot), self.pace.clone(), self.take_within) {
            Ok(stream) => stream,
            Err(error) => return tracing::debug!(%from, %error, "a connection is gone already"),
        };
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            let asker = self.proxies.asker(request.headers(), from);
            slot.serve(asker);
            request.extensions_mut().insert(Asker(asker));
            router.call(request)
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(HEAD_MAX);
        let mut connection = http.serve_connection(TokioIo::new(stream), service);
        let attended = async {
            if let Err(error) = (&mut connection).await {
                tracing::debug!(%from, %error, "a connection has failed");
            }
            connection.into_parts().io.into_inner().linger(LINGER).await;
        };
        tokio::select! {
            () = attended => {}
            _ = admitted.made_room => tracing::debug!(%from, "a connection has made room for another"),
        }
    }
}

#[cfg(test)]
mod tests;
