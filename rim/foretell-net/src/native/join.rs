//! The way to a server by wtransport and by tokio-tungstenite.

use crate::join::{ConnectError, Joined, Target, read_answer, unreached};
use crate::native::Clock;
use crate::native::quic::{Quic, read_message};
use crate::native::socket::{self, Socket};
use crate::native::window::transport_config;
use crate::transport::Quota;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;
use wtransport::config::{DnsLookupFuture, DnsResolver};
use wtransport::endpoint::endpoint_side;
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::{Sha256Digest, build_native_cert_store, rustls};
use wtransport::{ClientConfig, Connection, Endpoint, RecvStream, SendStream};

/// What has to live as long as a connection: its endpoint. WebSockets have none.
pub(crate) struct Farewell(Option<Endpoint<endpoint_side::Client>>);

impl Farewell {
    /// Waits until the other end knows of the close, as far as that can be known.
    pub(crate) async fn wait(&mut self) {
        let second = Duration::from_secs(1);
        match &self.0 {
            Some(endpoint) => drop(timeout(second, endpoint.wait_idle()).await),
            None => tokio::time::sleep(second / 4).await,
        }
    }
}

/// A WebTransport session of a client on which nothing was shown yet.
pub(crate) struct Reached {
    endpoint: Endpoint<endpoint_side::Client>,
    connection: Connection,
    stream: (SendStream, RecvStream),
    clock: Clock,
}

pub(crate) async fn reach_by_webtransport(target: &Target, clock: Clock) -> Result<Reached, ConnectError> {
    let endpoint = endpoint(target).await?;
    let connection = endpoint.connect(target.url.as_str()).await.map_err(unreached)?;
    let stream = connection.open_bi().await.map_err(unreached)?.await.map_err(unreached)?;
    Ok(Reached { endpoint, connection, stream, clock })
}

impl Reached {
    /// Asks for a place.
    pub(crate) async fn ask(self, request: &[u8]) -> Result<Joined, ConnectError> {
        let Reached { endpoint, connection, stream: (mut send, mut recv), clock } = self;
        send.write_all(request).await.map_err(unreached)?;
        let answer = read_message(&mut recv).await;
        let (session, ticket) = read_answer(answer.as_deref())?;
        let transport = Box::new(Quic::start(connection, send, recv, clock, Quota::FROM_SERVER));
        Ok(Joined { session, ticket, transport, farewell: Farewell(Some(endpoint)) })
    }
}

pub(crate) async fn ask_by_socket(target: &Target, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
    let url = parse(target)?;
    let address = resolve(&url).await?;
    let mut socket = socket::open(address, &url, tls(target)).await.map_err(unreached)?;
    socket::write_control(&mut socket, request).await;
    let answer = socket::read_control(&mut socket).await;
    let (session, ticket) = read_answer(answer.as_deref())?;
    let transport = Box::new(Socket::start(socket, clock, target.idle_timeout, Quota::FROM_SERVER));
    Ok(Joined { session, ticket, transport, farewell: Farewell(None) })
}

fn parse(target: &Target) -> Result<Url, ConnectError> {
    Url::parse(&target.url).map_err(|_| ConnectError::Address)
}

/// Trusts the certificates of the address, or the authorities that this machine trusts.
fn tls(target: &Target) -> rustls::ClientConfig {
    if target.hashes.is_empty() {
        return build_default_tls_config(build_native_cert_store().into(), None);
    }
    let verifier = ServerHashVerification::new(target.hashes.iter().map(|hash| Sha256Digest::new(*hash)));
    build_default_tls_config(rustls::RootCertStore::empty().into(), Some(Arc::new(verifier)))
}

async fn endpoint(target: &Target) -> Result<Endpoint<endpoint_side::Client>, ConnectError> {
    let address = resolve(&parse(target)?).await?;
    let any = if address.is_ipv4() {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
    } else {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
    };
    let builder = ClientConfig::builder().with_bind_address(any);
    let builder = builder.with_custom_tls_and_transport(tls(target), transport_config(target.idle_timeout));
    Ok(Endpoint::client(builder.dns_resolver(Known(address)).build())?)
}

async fn resolve(url: &Url) -> Result<SocketAddr, ConnectError> {
    let port = url.port().unwrap_or(443);
    match url.host() {
        Some(url::Host::Ipv4(address)) => Ok((address, port).into()),
        Some(url::Host::Ipv6(address)) => Ok((address, port).into()),
        Some(url::Host::Domain(name)) => {
            let mut found = tokio::net::lookup_host((name, port)).await?;
            found.next().ok_or_else(|| unreached("the name has no address"))
        }
        None => Err(ConnectError::Address),
    }
}

/// The name was looked up before, so that the socket is of the right family.
#[derive(Debug)]
struct Known(SocketAddr);

impl DnsResolver for Known {
    fn resolve(&self, _host: &str) -> Pin<Box<dyn DnsLookupFuture>> {
        let address = self.0;
        Box::pin(async move { Ok(Some(address)) })
    }
}
