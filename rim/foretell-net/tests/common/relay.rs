//! A relay between one client and a server: it loses and delays datagrams, is cut, and comes from another port.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

/// What it does to datagrams, while it runs.
#[derive(Default)]
pub struct Conditions {
    /// Of a thousand datagrams so many are lost, each way.
    pub lost_per_thousand: AtomicU64,
    /// By so much each is delayed, each way.
    pub delay_millis: AtomicU64,
    /// Whether nothing passes.
    pub cut: AtomicBool,
    /// How many have come, to pass or not, both ways.
    pub come: AtomicU64,
}

pub struct Relay {
    pub conditions: Arc<Conditions>,
    address: SocketAddr,
    ends: Arc<Ends>,
    server: SocketAddr,
    down: Mutex<AbortHandle>,
    up: AbortHandle,
}

struct Ends {
    front: UdpSocket,
    client: Mutex<Option<SocketAddr>>,
    back: Mutex<Arc<UdpSocket>>,
}

impl Relay {
    pub async fn to(server: SocketAddr) -> Relay {
        let front = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let address = front.local_addr().expect("an address");
        let back = back_to(server).await;
        let ends = Arc::new(Ends { front, client: Mutex::new(None), back: Mutex::new(Arc::clone(&back)) });
        let conditions = Arc::new(Conditions::default());
        let down = tokio::spawn(carry_down(back, Arc::clone(&ends), Arc::clone(&conditions))).abort_handle();
        let up = tokio::spawn(carry_up(Arc::clone(&ends), Arc::clone(&conditions))).abort_handle();
        Relay { conditions, address, ends, server, down: Mutex::new(down), up }
    }

    /// The server's address for a client, through the relay.
    pub fn through(&self, url: &str) -> String {
        let (_, fragment) = url.split_once('#').expect("hashes");
        format!("https://127.0.0.1:{}/#{fragment}", self.address.port())
    }

    /// From now on the server sees the client come from another port.
    pub async fn move_port(&self) {
        let back = back_to(self.server).await;
        let mut down = self.down.lock().await;
        down.abort();
        *down = tokio::spawn(carry_down(Arc::clone(&back), Arc::clone(&self.ends), Arc::clone(&self.conditions)))
            .abort_handle();
        *self.ends.back.lock().await = back;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.up.abort();
        self.down.get_mut().abort();
    }
}

async fn back_to(server: SocketAddr) -> Arc<UdpSocket> {
    let back = UdpSocket::bind("0.0.0.0:0").await.expect("a port");
    back.connect(server).await.expect("a server");
    Arc::new(back)
}

async fn carry_up(ends: Arc<Ends>, conditions: Arc<Conditions>) {
    let (mut bytes, mut seed) = ([0; 2048], 1);
    loop {
        let Ok((length, from)) = ends.front.recv_from(&mut bytes).await else { continue };
        *ends.client.lock().await = Some(from);
        if passes(&conditions, &mut seed) {
            let (back, bytes) = (Arc::clone(&*ends.back.lock().await), bytes[..length].to_vec());
            later(&conditions, async move { drop(back.send(&bytes).await) });
        }
    }
}

async fn carry_down(back: Arc<UdpSocket>, ends: Arc<Ends>, conditions: Arc<Conditions>) {
    let (mut bytes, mut seed) = ([0; 2048], 2);
    loop {
        // A server that is not there answers with an error.
        let Ok(length) = back.recv(&mut bytes).await else { continue };
        let Some(client) = *ends.client.lock().await else { continue };
        if passes(&conditions, &mut seed) {
            let (ends, bytes) = (Arc::clone(&ends), bytes[..length].to_vec());
            later(&conditions, async move { drop(ends.front.send_to(&bytes, client).await) });
        }
    }
}

/// A small generator is enough to lose packets by.
fn passes(conditions: &Conditions, seed: &mut u64) -> bool {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let lost = (*seed >> 33) % 1000 < conditions.lost_per_thousand.load(Ordering::Relaxed);
    let passes = !lost && !conditions.cut.load(Ordering::Relaxed);
    conditions.come.fetch_add(1, Ordering::Relaxed);
    passes
}

fn later(conditions: &Conditions, send: impl Future<Output = ()> + Send + 'static) {
    let delay = Duration::from_millis(conditions.delay_millis.load(Ordering::Relaxed));
    tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        send.await;
    });
}
