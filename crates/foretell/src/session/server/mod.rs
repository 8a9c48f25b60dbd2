//! The authority: steps the world, fills gaps in the inputs, and sends snapshots.

mod admission;
mod authority_requests;
mod authority_table;
mod delta;
mod event_log;
mod exact_session;
mod frame;
mod input_buffer;
mod interest;
mod peer;
mod player_slots;
mod receive;
mod relay_inputs;
mod row_versions;
mod send_snapshot;
mod speed_limit;
mod step;
mod tap;

use alloc::boxed::Box;
use alloc::vec::Vec;
pub use frame::{InputTotals, LateInput, PeerStats, ServerEvent, ServerFrame};
pub use tap::{PeerCall, ServerTap};

use super::authority::{AuthorityCodec, Shared};
use super::packet::SnapshotHead;
use super::relay::RelayLine;
use super::row_codec::{EVENT_TICKS_BACK, RowCodec};
use super::step_events::{StepEvent, StepEventKind};
use super::{GapPolicy, Outbox, PeerId, Rules};
use crate::time::{Instant, MonotonicClock, Tick, TickClock, TickTime};
use crate::world::{Column, Entity, Input, PlayerId, PlayerInput, RowKey, Rows, StepOutput, World, word_bits};
use admission::Admission;
use authority_table::AuthorityTable;
use core::time::Duration;
use delta::DeltaSet;
use exact_session::Exact;
use frame::Served;
use interest::{InterestQuery, SpatialIndex};
use peer::Peer;
use row_versions::RowVersions;

/// What a server decides by itself; may change while it runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerConfig {
    /// A snapshot is sent when the tick of the state is divisible by this: 1 (the default) is a snapshot per tick, 0
    /// counts as 1 (D25).
    pub snapshot_interval: u32,
    /// What happens in a tick for which a player's input is missing. Default [`GapPolicy::RepeatLast`] for 16 ticks.
    pub gap: GapPolicy,
    /// Whether clients are told the newest inputs of other players, so that they can predict them. Default
    /// false: an input tells intentions.
    pub relay_inputs: bool,
    /// How many players may be in the session, 0 to 65,535; with 0 nobody comes. Default 64. Those who are there already stay. Lost ones count,
    /// but who comes to a full session gets the place of who was lost first.
    pub players_max: u16,
    /// A player of whom nothing has come for so long is lost: no snapshots are sent any more, and the gap policy plays.
    /// Default 10 s: a client that gets nothing asks again after 5 s, so that by then it has asked for 5 s in vain. Less than
    /// a second counts as one: pauses of that length are ordinary, and each would be a loss.
    pub timeout: Duration,
    /// For so long the place and the entities of a lost player wait; then they have left, as they have when a session is
    /// full and somebody comes. Zero is at once. Default 60 s:
    /// a program that is started again, a tunnel, a change of networks. A player who has never sent an input is not
    /// waited for.
    pub keep_lost: Duration,
    /// How many entities one player's client may have authority over. Default 8; 0 for none. What it may write is up to
    /// the schema: [`Writer`](crate::world::Writer).
    pub held_max: u16,
    /// How many entities of others a client is told of: those that are nearest to any of its own, by the first position of
    /// their kind. Own ones, those that it has authority over, and kinds without a position come besides, always. What
    /// is in view stays there until something else is nearer by a fifth; of what is equally near the first by name is told. Default
    /// `None`: everything. Not in an exact session: there everybody needs everything.
    ///
    /// To the client, what leaves its view is gone, and it is spawned again when it comes back.
    pub nearest: Option<u16>,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            snapshot_interval: 1,
            gap: GapPolicy::default(),
            relay_inputs: false,
            players_max: 64,
            timeout: Duration::from_secs(10),
            keep_lost: Duration::from_secs(60),
            held_max: 8,
            nearest: None,
        }
    }
}

/// How many entities that were changed outside of steps are named; the newest.
const TOUCHED_MAX: usize = 4096;

/// A server that has fallen behind by more ticks than this in one update skips the oldest of them instead of catching up:
/// their numbers pass without a step.
pub const CATCH_UP_TICKS_MAX: u32 = 8;

