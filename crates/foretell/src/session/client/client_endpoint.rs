//! The client of a session as a game has it: datagrams, instants and inputs in; datagrams, frames and views out.

use super::authority::AuthorityGrants;
use super::client_session::ClientSession;
use super::client_settings::{ClientSettings, EntityMode, Game, Moment};
use super::config::ClientConfig;
use super::connection_state::ConnectionState;
use super::join_request::JoinRequest;
use super::presentation::Views;
use super::recordable_calls::{ClientCall, Joined};
use super::snapshots::Snapshot;
use super::stats::ClientStats;
use super::update_log::UpdateLog;
use super::update_report::{ClientEvent, ClientState, Frame};
use crate::session::authority_codec::{Claim, Holder};
use crate::session::curves::Curve;
use crate::session::{MessageProgress, MessageStats, Outbox, Rules, SendError};
use crate::time::{Instant, MonotonicClock, Tick, TickTime};
use crate::wire::Malformed;
use crate::world::{Entity, Message, Messages, PlayerId, RowKey, Rows, Seat, State, World};
use alloc::boxed::Box;
use alloc::sync::Arc;

mod recording_tap;

pub use recording_tap::ClientTap;

/// The client of a session.
///
/// Call [`receive`](Client::receive) for every datagram as it comes, [`update`](Client::update) once per rendered frame
/// (at any rate), send what the outbox holds, then [`present`](Client::present). The world is borrowed for each call;
/// nothing but `update` changes it.
pub struct Client<W: World> {
    settings: ClientSettings,
    clock: MonotonicClock,
    connection: ConnectionState<W>,
    log: UpdateLog,
    /// Whether anything has come or happened.
    used: bool,
    tap: Option<Box<dyn ClientTap<W>>>,
}

impl<W: World> Client<W> {
    /// A client that asks to join. Give its updates a world without entities: everything in it comes with the first snapshot.
    /// `request` says who it is and what is to be known of it; a random number alone is a player of whom nothing is said.
    ///
    /// # Panics
    /// When the rules have more than eight [fingerprints](Rules::fingerprints), or are [exact](Rules::exact) and can't be.
    pub fn new(rules: Rules, config: ClientConfig, request: impl Into<JoinRequest>) -> Client<W> {
        rules.assert_possible();
        let request = request.into();
        let settings = ClientSettings::new::<W::Input>(rules, config, request.seat());
        let connection = ConnectionState::asking(&settings.rules, request);
        Client::with(settings, connection, Instant::ZERO)
    }

    /// A client that has joined already, whose world is in state 0. For tests and replays; [`Server::join`](crate::Server::join) tells the server.
    ///
    /// # Panics
    /// When the rules have more than eight [fingerprints](Rules::fingerprints), or are [exact](Rules::exact) and can't be.
    pub fn joined(rules: Rules, config: ClientConfig, joined: Joined, world: &mut W) -> Client<W> {
        rules.assert_possible();
        let settings = ClientSettings::new::<W::Input>(rules, config, Seat::Player);
        let connection = ConnectionState::joined(&settings, joined, world);
        Client::with(settings, connection, joined.now)
    }

    fn with(settings: ClientSettings, connection: ConnectionState<W>, now: Instant) -> Client<W> {
        Client { settings, clock: MonotonicClock::new(now), connection, log: UpdateLog::new(), used: false, tap: None }
    }

