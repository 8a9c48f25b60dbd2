//! Where a gateway listens, and how.

use crate::native::admission::Access;
use crate::native::certificate::Certificates;
use crate::native::limits::Limits;
use crate::native::window::transport_config;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use wtransport::endpoint::endpoint_side;
use wtransport::{Endpoint, Identity, ServerConfig};

/// How a server is reached, and by whom; with defaults it is made by [`ServeConfig::bind`](crate::ServeConfig::bind).
#[derive(Clone, PartialEq, Eq)]
pub struct GatewayConfig {
    /// Who may play.
    pub access: Access,
    /// What the server proves itself with.
    pub certificates: Certificates,
    /// How many players may have a place, as long as it runs; as many as the session takes.
    pub players_max: usize,
    /// How many connections there may be.
    pub limits: Limits,
    /// From which pages browsers may connect, each as `https://host:port`. Programs that are no browsers do not say.
    pub origins: Vec<String>,
    /// After so long without a packet a connection is lost. A [`ServeConfig`](crate::ServeConfig) has 10 s, as sessions have.
    pub idle_timeout: Duration,
    /// Whether WebSockets over TLS are taken as well, on the same number of a TCP port: for networks that let no UDP pass.
    /// A [`ServeConfig`](crate::ServeConfig) has true.
    pub sockets: bool,
    /// How much one client is sent at most, in bytes per second, when the path is good.
    /// [`ServeConfig::bind`](crate::ServeConfig::bind) makes it 1,000,000.
    pub rate_max: u64,
}

/// How many first packets wait for the door at most: it takes microseconds for each.
const INCOMING_MAX: usize = 512;
/// How many bytes each of them may have behind it: the rest of a first message that is longer than a packet.
const INCOMING_BYTES: u64 = 16 * 1024;

/// Ports of UDP and TCP with one number. Where the system chooses it, that of UDP may be taken for TCP: then another.
pub(crate) fn listen(
    address: SocketAddr,
    sockets: bool,
    quic: impl Fn(SocketAddr) -> io::Result<Endpoint<endpoint_side::Server>>,
) -> io::Result<(Endpoint<endpoint_side::Server>, Option<TcpListener>)> {
    let mut tries = if address.port() == 0 { 16 } else { 1 };
    loop {
        let endpoint = quic(address)?;
        if !sockets {
            return Ok((endpoint, None));
        }
        tries -= 1;
        match std::net::TcpListener::bind(endpoint.local_addr()?) {
            Ok(listener) => {
                listener.set_nonblocking(true)?;
                return Ok((endpoint, Some(TcpListener::from_std(listener)?)));
            }
            Err(error) if tries == 0 => return Err(error),
            Err(_) => {}
        }
    }
}

pub(crate) fn quic_config(address: SocketAddr, identity: Identity, idle_timeout: Duration) -> ServerConfig {
    let mut config = ServerConfig::builder()
        .with_bind_address(address)
        .with_custom_transport(identity, transport_config(idle_timeout))
        .build();
    config
        .quic_config_mut()
        .max_incoming(INCOMING_MAX)
        .incoming_buffer_size(INCOMING_BYTES)
        .incoming_buffer_size_total(INCOMING_MAX as u64 * INCOMING_BYTES / 8);
    config
}