/// The server of a session.
///
/// Call [`receive`](Server::receive) for every datagram as it comes, then [`update`](Server::update) at any rate, but at
/// least once per tick; send what the outbox holds.
pub struct Server<W: World> {
    config: ServerConfig,
    rules: Rules,
    /// The hashes of their parts.
    rule_parts: Vec<u64>,
    code: RowCodec,
    input_widths: Vec<u8>,
    monotonic: MonotonicClock,
    clock: TickClock,
    /// The next tick to step.
    next: Tick,
    epoch: u8,
    admission: Admission,
    /// Ascending by player.
    peers: Vec<Peer<W::Input>>,
    /// What the world has published.
    published: Rows,
    /// When each row of it has last changed.
    row_versions: RowVersions,
    /// What of it the snapshot that is being written tells.
    delta_set: DeltaSet,
    /// Where its entities are, and which of them are in view of the client that it is written for.
    spatial: SpatialIndex,
    interest: InterestQuery,
    /// What the last step has said.
    output: StepOutput,
    /// When an entity was last changed outside of a step; not older than what snapshots can name.
    touched: Vec<(Entity, Tick)>,
    /// In which step an entity of another player last touched an entity; not older than what snapshots can name.
    /// Ascending by entity.
    contacts: Vec<(Entity, Tick)>,
    joined: Vec<PlayerId>,
    left: Vec<PlayerId>,
    inputs: Vec<PlayerInput<W::Input>>,
    /// The inputs of the datagram that is being read.
    offered: Vec<(Tick, W::Input, Option<u32>)>,
    input_columns: Vec<Column>,
    /// What that datagram says besides.
    shared: Shared,
    shared_code: AuthorityCodec,
    authority: AuthorityTable,
    exact: Exact,
    /// The head of the snapshot that is being written.
    head: SnapshotHead,
    /// The inputs of another player that are being written into it.
    line: RelayLine<W::Input>,
    frame: Served,
    malformed: u64,
    /// The inputs of those who have left.
    past_inputs: InputTotals,
    /// Whether anything has come or happened.
    used: bool,
    tap: Option<Box<dyn ServerTap<W>>>,
}

impl<W: World> Server<W> {
    /// A server whose tick 0 begins at `now`. `epoch` tells this server from an earlier one of the same address: give it
    /// another value at every start.
    ///
    /// # Panics
    /// When the rules are [exact](Rules::exact) and can't be.
    pub fn new(rules: Rules, config: ServerConfig, epoch: u8, now: Instant) -> Server<W> {
        rules.assert_possible();
        let code = RowCodec::new(&rules.schema);
        Server {
            rule_parts: rules.parts_with::<W::Input>().into_iter().map(|(_, hash)| hash).collect(),
            shared: Shared::with_room(),
            shared_code: AuthorityCodec::new(rules.schema.components(), &code),
            authority: AuthorityTable::new(&rules.schema, rules.tick_rate),
            exact: Exact::new(&rules.schema),
            code,
            input_widths: word_bits(<W::Input as Input>::columns().iter()),
            monotonic: MonotonicClock::new(now),
            clock: TickClock::new(rules.tick_rate, TickTime::default(), now),
            next: Tick::ZERO,
            epoch,
            admission: Admission::new(epoch),
            peers: Vec::new(),
            published: Rows::new(&rules.schema),
            row_versions: RowVersions::new(),
            delta_set: DeltaSet::new(),
            spatial: SpatialIndex::default(),
            interest: InterestQuery::default(),
            output: StepOutput::with_room(),
            touched: Vec::new(),
            contacts: Vec::new(),
            joined: Vec::new(),
            left: Vec::new(),
            inputs: Vec::new(),
            offered: Vec::with_capacity(64),
            input_columns: <W::Input as Input>::columns(),
            head: SnapshotHead::default(),
            line: RelayLine::with_room(),
            frame: Served::with_room(),
            malformed: 0,
            past_inputs: InputTotals::default(),
            used: false,
            tap: None,
            config,
            rules,
        }
    }

