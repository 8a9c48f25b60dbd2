//! The way to a server by wtransport and by tokio-tungstenite.

use crate::inbox::Quota;
use crate::join::{ConnectError, Joined, Target, read_answer, unreached};
use crate::native::Clock;
use crate::native::quic::{Quic, code, read_message};
use crate::native::socket::{self, Socket};
use crate::native::window::transport_config;
use crate::transport::Closed;
use futures_util::future::select_ok;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use url::Url;
use wtransport::config::{DnsLookupFuture, DnsResolver};
use wtransport::endpoint::endpoint_side;
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::rustls::{self, RootCertStore};
use wtransport::tls::{Sha256Digest, build_native_cert_store};
use wtransport::{ClientConfig, Connection, Endpoint, RecvStream, SendStream};

/// So long the first address of a server is tried alone: a handshake over most links takes less.
const HEAD_START: Duration = Duration::from_secs(1);

/// Whom this machine trusts.
static AUTHORITIES: Authorities = Authorities(OnceLock::new());

/// What has to live as long as a connection: its endpoint. WebSockets have none.
pub(crate) struct Farewell(pub(crate) Option<Endpoint<endpoint_side::Client>>);

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

/// A connection over which nobody plays yet. Dropping it says that it is lost, before its stream ends: that would say that this
/// client breaks the rules, and the code with which it would be closed else that the player has left.
struct Unclaimed(Option<Connection>);

