//! From an incoming packet to an admitted connection: limits, proof of address, origin, token or ticket. The same for
//! both protocols.

use crate::account::{Account, UnixTime};
use crate::control::{Control, Refused, VERSION};
use crate::inbox::Quota;
use crate::native::Clock;
use crate::native::admission::{Admission, Pass};
use crate::native::budget::Budgets;
use crate::native::crowd::{Crowd, Entered, Kind, Seat};
use crate::native::limits::Limits;
use crate::native::network::network_of;
use crate::native::quic::{Quic, read_message, refuse};
use crate::native::random;
use crate::native::socket::{self, Socket};
use crate::transport::Transport;
use foretell::PeerId;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, info};
use wtransport::Endpoint;
use wtransport::endpoint::IncomingSession;
use wtransport::endpoint::endpoint_side::Server;

/// Within so long a connection has to show its token.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// And within so long the first byte of TCP has to come, which a client sends at once.
const FIRST_BYTE: Duration = Duration::from_secs(1);

/// Which networks of IPv6 keep a common pace: of those whose players have tickets, and of others.
const PACE_BITS: [u32; 2] = [64, 48];

/// A connection that was admitted.
pub(crate) struct Newcomer {
    pub account: Account,
    pub place: PeerId,
    /// Counts admissions.
    pub number: u64,
    pub transport: Box<dyn Transport>,
}

/// What has become of those who came.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub retried: AtomicU64,
    pub turned_away: AtomicU64,
    pub not_admitted: AtomicU64,
    pub crowded_out: AtomicU64,
    pub admitted: AtomicU64,
}

