//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.
//!
//! A nonce is an identity. A known one that comes from elsewhere, or after the server has lost it, is offered a new
//! ticket, and takes its place over when it shows that ticket: so a late copy of a hello takes nothing. Whoever holds an
//! older ticket is not heard any more.

use super::peer::Peer;
use super::{PeerCall, Server, ServerEvent};
use crate::session::greeting::{Hello, Refusal, Refused, Welcome, differing};
use crate::session::packet::{Message, PROTOCOL_VERSION};
use crate::session::{Outbox, PeerId};
use crate::time::Instant;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::{PlayerId, World};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

/// Longer than this between two updates the server has slept, and heard nobody.
const AWAKE_MAX: Duration = Duration::from_secs(1);
/// Whoever is silent for less is not lost.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
/// How many nonces that have had their place are remembered, the newest: late copies of their hellos mean nothing.
const GONE_KEPT: usize = 64;
/// How many refusals one update sends.
const REFUSALS_MAX: usize = 64;
/// Over one connection nonces follow each other so slowly: every join costs everybody something.
const ATTEMPTS_APART: Duration = Duration::from_secs(1);
/// For so long after a place was taken over, what comes from the connection before may have been under way.
const UNDER_WAY: Duration = Duration::from_secs(2);

/// What the server knows of connections and nonces, besides its peers.
#[derive(Debug)]
pub(super) struct Admission {
    /// Who is at the other end of each connection.
    pub addresses: BTreeMap<PeerId, PlayerId>,
    /// The number that was given last.
    pub(super) newest_player: u16,
    newest_ticket: u8,
    /// Nonces whose players have left or were removed, oldest first; at most 64.
    gone: VecDeque<u64>,
    /// To be sent with the next update, at most 64.
    refusals: Vec<(PeerId, Refused)>,
    last_update: Option<Instant>,
    /// For how long the server has run, without its stalls: silence is measured by it.
    pub awake: Duration,
}

impl Admission {
    pub(super) fn new(epoch: u8) -> Admission {
        Admission {
            addresses: BTreeMap::new(),
            newest_player: 0,
            newest_ticket: epoch,
            gone: VecDeque::new(),
            refusals: Vec::new(),
            last_update: None,
            awake: Duration::ZERO,
        }
    }

    /// How much it keeps of what has come.
    pub(super) fn kept(&self) -> usize {
        self.gone.len() + self.refusals.len()
    }

    fn new_ticket(&mut self) -> u8 {
        self.newest_ticket = self.newest_ticket.wrapping_add(1);
        self.newest_ticket
    }

    pub(super) fn refuse(&mut self, address: PeerId, nonce: u64, why: Refusal) {
        self.send_refusal(address, Refused { nonce, why, part: 0 });
    }

    fn send_refusal(&mut self, address: PeerId, refused: Refused) {
        if self.refusals.len() < REFUSALS_MAX {
            self.refusals.push((address, refused));
        }
    }
}

impl<W: World> Server<W> {
    /// Admits a peer whose client was created [joined](crate::Client::joined), without a handshake. The world hears of
    /// the player at its next step.
    ///
    /// # Panics
    /// When the session is full.
    pub fn join(&mut self, peer: PeerId) -> PlayerId {
        self.try_join(peer).expect("the session has a place left")
    }

    /// The same, where there may be no place left: then `None`.
    pub fn try_join(&mut self, peer: PeerId) -> Option<PlayerId> {
        self.note_call(PeerCall::Join, peer);
        self.admit(peer, None, self.epoch)
    }

    fn note_call(&mut self, call: PeerCall, peer: PeerId) {
        self.used = true;
        self.tell_tap(|tap, server| tap.call(server, call, peer));
    }

