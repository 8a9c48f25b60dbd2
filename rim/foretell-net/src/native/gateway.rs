//! All connections of a server, between its network and a `foretell::Server`: for who has a loop of their own.
//!
//! In each tick: [`Gateway::drain`] what has come, `Server::update`, [`Gateway::note`] what it reports, [`Gateway::send`]
//! the outbox.

use crate::control::Control;
use crate::join_url::CertificateHash;
use crate::native::Clock;
use crate::native::account::{Account, UnixTime};
use crate::native::admission::{Access, Admission};
use crate::native::certificate::Identities;
use crate::native::crowd::Crowd;
use crate::native::door::{Counts, Door, Newcomer};
use crate::native::link::{Link, hello, is_incompatible};
use crate::native::listen::{GatewayConfig, listen, quic_config};
use crate::native::socket::acceptor;
use crate::native::tickets::Tickets;
use crate::native::traffic::{Arrival, Traffic};
use crate::transport::{Came, Closed, Unsent};
use foretell::{Instant, Outbox, PeerId, PlayerId};
use std::collections::BTreeMap;
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

/// Who plays in which place.
struct Seated {
    account: Account,
    peer: PeerId,
    /// Of their newest connection, also when it is over.
    connection: u64,
    is_lost: bool,
}

/// The connections of a server.
pub struct Gateway {
    door: Arc<Door>,
    newcomers: mpsc::UnboundedReceiver<Newcomer>,
    endpoint: Arc<Endpoint<endpoint_side::Server>>,
    /// Of WebSockets.
    tls: Arc<Mutex<TlsAcceptor>>,
    keepers: Vec<AbortHandle>,
    identities: Identities,
    idle_timeout: Duration,
    rate_max: u64,
    links: BTreeMap<PeerId, Link>,
    players: BTreeMap<PlayerId, Seated>,
    /// Who has left since the last drain, or has lost the place to somebody else.
    departed: Vec<(PlayerId, Account)>,
    /// Places whose players have said good-bye, to be told.
    farewells: Vec<PeerId>,
    /// When the server has to end.
    ends_at: Option<Instant>,
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
        assert!(crate::native::account::is_name(&config.access.audience), "an audience has 1 to 64 bytes");
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
        let places = (config.players_max, &config.limits);
        let door = Arc::new(Door {
            admission: Mutex::new(Admission::new(config.access, places, tickets, clock.now())),
            crowd: Crowd::default(),
            pace: Mutex::new(config.limits.pace()),
            limits: config.limits,
            origins: config.origins,
            clock,
            idle_timeout: config.idle_timeout,
            counts: Counts::default(),
            newcomers: sender,
        });
        let mut keepers = vec![tokio::spawn(Arc::clone(&door).keep(Arc::clone(&endpoint))).abort_handle()];
        let tls = Arc::new(Mutex::new(acceptor(&identities.current())));
        if let Some(listener) = listener {
            let keeper = Arc::clone(&door).keep_sockets(listener, Arc::clone(&tls));
            keepers.push(tokio::spawn(keeper).abort_handle());
        }
        Ok(Gateway {
            door,
            newcomers,
            endpoint,
            tls,
            keepers,
            identities,
            idle_timeout: config.idle_timeout,
            rate_max: config.rate_max,
            links: BTreeMap::new(),
            players: BTreeMap::new(),
            departed: Vec::new(),
            farewells: Vec::new(),
            ends_at: None,
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

    /// The hashes of the certificates that clients may meet in the next days, the one in use first.
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
        (self.links.len(), self.door.crowd.handshakes())
    }

    /// Who plays as whom, ascending; lost players too.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &Account)> {
        self.players.iter().map(|(player, seated)| (*player, &seated.account))
    }

    /// Whose account a player plays for: from [`note`](Gateway::note) of the update in which they have joined, to the next
    /// [`drain`](Gateway::drain) after the update in which they have left.
    pub fn account(&self, player: PlayerId) -> Option<&Account> {
        let departed = || self.departed.iter().find(|(departed, _)| *departed == player).map(|(_, account)| account);
        self.players.get(&player).map(|seated| &seated.account).or_else(departed)
    }

    /// As which player an account plays; `None` while it does not. A lost player plays.
    pub fn player(&self, account: &Account) -> Option<PlayerId> {
        self.players().find(|(_, playing)| *playing == account).map(|(player, _)| player)
    }

    /// Hands over what has come since the last call. A hello with another nonce than the place's own is dropped.
    pub fn drain(&mut self, now: Instant, each: &mut dyn FnMut(Arrival<'_>)) {
        self.departed.clear();
        self.welcome(now).into_iter().for_each(|peer| each(Arrival::Released(peer)));
        let traffic = &mut self.traffic;
        for (peer, link) in &mut self.links {
            let peer = *peer;
            link.brake.note(now, &link.transport.path());
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
        self.let_go();
        self.farewells.drain(..).for_each(|peer| each(Arrival::Left(peer)));
        self.keep_house(now);
    }

    /// Tickets are renewed, and certificates changed.
    fn keep_house(&mut self, now: Instant) {
        for link in self.links.values_mut().filter_map(|link| link.takes_ticket(now).then_some(link)) {
            if let Some(ticket) = self.door.admission().renew(self.door.clock.moment(), &link.account) {
                let _ = link.transport.tell(&Control::ResumeTicket(ticket.as_bytes()).framed());
            }
        }
        self.links
            .values_mut()
            .filter(|link| link.is_unused(now))
            .for_each(|link| link.transport.close(Closed::Violation));
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
            let Some(link) = self.links.get_mut(&peer) else { continue };
            let sent = if link.brake.allows(now, datagram.len()) {
                link.transport.send(datagram)
            } else {
                Err(Unsent::HeldBack)
            };
            if link.asked && is_incompatible(datagram) {
                info!(account = ?link.account, "another game, or another build of it");
                link.transport.close(Closed::Incompatible);
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
    /// is told what is left of it.
    pub fn begin_to_drain(&mut self, now: Instant, limit: Duration) {
        info!(seconds = limit.as_secs(), "no new players from now on");
        self.door.admission().drain();
        self.ends_at = Some(now + limit);
        self.links.values_mut().for_each(|link| link.tell_end(limit));
    }

    /// Whether it takes nobody new any more.
    pub fn is_draining(&self) -> bool {
        self.ends_at.is_some()
    }

    /// Whether it drains, and is empty or at its limit.
    pub fn is_drained(&self, now: Instant) -> bool {
        self.ends_at.is_some_and(|ends| now >= ends || self.links.is_empty() && self.players.is_empty())
    }

    /// Tells everybody that the server ends, and waits for as long as that takes.
    pub async fn close(mut self) {
        self.keepers.iter().for_each(AbortHandle::abort);
        for link in self.links.values_mut() {
            link.transport.close(Closed::ServerEnded);
        }
        let told = async {
            while self.endpoint.open_connections() > 0 {
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
