//! From an incoming packet to an admitted connection: limits, proof of address, origin, token or ticket. The same for
//! both protocols.

use crate::control::{Control, Refused, VERSION};
use crate::native::Clock;
use crate::native::account::{Account, UnixTime};
use crate::native::admission::{Admission, Pass};
use crate::native::crowd::{Crowd, Limits, Seat};
use crate::native::quic::{Quic, read_message, refuse};
use crate::native::socket::{self, Socket};
use crate::native::token::random;
use crate::transport::{Quota, Transport};
use foretell::PeerId;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::{debug, info};
use wtransport::Endpoint;
use wtransport::endpoint::IncomingSession;
use wtransport::endpoint::endpoint_side::Server;

/// Within so long a connection has to show its token.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// A connection that was admitted.
pub(crate) struct Newcomer {
    pub account: Account,
    pub place: PeerId,
    /// Counts admissions.
    pub number: u64,
    pub transport: Box<dyn Transport>,
    pub seat: Seat,
}

/// What has become of those who came.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub retried: AtomicU64,
    pub turned_away: AtomicU64,
    pub not_admitted: AtomicU64,
    pub admitted: AtomicU64,
}

/// What all handshakes have in common.
pub(crate) struct Door {
    pub admission: Mutex<Admission>,
    pub crowd: Crowd,
    pub limits: Limits,
    /// From which pages browsers may connect.
    pub origins: Vec<String>,
    pub clock: Clock,
    /// Of WebSockets; QUIC looks after its own.
    pub idle_timeout: Duration,
    pub counts: Counts,
    pub newcomers: mpsc::UnboundedSender<Newcomer>,
}

impl Door {
    pub(crate) fn admission(&self) -> MutexGuard<'_, Admission> {
        // What a panic would leave half done is at worst a place too many.
        self.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in whoever comes, until it is dropped.
    pub(crate) async fn keep(self: Arc<Door>, endpoint: Arc<Endpoint<Server>>) {
        loop {
            let incoming = endpoint.accept().await;
            let address = incoming.remote_address();
            let proven = incoming.remote_address_validated();
            if !proven && self.crowd.is_crowded(address.ip(), &self.limits) {
                // It costs nothing here, and tells nobody anything who has not sent from their own address.
                self.counts.retried.fetch_add(1, Relaxed);
                incoming.retry();
            } else if let Some(seat) = self.crowd.enter(address.ip(), &self.limits) {
                let door = Arc::clone(&self);
                let work = async move { door.shake_hands(incoming, seat).await };
                tokio::spawn(Arc::clone(&self).within_time(address, work));
            } else {
                self.counts.turned_away.fetch_add(1, Relaxed);
                debug!(%address, "turned away: too many connections");
                incoming.refuse();
            }
        }
    }

    async fn within_time(self: Arc<Door>, address: SocketAddr, work: impl Future<Output = Result<(), NotAdmitted>>) {
        let why = match timeout(HANDSHAKE, work).await {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(_) => NotAdmitted::Late,
        };
        self.counts.not_admitted.fetch_add(1, Relaxed);
        debug!(%address, %why, "not admitted");
    }

    async fn shake_hands(&self, incoming: IncomingSession, seat: Seat) -> Result<(), NotAdmitted> {
        let request = incoming.await.map_err(|_| NotAdmitted::Broken)?;
        if !self.allows(request.origin()) {
            request.forbidden().await;
            return Err(NotAdmitted::Origin);
        }
        let connection = request.accept().await.map_err(|_| NotAdmitted::Broken)?;
        let (send, mut recv) = connection.accept_bi().await.map_err(|_| NotAdmitted::Broken)?;
        let message = read_message(&mut recv).await.ok_or(NotAdmitted::Broken)?;
        let pass = match self.judge(&message) {
            Ok(pass) => pass,
            Err(why) => {
                refuse(connection, send, &Control::Refused(why).framed()).await;
                return Err(NotAdmitted::Refused(why));
            }
        };
        self.hand_over(pass, Quic::start(connection, (send, recv), self.clock, Quota::FROM_CLIENT), seat);
        Ok(())
    }

    /// The answer is the first message of a connection that the gateway has already. Nothing is waited for between the
    /// place and that: who takes in no answer would else keep a place that nobody frees.
    fn hand_over(&self, pass: Pass, mut transport: impl Transport + 'static, mut seat: Seat) {
        seat.admitted();
        // When this fails the gateway finds a connection that is lost.
        let _ = transport.tell(&pass.answer());
        self.counts.admitted.fetch_add(1, Relaxed);
        info!(account = %pass.account, "admitted");
        let Pass { account, place, connection: number, .. } = pass;
        let _ = self.newcomers.send(Newcomer { account, place, number, transport: Box::new(transport), seat });
    }

    /// The same as [`keep`](Door::keep) for WebSockets. A connection of TCP has proven its address.
    pub(crate) async fn keep_sockets(self: Arc<Door>, listener: TcpListener, tls: Arc<Mutex<TlsAcceptor>>) {
        loop {
            let Ok((stream, address)) = listener.accept().await else {
                // Out of files: others have to close first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Some(seat) = self.crowd.enter(address.ip(), &self.limits) else {
                self.counts.turned_away.fetch_add(1, Relaxed);
                continue;
            };
            let tls = tls.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let door = Arc::clone(&self);
            let work = async move { door.shake_hands_on_socket(stream, &tls, seat).await };
            tokio::spawn(Arc::clone(&self).within_time(address, work));
        }
    }

    async fn shake_hands_on_socket(&self, stream: TcpStream, tls: &TlsAcceptor, seat: Seat) -> Result<(), NotAdmitted> {
        let is_welcome = |origin: Option<&str>| self.allows(origin);
        let mut socket = socket::accept(stream, tls, is_welcome).await.ok_or(NotAdmitted::Broken)?;
        let message = socket::read_control(&mut socket).await.ok_or(NotAdmitted::Broken)?;
        match self.judge(&message) {
            Ok(pass) => {
                let socket = Socket::start(socket, self.clock, self.idle_timeout, Quota::FROM_CLIENT);
                self.hand_over(pass, socket, seat);
                Ok(())
            }
            Err(why) => {
                socket::write_control(&mut socket, &Control::Refused(why).framed()).await;
                Err(NotAdmitted::Refused(why))
            }
        }
    }

    /// Browsers say which page has opened a connection, and nobody else has to.
    fn allows(&self, origin: Option<&str>) -> bool {
        origin.is_none_or(|origin| self.origins.iter().any(|allowed| allowed == origin))
    }

    fn judge(&self, message: &[u8]) -> Result<Pass, Refused> {
        let Some(Control::Admit { version, shown }) = Control::read(message) else { return Err(Refused::Malformed) };
        if version != VERSION {
            return Err(Refused::Version);
        }
        let fresh = u64::from_le_bytes(random());
        self.admission().admit(UnixTime::now(), shown, fresh)
    }
}

impl Pass {
    fn answer(&self) -> Vec<u8> {
        Control::Admitted { session: self.place.0, ticket: self.ticket.as_bytes() }.framed()
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NotAdmitted {
    #[error("nothing has come in time")]
    Late,
    #[error("the connection broke")]
    Broken,
    #[error("the page's origin is not among those allowed")]
    Origin,
    #[error(transparent)]
    Refused(Refused),
}
