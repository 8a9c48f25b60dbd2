//! From an address and a token to an admitted connection, of a native client.

use crate::clock::Clock;
use crate::control::{Control, Refused, Shown, VERSION};
use crate::join_url::read_url;
use crate::quic::{Quic, read_message};
use crate::ticket::Ticket;
use crate::token::Token;
use crate::window::transport_config;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;
use wtransport::config::{DnsLookupFuture, DnsResolver};
use wtransport::endpoint::endpoint_side;
use wtransport::error::ConnectingError;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Endpoint};

/// Longer than this nobody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a client shows to be admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Credential {
    /// A token, for the first time.
    Token(Token),
    /// A ticket of an earlier connection.
    Ticket(Ticket),
}

impl From<Token> for Credential {
    fn from(token: Token) -> Credential {
        Credential::Token(token)
    }
}

impl From<Ticket> for Credential {
    fn from(ticket: Ticket) -> Credential {
        Credential::Ticket(ticket)
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

/// Where a client goes, and how it knows that it is there.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    url: Url,
    hashes: Vec<[u8; 32]>,
    idle_timeout: Duration,
}

/// An admitted connection of a client.
pub(crate) struct Joined {
    pub session: u64,
    pub ticket: Ticket,
    pub transport: Quic,
    /// Lives as long as its connection.
    pub endpoint: Endpoint<endpoint_side::Client>,
}

impl Target {
    pub(crate) fn new(url: &str, idle_timeout: Duration) -> Result<Target, ConnectError> {
        let (url, hashes) = read_url(url).ok_or(ConnectError::Address)?;
        Ok(Target { url, hashes, idle_timeout })
    }

    /// Connects from a new port, and asks for a place.
    pub(crate) async fn join(&self, credential: &Credential, clock: Clock) -> Result<Joined, ConnectError> {
        let late = |_| ConnectError::Unreached("no answer in time".into());
        timeout(PATIENCE, self.ask(credential, clock)).await.map_err(late)?
    }

    async fn ask(&self, credential: &Credential, clock: Clock) -> Result<Joined, ConnectError> {
        let endpoint = self.endpoint().await?;
        let connection = endpoint.connect(self.url.as_str()).await.map_err(|error| match error {
            ConnectingError::SessionRejected => ConnectError::Unreached("the server refuses this origin".into()),
            error => unreached(error),
        })?;
        let (mut send, mut recv) = connection.open_bi().await.map_err(unreached)?.await.map_err(unreached)?;
        let shown = match credential {
            Credential::Token(token) => Shown::Token(token.as_bytes()),
            Credential::Ticket(ticket) => Shown::Ticket(ticket.as_bytes()),
        };
        send.write_all(&Control::Admit { version: VERSION, shown }.framed()).await.map_err(unreached)?;
        let answer = read_message(&mut recv).await;
        match answer.as_deref().and_then(Control::read) {
            Some(Control::Admitted { session, ticket }) => {
                let ticket = Ticket::from_bytes(ticket).ok_or_else(|| unreached("an odd ticket"))?;
                let transport = Quic::start(connection, (send, recv), clock);
                Ok(Joined { session, ticket, transport, endpoint })
            }
            Some(Control::Refused(why)) => Err(ConnectError::Refused(why)),
            _ => Err(unreached("an odd answer")),
        }
    }

    async fn endpoint(&self) -> Result<Endpoint<endpoint_side::Client>, ConnectError> {
        let address = self.resolve().await?;
        let any = if address.is_ipv4() {
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
        } else {
            SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
        };
        let builder = ClientConfig::builder().with_bind_address(any);
        let transport = transport_config(self.idle_timeout);
        let builder = if self.hashes.is_empty() {
            builder.with_custom_transport(transport)
        } else {
            let hashes = self.hashes.iter().map(|hash| Sha256Digest::new(*hash));
            let verifier = wtransport::tls::client::ServerHashVerification::new(hashes);
            let roots = wtransport::tls::rustls::RootCertStore::empty();
            let tls =
                wtransport::tls::client::build_default_tls_config(roots.into(), Some(std::sync::Arc::new(verifier)));
            builder.with_custom_tls_and_transport(tls, transport)
        };
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
