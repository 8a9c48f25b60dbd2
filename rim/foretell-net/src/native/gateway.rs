//! All connections of a server, between its network and a `foretell::Server`: for who has a loop of their own.
//!
//! In each tick: [`Gateway::drain`] what has come, `Server::update`, [`Gateway::note`] what it reports, [`Gateway::send`]
//! the outbox.

use crate::account::{Account, UnixTime};
use crate::control::Control;
use crate::join_url::CertificateHash;
use crate::native::Clock;
use crate::native::admission::{Access, Admission};
use crate::native::certificate::Identities;
use crate::native::crowd::Crowd;
use crate::native::door::{Counts, Door};
use crate::native::link::{hello, refusal};
use crate::native::listen::{GatewayConfig, listen, quic_config};
use crate::native::socket::acceptor;
use crate::native::tickets::Tickets;
use crate::native::traffic::{Arrival, Traffic};
use crate::transport::{Came, Closed, Unsent};
use foretell::session::Refusal;
use foretell::session::server::ServerEvent;
use foretell::{Instant, Outbox, PlayerId, Reason, Server, World};
use seats::Seats;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;
use tracing::{error, info, warn};
use wtransport::endpoint::endpoint_side;
use wtransport::{Endpoint, VarInt};

/// How often it is looked whether certificates have to change.
const CERTIFICATES: Duration = Duration::from_secs(60);

mod seats;

/// The connections of a server.
pub struct Gateway {
    door: Arc<Door>,
    seats: Seats,
    endpoint: Arc<Endpoint<endpoint_side::Server>>,
    /// Of WebSockets.
    tls: Arc<Mutex<TlsAcceptor>>,
    keepers: Vec<AbortHandle>,
    identities: Identities,
    idle_timeout: Duration,
    looked: Instant,
    traffic: Traffic,
}

impl Gateway {
    /// Listens on `address`; has to be called in a runtime of tokio.
    ///
    /// # Errors
    /// When the address is taken, there are no certificates, or the file of tickets can't be used.
    ///
    /// # Panics
    /// When the audience of the access is empty or too long.
    pub fn bind(address: SocketAddr, config: GatewayConfig) -> io::Result<Gateway> {
        assert!(crate::account::is_name(&config.access.audience), "an audience has 1 to 64 bytes");
        if config.access.insecure {
            warn!("INSECURE DEVELOPMENT MODE: anybody can make tokens for this server, in any player's name");
        }
        let clock = Clock::start();
        let identities = Identities::new(config.certificates, UnixTime::now())?;
        let quic = |at| Endpoint::server(quic_config(at, identities.current(), config.idle_timeout));
        let (endpoint, listener) = listen(address, config.sockets, quic)?;
        let endpoint = Arc::new(endpoint);
        let (sender, newcomers) = mpsc::unbounded_channel();
        let Access { audience, tickets_kept_in, .. } = &config.access;
        let tickets = tickets_kept_in.as_deref().map(|path| Tickets::kept_in(path, audience)).transpose()?;
        let tickets = tickets.unwrap_or_else(|| Tickets::of_one_start(audience));
        let admission = Admission::new(config.access, config.players_max, &config.limits, tickets, clock.now());
        let door = Arc::new(Door {
            admission: Mutex::new(admission),
            crowd: Crowd::default(),
            pace: Mutex::new(config.limits.pace()),
            limits: config.limits,
            origins: config.origins,
            clock,
            idle_timeout: config.idle_timeout,
            counts: Counts::default(),
            open_sockets: Arc::default(),
            newcomers: sender,
        });
        let mut keepers = vec![tokio::spawn(Arc::clone(&door).keep(Arc::clone(&endpoint))).abort_handle()];
        let tls = Arc::new(Mutex::new(acceptor(&identities.current())));
        if let Some(listener) = listener {
            let keeper = Arc::clone(&door).keep_sockets(listener, Arc::clone(&tls));
            keepers.push(tokio::spawn(keeper).abort_handle());
        }
        Ok(Gateway {
            seats: Seats::new(Arc::clone(&door), newcomers, config.rate_max),
            door,
            endpoint,
            tls,
            keepers,
            identities,
            idle_timeout: config.idle_timeout,
            looked: clock.now(),
            traffic: Traffic::default(),
        })
    }

    /// The clock by which datagrams are stamped: the session's has to be the same.
    pub fn clock(&self) -> Clock {
        self.door.clock
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// The hashes of the certificates that clients may meet in the next days, the one in use first; none where an authority has
    /// signed them.
    pub fn certificate_hashes(&self) -> &[CertificateHash] {
        self.identities.hashes()
    }

    /// What the network has done.
    pub fn traffic(&self) -> Traffic {
        let counts = &self.door.counts;
        Traffic {
            retried: counts.retried.load(Relaxed),
            turned_away: counts.turned_away.load(Relaxed),
            crowded_out: counts.crowded_out.load(Relaxed),
            not_admitted: counts.not_admitted.load(Relaxed),
            admitted: counts.admitted.load(Relaxed),
            ..self.traffic
        }
    }

    /// How many connections are admitted, and how many wait for it.
    pub fn connections(&self) -> (usize, usize) {
        (self.seats.links().len(), self.door.crowd.handshakes())
    }

    /// Who plays as whom, ascending; lost players too.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &Account)> {
        self.seats.players()
    }

    /// Whose account a player plays for: from [`note`](Gateway::note) of the update in which they have joined, to the next
    /// [`drain`](Gateway::drain) after the update in which they have left.
    pub fn account(&self, player: PlayerId) -> Option<&Account> {
        self.seats.account(player)
    }

