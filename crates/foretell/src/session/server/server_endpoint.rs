//! `Server`: what a game and its transport call, and who hears all of it. The work is done by the [`Pipeline`].

use super::config::{ServerConfig, Settings};
use super::host_player::HostPlayer;
use super::peer_messages::To;
use super::pipeline::Pipeline;
use super::stats::{PeerStats, ServerTotals};
use super::update_report::ServerFrame;
use crate::session::client::Show;
use crate::session::messages::check_size;
use crate::session::{Departure, Holder, Offences, Outbox, PeerId, Rules};
use crate::session::{MessageStats, SendError};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::Malformed;
use crate::world::World;
use crate::world::{AccountName, Delivery, Entity, Message, Messages, PlayerId, Reason, ReceivedMessage, Rows, Seat};
mod recording_tap;

pub use recording_tap::{PeerCall, ServerTap};

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The server of a session.
///
/// Call [`receive`](Server::receive) for every datagram as it comes, then [`update`](Server::update) at any rate, but at
/// least once per tick; send what the outbox holds.
pub struct Server<W: World> {
    pipeline: Pipeline<W::Input>,
    /// Who hears everything that it is given, in order: a flight recorder.
    tap: Option<Box<dyn ServerTap<W>>>,
    /// Whether anything has come or happened.
    is_used: bool,
}

impl<W: World> Server<W> {
    /// A server whose tick 0 begins at `now`. `epoch` tells this server from an earlier one of the same address: give it
    /// another value at every start.
    ///
    /// # Panics
    /// When the rules have more than eight [fingerprints](Rules::fingerprints), or are [exact](Rules::exact) and can't be.
    pub fn new(rules: Rules, config: ServerConfig, epoch: u8, now: Instant) -> Server<W> {
        rules.assert_possible();
        Server { pipeline: Pipeline::new(Settings { rules, config }, epoch, now), tap: None, is_used: false }
    }

    /// Lets `tap` hear everything that this server is given, and what the game changes in its world outside of steps, as
    /// long as it lives.
    ///
    /// # Panics
    /// When a peer has joined, or it has received or updated already: what is heard begins with its construction.
    pub fn set_tap(&mut self, mut tap: Box<dyn ServerTap<W>>) {
        assert!(!self.is_used, "a tap is set before the first peer, the first datagram and the first update");
        tap.begin(self, self.pipeline.roster.epoch(), self.pipeline.schedule.last());
        self.tap = Some(tap);
    }