    /// Steps the world through all ticks that are due, and writes what is to be sent. What it returns is valid until
    /// the next update.
    pub fn update(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) -> ServerFrame<'_> {
        self.used = true;
        self.tell_tap(|tap, server| tap.begin_update(server));
        let read = now;
        let now = self.monotonic.note(read);
        self.frame.begin();
        self.clock.advance(now);
        self.notice_silence(now);
        self.answer_hellos(now, outbox);
        self.run_steps(now, world, outbox);
        self.frame.finish();
        self.tell_tap(|tap, server| tap.end_update(server, read));
        self.frame()
    }

    /// What the last update did.
    pub fn frame(&self) -> ServerFrame<'_> {
        ServerFrame::of(self.next, &self.frame)
    }

    /// When the next tick begins, on the caller's clock: until then an update does nothing but answer hellos and notice who
    /// has gone. A loop that sleeps calls [`update`](Server::update) then, or when something has come.
    pub fn next_update(&self) -> Instant {
        let next = self.clock.instant_of(TickTime::start_of(self.next));
        self.monotonic.on_callers(next.unwrap_or(self.clock.last()))
    }

    /// The next tick to step.
    pub fn tick(&self) -> Tick {
        self.next
    }

    /// What both ends have agreed on.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What it decides by itself.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// The same; changes count from the next update on.
    pub fn config_mut(&mut self) -> &mut ServerConfig {
        &mut self.config
    }

    /// The counters of one player.
    pub fn stats(&self, player: PlayerId) -> Option<&PeerStats> {
        let index = self.peers.binary_search_by_key(&player, |peer| peer.player).ok()?;
        Some(&self.peers[index].stats)
    }

    /// What has become of the inputs of all players.
    pub fn inputs(&self) -> InputTotals {
        let mut totals = self.past_inputs;
        self.peers.iter().for_each(|peer| totals.add(&peer.stats, peer.missed_unheard));
        totals
    }

    /// The players of the session, lost ones too, ascending.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.peers.iter().map(|peer| peer.player)
    }

    /// The connection over which a player plays, or has played last.
    pub fn peer_of(&self, player: PlayerId) -> Option<PeerId> {
        let index = self.peers.binary_search_by_key(&player, |peer| peer.player).ok()?;
        Some(self.peers[index].address)
    }

    /// How many datagrams were refused because they were malformed or from nobody known.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// The published rows: the truth as of the last step.
    pub fn rows(&self) -> &Rows {
        &self.published
    }

    /// How much it keeps of what has come and is not done with: substituted ticks, changes outside of steps, events, late
    /// inputs and refusals. A measure of memory: everything else is a ring of fixed length, or one for each player or
    /// entity.
    pub fn kept(&self) -> usize {
        let peers: usize = self.peers.iter().map(|peer| peer.buffer.kept()).sum();
        let heard = self.touched.len() + self.admission.kept() + self.joined.len() + self.left.len();
        peers + heard + self.frame.events.len() + self.frame.late.len()
    }

    /// Remembers of what has changed in the published rows in which state it has.
    fn settle(&mut self) {
        self.row_versions.note(&self.published, self.next.next());
        self.published.settle();
    }

    /// Marks what entities of other players have touched in the step of `tick`.
    fn note_contacts(&mut self, tick: Tick) {
        let (met, far) = (&self.output.contacts, tick.back(EVENT_TICKS_BACK).unwrap_or(Tick::ZERO));
        self.contacts.retain(|(entity, at)| *at >= far && met.binary_search(entity).is_err());
        self.contacts.extend(met.iter().map(|entity| (*entity, tick)));
        self.contacts.sort_unstable_by_key(|(entity, _)| *entity);
    }

    /// Marks what has changed since the last step as changed by the server itself (DESIGN: causes).
    fn note_changes_outside_of_steps(&mut self, world: &mut W, tick: Tick) {
        world.publish(&mut self.published);
        self.tell_tap(|tap, server| tap.changed_outside(server));
        let changed = self.published.changed().iter().filter_map(|key| Some((*key, self.published.get(*key)?.owner)));
        let removed = self.published.removed().iter().map(|row| (row.key, row.owner));
        for (RowKey { entity, .. }, owner) in changed.chain(removed) {
            self.touched.retain(|(known, _)| *known != entity);
            if self.published.has(entity) {
                self.touched.push((entity, tick));
            } else if let Ok(owner) = self.peers.binary_search_by_key(&owner, |peer| peer.player) {
                // It has no row that could tell.
                self.peers[owner].news.note(StepEvent { tick, entity, what: StepEventKind::Removed });
            }
        }
        if self.rules.exact && !(self.published.changed().is_empty() && self.published.removed().is_empty()) {
            self.note_unforeseen(tick.next());
        }
        self.settle();
        self.touched.retain(|(_, at)| tick.since(*at) <= EVENT_TICKS_BACK);
        let surplus = self.touched.len().saturating_sub(TOUCHED_MAX);
        self.touched.drain(..surplus);
    }
}