    /// Removes a peer for good; the world hears of it at its next step. A client that says hello with the same nonce is
    /// refused.
    pub fn leave(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Leave, peer);
        self.expel(peer);
    }

    /// Keeps the place of a peer no longer, as when [`keep_lost`](super::ServerConfig::keep_lost) is over: the world hears at
    /// its next step that the player has left. A client that says hello with the same nonce comes back as another player.
    pub fn release(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Release, peer);
        if let Some(index) = self.find(peer) {
            self.remove(index);
        }
    }

    fn expel(&mut self, peer: PeerId) {
        if let Some(index) = self.find(peer) {
            if let Some(nonce) = self.peers[index].nonce {
                self.admission.gone.push_back(nonce);
                let surplus = self.admission.gone.len().saturating_sub(GONE_KEPT);
                self.admission.gone.drain(..surplus);
            }
            self.remove(index);
        }
    }

    /// The transport has lost the connection to a peer: the player is lost at once, instead of after a
    /// [`timeout`](super::ServerConfig::timeout) of silence, and may come back over another connection.
    pub fn disconnected(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Disconnected, peer);
        if let Some(index) = self.find(peer) {
            self.admission.addresses.remove(&peer);
            self.lose(index);
        }
    }

    /// Whether a player is lost: silent for too long, with a place that waits. `false` for who is not in the session.
    pub fn is_lost(&self, player: PlayerId) -> bool {
        self.find_player(player).is_some_and(|index| self.peers[index].lost.is_some())
    }

    /// Who has been silent for too long is lost, and who was lost for too long has left. A stall of the server's own is
    /// not their silence.
    pub(super) fn notice_silence(&mut self, now: Instant) {
        let admission = &mut self.admission;
        let passed = admission.last_update.map_or(Duration::ZERO, |last| now.since(last));
        admission.awake += passed.min(AWAKE_MAX);
        admission.last_update = admission.last_update.max(Some(now));
        let awake = admission.awake;
        for index in (0..self.peers.len()).rev() {
            let timeout = self.config.timeout.max(TIMEOUT_MIN);
            if self.peers[index].lost.is_none() && awake - self.peers[index].heard_at >= timeout {
                self.lose(index);
            }
            let peer = &self.peers[index];
            // Nobody has ever played there: nothing is worth waiting for.
            let keep = if peer.has_played { self.config.keep_lost } else { Duration::ZERO };
            if peer.lost.is_some_and(|lost| awake - lost >= keep) {
                self.remove(index);
            }
        }
    }

    fn lose(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        if peer.lost.is_none() {
            peer.lose(self.admission.awake);
            self.frame.note(ServerEvent::Lost(peer.player));
        }
    }

    /// Inputs have come from this peer.
    pub(super) fn note_alive(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        (peer.heard_at, peer.missed_unheard) = (self.admission.awake, 0);
        if peer.lost.take().is_some() {
            peer.forget_arrivals();
            self.frame.note(ServerEvent::Rejoined(peer.player));
        }
    }

    pub(super) fn remove(&mut self, index: usize) {
        let gone = self.peers.remove(index);
        self.past_inputs.add(&gone.stats, 0);
        if self.admission.addresses.get(&gone.address) == Some(&gone.player) {
            self.admission.addresses.remove(&gone.address);
        }
        // The world has not heard of one who is still to join.
        if let Ok(unheard) = self.joined.binary_search(&gone.player) {
            self.joined.remove(unheard);
        } else {
            self.left.push(gone.player);
            self.left.sort_unstable();
        }
        self.frame.note(ServerEvent::Left(gone.player));
    }

    fn admit(&mut self, address: PeerId, nonce: Option<u64>, ticket: u8) -> Option<PlayerId> {
        self.make_room()?;
        let player = self.unused_player()?;
        let mut peer = Peer::new(address, player, nonce, self.next);
        (peer.ticket, peer.heard_at) = (ticket, self.admission.awake);
        let at = self.peers.partition_point(|peer| peer.player < player);
        self.peers.insert(at, peer);
        self.admission.addresses.insert(address, player);
        self.joined.push(player);
        self.joined.sort_unstable();
        self.frame.note(ServerEvent::Joined(player));
        Some(player)
    }

    pub(super) fn read_hello(&mut self, address: PeerId, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let mut hello = Hello::default();
        let mut start = reader.clone();
        hello.stream_start(&mut start)?;
        if hello.version != PROTOCOL_VERSION {
            self.admission.refuse(address, hello.nonce, Refusal::Version);
            return Ok(());
        }
        hello.stream(&mut reader)?;
        reader.finish()?;
        let known = self.peers.iter().find(|peer| peer.nonce == Some(hello.nonce)).map(|peer| peer.player);
        if let Some(part) = differing(&self.rule_parts, &hello.parts) {
            self.admission.send_refusal(address, Refused { nonce: hello.nonce, why: Refusal::Rules, part });
            return Ok(());
        }
        let refusal = if self.admission.gone.contains(&hello.nonce) {
            Some(Refusal::Gone)
        } else if let Some(player) = known {
            self.greet(player, address, &hello);
            None
        } else if self.is_joining(address) {
            None
        } else if self.exact.is_too_large(self.published.len()) {
            self.frame.note(ServerEvent::TooLargeToJoin { entities: self.published.len() });
            Some(Refusal::TooLarge)
        } else {
            self.expel(address);
            let ticket = self.admission.new_ticket();
            match self.admit(address, Some(hello.nonce), ticket) {
                Some(player) => {
                    let index = self.index_of(player);
                    self.peers[index].hello = Some((address, hello.sent, ticket));
                }
                None => self.admission.refuse(address, hello.nonce, Refusal::Full),
            }
            None
        };
        if let Some(why) = refusal {
            self.admission.refuse(address, hello.nonce, why);
        }
        Ok(())
    }

    /// One attempt for each connection in a second, until an input has come; more of them wait for their repetition.
    fn is_joining(&self, address: PeerId) -> bool {
        self.find(address).is_some_and(|index| {
            let peer = &self.peers[index];
            !peer.has_played && self.admission.awake - peer.heard_at < ATTEMPTS_APART
                || self.joined.contains(&peer.player)
        })
    }

    /// A hello of a player who has a place. It is answered; and where it shows the ticket that it was offered, the place
    /// is theirs from now on.
    fn greet(&mut self, player: PlayerId, address: PeerId, hello: &Hello) {
        let index = self.index_of(player);
        if hello.ticket.is_some() && hello.ticket == self.peers[index].offered {
            self.hand_over(player, address);
        }
        let index = self.index_of(player);
        let peer = &mut self.peers[index];
        let here = peer.address == address && peer.lost.is_none();
        // Whoever has not played under the ticket may still be about to begin.
        let current = here && (hello.ticket == Some(peer.ticket) || peer.heard.is_none());
        if !current && peer.offered.is_none() {
            peer.offered = Some(self.admission.new_ticket());
        }
        let ticket = peer.offered.filter(|_| !current).unwrap_or(peer.ticket);
        peer.hello = Some((address, hello.sent, ticket));
        if here {
            peer.unheard = 0;
        }
        // Who asks may have nothing to tell anything against.
        peer.sent.name(None);
        let next = self.next;
        self.peers[index].owed.get_or_insert(next);
    }

    /// The place of a player moves to another connection, or begins anew on the same one.
    fn hand_over(&mut self, player: PlayerId, address: PeerId) {
        if self.admission.addresses.get(&address) != Some(&player) {
            // Another player was here, and is not any more.
            self.expel(address);
        }
        let index = self.index_of(player);
        let peer = &mut self.peers[index];
        let moved = peer.address != address;
        if moved {
            if self.admission.addresses.get(&peer.address) == Some(&player) {
                self.admission.addresses.remove(&peer.address);
            }
            peer.former = Some((peer.address, self.admission.awake));
        }
        let returned = peer.lost.take().is_some() || moved;
        peer.take_over(address, self.admission.awake);
        (peer.owed, peer.whole_sent) = (Some(self.next), None);
        self.authority.end_all_of(player);
        self.admission.addresses.insert(address, player);
        if returned {
            self.frame.note(ServerEvent::Rejoined(player));
        }
    }

    /// Inputs have come over a connection that has no place. Where a player has moved away from it, who still plays there
    /// is told to stop.
    pub(super) fn tell_former(&mut self, address: PeerId) {
        let awake = self.admission.awake;
        let moved = self
            .peers
            .iter()
            .find(|peer| peer.former.is_some_and(|(former, since)| former == address && awake - since >= UNDER_WAY));
        if let Some(nonce) = moved.and_then(|peer| peer.nonce) {
            self.admission.refuse(address, nonce, Refusal::Gone);
        }
    }

    pub(super) fn read_leave(&mut self, address: PeerId, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let (mut ticket, mut player) = (0, 0);
        reader.u8(&mut ticket)?;
        reader.u16(&mut player)?;
        reader.finish()?;
        let named = self.find(address).map(|index| &self.peers[index]);
        if named.is_some_and(|peer| (peer.ticket, peer.player.get()) == (ticket, player)) {
            self.expel(address);
        }
        Ok(())
    }

    /// Answers the hellos that have come since the last update.
    pub(super) fn answer_hellos(&mut self, now: Instant, outbox: &mut Outbox) {
        for (address, mut refused) in self.admission.refusals.drain(..) {
            outbox.push(address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Refused.write(&mut writer);
                refused.stream(&mut writer).expect("writing never fails");
            });
        }
        let clock = self.clock.at_instant(now);
        for index in 0..self.peers.len() {
            let peer = &mut self.peers[index];
            let (Some(nonce), Some((address, sent, ticket))) = (peer.nonce, peer.hello.take()) else { continue };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of 256")]
            let fraction = (clock.fraction() * 256.0) as u8;
            let (epoch, player, tick) = (self.epoch, peer.player.get(), clock.tick().get());
            let mut welcome = Welcome { nonce, sent, epoch, ticket, player, tick, fraction };
            outbox.push(address, |bytes| {
                let mut writer = BitWriter::new(bytes);
                Message::Welcome.write(&mut writer);
                welcome.stream(&mut writer).expect("writing never fails");
            });
        }
    }

    pub(super) fn find(&self, address: PeerId) -> Option<usize> {
        self.find_player(*self.admission.addresses.get(&address)?)
    }

    pub(super) fn find_player(&self, player: PlayerId) -> Option<usize> {
        self.peers.binary_search_by_key(&player, |peer| peer.player).ok()
    }

    fn index_of(&self, player: PlayerId) -> usize {
        self.find_player(player).expect("the player is in the session")
    }
}