impl Unclaimed {
    /// From now on somebody else sees to its end.
    fn claim(mut self) -> Connection {
        self.0.take().expect("it is claimed once")
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.close(code(Closed::Lost), b"");
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
    reach_at_one_of(target, &resolve(&parse(target)?).await?, clock).await
}

/// Tries the first address of each family, as a network may carry one of them alone.
async fn reach_at_one_of(target: &Target, addresses: &[SocketAddr], clock: Clock) -> Result<Reached, ConnectError> {
    at_one_of(addresses, |address| reach_at(target, address, clock)).await
}

/// What comes of a first of the addresses of either family: what soonest does.
async fn at_one_of<T, E, Tried>(addresses: &[SocketAddr], each: impl Fn(SocketAddr) -> Tried) -> Result<T, E>
where
    Tried: Future<Output = Result<T, E>>,
{
    let families = [addresses[0].is_ipv6(), addresses[0].is_ipv4()];
    let tried = families.map(|is_ipv6| addresses.iter().find(|address| address.is_ipv6() == is_ipv6));
    let tries = tried.into_iter().flatten().zip([Duration::ZERO, HEAD_START]).map(|(address, wait)| {
        let tried = each(*address);
        Box::pin(async move {
            sleep(wait).await;
            tried.await
        })
    });
    Ok(select_ok(tries).await?.0)
}

async fn reach_at(target: &Target, address: SocketAddr, clock: Clock) -> Result<Reached, ConnectError> {
    let endpoint = endpoint(target, address, tls(target).await?)?;
    let connection = endpoint.connect(target.url.as_str()).await.map_err(unreached)?;
    let stream = connection.open_bi().await.map_err(unreached)?.await.map_err(unreached)?;
    Ok(Reached { endpoint, connection, stream, clock })
}

impl Reached {
    /// Asks for a place.
    pub(crate) async fn ask(self, request: &[u8]) -> Result<Joined, ConnectError> {
        let Reached { endpoint, connection, stream: (mut send, mut recv), clock } = self;
        // Made last, it is dropped first.
        let unclaimed = Unclaimed(Some(connection));
        send.write_all(request).await.map_err(unreached)?;
        let answer = read_message(&mut recv).await;
        let (session, ticket) = read_answer(answer.as_deref())?;
        let transport = Box::new(Quic::start(unclaimed.claim(), send, recv, clock, Quota::FROM_SERVER));
        Ok(Joined { session, ticket, transport, farewell: Farewell(Some(endpoint)) })
    }
}

pub(crate) async fn ask_by_socket(target: &Target, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
    let url = parse(target)?;
    let addresses = resolve(&url).await?;
    let stream = at_one_of(&addresses, TcpStream::connect).await.map_err(unreached)?;
    let mut socket = socket::open(stream, &url, tls(target).await?).await.map_err(unreached)?;
    socket::write_control(&mut socket, request).await;
    let answer = socket::read_control(&mut socket).await;
    let (session, ticket) = read_answer(answer.as_deref())?;
    let transport = Box::new(Socket::start(socket, clock, target.idle_timeout, Quota::FROM_SERVER, Arc::default()));
    Ok(Joined { session, ticket, transport, farewell: Farewell(None) })
}

fn parse(target: &Target) -> Result<Url, ConnectError> {
    Url::parse(&target.url).map_err(|_| ConnectError::Address)
}

/// Trusts the certificates of the address, or the authorities that this machine trusts.
async fn tls(target: &Target) -> Result<rustls::ClientConfig, ConnectError> {
    if target.hashes.is_empty() {
        return Ok(build_default_tls_config(AUTHORITIES.get(build_native_cert_store).await?, None));
    }
    let verifier = ServerHashVerification::new(target.hashes.iter().map(|hash| Sha256Digest::new(*hash)));
    Ok(build_default_tls_config(RootCertStore::empty().into(), Some(Arc::new(verifier))))
}

/// Authorities that a machine trusts: it has them in files, of which there are hundreds on some.
struct Authorities(OnceLock<Arc<RootCertStore>>);

impl Authorities {
    /// What `read` has come to once, on a thread that may wait for a disk: also for who asks after this one has waited too long.
    async fn get(&'static self, read: fn() -> RootCertStore) -> io::Result<Arc<RootCertStore>> {
        let reading = move || Arc::clone(self.0.get_or_init(|| Arc::new(read())));
        spawn_blocking(reading).await.map_err(io::Error::other)
    }
}

fn endpoint(
    target: &Target,
    address: SocketAddr,
    tls: rustls::ClientConfig,
) -> Result<Endpoint<endpoint_side::Client>, ConnectError> {
    let any = if address.is_ipv4() {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
    } else {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
    };
    let builder = ClientConfig::builder().with_bind_address(any);
    let builder = builder.with_custom_tls_and_transport(tls, transport_config(target.idle_timeout));
    Ok(Endpoint::client(builder.dns_resolver(Known(address)).build())?)
}

/// All addresses of a server, and at least one.
async fn resolve(url: &Url) -> Result<Vec<SocketAddr>, ConnectError> {
    let port = url.port().unwrap_or(443);
    let found: Vec<_> = match url.host() {
        Some(url::Host::Ipv4(address)) => vec![(address, port).into()],
        Some(url::Host::Ipv6(address)) => vec![(address, port).into()],
        Some(url::Host::Domain(name)) => tokio::net::lookup_host((name, port)).await?.collect(),
        None => return Err(ConnectError::Address),
    };
    if found.is_empty() { Err(unreached("the name has no address")) } else { Ok(found) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::Via;
    use crate::native::join_url::join_url;
    use std::sync::Mutex;
    use std::thread::ThreadId;
    use wtransport::error::ConnectionError;
    use wtransport::{Identity, ServerConfig};

    /// A server on loopback, and where it is reached.
    fn start() -> (Endpoint<endpoint_side::Server>, SocketAddr, Target) {
        let identity = Identity::self_signed(["localhost"]).expect("a certificate");
        let hash = *identity.certificate_chain().as_slice()[0].hash().as_ref();
        let config = ServerConfig::builder().with_bind_address((Ipv4Addr::LOCALHOST, 0).into()).with_identity(identity);
        let server = Endpoint::server(config.build()).expect("a port");
        let address = server.local_addr().expect("bound");
        let url = join_url("localhost", address.port(), &[hash]);
        (server, address, Target::new(&url, Duration::from_secs(10), Via::WebTransport).expect("an address"))
    }

    async fn accept(server: &Endpoint<endpoint_side::Server>) -> Connection {
        server.accept().await.await.expect("asked").accept().await.expect("accepted")
    }

    #[tokio::test]
    async fn who_waits_no_longer_for_the_answer_is_lost_to_the_server_and_has_said_no_good_bye() {
        let (server, _, target) = start();
        let heard = async {
            let connection = accept(&server).await;
            let (send, mut recv) = connection.accept_bi().await.expect("a stream");
            let request = read_message(&mut recv).await.expect("a request");
            (connection, send, recv, request)
        };
        let asking = async {
            let reached = reach_by_webtransport(&target, Clock::start()).await.expect("it is there");
            reached.ask(&[1, 0, 7]).await.is_ok()
        };
        let (connection, _send, mut recv, request) = tokio::select! {
            heard = heard => heard,
            _ = asking => panic!("nobody has answered"),
        };
        assert_eq!(request, [7]);
        assert!(recv.read(&mut [0]).await.is_err(), "the stream has not ended before the connection");
        match connection.closed().await {
            ConnectionError::ApplicationClosed(close) => assert_eq!(close.code(), code(Closed::Lost)),
            error => panic!("it ends otherwise: {error}"),
        }
    }

    #[tokio::test]
    async fn whom_a_machine_trusts_is_read_once_and_not_where_others_would_wait() {
        static READERS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
        fn read() -> RootCertStore {
            READERS.lock().expect("no panic").push(std::thread::current().id());
            RootCertStore::empty()
        }
        static TRUSTED: Authorities = Authorities(OnceLock::new());
        let (one, other) = tokio::join!(TRUSTED.get(read), TRUSTED.get(read));
        assert!(Arc::ptr_eq(&one.expect("read"), &other.expect("read")));
        let readers = READERS.lock().expect("no panic");
        assert!(readers.len() == 1 && readers[0] != std::thread::current().id());
    }

    #[tokio::test]
    async fn a_server_is_reached_at_the_first_address_of_either_family() {
        let (server, address, target) = start();
        let nowhere: SocketAddr = (Ipv6Addr::LOCALHOST, address.port()).into();
        for addresses in [[nowhere, address], [address, nowhere]] {
            let reach = async { reach_at_one_of(&target, &addresses, Clock::start()).await.expect("reached") };
            let (_connection, reached) = tokio::join!(accept(&server), reach);
            assert_eq!(reached.connection.remote_address(), address);
        }
    }

    #[tokio::test]
    async fn an_address_that_answers_nothing_does_not_keep_from_the_other_family() {
        let [silent, answers]: [SocketAddr; 2] = [(Ipv6Addr::LOCALHOST, 1).into(), (Ipv4Addr::LOCALHOST, 1).into()];
        let each = |address| async move {
            if address == silent { std::future::pending().await } else { Ok::<_, ()>(address) }
        };
        let found = timeout(Duration::from_secs(4), at_one_of(&[silent, answers], each)).await;
        assert_eq!(found.expect("it is tried within the patience for a server"), Ok(answers));
    }
}
