//! From an address and a token to an admitted connection, of a native client.

use crate::clock::Clock;
use crate::control::{Control, Refused, Shown, VERSION};
use crate::join_url::read_url;
use crate::quic::{Quic, read_message};
use crate::socket::{self, Socket};
use crate::ticket::ResumeTicket;
use crate::token::Token;
use crate::transport::{Allowance, Transport};
use crate::window::transport_config;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use url::Url;
use wtransport::config::{DnsLookupFuture, DnsResolver};
use wtransport::endpoint::endpoint_side;
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::{Sha256Digest, build_native_cert_store, rustls};
use wtransport::{ClientConfig, Endpoint};

/// Longer than this nobody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where there is another way.
const PATIENCE_QUIC: Duration = Duration::from_secs(3);

/// What a client shows to be admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Credential {
    /// A token, for the first time.
    Token(Token),
    /// A resume ticket of an earlier connection.
    ResumeTicket(ResumeTicket),
}

impl From<Token> for Credential {
    fn from(token: Token) -> Credential {
        Credential::Token(token)
    }
}

impl From<ResumeTicket> for Credential {
    fn from(ticket: ResumeTicket) -> Credential {
        Credential::ResumeTicket(ticket)
    }
}

/// Why a client is not connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not one of the form `https://host:port/`, with hashes of certificates after a `#` or without.
    #[error("not an address of a server")]
    Address,
    /// The server does not want this client.
    #[error("not admitted: {0}")]
    Refused(Refused),
    /// Nobody has answered as a server does.
    #[error("not reached: {0}")]
    Unreached(String),
    /// This machine has refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// By which protocol a client connects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Via {
    /// By WebTransport; where nobody answers to that within 3 s, by WebSocket.
    #[default]
    Either,
    /// By WebTransport over QUIC alone.
    WebTransport,
    /// By WebSocket over TLS alone. What is lost on the way then delays what comes after it.
    WebSocket,
}

/// Where a client goes, and how it knows that it is there.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    url: Url,
    hashes: Vec<[u8; 32]>,
    idle_timeout: Duration,
    via: Via,
}

/// An admitted connection of a client.
pub(crate) struct Joined {
    pub session: u64,
    pub ticket: ResumeTicket,
    pub transport: Box<dyn Transport>,
    /// Lives as long as its connection. WebSockets have none.
    pub endpoint: Option<Endpoint<endpoint_side::Client>>,
}

impl Joined {
    /// Waits until the other end knows of the close, as far as that can be known.
    pub(crate) async fn farewell(&mut self) {
        let second = Duration::from_secs(1);
        match &self.endpoint {
            Some(endpoint) => drop(timeout(second, endpoint.wait_idle()).await),
            None => tokio::time::sleep(second / 4).await,
        }
    }
}

impl Target {
    pub(crate) fn new(url: &str, idle_timeout: Duration, via: Via) -> Result<Target, ConnectError> {
        let (url, hashes) = read_url(url).ok_or(ConnectError::Address)?;
        Ok(Target { url, hashes, idle_timeout, via })
    }

    /// Connects from a new port, and asks for a place.
    pub(crate) async fn join(&self, credential: &Credential, clock: Clock) -> Result<Joined, ConnectError> {
        let shown = match credential {
            Credential::Token(token) => Shown::Token(token.as_bytes()),
            Credential::ResumeTicket(ticket) => Shown::ResumeTicket(ticket.as_bytes()),
        };
        let request = Control::Admit { version: VERSION, shown }.framed();
        if self.via != Via::WebSocket {
            let patience = if self.via == Via::Either { PATIENCE_QUIC } else { PATIENCE };
            let joined = timeout(patience, self.ask(&request, clock)).await.unwrap_or_else(late);
            if self.via == Via::WebTransport || !matches!(joined, Err(ConnectError::Unreached(_))) {
                return joined;
            }
        }
        timeout(PATIENCE, self.ask_by_socket(&request, clock)).await.unwrap_or_else(late)
    }

    async fn ask(&self, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
        let endpoint = self.endpoint().await?;
        let connection = endpoint.connect(self.url.as_str()).await.map_err(unreached)?;
        let (mut send, mut recv) = connection.open_bi().await.map_err(unreached)?.await.map_err(unreached)?;
        send.write_all(request).await.map_err(unreached)?;
        let answer = read_message(&mut recv).await;
        let (session, ticket) = read_answer(answer.as_deref())?;
        let transport = Box::new(Quic::start(connection, (send, recv), clock, Allowance::FROM_SERVER));
        Ok(Joined { session, ticket, transport, endpoint: Some(endpoint) })
    }

    async fn ask_by_socket(&self, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
        let address = self.resolve().await?;
        let mut socket = socket::open(address, &self.url, self.tls()).await.map_err(unreached)?;
        socket::write_control(&mut socket, request).await;
        let answer = socket::read_control(&mut socket).await;
        let (session, ticket) = read_answer(answer.as_deref())?;
        let transport = Box::new(Socket::start(socket, clock, self.idle_timeout, Allowance::FROM_SERVER));
        Ok(Joined { session, ticket, transport, endpoint: None })
    }

    /// Trusts the certificates of the address, or the authorities that this machine trusts.
    fn tls(&self) -> rustls::ClientConfig {
        if self.hashes.is_empty() {
            return build_default_tls_config(build_native_cert_store().into(), None);
        }
        let verifier = ServerHashVerification::new(self.hashes.iter().map(|hash| Sha256Digest::new(*hash)));
        build_default_tls_config(rustls::RootCertStore::empty().into(), Some(Arc::new(verifier)))
    }

    async fn endpoint(&self) -> Result<Endpoint<endpoint_side::Client>, ConnectError> {
        let address = self.resolve().await?;
        let any = if address.is_ipv4() {
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
        } else {
            SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
        };
        let builder = ClientConfig::builder().with_bind_address(any);
        let builder = builder.with_custom_tls_and_transport(self.tls(), transport_config(self.idle_timeout));
        Ok(Endpoint::client(builder.dns_resolver(Known(address)).build())?)
    }

    async fn resolve(&self) -> Result<SocketAddr, ConnectError> {
        let port = self.url.port().unwrap_or(443);
        match self.url.host() {
            Some(url::Host::Ipv4(address)) => Ok((address, port).into()),
            Some(url::Host::Ipv6(address)) => Ok((address, port).into()),
            Some(url::Host::Domain(name)) => {
                let mut found = tokio::net::lookup_host((name, port)).await?;
                found.next().ok_or_else(|| unreached("the name has no address"))
            }
            None => Err(ConnectError::Address),
        }
    }
}

fn read_answer(answer: Option<&[u8]>) -> Result<(u64, ResumeTicket), ConnectError> {
    match answer.and_then(Control::read) {
        Some(Control::Admitted { session, ticket }) => {
            Ok((session, ResumeTicket::from_bytes(ticket).ok_or_else(|| unreached("an odd ticket"))?))
        }
        Some(Control::Refused(why)) => Err(ConnectError::Refused(why)),
        _ => Err(unreached("an odd answer")),
    }
}

fn late(_: Elapsed) -> Result<Joined, ConnectError> {
    Err(unreached("no answer in time"))
}

fn unreached(error: impl ToString) -> ConnectError {
    ConnectError::Unreached(error.to_string())
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