    /// Takes in a datagram from `peer`, which came at `now`. Bounded work and memory, whatever it holds.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        self.tell_tap(|tap, server| tap.receive(server, now, peer, datagram));
        self.pipeline.receive(now, peer, datagram)
    }

    /// Steps the world through all ticks that are due, and writes what is to be sent. What it returns is valid until
    /// the next update.
    pub fn update(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) -> ServerFrame<'_> {
        self.advance(now, world, None, outbox);
        self.frame()
    }

    /// The same with a player who sits here.
    pub(in crate::session) fn update_with(
        &mut self,
        now: Instant,
        world: &mut W,
        local: &mut dyn HostPlayer<W::Input>,
        outbox: &mut Outbox,
    ) {
        self.advance(now, world, Some(local), outbox);
    }

    fn advance(
        &mut self,
        now: Instant,
        world: &mut W,
        mut local: Option<&mut dyn HostPlayer<W::Input>>,
        outbox: &mut Outbox,
    ) {
        self.tell_tap(|tap, server| tap.begin_update(server));
        let read = now;
        let now = self.pipeline.begin_update(read);
        self.pipeline.notice_silence(now);
        self.pipeline.answer_hellos(now, outbox);
        self.pipeline.skip_behind();
        while let Some(tick) = self.pipeline.schedule.due() {
            self.pipeline.publish(world);
            self.tell_tap(|tap, server| tap.changed_outside(server));
            self.pipeline.admit(world, outbox);
            if let Some(local) = &mut local {
                let given = local.input(tick);
                self.tell_tap(|tap, _| tap.input(tick, &given.input));
                self.pipeline.take_local(local.player(), tick, given);
            }
            self.pipeline.gather_inputs(tick);
            self.pipeline.step(world, tick);
            if let Some(local) = &mut local {
                local.note_step(self.pipeline.local_step(world, local.player()));
            }
            self.pipeline.send(now, world, outbox);
        }
        self.pipeline.finish_update();
        self.tell_tap(|tap, server| tap.end_update(server, read));
    }

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
        self.pipeline.join(Some(peer), Vec::new())
    }

    /// Admits a player who sits here, to whom states are shown so, and of whom `data` is said; `None` where there is no place left, or
    /// somebody sits here.
    pub(in crate::session) fn join_local(&mut self, show: Show, data: Vec<u8>) -> Option<PlayerId> {
        self.note_call(PeerCall::JoinHere(show, data.clone()), PeerId::default());
        if self.local_player().is_some() { None } else { self.pipeline.join(None, data) }
    }

    /// Where its clock stands at `now`.
    pub(in crate::session) fn at(&self, now: Instant) -> TickTime {
        self.pipeline.schedule.on_callers(now)
    }

    /// Says whose account a connection is of, as whoever has checked it knows: who joins over it from now on comes with it
    /// ([`Newcomer::account`](crate::Newcomer::account)). It holds until it is said otherwise, or that the connection is
    /// [lost](Server::disconnected); `None` forgets it, and costs who has joined nothing.
    pub fn identify(&mut self, peer: PeerId, account: Option<AccountName>) {
        self.note_call(PeerCall::Identify(account), peer);
        self.pipeline.change_roster(|roster| roster.identify(peer, account));
    }

    /// The transport has heard the player of a peer say good-bye, be it after the connection was [lost](Server::disconnected): they
    /// have left for good, and the world hears of it at its next step. A client that says hello with the same nonce is refused.
    pub fn leave(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Leave, peer);
        self.pipeline.change_roster(|roster| roster.expel(peer, Departure::GoodBye(Reason::EMPTY)));
    }

    /// Removes a player for good; the world hears of it at its next step. Their client is told why
    /// ([`Refusal::Removed`](crate::session::Refusal::Removed)), in at most 120 bytes, else it is cut; so is one that says hello with
    /// the same nonce, while that is one of the last 64 that were barred. With another they may ask again:
    /// [`Simulate::admit`](crate::Simulate::admit) keeps out who is to stay away. Who [sits here](Server::local_player) stays.
    pub fn remove(&mut self, player: PlayerId, reason: impl Into<Reason>) {
        let (reason, peer) = (reason.into(), self.peer_of(player));
        self.note_call(PeerCall::Remove(player, reason), peer.unwrap_or_default());
        self.pipeline.change_roster(|roster| roster.remove_player(player, reason));
    }

    /// Keeps the place of a peer no longer, as when [`keep_lost`](ServerConfig::keep_lost) is over: the world hears at
    /// its next step that the player has left, also where the connection was [lost](Server::disconnected) before. A client that says
    /// hello with the same nonce comes back as another player.
    pub fn release(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Release, peer);
        self.pipeline.change_roster(|roster| roster.expel(peer, Departure::Lost));
    }

    /// The transport has lost the connection to a peer: the player is lost at once, instead of after a
    /// [`timeout`](ServerConfig::timeout) of silence, and may come back over another connection. Who has not sent an input yet is gone:
    /// reported as [refused](super::ServerEvent::Refused), as timed out, and as left if they had joined.
    pub fn disconnected(&mut self, peer: PeerId) {
        self.note_call(PeerCall::Disconnected, peer);
        self.pipeline.change_roster(|roster| roster.disconnect(peer));
    }

    /// Sends a message. It goes out with the next update, as far as the [budget](ServerConfig::budget) allows: a quarter of that is for
    /// messages whatever else there is to tell, and all that nothing else needs. What is sent to all is encoded once.
    ///
    /// # Errors
    /// [`SendError`]: nothing of it is sent, or, where it is for several, it is not sent to some of them.
    ///
    /// # Panics
    /// When the [rules](Rules::messages) have no such kind.
    pub fn send<M: Message>(&mut self, to: To, message: &M) -> Result<(), SendError> {
        let kind = self.rules().messages.number_of::<M>();
        self.send_bytes(to, kind, &Messages::encode(message))
    }

    /// Sends a message to those of a group, such as a team: to each player of whom `is_in_group` says so. It is encoded once.
    ///
    /// # Errors
    /// As [`send`](Server::send); who has room gets it all the same. A group of nobody is no error.
    ///
    /// # Panics
    /// As [`send`](Server::send).
    pub fn send_to_group<M: Message>(
        &mut self,
        mut is_in_group: impl FnMut(PlayerId) -> bool,
        message: &M,
    ) -> Result<(), SendError> {
        let (kind, bytes) = (self.rules().messages.number_of::<M>(), Messages::encode(message));
        let group: Vec<_> = self.players().filter(|player| is_in_group(*player)).collect();
        let sent = group.into_iter().map(|player| self.send_bytes(To::Player(player), kind, &bytes));
        sent.reduce(Result::and).unwrap_or(Ok(()))
    }

    /// The same as its bytes, of a kind by its number in the rules: what a tap was told can be sent again.
    ///
    /// # Errors
    /// As [`send`](Server::send).
    ///
    /// # Panics
    /// When there is no kind of this number.
    pub fn send_bytes(&mut self, to: To, kind: usize, bytes: &Arc<[u8]>) -> Result<(), SendError> {
        self.tell_tap(|tap, server| tap.send(server, to, kind, bytes));
        check_size(&self.rules().messages.kinds()[kind], bytes)?;
        if self.rules().messages.kinds()[kind].delivery() == Delivery::InStep {
            return Err(SendError::OfClients);
        }
        self.pipeline.messages().push(to, kind, bytes)
    }

    /// A player who sits at this server sends a message.
    ///
    /// # Errors
    /// As [`send`](Server::send).
    ///
    /// # Panics
    /// When there is no kind of this number.
    pub(in crate::session) fn send_here(
        &mut self,
        player: PlayerId,
        kind: usize,
        bytes: &[u8],
    ) -> Result<(), SendError> {
        self.tell_tap(|tap, server| tap.send_here(server, kind, bytes));
        check_size(&self.rules().messages.kinds()[kind], bytes)?;
        self.pipeline.messages().take_here(player, kind, bytes)
    }

    /// Moves the messages to a player who sits at this server.
    pub(in crate::session) fn tell_here(&mut self, player: PlayerId, into: &mut Vec<ReceivedMessage>) {
        self.pipeline.messages().tell_here(player, into);
    }

    /// What was sent to a player of messages, and has come of them.
    pub fn message_stats(&self, player: PlayerId) -> Option<MessageStats> {
        Some(self.pipeline.roster.member(player)?.peer.messages.stats())
    }

    /// What the last update did.
    pub fn frame(&self) -> ServerFrame<'_> {
        self.pipeline.log.frame(self.pipeline.schedule.next())
    }

    /// When the next tick begins, on the caller's clock: until then an update does nothing but answer hellos and notice who
    /// has gone. A loop that sleeps calls [`update`](Server::update) then, or when something has come.
    pub fn next_update(&self) -> Instant {
        self.pipeline.schedule.next_update()
    }

    /// The next tick to step.
    pub fn tick(&self) -> Tick {
        self.pipeline.schedule.next()
    }

    /// What both ends have agreed on.
    pub fn rules(&self) -> &Rules {
        &self.pipeline.settings.rules
    }

    /// What it decides by itself.
    pub fn config(&self) -> &ServerConfig {
        &self.pipeline.settings.config
    }

    /// The same; changes count from the next update on.
    pub fn config_mut(&mut self) -> &mut ServerConfig {
        &mut self.pipeline.settings.config
    }

    /// The published rows: the truth as of the last step.
    pub fn rows(&self) -> &Rows {
        self.pipeline.state.rows()
    }

    /// The players of the session, spectators and lost ones too, ascending. Who asks to join, and has not shown yet that they hear the server,
    /// is none.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.pipeline.roster.joined().map(|member| member.player)
    }

    /// Who sits here, in the [host's](crate::Host) program; `None` where nobody does.
    pub fn local_player(&self) -> Option<PlayerId> {
        self.pipeline.roster.joined().find(|member| member.place.is_local()).map(|member| member.player)
    }

    /// The connection over which a player plays, or has played last; `None` also of who [sits here](Server::local_player).
    pub fn peer_of(&self, player: PlayerId) -> Option<PeerId> {
        self.pipeline.roster.member(player)?.place.address()
    }

    /// As what somebody is in the session; `None` for who is not.
    pub fn seat_of(&self, player: PlayerId) -> Option<Seat> {
        Some(self.pipeline.roster.member(player)?.place.seat())
    }

    /// Whose account the connection was of over which a player has joined, where that was [said](Server::identify).
    pub fn account_of(&self, player: PlayerId) -> Option<&str> {
        self.pipeline.roster.member(player)?.place.account().map(|account| account.as_str())
    }

    /// Whether a player is lost: silent for too long, with a place that waits. `false` for who is not in the session.
    pub fn is_lost(&self, player: PlayerId) -> bool {
        self.pipeline.roster.member(player).is_some_and(|member| member.place.is_lost())
    }

    /// Who has authority over an entity; `None` is the server itself.
    pub fn holder(&self, entity: Entity) -> Option<Holder> {
        self.pipeline.authority.holder(entity)
    }

    /// The counters of one player.
    pub fn stats(&self, player: PlayerId) -> Option<&PeerStats> {
        Some(&self.pipeline.roster.member(player)?.peer.counters.stats)
    }

    /// What was refused of a player since their admission, and why.
    pub fn offences(&self, player: PlayerId) -> Option<&Offences> {
        self.stats(player).map(|stats| &stats.offences)
    }

    /// The counters of all since the start.
    pub fn totals(&self) -> ServerTotals {
        self.pipeline.totals()
    }

    /// How much it keeps of what has come and is not done with: substituted ticks, changes outside of steps, events, late
    /// inputs, refusals, and messages both ways. A measure of memory: everything else is a ring of fixed length, or one for each player or
    /// entity.
    pub fn kept(&self) -> usize {
        self.pipeline.kept()
    }

    fn note_call(&mut self, call: PeerCall, peer: PeerId) {
        self.tell_tap(|tap, server| tap.call(server, call, peer));
    }

    fn tell_tap(&mut self, tell: impl FnOnce(&mut dyn ServerTap<W>, &Server<W>)) {
        self.is_used = true;
        if let Some(mut tap) = self.tap.take() {
            tell(&mut *tap, self);
            self.tap = Some(tap);
        }
    }
}