    /// Takes in a datagram from the server, which came at `now`, since the last update: one from before that counts as a clock that was set back. Bounded work and memory, whatever it holds.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        self.tell_tap(|tap, client| tap.receive(client, now, datagram));
        let network = &mut self.log.stats.network;
        network.datagrams_received += 1;
        network.bytes_received += datagram.len() as u64;
        let now = self.clock.note(now);
        let result = self.connection.receive(now, datagram, &self.settings, &mut self.log);
        self.log.stats.network.refused += u64::from(result.is_err());
        result
    }

    /// Reconciles with the newest snapshot, runs the ticks that are due and writes what is to be sent. `input` is called once for
    /// each new tick, in order, and never for one that is simulated again. Nothing of the session is called back from it.
    pub fn update(
        &mut self,
        now: Instant,
        world: &mut W,
        input: &mut dyn FnMut(Tick) -> W::Input,
        outbox: &mut Outbox,
    ) -> Frame<'_> {
        self.used = true;
        let Some(mut tap) = self.tap.take() else {
            self.advance(now, Game { world, input, outbox });
            return self.frame(now);
        };
        tap.begin_update(self);
        let mut noted = |tick| {
            let given = input(tick);
            tap.input(tick, &given);
            given
        };
        self.advance(now, Game { world, input: &mut noted, outbox });
        tap.end_update(self, now);
        self.tap = Some(tap);
        self.frame(now)
    }

    fn advance(&mut self, now: Instant, mut game: Game<'_, W>) {
        let now = self.clock.note(now);
        let Client { settings, connection, log, .. } = self;
        log.begin();
        settings.curves.usual = settings.config.curve;
        connection.update(now, settings, &mut game, log);
        for event in &log.events {
            if let ClientEvent::Despawned { entity, .. } | ClientEvent::Withdrawn { entity, .. } = event {
                settings.forget(*entity);
            }
        }
    }

    /// Fills `views` with every entity as it is to be drawn at `now`; with none while the client is not playing. Call it after
    /// [`update`](Client::update), as often as frames are drawn. What is shown has been told as spawned, and not as despawned.
    pub fn present(&self, now: Instant, views: &mut Views) {
        views.clear(&self.settings.rules.schema);
        if let Some(session) = self.session() {
            session.local.present(self.moment(session, now), views);
        }
    }

    /// Writes the datagram that tells the server good-bye, if there is a session. A lost one is made good by nothing: send it two
    /// or three times.
    pub fn leave(&self, outbox: &mut Outbox) {
        self.leave_with("", outbox);
    }

    /// The same with a reason of at most 120 bytes, else it is cut: [`Departure::GoodBye`](crate::session::Departure::GoodBye).
    pub fn leave_with(&self, reason: &str, outbox: &mut Outbox) {
        self.connection.leave(reason.into(), outbox);
    }

    /// What both ends have agreed on.
    pub fn rules(&self) -> &Rules {
        &self.settings.rules
    }

    /// What it decides by itself.
    pub fn config(&self) -> &ClientConfig {
        &self.settings.config
    }

    /// The same; changes count from the next update on.
    pub fn config_mut(&mut self) -> &mut ClientConfig {
        &mut self.settings.config
    }

    /// Whether the entities of `player` are to be predicted, whatever [`ClientConfig::predict`] says. It happens with the next snapshot,
    /// if the server relays the player's inputs; what is shown goes over smoothly. The own player is always predicted.
    /// With [`PlayerId::SERVER`] it is about what belongs to the server: that has no inputs, and is predicted without any relaying. So a
    /// player who stands on a moving platform is there on both ends: `docs/RIDING.md`.
    pub fn predict(&mut self, player: PlayerId, yes: bool) {
        self.call(&ClientCall::Predict(player, yes));
    }

    /// How a single entity is to be had until it has ended, whatever holds for the others of its player; `None` is as these. Another
    /// player's is predicted only if the server relays their inputs. It happens with the next snapshot, or as soon as what it was predicted
    /// to become is shown; what is shown goes over smoothly. The
    /// world's step has to ask [`Step::role`](crate::world::Step::role) then, as an input says nothing of single entities.
    pub fn set_mode(&mut self, entity: Entity, mode: Option<EntityMode>) {
        self.call(&ClientCall::SetMode(entity, mode));
    }

    /// Shows an entity by `curve`, whatever [`ClientConfig::curve`] says, from the next update on and until it has ended; what
    /// is shown goes over smoothly. It counts whenever the entity is not predicted, and may be asked for before there is one.
    pub fn show_with(&mut self, entity: Entity, curve: Curve) {
        self.call(&ClientCall::ShowWith(entity, curve));
    }

    /// Asks for authority over an entity of this player or of the server's own: from the next update on in which it is no longer
    /// predicted the game moves it ([`AuthorityChange::Began`](super::AuthorityChange::Began), then [`capture`](Client::capture)),
    /// without waiting for the answer. What was just spawned here is asked for when it is shown as the server has it. What another
    /// player owns is not given away; nor more than the server allows. Asked again with another claim, the right changes:
    /// [`Claim::Authority`] lets go of what was owned, and at rest it is the server's. Not for spectators, nor without a session.
    pub fn request(&mut self, entity: Entity, claim: Claim) {
        self.call(&ClientCall::Request(entity, claim));
    }

    /// Gives an entity back at once, as it was captured last; a request that was not sent yet is dropped.
    pub fn release(&mut self, entity: Entity) {
        self.call(&ClientCall::Release(entity));
    }

    /// Says what state an entity that the game moves has at the start of `tick`: what its [mover](crate::motion::FrameMover) or
    /// [sampler](super::FrameSampler) hands out, before the update that simulates the tick. Of it counts what the schema lets an owner
    /// write. A tick without a capture keeps the state before. Ignored where the game does not move the entity, or as another variant.
    ///
    /// # Panics
    /// When the schema has no such type of state, or an owner writes nothing of any.
    pub fn capture<S: State>(&mut self, entity: Entity, tick: Tick, state: &S) {
        if let Some((component, words)) = self.settings.words_of(state) {
            self.call(&ClientCall::Capture(RowKey { component, entity }, tick, words));
        }
    }

    /// Says in which state an entity that the game moves is to be shown now. Without it the newest captured one is.
    ///
    /// # Panics
    /// As [`capture`](Client::capture).
    pub fn show<S: State>(&mut self, entity: Entity, state: &S) {
        if let Some((component, words)) = self.settings.words_of(state) {
            self.call(&ClientCall::Show(RowKey { component, entity }, words));
        }
    }

    /// The entities that the game moves, ascending: from when that began until it is over, also while they are hidden.
    pub fn moved(&self) -> impl Iterator<Item = Entity> {
        self.session().into_iter().flat_map(|session| session.local.authority.moved().map(|key| key.entity))
    }

    /// The state of an entity that the game moves, as it is shown now: from there a mover goes on. `None` where the game
    /// does not move it, while it is hidden, and where its state is of another type.
    pub fn held<S: State>(&self, now: Instant, entity: Entity) -> Option<S> {
        let session = self.session()?;
        session.local.held(self.moment(session, now), entity)
    }

    /// Sends a message to the server, in the next update or as soon as [`ClientConfig::message_rate`] allows. Messages end with the
    /// session: where another one begins ([`ClientEvent::Joined`]), those of the one before that have not come never do.
    ///
    /// # Errors
    /// [`SendError`]: nothing of it is sent.
    ///
    /// # Panics
    /// When the [rules](Rules::messages) have no such kind.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), SendError> {
        let kind = self.rules().messages.number_of::<M>();
        self.send_bytes(kind, &Messages::encode(message))
    }

    /// The same as its bytes, of a kind by its number in the rules: what a tap was told can be sent again.
    ///
    /// # Errors
    /// As [`send`](Client::send); it panics when there is no kind of this number.
    pub fn send_bytes(&mut self, kind: usize, bytes: &Arc<[u8]>) -> Result<(), SendError> {
        self.tell_tap(|tap, client| tap.send(client, kind, bytes));
        let session = self.connection.session_mut().ok_or(SendError::NotPlaying)?;
        session.push_message(kind, bytes, &self.settings)
    }

    /// What was sent and has come of messages in this session.
    pub fn message_stats(&self) -> MessageStats {
        self.session().map_or(MessageStats::default(), |session| session.messages.stats())
    }

    /// The messages from the server that have come in part: for a bar that grows while a map is loaded.
    pub fn message_progress(&self) -> impl Iterator<Item = MessageProgress> + '_ {
        self.session().into_iter().flat_map(|session| session.messages.progress(&self.rules().messages))
    }

    /// One of the calls that have names of their own, as data: what a tap was told can be called again.
    pub fn call(&mut self, call: &ClientCall) {
        self.tell_tap(|tap, client| tap.call(client, call));
        let Client { settings, connection, .. } = self;
        let authority = connection.session_mut().filter(|_| !settings.spectates()).map(|it| &mut it.local.authority);
        let tell = |what: &dyn Fn(&mut AuthorityGrants)| authority.into_iter().for_each(what);
        match *call {
            ClientCall::Predict(player, yes) => settings.predict(player, yes),
            ClientCall::SetMode(entity, mode) => settings.set_mode(entity, mode),
            ClientCall::ShowWith(entity, curve) => settings.curves.set(entity, curve),
            ClientCall::Request(entity, claim) => tell(&|authority| authority.want(entity, claim)),
            ClientCall::Release(entity) => tell(&|authority| authority.release(entity)),
            ClientCall::Capture(key, tick, row) => tell(&|authority| authority.capture(key, tick, &row)),
            ClientCall::Show(key, row) => tell(&|authority| authority.show(key, &row)),
        }
    }

    /// What the last update did, with the state at `now`.
    pub fn frame(&self, now: Instant) -> Frame<'_> {
        let UpdateLog { ran, corrections, events, messages, .. } = &self.log;
        let (state, tick) = (self.state(now), self.tick());
        Frame { state, tick, ticks: ran.ticks, resimulated: ran.resimulated, corrections, events, messages }
    }

    /// How it fares at `now`.
    pub fn state(&self, now: Instant) -> ClientState {
        self.connection.state(self.clock.at(now))
    }

    /// Which part of the [`Rules`] is not the server's, where that is why it
    /// [refused](crate::session::Refusal::Rules) this client: `tick rate`, `exact`, `components`, `input`, `messages`, or the name of a
    /// [`Fingerprint`](crate::session::Fingerprint).
    pub fn differing(&self) -> Option<&'static str> {
        self.connection.differing()
    }

    /// The local player; `None` before the session begins.
    pub fn player(&self) -> Option<PlayerId> {
        self.session().map(|session| session.local.player)
    }

    /// The next tick to run; tick 0 before the session begins.
    pub fn tick(&self) -> Tick {
        self.session().map_or(Tick::ZERO, |session| session.local.prediction.timeline.present())
    }

    /// What the clock that ticks run by shows at `now`: where a [mover](crate::motion::FrameMover)'s frames end. 0 at first.
    pub fn tick_time(&self, now: Instant) -> TickTime {
        self.session().map_or(TickTime::default(), |session| session.at(self.clock.at(now)))
    }

    /// How much of the running tick has passed at `now`, 0 to 1: where between two states predicted entities are shown.
    pub fn tick_fraction(&self, now: Instant) -> f64 {
        let left = TickTime::start_of(self.tick()) - self.tick_time(now);
        self.session().map_or(0.0, |_| (1.0 - left.as_ticks()).clamp(0.0, 1.0))
    }

    /// Where the playout cursor stands at `now`: in this state others are shown, but for who [leads](Curve::leads). `None` at first.
    pub fn playout_cursor(&self, now: Instant) -> Option<TickTime> {
        self.session()?.local.presentation.remote.playout.at_instant(self.clock.at(now))
    }

    /// The players whose entities are predicted, ascending; none before the session begins.
    pub fn predicted_players(&self) -> &[PlayerId] {
        self.session().map_or(&[], |session| session.local.prediction.timeline.predicted().players())
    }

    /// By which curve an entity is shown when it is not predicted.
    pub fn shown_with(&self, entity: Entity) -> Curve {
        self.settings.curves.named(entity).unwrap_or(self.settings.config.curve)
    }

    /// Who has authority over an entity by the newest snapshot; `None` is the server itself.
    pub fn holder(&self, entity: Entity) -> Option<Holder> {
        self.newest()?.holder(entity)
    }

    /// The predicted rows of state `tick`, as far back as the horizon: what the authority is compared with.
    pub fn predicted(&self, tick: Tick) -> Option<&Rows> {
        self.session()?.local.prediction.timeline.rows(tick)
    }

    /// The newest complete snapshot: its tick, and what is known of its rows. The client's own are of that state, and those of others
    /// that it may predict; what it only shows is as it was [told](Client::told_in) last. In an exact session all are of that state.
    pub fn newest_snapshot(&self) -> Option<(Tick, &Rows)> {
        Some((self.newest()?.tick, self.session()?.local.snapshots.rows()?))
    }

    /// Of which state a row of the newest snapshot is; `None` where there is no such row.
    pub fn told_in(&self, key: RowKey) -> Option<Tick> {
        self.session()?.local.snapshots.told_in(key)
    }

    fn newest(&self) -> Option<&Snapshot> {
        self.session()?.local.snapshots.newest()
    }

    /// Counters since the client was made, over all of its sessions, and the newest measurements.
    pub fn stats(&self) -> ClientStats {
        let counted = self.log.stats;
        self.session().map_or(counted, |session| session.measured(counted))
    }

    /// How much it keeps of what is not done with: substituted ticks, changes outside of steps, corrections, events, messages both
    /// ways. A measure of memory: everything else is a ring of fixed length, or one for each entity.
    pub fn kept(&self) -> usize {
        let of_session = |session: &ClientSession<W>| session.local.prediction.kept() + session.messages.kept();
        self.log.kept() + self.session().map_or(0, of_session)
    }

    /// Lets `tap` hear everything that this client is given, as long as it lives.
    ///
    /// # Panics
    /// When it has received, updated or been told something already: what is heard begins with its construction.
    pub fn set_tap(&mut self, mut tap: Box<dyn ClientTap<W>>) {
        assert!(!self.used, "a tap is set before the first datagram, the first call and the first update");
        tap.begin(self, self.connection.origin().clone());
        self.tap = Some(tap);
    }

    fn tell_tap(&mut self, tell: impl FnOnce(&mut dyn ClientTap<W>, &Client<W>)) {
        self.used = true;
        if let Some(mut tap) = self.tap.take() {
            tell(&mut *tap, self);
            self.tap = Some(tap);
        }
    }

    fn session(&self) -> Option<&ClientSession<W>> {
        self.connection.session()
    }

    fn moment(&self, session: &ClientSession<W>, now: Instant) -> Moment<'_> {
        let now = self.clock.at(now);
        Moment { now, at: session.at(now), settings: &self.settings }
    }
}
