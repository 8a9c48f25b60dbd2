//! Who has which place, and over which connection: between who was admitted and what the session reports.

use crate::account::{Account, UnixTime};
use crate::control::Control;
use crate::native::door::{Door, Newcomer};
use crate::native::link::Link;
use crate::native::places::KEPT_FOR;
use crate::native::traffic::Arrival;
use crate::rate_limit::RateLimit;
use crate::transport::Closed;
use foretell::session::server::ServerEvent;
use foretell::session::{Departure, Refusal};
use foretell::{Instant, PeerId, PlayerId, Reason, Server, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tracing::{info, warn};

/// Who plays in which place.
struct Seated {
    account: Account,
    peer: PeerId,
    /// Of their newest connection, also when it is over.
    connection: u64,
    /// Since when that is over, until the session is told.
    over: Option<Instant>,
    is_lost: bool,
}

/// The places that are taken, and the connections to them.
pub(super) struct Seats {
    door: Arc<Door>,
    newcomers: mpsc::UnboundedReceiver<Newcomer>,
    links: BTreeMap<PeerId, Link>,
    players: BTreeMap<PlayerId, Seated>,
    /// Who has left since newcomers were welcomed last, or has lost the place to somebody else.
    departed: Vec<(PlayerId, Account)>,
    /// Places whose connection has come or gone, to be told.
    changed: Vec<PeerId>,
    /// Places whose players have said good-bye, to be told.
    farewells: Vec<PeerId>,
    /// Places whose connection was over before their player had joined, to be told.
    unused: Vec<PeerId>,
    /// When the server has to end.
    ends_at: Option<Instant>,
    /// What a connection may send, in bytes per second.
    rate_max: u64,
}

impl Seats {
    /// All of them free; through the `door` come who was admitted.
    pub(super) fn new(door: Arc<Door>, newcomers: mpsc::UnboundedReceiver<Newcomer>, rate_max: u64) -> Seats {
        Seats {
            door,
            newcomers,
            links: BTreeMap::new(),
            players: BTreeMap::new(),
            departed: Vec::new(),
            changed: Vec::new(),
            farewells: Vec::new(),
            unused: Vec::new(),
            ends_at: None,
            rate_max,
        }
    }

    /// The connections, by place.
    pub(super) fn links(&self) -> &BTreeMap<PeerId, Link> {
        &self.links
    }

    /// The same, to be used.
    pub(super) fn links_mut(&mut self) -> &mut BTreeMap<PeerId, Link> {
        &mut self.links
    }

    /// Who plays as whom, ascending; lost players too.
    pub(super) fn players(&self) -> impl Iterator<Item = (PlayerId, &Account)> {
        self.players.iter().map(|(player, seated)| (*player, &seated.account))
    }

    /// Whose account a player plays for, or has played for until newcomers were welcomed last.
    pub(super) fn account(&self, player: PlayerId) -> Option<&Account> {
        let departed = || self.departed.iter().find(|(departed, _)| *departed == player).map(|(_, account)| account);
        self.players.get(&player).map(|seated| &seated.account).or_else(departed)
    }

    /// Whether nobody is there, and nobody is waited for.
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.players.is_empty()
    }

    /// The places whose players have said good-bye since this was asked last.
    pub(super) fn farewells(&mut self) -> impl Iterator<Item = PeerId> {
        self.farewells.drain(..)
    }

    /// The places whose connection was over before their player had joined, since this was asked last.
    pub(super) fn unused(&mut self) -> impl Iterator<Item = PeerId> {
        self.unused.drain(..)
    }

    /// Tells whose accounts the connections are of that have come since this was called last, and which are over.
    pub(super) fn tell_accounts(&mut self, each: &mut dyn FnMut(Arrival<'_>)) {
        for peer in self.changed.drain(..) {
            each(Arrival::Account(peer, self.links.get(&peer).map(|link| &link.account)));
        }
    }

    /// Tells everybody, also who comes later, that the server ends after `limit` at the latest.
    pub(super) fn end_at(&mut self, now: Instant, limit: Duration) {
        self.ends_at = Some(now + limit);
        self.links.values_mut().for_each(|link| link.tell_end(limit));
    }

    /// Tells everybody that the server has ended, also who was admitted a moment ago.
    pub(super) fn end(&mut self) {
        self.links.values_mut().for_each(|link| link.transport.close(Closed::ServerEnded));
        while let Ok(mut newcomer) = self.newcomers.try_recv() {
            newcomer.transport.close(Closed::ServerEnded);
        }
    }

    /// When the server has to end, if that was said.
    pub(super) fn ends_at(&self) -> Option<Instant> {
        self.ends_at
    }

    /// Gives a newer ticket to those whose is old by now.
    pub(super) fn renew_tickets(&mut self, now: Instant) {
        for link in self.links.values_mut().filter_map(|link| link.takes_ticket(now).then_some(link)) {
            if let Some(ticket) = self.door.admission().renew(self.door.clock.moment(), &link.account, link.number) {
                let _ = link.transport.tell(&Control::ResumeTicket(ticket.as_bytes()).framed());
            }
        }
    }

    /// Closes the connections that nobody plays over.
    pub(super) fn close_unused(&mut self, now: Instant) {
        for link in self.links.values_mut().filter(|link| link.is_unused(now)) {
            // Who was refused by the session was told why, and logged.
            if link.transport.closed().is_none() {
                warn!(account = ?link.account, "not let in: no player has joined over the connection in time");
                link.transport.close(Closed::TimedOut);
            }
        }
    }

    /// Takes in who was admitted. Before that goes who had to leave their place: their peers.
    pub(super) fn welcome(&mut self, now: Instant) -> Vec<PeerId> {
        self.departed.clear();
        let newcomers: Vec<_> = std::iter::from_fn(|| self.newcomers.try_recv().ok()).collect();
        // Whoever of these had to leave before they came back had to leave by now.
        let given_away = self.door.admission().take_given_away();
        let released = given_away.iter().map(|place| self.release(PeerId(place.session))).collect();
        newcomers.into_iter().for_each(|newcomer| self.seat(now, newcomer));
        released
    }

    /// Where somebody was admitted to a full server: who has had no connection for as long as a place is theirs alone. The session is
    /// not to wait for their silence to be long; they keep the place there until somebody has joined in their stead.
    pub(super) fn disconnected(&mut self) -> Vec<PeerId> {
        if !self.door.admission().is_overfull() {
            return Vec::new();
        }
        // By the clock of admission, so that the session is not full to a newcomer who was admitted for their sake.
        let now = self.door.clock.now();
        let all = self.players.values_mut();
        let for_long = all.filter(|seated| seated.over.is_some_and(|over| now.since(over) >= KEPT_FOR));
        let told = for_long.map(|seated| {
            seated.over = None;
            seated.peer
        });
        told.collect()
    }

    /// The place of a lost player is somebody else's of the same address. They may come back by ticket, as another player.
    fn release(&mut self, peer: PeerId) -> PeerId {
        self.changed.push(peer);
        if let Some(mut link) = self.links.remove(&peer) {
            info!(account = ?link.account, "its place is somebody else's");
            link.transport.close(Closed::Lost);
        }
        let departed = self.players.extract_if(.., |_, seated| seated.peer == peer);
        self.departed.extend(departed.map(|(player, seated)| (player, seated.account)));
        peer
    }

    /// The newest connection of a player has the place.
    fn seat(&mut self, now: Instant, mut newcomer: Newcomer) {
        let place = newcomer.place;
        if self.links.get(&place).is_some_and(|link| link.number > newcomer.number) {
            newcomer.transport.close(Closed::Replaced);
            return;
        }
        if !self.door.admission().has_place(&newcomer.account, place) {
            // Removed since.
            newcomer.transport.close(Closed::Removed);
            return;
        }
        let seated = self.players.iter_mut().find(|(_, seated)| seated.peer == place);
        let player = seated.map(|(player, seated)| {
            (seated.connection, seated.over) = (newcomer.number, None);
            *player
        });
        let mut link = Link::new(newcomer, player, RateLimit::new(self.rate_max, now), now);
        if let Some(ends) = self.ends_at {
            link.tell_end(ends.since(now));
        }
        self.changed.push(place);
        if let Some(mut former) = self.links.insert(place, link) {
            info!(account = ?former.account, "replaced by a newer connection");
            former.transport.close(Closed::Replaced);
        }
    }

    /// Connections that are over: who has said good-bye is gone, the place of others waits as long as the session keeps it.
    pub(super) fn let_go(&mut self) {
        let over = self.links.iter().filter_map(|(peer, link)| Some((*peer, link.over?)));
        for (peer, why) in over.collect::<Vec<_>>() {
            self.changed.push(peer);
            let Some(link) = self.links.remove(&peer) else { continue };
            info!(account = ?link.account, %why, "connection over");
            let for_good = is_for_good(why);
            match (link.player, for_good) {
                (Some(player), true) => {
                    // Who says good-bye is not waited for, lost before or not.
                    self.mark_lost(player, false);
                    self.farewells.push(peer);
                }
                (Some(player), false) => {
                    let now = self.door.clock.now();
                    self.players.entry(player).and_modify(|seated| seated.over = Some(now));
                    self.door.admission().lose(now, &link.account, peer, link.number);
                }
                (None, true) => self.door.admission().end(UnixTime::now(), &link.account, peer),
                (None, false) => self.door.admission().free(&link.account, peer, link.number),
            }
            // The session may have greeted them. It waits for nobody whom the gateway does not.
            self.unused.extend(link.player.is_none().then_some(peer));
        }
    }

    /// Takes in what an update of the session has reported: who plays in which place, and which places are free again.
    pub(super) fn note<W: World>(&mut self, server: &Server<W>, events: &[ServerEvent]) {
        for event in events {
            match *event {
                ServerEvent::Joined(player) => self.note_joined(server, player),
                ServerEvent::Lost(player) => self.note_lost(player),
                ServerEvent::Rejoined(player) => self.note_rejoined(player),
                ServerEvent::Left { player, why } => self.note_left(player, why),
                ServerEvent::Refused { peer, player, why } => self.note_refused(peer, player, why),
                _ => {}
            }
        }
    }

    fn note_joined<W: World>(&mut self, server: &Server<W>, player: PlayerId) {
        let Some(peer) = server.peer_of(player) else { return };
        let Some(link) = self.links.get_mut(&peer) else { return };
        info!(account = ?link.account, player = player.get(), "joined");
        link.player = Some(player);
        let (account, connection) = (link.account.clone(), link.number);
        self.players.insert(player, Seated { account, peer, connection, over: None, is_lost: false });
    }

    /// The session does not let somebody in, or not on: the connection ends with the reason, which comes where the datagram that
    /// says it is lost, too. Who has had no player ends when that is sent.
    fn note_refused(&mut self, peer: PeerId, player: Option<PlayerId>, why: Refusal) {
        let Some(link) = self.links.get_mut(&peer) else { return };
        warn!(account = ?link.account, player = player.map(PlayerId::get), %why, "not let in");
        if player.is_some() {
            link.transport.close(why.into());
        } else {
            link.asked = true;
        }
    }

    fn mark_lost(&mut self, player: PlayerId, is_lost: bool) -> Option<&Seated> {
        let seated = self.players.get_mut(&player)?;
        seated.is_lost = is_lost;
        Some(seated)
    }

    fn note_lost(&mut self, player: PlayerId) {
        let door = Arc::clone(&self.door);
        if let Some(Seated { account, peer, connection, .. }) = self.mark_lost(player, true) {
            door.admission().lose(door.clock.now(), account, *peer, *connection);
        }
    }

    fn note_rejoined(&mut self, player: PlayerId) {
        let door = Arc::clone(&self.door);
        if let Some(Seated { account, peer, .. }) = self.mark_lost(player, false) {
            door.admission().come_back(account, *peer);
        }
    }

    /// Who was waited for in vain may come back by ticket, to another place; who has left or was removed may not.
    fn note_left(&mut self, player: PlayerId, why: Departure) {
        let Some(Seated { account, peer, connection, is_lost, .. }) = self.players.remove(&player) else { return };
        info!(?account, player = player.get(), is_lost, "left");
        self.changed.push(peer);
        let is_waited_for = match why {
            Departure::GoodBye(_) | Departure::Removed(_) => false,
            // Their program stood still, or the way was cut, before they had sent an input.
            Departure::Refused(Refusal::TimedOut) => true,
            _ => is_lost,
        };
        if is_waited_for {
            self.door.admission().free(&account, peer, connection);
        } else {
            self.door.admission().end(UnixTime::now(), &account, peer);
        }
        if let (Departure::Removed(_), Some(link)) = (why, self.links.get_mut(&peer)) {
            // It ends when they are told why.
            (link.player, link.asked) = (None, true);
        } else if let Some(mut link) = self.links.remove(&peer) {
            // The first reason stands: the session may have refused them.
            link.transport.close(if is_waited_for { Closed::Lost } else { Closed::Removed });
        }
        self.departed.push((player, account));
    }

    /// Removes a player from the session, for good, and tells them why: who comes back needs a new token, also when the player is lost, or has no
    /// place any more and only a ticket.
    pub(super) fn remove<W: World>(&mut self, server: &mut Server<W>, account: &Account, reason: Reason) {
        self.door.admission().remove(UnixTime::now(), account);
        if let Some((player, seated)) = self.players.iter_mut().find(|(_, seated)| seated.account == *account) {
            seated.is_lost = false;
            server.remove(*player, reason);
        }
        // Who has not joined yet.
        let waiting = self.links.values_mut().filter(|link| link.player.is_none() && link.account == *account);
        waiting.for_each(|link| link.transport.close(Closed::Removed));
    }
}

/// Whether a connection that is over for this reason leaves nothing to come back to: what is shown for it means nothing any more.
fn is_for_good(why: Closed) -> bool {
    matches!(why, Closed::Goodbye | Closed::Violation | Closed::TooLarge | Closed::ByGame)
}