    /// As which player an account plays; `None` while it does not. A lost player plays.
    pub fn player(&self, account: &Account) -> Option<PlayerId> {
        self.players().find(|(_, playing)| *playing == account).map(|(player, _)| player)
    }

    /// Hands over what has come since the last call. A hello with another nonce than the place's own is dropped.
    pub fn drain(&mut self, now: Instant, each: &mut dyn FnMut(Arrival<'_>)) {
        self.seats.welcome(now).into_iter().for_each(|peer| each(Arrival::Released(peer)));
        self.seats.disconnected().into_iter().for_each(|peer| each(Arrival::Disconnected(peer)));
        self.seats.tell_accounts(each);
        let traffic = &mut self.traffic;
        for (peer, link) in self.seats.links_mut() {
            let peer = *peer;
            link.rate_limit.note(now, &link.transport.path());
            link.over = link.transport.closed();
            let asked = &mut link.asked;
            *asked = false;
            link.transport.drain(&mut |came| {
                // Clients say nothing on the stream but farewell.
                let Came::Datagram(at, bytes) = came else { return };
                traffic.received += 1;
                traffic.received_bytes += bytes.len() as u64;
                let hello = hello(bytes);
                let strange = hello.is_some_and(|nonce| nonce != peer.0);
                *asked |= hello.is_some();
                traffic.strange_hellos += u64::from(strange);
                if !strange {
                    each(Arrival::Datagram { at, peer, bytes });
                }
            });
        }
        self.seats.let_go();
        self.seats.farewells().for_each(|peer| each(Arrival::Left(peer)));
        self.seats.unused().for_each(|peer| each(Arrival::Released(peer)));
        self.keep_house(now);
    }

    /// Tickets are renewed, and certificates changed.
    fn keep_house(&mut self, now: Instant) {
        self.seats.renew_tickets(now);
        self.seats.close_unused(now);
        if now.since(self.looked) < CERTIFICATES {
            return;
        }
        self.looked = now;
        match self.identities.advance(UnixTime::now()) {
            Ok(false) => {}
            Ok(true) => self.change_certificate(),
            Err(error) => error!(%error, "certificates could not be renewed; the old one is used on"),
        }
    }

    fn change_certificate(&mut self) {
        info!("another certificate is used from now on");
        let config = self.local_addr().map(|at| quic_config(at, self.identities.current(), self.idle_timeout));
        *self.tls.lock().unwrap_or_else(PoisonError::into_inner) = acceptor(&self.identities.current());
        if let Err(error) = config.and_then(|config| self.endpoint.reload_config(config, false)) {
            error!(%error, "the certificate could not be changed");
        }
    }

    /// Sends what an update has written, as far as each path takes it.
    pub fn send(&mut self, now: Instant, outbox: &Outbox) {
        for (peer, datagram) in outbox.iter() {
            let Some(link) = self.seats.links_mut().get_mut(&peer) else { continue };
            let sent = if link.rate_limit.allows(now, datagram.len()) {
                link.transport.send(datagram)
            } else {
                Err(Unsent::HeldBack)
            };
            if let Some(why) = refusal(datagram).filter(|_| link.asked) {
                if matches!(why, Refusal::ByGame(_) | Refusal::Removed(_)) {
                    // Its words are worth to be sent again where they are lost.
                    let _ = link.transport.tell(&Control::LastDatagram(datagram).framed());
                }
                link.transport.close(why.into());
            }
            if sent.is_ok() {
                self.traffic.sent += 1;
                self.traffic.sent_bytes += datagram.len() as u64;
            } else {
                self.traffic.held_back += 1;
            }
        }
    }

    /// Takes nobody new from now on, and tells everybody that the server ends after `limit` at the latest; who comes back
    /// is told what is left of it. Of those who are admitted already and have not joined the session knows by
    /// [`ServerConfig::draining`](foretell::ServerConfig::draining), which is for who has a loop of their own to set.
    pub fn begin_to_drain(&mut self, now: Instant, limit: Duration) {
        info!(seconds = limit.as_secs(), "no new players from now on");
        self.door.admission().drain();
        self.seats.end_at(now, limit);
    }

    /// Takes in what an update of the session has reported: who plays in which place, and which places are free again.
    pub fn note<W: World>(&mut self, server: &Server<W>, events: &[ServerEvent]) {
        self.seats.note(server, events);
    }

    /// Removes a player from the session, for good, and tells them why: who comes back needs a new token, also when the player is lost, or has no
    /// place any more and only a ticket.
    pub fn remove<W: World>(&mut self, server: &mut Server<W>, account: &Account, reason: impl Into<Reason>) {
        self.seats.remove(server, account, reason.into());
    }

    /// Whether it takes nobody new any more.
    pub fn is_draining(&self) -> bool {
        self.seats.ends_at().is_some()
    }

    /// Whether it drains, and is empty or at its limit.
    pub fn is_drained(&self, now: Instant) -> bool {
        self.seats.ends_at().is_some_and(|ends| now >= ends || self.seats.is_empty())
    }

    /// Tells everybody that the server ends, over either protocol, and waits for as long as that takes: 2 s at most.
    pub async fn close(mut self) {
        self.keepers.iter().for_each(AbortHandle::abort);
        self.seats.end();
        let told = async {
            while self.endpoint.open_connections() > 0 || Arc::strong_count(&self.door.open_sockets) > 1 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
        self.endpoint.close(VarInt::from_u32(Closed::ServerEnded as u32), b"");
        let _ = tokio::time::timeout(Duration::from_secs(1), self.endpoint.wait_idle()).await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.keepers.iter().for_each(AbortHandle::abort);
    }
}
