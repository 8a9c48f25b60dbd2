//! A client by hand, from PROTOCOL.md 10: it says what it likes.

use super::{Arena, rules};
use foretell::{Client, ClientConfig, Instant, Outbox};
use foretell_net::{Running, Status, Token};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;
use url::Url;
use wtransport::endpoint::{ConnectOptions, endpoint_side};
use wtransport::quinn::TransportConfig;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig as QuicConfig, Connection, Endpoint, RecvStream, SendStream};

/// For so long what is about to happen is waited for.
pub const SOON: Duration = Duration::from_secs(20);

/// Waits until a server's status is so.
pub async fn until(server: &Running, what: &str, done: impl FnMut(&Status) -> bool) {
    let mut status = server.watch();
    let seen = timeout(SOON, status.wait_for(done)).await;
    seen.unwrap_or_else(|_| panic!("not in time: {what}")).expect("it runs");
}

/// A WebTransport session with its reliable stream.
pub struct Raw {
    pub connection: Connection,
    pub send: SendStream,
    pub recv: RecvStream,
    _endpoint: Endpoint<endpoint_side::Client>,
}

/// The hashes of certificates after the `#` of an address.
pub fn hashes(url: &str) -> Vec<Sha256Digest> {
    let (_, hashes) = url.split_once('#').expect("hashes");
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("digits");
    let digest = |text: &str| text.as_bytes().chunks(2).map(byte).collect::<Vec<_>>();
    hashes.split('.').map(|text| Sha256Digest::new(digest(text).try_into().expect("32 bytes"))).collect()
}

/// An endpoint at an address of this machine, which knows the server of `url`.
pub fn endpoint(url: &str, from: IpAddr) -> Endpoint<endpoint_side::Client> {
    let config = QuicConfig::builder().with_bind_address((from, 0).into());
    Endpoint::client(config.with_server_certificate_hashes(hashes(url)).build()).expect("a port")
}

/// The same, which lets the server write so many bytes to each stream until they are read.
pub fn narrow_endpoint(url: &str, window: u32) -> Endpoint<endpoint_side::Client> {
    let config = QuicConfig::builder().with_bind_address((Ipv4Addr::LOCALHOST, 0).into());
    let mut config = config.with_server_certificate_hashes(hashes(url)).build();
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(window.into());
    config.quic_config_mut().transport_config(Arc::new(transport));
    Endpoint::client(config).expect("a port")
}

impl Raw {
    /// A connection on which nothing was said yet; `None` when the server does not want it.
    pub async fn open(url: &str, from: IpAddr, origin: Option<&str>) -> Option<Raw> {
        Raw::open_by(endpoint(url, from), url, origin).await
    }

    /// The same by an endpoint of one's own.
    pub async fn open_by(endpoint: Endpoint<endpoint_side::Client>, url: &str, origin: Option<&str>) -> Option<Raw> {
        let place = Url::parse(url).expect("an address");
        let mut options = ConnectOptions::builder(&place[..url::Position::BeforeFragment]);
        if let Some(origin) = origin {
            options = options.add_header("origin", origin);
        }
        let connection = endpoint.connect(options.build()).await.ok()?;
        let (send, recv) = connection.open_bi().await.ok()?.await.ok()?;
        Some(Raw { connection, send, recv, _endpoint: endpoint })
    }

    /// Says a message, after its length.
    pub async fn say(&mut self, message: &[u8]) {
        let length = u16::try_from(message.len()).expect("short").to_le_bytes();
        self.send.write_all(&[&length[..], message].concat()).await.expect("sent");
    }

    /// The next message, without its length; `None` when the stream ends before it does.
    pub async fn hear(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 2];
        self.recv.read_exact(&mut length).await.ok()?;
        let mut message = vec![0; usize::from(u16::from_le_bytes(length))];
        self.recv.read_exact(&mut message).await.ok()?;
        Some(message)
    }

    /// Shows a token, and returns the number of the session; `None` when it is refused.
    pub async fn admit(&mut self, token: &Token) -> Option<u64> {
        self.say(&[&[1, 1, 0], token.as_bytes()].concat()).await;
        let answer = self.hear().await.filter(|answer| answer[0] == 2)?;
        Some(u64::from_le_bytes(answer[1..9].try_into().expect("8 bytes")))
    }

    /// Whether the server has closed the connection.
    pub async fn is_closed(&self) -> bool {
        timeout(SOON, self.connection.closed()).await.is_ok()
    }
}

/// What a client with this nonce sends first.
pub fn hello(nonce: u64) -> Vec<u8> {
    let mut client = Client::<Arena>::new(rules(), ClientConfig::default(), nonce);
    let mut outbox = Outbox::new();
    client.update(Instant::ZERO, &mut Arena::default(), &mut |_| unreachable!("no tick yet"), &mut outbox);
    outbox.iter().next().map(|(_, bytes)| bytes.to_vec()).expect("a hello")
}

/// What so many clients of QUIC say first, to a port that nobody answers at, and that port.
pub async fn initials(url: &str, from: impl Fn(u32) -> IpAddr, count: usize) -> (UdpSocket, Vec<Vec<u8>>) {
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let nowhere = format!("https://{}/", silent.local_addr().expect("an address"));
    let (mut clients, mut found, mut bytes) = (Vec::new(), Vec::new(), [0; 2048]);
    for number in 0..u32::try_from(count).expect("few") {
        let (client, nowhere) = (endpoint(url, from(number)), nowhere.clone());
        // A client that is dropped says so.
        clients.push(tokio::spawn(async move { client.connect(nowhere).await.is_ok() }));
        let length = silent.recv(&mut bytes).await.expect("a packet");
        found.push(bytes[..length].to_vec());
    }
    clients.iter().for_each(|client| client.abort());
    (silent, found)
}
