//! Who is in the session: hellos and good-byes, silence, and places that wait for their players.
//!
//! A nonce is an identity. A known one that comes from elsewhere, or after the server has lost it, is offered a new
//! ticket, and takes its place over when it shows that ticket: so a late copy of a hello takes nothing. Whoever holds an
//! older ticket is not heard any more.

use super::awake_clock::AwakeClock;
use super::capacity::Capacity;
use super::join_leave_log::JoinLeaveLog;
use super::members::{Member, Members};
use super::pending_refusals::PendingRefusals;
use super::place::Place;
use super::player_numbers::PlayerNumbers;
use super::roster_change::RosterChange;
use crate::session::datagram::PROTOCOL_VERSION;
use crate::session::good_bye::GoodBye;
use crate::session::handshake_messages::{Hello, differing};
use crate::session::refusal_message::Refused;
use crate::session::{Departure, Outbox, PeerId, Refusal};
use crate::time::{Instant, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{AccountName, Leaver, Newcomer, PlayerId, Reason};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// Everybody who is in the session.
pub(crate) struct Roster<P> {
    members: Members<P>,
    /// A hash of each part of the rules.
    rule_parts: Vec<u64>,
    epoch: u8,
    numbers: PlayerNumbers,
    refusals: PendingRefusals,
    join_leave_log: JoinLeaveLog,
    clock: AwakeClock,
    /// What nobody has taken in yet.
    changes: VecDeque<RosterChange<P>>,
}

impl<P> Roster<P> {
    /// `epoch` tells this server from an earlier one of the same address.
    pub(crate) fn new(epoch: u8, rule_parts: Vec<u64>) -> Roster<P> {
        Roster {
            members: Members::new(),
            rule_parts,
            epoch,
            numbers: PlayerNumbers::new(epoch),
            refusals: PendingRefusals::default(),
            join_leave_log: JoinLeaveLog::default(),
            clock: AwakeClock::default(),
            changes: VecDeque::new(),
        }
    }

    /// What has changed since the last call; `None` when that is all.
    pub(crate) fn next_change(&mut self) -> Option<RosterChange<P>> {
        self.changes.pop_front()
    }

    /// Everybody who has a place, ascending by player.
    pub(crate) fn members(&self) -> &[Member<P>] {
        self.members.all()
    }

    /// The same, to be changed.
    pub(crate) fn members_mut(&mut self) -> &mut [Member<P>] {
        self.members.all_mut()
    }

    /// Whom the world knows of, ascending by player.
    pub(crate) fn joined(&self) -> impl Iterator<Item = &Member<P>> {
        self.members().iter().filter(|member| member.place.has_joined())
    }

    /// The same, to be changed.
    pub(crate) fn joined_mut(&mut self) -> impl Iterator<Item = &mut Member<P>> {
        self.members_mut().iter_mut().filter(|member| member.place.has_joined())
    }

    pub(crate) fn member(&self, player: PlayerId) -> Option<&Member<P>> {
        self.members.find(player).map(|at| &self.members()[at])
    }

    pub(crate) fn member_mut(&mut self, player: PlayerId) -> Option<&mut Member<P>> {
        self.members.find(player).map(|at| &mut self.members.all_mut()[at])
    }

    /// Who has joined since the world has last heard of it, and who has left; ascending.
    pub(crate) fn join_leave_log(&self) -> &JoinLeaveLog {
        &self.join_leave_log
    }

    /// The world has heard who has joined and left. Whether anybody has.
    pub(crate) fn settle_join_leave_log(&mut self) -> bool {
        self.join_leave_log.clear()
    }

    pub(crate) fn epoch(&self) -> u8 {
        self.epoch
    }

    /// How much it keeps of what has come.
    pub(crate) fn kept(&self) -> usize {
        self.refusals.kept() + self.join_leave_log.len()
    }

    /// For how long a member has said nothing.
    pub(crate) fn silence(&self, member: &Member<P>) -> Duration {
        member.place.silence(self.clock.awake())
    }

    /// Who plays over a connection, and shows this ticket. Somebody who still plays over one that they have moved away from
    /// is told to stop.
    pub(crate) fn speaker(&mut self, address: PeerId, ticket: u8) -> Option<PlayerId> {
        let Some(at) = self.members.find_address(address) else {
            let awake = self.clock.awake();
            let moved = self.members.moved_from(address, awake).map(|nonce| Refused::new(nonce, Refusal::Gone));
            if let Some(refused) = moved.or_else(|| self.refusals.removed_from(address)) {
                self.refusals.refuse(address, refused, awake);
            }
            return None;
        };
        let Member { player, place, .. } = &self.members()[at];
        (place.has_joined() && place.ticket() == ticket).then_some(*player)
    }

    /// Inputs of a player have come; where they are no late copy of old ones, the player is there.
    pub(crate) fn note_played(&mut self, player: PlayerId, is_fresh: bool) {
        let awake = self.clock.awake();
        let Some(Member { place, .. }) = self.member_mut(player) else { return };
        place.note_played();
        if (is_fresh || !place.is_lost()) && place.note_alive(awake) {
            self.changes.push_back(RosterChange::Returned(player));
        }
    }

    /// Admits who is `at` a connection, or sits at the server, without a handshake; `None` where there is no place left.
    pub(crate) fn join(&mut self, at: Option<PeerId>, data: Vec<u8>, room: &Capacity, peer: P) -> Option<PlayerId> {
        let player = self.admit(Place::new(at, None, self.epoch, self.clock.awake()), room, || peer)?;
        let account = at.and_then(|address| self.members.account(address));
        self.note_joined(Newcomer { account, data, ..Newcomer::new(player) }, room);
        Some(player)
    }

    /// Whose account a connection is of from now on, for who joins over it; `None` is nobody's.
    pub(crate) fn identify(&mut self, address: PeerId, account: Option<AccountName>) {
        self.members.identify(address, account);
    }

    /// Lets those join who ask to, if `admit` does: the world hears of them with its next step. Who may not is told at once, as are
    /// those for whom there is no place any more, as who was lost has come back.
    pub(crate) fn admit_asking(
        &mut self,
        room: &Capacity,
        mut admit: impl FnMut(&Newcomer) -> Result<(), Reason>,
        outbox: &mut Outbox,
    ) {
        while let Some(newcomer) = self.members.take_asking() {
            let is_full = self.members.count(newcomer.seat, Place::is_present) >= room.places(newcomer.seat);
            match if is_full { Err(Refusal::Full) } else { admit(&newcomer).map_err(Refusal::ByGame) } {
                Ok(()) => self.note_joined(newcomer, room),
                Err(why) => self.turn_away(newcomer.player, why),
            }
            self.refusals.send(outbox);
        }
    }

    /// The player of a connection leaves, also one whose connection is broken.
    pub(crate) fn expel(&mut self, address: PeerId, why: Departure) {
        let Some(at) = self.members.find_last_address(address) else { return };
        self.remove(at, why);
    }

    /// The game removes a player, but for who sits at the server; their client is told why, at once and as often as it goes on.
    pub(crate) fn remove_player(&mut self, player: PlayerId, reason: Reason) {
        let Some(at) = self.members.find(player) else { return };
        let place = &self.members()[at].place;
        let Some(address) = place.address() else { return };
        self.refusals.note_removed(place.nonce, address, reason, self.clock.awake());
        self.remove(at, Departure::Removed(reason));
    }

    /// A connection is broken: its player is lost at once; who has not come into play is gone, and may try again.
    pub(crate) fn disconnect(&mut self, address: PeerId) {
        self.members.identify(address, None);
        let Some(at) = self.members.find_address(address) else { return };
        if !self.members()[at].place.has_played() {
            return self.remove_refused(at, Refusal::TimedOut);
        }
        self.members.disconnect(self.members()[at].player, address);
        self.lose(at);
    }

    /// Refuses a player who has a place.
    pub(crate) fn turn_away(&mut self, player: PlayerId, why: Refusal) {
        if let Some(at) = self.members.find(player) {
            self.give_up(at, why);
        }
    }

    /// An update begins: who has been silent for `timeout` is lost, or refused where they have not come into play by then; and
    /// who was lost for `keep_lost` has left. A stall of the server's own is not their silence.
    pub(crate) fn notice_silence(&mut self, now: Instant, timeout: Duration, keep_lost: Duration) {
        self.clock.note_update(now);
        let awake = self.clock.awake();
        for at in (0..self.members().len()).rev() {
            let place = &self.members()[at].place;
            let is_silent = place.silence(awake) >= timeout;
            if is_silent && !place.has_played() {
                // Whoever asks on does not hear the server, or is not heard; who is asleep may try again.
                let end = if place.asked_ago(awake) < timeout / 2 { Roster::give_up } else { Roster::remove_refused };
                end(self, at, Refusal::TimedOut);
                continue;
            }
            if is_silent {
                self.lose(at);
            }
            if self.members()[at].place.lost.is_some_and(|lost| awake - lost >= keep_lost) {
                self.remove(at, Departure::Lost);
            }
        }
    }

    /// Takes in a hello. Who gets a place by it gets `peer`.
    pub(crate) fn read_hello(
        &mut self,
        address: PeerId,
        mut reader: BitReader<'_>,
        room: &Capacity,
        peer: impl FnOnce() -> P,
    ) -> Result<(), Malformed> {
        let mut hello = Hello::default();
        hello.stream_start(&mut reader.clone())?;
        if hello.version != PROTOCOL_VERSION {
            self.refuse(address, Refused::new(hello.nonce, Refusal::Version));
            return Ok(());
        }
        hello.stream(&mut reader)?;
        reader.finish()?;
        let known = self.members().iter().find(|member| member.place.nonce == Some(hello.nonce));
        if let Some(part) = differing(&self.rule_parts, &hello.parts) {
            self.refuse(address, Refused { nonce: hello.nonce, why: Refusal::Rules, part });
        } else if let Some(why) = self.refusals.bars(hello.nonce, self.clock.awake()) {
            self.refuse(address, Refused::new(hello.nonce, why));
        } else if known.is_some_and(|known| known.place.seat() != hello.seat) {
            self.refuse(address, Refused::new(hello.nonce, Refusal::Gone));
        } else if let Some(Member { player, .. }) = known {
            self.greet(*player, address, &mut hello);
        } else if !self.is_joining(address) {
            self.admit_newcomer(address, &hello, room, peer);
        }
        Ok(())
    }

    /// Takes in a good-bye.
    pub(crate) fn read_leave(&mut self, address: PeerId, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let mut good_bye = GoodBye::default();
        good_bye.stream(&mut reader)?;
        reader.finish()?;
        let GoodBye { ticket, player, reason } = good_bye;
        let named = self.members.find_last_address(address).map(|at| &self.members()[at]);
        if named.is_some_and(|named| named.place.ticket() == ticket && named.player.get() == player) {
            self.expel(address, Departure::GoodBye(reason));
        }
        Ok(())
    }

    /// Answers the hellos that have come since the last update, at a point of the server's clock.
    pub(crate) fn answer_hellos(&mut self, clock: TickTime, outbox: &mut Outbox) {
        self.refusals.send(outbox);
        for Member { player, place, .. } in self.members.all_mut() {
            place.answer_hello(*player, self.epoch, clock, outbox);
        }
    }

    fn lose(&mut self, at: usize) {
        let Member { player, place, .. } = &mut self.members.all_mut()[at];
        if place.lose(self.clock.awake()) {
            self.changes.push_back(RosterChange::Lost(*player));
        }
    }

    /// The world never hears of who has not joined.
    fn remove(&mut self, at: usize, why: Departure) {
        let Member { player, place, peer } = self.members.remove(at);
        self.refusals.note_left(place.nonce, why);
        if place.has_joined() {
            self.join_leave_log.note_left(Leaver { player, why });
            self.changes.push_back(RosterChange::Left { player, peer: peer.into(), was_lost: place.is_lost(), why });
        }
    }

    /// Keeps a place no longer whose player does not come into play, or not on; for a while, it is no use to ask again.
    fn give_up(&mut self, at: usize, why: Refusal) {
        let (place, awake) = (&self.members.all()[at].place, self.clock.awake());
        if let (Some(nonce), Some(address)) = (place.nonce, place.address()) {
            self.refusals.refuse(address, Refused::new(nonce, why), awake);
            self.refusals.note_unplayed(nonce, why, awake);
        }
        self.remove_refused(at, why);
    }

    fn remove_refused(&mut self, at: usize, why: Refusal) {
        let Member { player, place, .. } = &self.members()[at];
        let player = place.has_joined().then_some(*player);
        self.changes.extend(place.address().map(|peer| RosterChange::Refused { peer, player, why }));
        self.remove(at, Departure::Refused(why));
    }

    /// Answers a hello; that is told once.
    fn refuse(&mut self, to: PeerId, refused: Refused) {
        if self.refusals.refuse(to, refused, self.clock.awake()) {
            self.changes.push_back(RosterChange::Refused { peer: to, player: None, why: refused.why });
        }
    }

    /// From now on they are in the session; where it has no place more, who was lost first has left, and not before.
    fn note_joined(&mut self, newcomer: Newcomer, room: &Capacity) {
        let Newcomer { player, seat, account, .. } = newcomer;
        while self.members.count(seat, Place::has_joined) >= room.places(seat)
            && let Some(lost) = self.members.lost_first(seat)
        {
            self.remove(lost, Departure::Lost);
        }
        let awake = self.clock.awake();
        let Some(Member { place, .. }) = self.member_mut(player) else { return };
        place.join(awake, account);
        self.join_leave_log.note_joined(newcomer);
        self.changes.push_back(RosterChange::Joined(player));
    }

    fn admit(&mut self, place: Place, room: &Capacity, peer: impl FnOnce() -> P) -> Option<PlayerId> {
        if self.members.count(place.seat(), |place| !place.is_lost()) >= room.places(place.seat()) {
            return None;
        }
        let Roster { members, numbers, join_leave_log, .. } = self;
        let is_taken = |player| members.find(player).is_some() || join_leave_log.has_left(player);
        let player = numbers.new_player(members.all().len() + join_leave_log.len(), is_taken)?;
        members.insert(Member { player, place, peer: peer() });
        Some(player)
    }

    /// One attempt for each connection in a second, until an input has come; more of them wait for their repetition.
    fn is_joining(&self, address: PeerId) -> bool {
        self.members.find_address(address).map(|at| &self.members()[at]).is_some_and(|member| {
            member.place.is_beginning(self.clock.awake()) || self.join_leave_log.has_joined(member.player)
        })
    }

    fn admit_newcomer(&mut self, address: PeerId, hello: &Hello, room: &Capacity, peer: impl FnOnce() -> P) {
        if let Some(why) = room.closed {
            return self.refuse(address, Refused::new(hello.nonce, why));
        }
        if let Some(at) = self.members.find_address(address) {
            self.remove(at, Departure::Replaced);
        }
        let ticket = self.numbers.new_ticket();
        let mut place = Place::new(Some(address), Some(hello.nonce), ticket, self.clock.awake()).seated(hello.seat);
        place.greet(address, hello, || ticket);
        if self.admit(place, room, peer).is_none() {
            self.refuse(address, Refused::new(hello.nonce, Refusal::Full));
        }
    }

    /// A hello of a player who has a place. It is answered; where it shows the ticket that it was offered, the place is theirs
    /// from now on; and where it shows the ticket of the place, its client hears the server, and asks to join.
    fn greet(&mut self, player: PlayerId, address: PeerId, hello: &mut Hello) {
        if self.member(player).is_some_and(|member| member.place.is_claimed_by(hello)) {
            self.hand_over(player, address);
        }
        let Some(at) = self.members.find(player) else { return };
        let Roster { members, numbers, clock, .. } = self;
        let place = &mut members.all_mut()[at].place;
        place.note_asked(clock.awake());
        let is_here = place.greet(address, hello, || numbers.new_ticket());
        if is_here {
            place.note_asking(hello);
        }
        self.changes.push_back(RosterChange::Greeted { player, is_here });
    }

    /// The place of a player moves to another connection, or begins anew on the same one.
    fn hand_over(&mut self, player: PlayerId, address: PeerId) {
        // Another player was here, and is not any more.
        if let Some(at) = self.members.find_address(address).filter(|at| self.members()[*at].player != player) {
            self.remove(at, Departure::Replaced);
        }
        let awake = self.clock.awake();
        let Some(Member { place, .. }) = self.member_mut(player) else { return };
        let (was_lost, has_joined) = (place.note_alive(awake), place.has_joined());
        let before = place.take_over(address, awake);
        if let Some(before) = before {
            self.members.disconnect(player, before);
        }
        self.members.connect(player, address);
        let has_returned = has_joined && (was_lost || before.is_some());
        self.changes.push_back(RosterChange::TakenOver { player, has_returned });
    }
}
