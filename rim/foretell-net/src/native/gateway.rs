//! All connections of a server, between its network and a `foretell::Server`: for who has a loop of their own.
//!
//! In each tick: [`Gateway::drain`] what has come, `Server::update`, [`Gateway::note`] what it reports, [`Gateway::send`]
//! the outbox.

use crate::brake::Brake;
use crate::control::Control;
use crate::join_url::CertificateHash;
use crate::native::Clock;
use crate::native::account::{Account, UnixTime};
use crate::native::admission::Admission;
use crate::native::certificate::Identities;
use crate::native::crowd::Crowd;
use crate::native::door::{Counts, Door, Newcomer};
use crate::native::ended::Ended;
use crate::native::link::{Link, hello, is_incompatible};
use crate::native::listen::{GatewayConfig, listen, quic_config};
use crate::native::socket::acceptor;
use crate::native::traffic::{Arrival, Traffic};
use crate::transport::{Came, Closed, Unsent};
use foretell::session::server::ServerEvent;
use foretell::{Instant, Outbox, PeerId, PlayerId, Server, World};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Who plays in which place.
    players: BTreeMap<PlayerId, (PeerId, Account)>,
    /// Who of them is lost.
    lost: BTreeSet<PlayerId>,
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
    /// When the address is taken, there are no certificates, or ended tickets can't be kept.
    ///
    /// # Panics
    /// When the audience of the access is empty or too long.
    pub fn bind(address: SocketAddr, config: GatewayConfig) -> io::Result<Gateway> {
        assert!(crate::native::account::is_name(&config.access.audience), "an audience has 1 to 64 bytes");
        if config.access.insecure {
            warn!("INSECURE DEVELOPMENT MODE: anybody can make tokens for this server, in any player's name");
        }
        let (clock, started) = (Clock::start(), UnixTime::now());
        let identities = Identities::new(config.certificates, started)?;
        let quic = |at| Endpoint::server(quic_config(at, identities.current(), config.idle_timeout));
        let (endpoint, listener) = listen(address, config.sockets, quic)?;
        let endpoint = Arc::new(endpoint);
        let (sender, newcomers) = mpsc::unbounded_channel();
        let ended = config.access.ended_tickets.as_deref();
        let ended = ended.map_or_else(|| Ok(Ended::default()), |path| Ended::kept_in(path, started))?;
        let places = (config.players_max, &config.limits);
        let door = Arc::new(Door {
            admission: Mutex::new(Admission::new(config.access, places, ended, started)),
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
            lost: BTreeSet::new(),
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
        self.players.iter().map(|(player, (_, account))| (*player, account))
    }

    /// Hands over what has come since the last call. A hello with another nonce than the place's own is dropped.
    pub fn drain(&mut self, now: Instant, each: &mut dyn FnMut(Arrival<'_>)) {
        self.welcome(now);
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

    /// The newest connection of a player has the place.
    fn welcome(&mut self, now: Instant) {
        while let Ok(mut newcomer) = self.newcomers.try_recv() {
            if self.links.get(&newcomer.place).is_some_and(|link| link.number > newcomer.number) {
                newcomer.transport.close(Closed::Replaced);
                continue;
            }
            let place = newcomer.place;
            let player = self.players.iter().find(|(_, (peer, _))| *peer == place).map(|(player, _)| *player);
            let mut link = Link::new(newcomer, player, Brake::new(self.rate_max, now), now);
            if let Some(ends) = self.ends_at {
                link.tell_end(ends.since(now));
            }
            if let Some(mut former) = self.links.insert(place, link) {
                info!(account = ?former.account, "replaced by a newer connection");
                former.transport.close(Closed::Replaced);
            }
        }
    }

    /// Connections that are over: who has said good-bye is gone, the place of others waits as long as the session keeps it.
    fn let_go(&mut self) {
        let over = self.links.iter().filter_map(|(peer, link)| Some((*peer, link.transport.closed()?)));
        for (peer, why) in over.collect::<Vec<_>>() {
            let Some(link) = self.links.remove(&peer) else { continue };
            info!(account = ?link.account, %why, "connection over");
            let for_good = matches!(why, Closed::Goodbye | Closed::Violation);
            match (link.player, for_good) {
                (Some(player), true) => {
                    // Who says good-bye is not waited for, lost before or not.
                    self.lost.remove(&player);
                    self.farewells.push(peer);
                }
                (Some(_), false) => {}
                (None, true) => self.door.admission().end(UnixTime::now(), &link.account, peer),
                (None, false) => self.door.admission().free(&link.account, peer),
            }
        }
    }

    /// Tickets are renewed, and certificates changed.
    fn keep_house(&mut self, now: Instant) {
        for link in self.links.values_mut().filter_map(|link| link.takes_ticket(now).then_some(link)) {
            if let Some(ticket) = self.door.admission().renew(UnixTime::now(), &link.account) {
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

    /// Takes in what an update of the session has reported: who plays in which place, and which places are free again.
    pub fn note<W: World>(&mut self, server: &Server<W>, events: &[ServerEvent]) {
        for event in events {
            match *event {
                ServerEvent::Joined(player) => self.note_joined(server, player),
                ServerEvent::Lost(player) => self.note_lost(player),
                ServerEvent::Rejoined(player) => self.note_rejoined(player),
                ServerEvent::Left(player) => self.note_left(player),
                _ => {}
            }
        }
    }

    fn note_joined<W: World>(&mut self, server: &Server<W>, player: PlayerId) {
        let Some(peer) = server.peer_of(player) else { return };
        let Some(link) = self.links.get_mut(&peer) else { return };
        info!(account = ?link.account, player = player.get(), "joined");
        link.player = Some(player);
        self.players.insert(player, (peer, link.account.clone()));
    }

    fn note_lost(&mut self, player: PlayerId) {
        self.lost.insert(player);
        if let Some((peer, account)) = self.players.get(&player) {
            self.door.admission().lose(account, *peer);
        }
    }

    /// Its place may have been promised to somebody who has not come.
    fn note_rejoined(&mut self, player: PlayerId) {
        self.lost.remove(&player);
        let Some((peer, account)) = self.players.get(&player) else { return };
        let Some(link) = self.links.get(peer) else { return };
        self.door.admission().come_back(account, *peer, (link.number, link.from));
    }

    /// Who was waited for in vain may come back by ticket, to another place; who has left or was removed may not.
    fn note_left(&mut self, player: PlayerId) {
        let lost = self.lost.remove(&player);
        let Some((peer, account)) = self.players.remove(&player) else { return };
        info!(?account, player = player.get(), lost, "left");
        if lost {
            self.door.admission().free(&account, peer);
        } else {
            self.door.admission().end(UnixTime::now(), &account, peer);
        }
        if let Some(mut link) = self.links.remove(&peer) {
            link.transport.close(if lost { Closed::Lost } else { Closed::Removed });
        }
    }

    /// Removes a player from the session, for good: who comes back needs a new token, also when the player is lost, or has no
    /// place any more and only a ticket.
    pub fn remove<W: World>(&mut self, server: &mut Server<W>, account: &Account) {
        self.door.admission().end_tickets(UnixTime::now(), account);
        if let Some((player, (peer, _))) = self.players.iter().find(|(_, (_, known))| known == account) {
            self.lost.remove(player);
            server.leave(*peer);
        }
        // Who has not joined yet.
        let waiting = self.links.values_mut().filter(|link| link.player.is_none() && link.account == *account);
        waiting.for_each(|link| link.transport.close(Closed::Removed));
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
