//! From an incoming packet to an admitted connection: limits, proof of address, origin, token or ticket.

use crate::account::{Account, UnixTime};
use crate::admission::{Admission, Pass};
use crate::clock::Clock;
use crate::control::{Control, Refused, VERSION};
use crate::crowd::{Crowd, Limits, Seat};
use crate::quic::{Quic, read_message, refuse};
use crate::token::random;
use crate::transport::Transport;
use foretell::PeerId;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::{debug, info};
use wtransport::Endpoint;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::endpoint::{IncomingSession, SessionRequest};

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

/// What all handshakes have in common.
pub(crate) struct Door {
    pub admission: Mutex<Admission>,
    pub crowd: Crowd,
    pub limits: Limits,
    /// From which pages browsers may connect.
    pub origins: Vec<String>,
    pub clock: Clock,
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
            if !proven && self.crowd.handshakes() >= self.limits.handshakes_unproven_max {
                // It costs nothing here, and tells nobody anything who has not sent from their own address.
                incoming.retry();
            } else if let Some(seat) = self.crowd.enter(address.ip(), &self.limits) {
                tokio::spawn(Arc::clone(&self).let_in(incoming, seat));
            } else {
                debug!(%address, "turned away: too many connections");
                incoming.refuse();
            }
        }
    }

    async fn let_in(self: Arc<Door>, incoming: IncomingSession, seat: Seat) {
        let address = incoming.remote_address();
        match timeout(HANDSHAKE, self.shake_hands(incoming, seat)).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => info!(%address, %why, "not admitted"),
            Err(_) => debug!(%address, "not admitted: nothing has come in time"),
        }
    }

    async fn shake_hands(&self, incoming: IncomingSession, mut seat: Seat) -> Result<(), NotAdmitted> {
        let address = incoming.remote_address();
        let request = incoming.await.map_err(|_| NotAdmitted::Broken)?;
        if !self.is_welcome(&request) {
            request.forbidden().await;
            return Err(NotAdmitted::Origin);
        }
        let connection = request.accept().await.map_err(|_| NotAdmitted::Broken)?;
        let (mut send, mut recv) = connection.accept_bi().await.map_err(|_| NotAdmitted::Broken)?;
        let message = read_message(&mut recv).await.ok_or(NotAdmitted::Broken)?;
        let pass = match self.judge(&message) {
            Ok(pass) => pass,
            Err(why) => {
                refuse(connection, send, &Control::Refused(why).framed()).await;
                return Err(NotAdmitted::Refused(why));
            }
        };
        let Pass { account, place, connection: number, ticket } = pass;
        let answer = Control::Admitted { session: place.0, ticket: ticket.as_bytes() }.framed();
        // When this fails the gateway finds a connection that is lost.
        let _ = send.write_all(&answer).await;
        let transport = Box::new(Quic::start(connection, (send, recv), self.clock));
        seat.admitted();
        note_admission(&account, address);
        let _ = self.newcomers.send(Newcomer { account, place, number, transport, seat });
        Ok(())
    }

    /// Browsers say which page has opened a connection, and nobody else has to.
    fn is_welcome(&self, request: &SessionRequest) -> bool {
        request.origin().is_none_or(|origin| self.origins.iter().any(|allowed| allowed == origin))
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

fn note_admission(account: &Account, address: SocketAddr) {
    info!(%account, %address, "admitted");
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NotAdmitted {
    #[error("the connection broke")]
    Broken,
    #[error("the page's origin is not among those allowed")]
    Origin,
    #[error(transparent)]
    Refused(Refused),
}
