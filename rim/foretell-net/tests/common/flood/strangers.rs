//! Who has no right to anything: garbage, captured and mangled packets of QUIC, Initials that are sent again, half
//! handshakes of TLS, and connections that never show a token. From addresses of this machine that no player has.

use super::Pace;
use super::mallory::hostile;
use crate::common::raw::{Raw, hashes, initials};
use proptest::prelude::Rng as _;
use proptest::test_runner::TestRng;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use url::Url;
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::rustls;

const LONGEST: usize = 1400;
const CAPTURED_MAX: usize = 1024;

/// A wire between a client and the server that somebody listens to.
pub struct Tap {
    pub port: u16,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Tap {
    pub async fn to(server: SocketAddr) -> Tap {
        let local = (Ipv4Addr::LOCALHOST, 0);
        let (front, back) =
            (UdpSocket::bind(local).await.expect("a port"), UdpSocket::bind(local).await.expect("a port"));
        back.connect(server).await.expect("a server");
        let (port, heard) = (front.local_addr().expect("an address").port(), Arc::<Mutex<Vec<Vec<u8>>>>::default());
        let tapped = Arc::clone(&heard);
        tokio::spawn(async move {
            let (mut up, mut down, mut client) = ([0; 2048], [0; 2048], None);
            loop {
                tokio::select! {
                    came = front.recv_from(&mut up) => if let Ok((length, from)) = came {
                        client = Some(from);
                        let _ = back.send(&up[..length]).await;
                        let mut heard = tapped.lock().expect("nobody panics");
                        if heard.len() < CAPTURED_MAX {
                            heard.push(up[..length].to_vec());
                        }
                    },
                    came = back.recv(&mut down) => if let (Ok(length), Some(client)) = (came, client) {
                        let _ = front.send_to(&down[..length], client).await;
                    },
                }
            }
        });
        Tap { port, heard }
    }

    /// What the client has sent by now.
    pub fn captured(&self) -> Vec<Vec<u8>> {
        self.heard.lock().expect("nobody panics").clone()
    }
}

pub struct Strangers {
    server: SocketAddr,
    url: String,
    rng: TestRng,
    sockets: Vec<UdpSocket>,
    captured: Vec<Vec<u8>>,
    /// What a client of TLS says first.
    hello: Vec<u8>,
    /// Packets and connections.
    pub sent: u64,
}

impl Strangers {
    pub async fn new(url: &str, mut captured: Vec<Vec<u8>>, rng: TestRng) -> Strangers {
        let place = Url::parse(url).expect("an address");
        let server = place.socket_addrs(|| None).expect("an address")[0];
        let mut sockets = Vec::new();
        for number in 0..16 {
            sockets.push(UdpSocket::bind((strange(number), 0)).await.expect("Linux has 127.0.0.0/8"));
        }
        captured.extend(initials(url, strange, 32).await.1);
        let hello = tls_hello(url).await;
        Strangers { server, url: url.into(), rng, sockets, captured, hello, sent: 0 }
    }

    /// Sends as fast as `pace` says, until that ends.
    pub async fn run(mut self, pace: Pace) -> Strangers {
        let mut steps = tokio::time::interval(Duration::from_millis(4));
        while !pace.is_over() {
            steps.tick().await;
            for _ in 0..pace.due(self.sent) {
                self.attack();
                self.sent += 1;
            }
        }
        self
    }

    fn attack(&mut self) {
        let from = self.rng.next_u32();
        let bytes = hostile(&mut self.rng, &self.captured, LONGEST);
        match self.rng.next_u32() % 2000 {
            0 => self.hold_a_session(strange(from)),
            1..10 => self.half_a_handshake(strange(from)),
            _ => {
                let socket = &self.sockets[from as usize % self.sockets.len()];
                // What the machine does not take is lost on the way.
                let _ = socket.try_send_to(&bytes, self.server);
            }
        }
    }

    /// A connection that shows nothing.
    fn hold_a_session(&self, from: IpAddr) {
        let url = self.url.clone();
        tokio::spawn(async move {
            if let Some(raw) = Raw::open(&url, from, None).await {
                let _ = tokio::time::timeout(Duration::from_secs(7), raw.connection.closed()).await;
            }
        });
    }

    /// Garbage of TCP, or something like what a client of TLS says first; nothing follows.
    fn half_a_handshake(&mut self, from: IpAddr) {
        let bytes = hostile(&mut self.rng, std::slice::from_ref(&self.hello), 600);
        let server = self.server;
        tokio::spawn(async move {
            let socket = TcpSocket::new_v4()?;
            socket.bind((from, 0).into())?;
            let mut stream = socket.connect(server).await?;
            stream.write_all(&bytes).await?;
            tokio::time::sleep(Duration::from_secs(2)).await;
            std::io::Result::Ok(())
        });
    }
}

/// An address of this machine that no player has.
fn strange(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x7f00_0002 + number % 16).into()
}

/// What a client of TLS says first.
async fn tls_hello(url: &str) -> Vec<u8> {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let there = silent.local_addr().expect("an address");
    let verifier = Arc::new(ServerHashVerification::new(hashes(url)));
    let config = build_default_tls_config(rustls::RootCertStore::empty().into(), Some(verifier));
    let client = tokio::spawn(async move {
        let stream = TcpStream::connect(there).await?;
        let name = rustls::pki_types::ServerName::try_from("127.0.0.1").expect("a name");
        tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await
    });
    let (mut stream, _) = silent.accept().await.expect("a client");
    let mut bytes = vec![0; 600];
    let length = stream.read(&mut bytes).await.expect("a hello");
    client.abort();
    bytes.truncate(length);
    bytes
}