/// What all handshakes have in common.
pub(crate) struct Door {
    pub admission: Mutex<Admission>,
    pub crowd: Crowd,
    /// How fast handshakes with one network may follow each other: each costs a signature.
    pub pace: Mutex<Budgets<(IpAddr, u32)>>,
    pub limits: Limits,
    /// From which pages browsers may connect.
    pub origins: Vec<String>,
    pub clock: Clock,
    /// Of WebSockets; QUIC looks after its own.
    pub idle_timeout: Duration,
    pub counts: Counts,
    /// Each WebSocket that was admitted has another one of it, until its last word is written.
    pub open_sockets: Arc<()>,
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
            let is_crowded =
                || self.crowd.is_crowded(address.ip(), &self.limits) || !self.keeps_pace(address.ip(), false);
            if !proven && is_crowded() {
                // It costs nothing here, and tells nobody anything who has not sent from their own address.
                self.counts.retried.fetch_add(1, Relaxed);
                incoming.retry();
            } else if let Some(entered) = self.enter(Kind::WebTransport, address.ip(), proven) {
                tokio::spawn(Arc::clone(&self).attend(Visitor::WebTransport(Box::new(incoming)), address, entered));
            } else {
                self.counts.turned_away.fetch_add(1, Relaxed);
                debug!(%address, "turned away: too many connections");
                incoming.refuse();
            }
        }
    }

    /// Who comes from where players have tickets of is in nobody's way, and nobody is in theirs; unless they are too many.
    fn enter(&self, kind: Kind, address: IpAddr, is_proven: bool) -> Option<Entered> {
        let is_known = is_proven && self.admission().knows(address);
        if !self.keeps_pace(address, is_known) {
            return None;
        }
        let among_known = is_known.then(|| self.crowd.enter(Kind::Known, address, &self.limits));
        among_known.flatten().or_else(|| self.crowd.enter(kind, address, &self.limits))
    }

    fn keeps_pace(&self, address: IpAddr, is_known: bool) -> bool {
        let pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let bits = PACE_BITS[usize::from(!is_known)];
        pace.allows(self.clock.now(), &(network_of(address, bits), bits))
    }

    /// A handshake with an address that is proven by it, or was before.
    fn note_pace(&self, address: IpAddr) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        PACE_BITS.iter().for_each(|&bits| pace.spend(self.clock.now(), (network_of(address, bits), bits)));
    }

    async fn attend(self: Arc<Door>, visitor: Visitor, address: SocketAddr, entered: Entered) {
        let Entered { seat, made_room } = entered;
        let shaking = async {
            match visitor {
                Visitor::WebTransport(incoming) => self.shake_hands(*incoming, address.ip(), &seat).await,
                Visitor::WebSocket(stream, tls) => self.shake_hands_on_socket(stream, &tls, address.ip(), &seat).await,
            }
        };
        let why = tokio::select! {
            biased;
            shaken = timeout(HANDSHAKE, shaking) => match shaken {
                Ok(Ok(())) => return,
                Ok(Err(why)) => why,
                Err(_) => NotAdmitted::Late,
            },
            _ = made_room => NotAdmitted::CrowdedOut,
        };
        self.counts.crowded_out.fetch_add(u64::from(matches!(why, NotAdmitted::CrowdedOut)), Relaxed);
        self.counts.not_admitted.fetch_add(1, Relaxed);
        match why {
            // Who has come as far as to show something is worth a line: it may be a player.
            NotAdmitted::Refused(why) => info!(%address, %why, "not admitted"),
            why => debug!(%address, %why, "not admitted"),
        }
    }

    async fn shake_hands(&self, incoming: IncomingSession, from: IpAddr, seat: &Seat) -> Result<(), NotAdmitted> {
        let proven = incoming.remote_address_validated();
        let request = incoming.await;
        if proven || request.is_ok() {
            self.note_pace(from);
        }
        let request = request.map_err(|_| NotAdmitted::Broken)?;
        seat.note_spoken();
        if !self.allows(request.origin()) {
            request.forbidden().await;
            return Err(NotAdmitted::Origin);
        }
        let connection = request.accept().await.map_err(|_| NotAdmitted::Broken)?;
        let (send, mut recv) = connection.accept_bi().await.map_err(|_| NotAdmitted::Broken)?;
        let message = read_message(&mut recv).await.ok_or(NotAdmitted::Broken)?;
        let pass = match self.judge(&message, from).await {
            Ok(pass) => pass,
            Err(why) => {
                refuse(connection, send, &Control::Refused(why).framed()).await;
                return Err(NotAdmitted::Refused(why));
            }
        };
        self.hand_over(pass, Quic::start(connection, send, recv, self.clock, Quota::FROM_CLIENT));
        Ok(())
    }

    /// The answer is the first message of a connection that the gateway has already. Nothing is waited for between the
    /// place and that: who takes in no answer would else keep a place that nobody frees.
    fn hand_over(&self, pass: Pass, mut transport: impl Transport + 'static) {
        // When this fails the gateway finds a connection that is lost.
        let _ = transport.tell(&pass.answer());
        self.counts.admitted.fetch_add(1, Relaxed);
        info!(account = ?pass.account, "admitted");
        let Pass { account, place, connection: number, .. } = pass;
        let _ = self.newcomers.send(Newcomer { account, place, number, transport: Box::new(transport) });
    }

    /// The same as [`keep`](Door::keep) for WebSockets. A connection of TCP has proven its address.
    pub(crate) async fn keep_sockets(self: Arc<Door>, listener: TcpListener, tls: Arc<Mutex<TlsAcceptor>>) {
        loop {
            let Ok((stream, address)) = listener.accept().await else {
                // Out of files: others have to close first.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Some(entered) = self.enter(Kind::WebSocket, address.ip(), true) else {
                self.counts.turned_away.fetch_add(1, Relaxed);
                continue;
            };
            let tls = tls.lock().unwrap_or_else(PoisonError::into_inner).clone();
            tokio::spawn(Arc::clone(&self).attend(Visitor::WebSocket(stream, tls), address, entered));
        }
    }

    async fn shake_hands_on_socket(
        &self,
        stream: TcpStream,
        tls: &TlsAcceptor,
        from: IpAddr,
        seat: &Seat,
    ) -> Result<(), NotAdmitted> {
        self.note_pace(from);
        let spoken = timeout(FIRST_BYTE, stream.peek(&mut [0])).await.map_err(|_| NotAdmitted::Silent)?;
        spoken.ok().filter(|bytes| *bytes > 0).ok_or(NotAdmitted::Broken)?;
        seat.note_spoken();
        let is_welcome = |origin: Option<&str>| self.allows(origin);
        let mut socket = socket::accept(stream, tls, is_welcome).await.ok_or(NotAdmitted::Broken)?;
        let message = socket::read_control(&mut socket).await.ok_or(NotAdmitted::Broken)?;
        match self.judge(&message, from).await {
            Ok(pass) => {
                let open = Arc::clone(&self.open_sockets);
                let socket = Socket::start(socket, self.clock, self.idle_timeout, Quota::FROM_CLIENT, open);
                self.hand_over(pass, socket);
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

    async fn judge(&self, message: &[u8], from: IpAddr) -> Result<Pass, Refused> {
        let Some(Control::Admit { version, shown }) = Control::read(message) else { return Err(Refused::Malformed) };
        if version != VERSION {
            return Err(Refused::Version);
        }
        let early = self.admission().early_by(UnixTime::now(), shown);
        if !early.is_zero() {
            sleep(early).await;
        }
        let fresh = u64::from_le_bytes(random());
        self.admission().admit(self.clock.moment(), shown, from, fresh)
    }
}

/// Who is at the door.
enum Visitor {
    WebTransport(Box<IncomingSession>),
    WebSocket(TcpStream, TlsAcceptor),
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NotAdmitted {
    #[error("nothing has come at all")]
    Silent,
    #[error("it has made room for another")]
    CrowdedOut,
    #[error("nothing has come in time")]
    Late,
    #[error("the connection broke")]
    Broken,
    #[error("the page's origin is not among those allowed")]
    Origin,
    #[error(transparent)]
    Refused(Refused),
}
