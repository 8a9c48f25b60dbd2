//! The authority: steps the world, fills gaps in the inputs, and sends snapshots.

mod buffer;
mod frame;
mod peer;
mod plan;
mod receive;
mod relay;
mod replicate;
mod step;

pub use frame::{LateInput, PeerStats, ServerEvent, ServerFrame};
pub use plan::ArrivalPlan;

use super::packet::{Refused, SnapshotHead};
use super::relay::RelayLine;
use super::rowcode::{EVENT_TICKS_BACK, RowCode};
use super::{GapPolicy, Outbox, PeerId, Rules, Stepping};
use crate::rollback::{Column, Contacts, Entity, Input, PlayerId, PlayerInput, Rows, World, word_bits};
use crate::time::{Instant, Tick, TickClock, TickTime};
use buffer::{TICKS_AHEAD_MAX, TICKS_AWAITED_MAX};
use frame::Served;
use peer::Peer;
use std::collections::BTreeMap;

/// What a server decides by itself; may change while it runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerConfig {
    /// A snapshot is sent when the tick of the state is divisible by this: 1 (the default) is a snapshot per tick, 0
    /// counts as 1. Where arriving inputs step the world, it counts the steps executed for the player (D25).
    pub snapshot_interval: u32,
    /// What happens in a tick for which a player's input is missing. Default [`GapPolicy::RepeatLast`] for 16 ticks.
    pub gap: GapPolicy,
    /// Whether clients are told the newest inputs of other players, so that they can predict them. Not where arriving
    /// inputs step the world. Default false: an input tells intentions.
    pub relay_inputs: bool,
    /// How many players may be in the session, 0 to 65,535. Default 64. Those who are there already stay.
    pub players_max: u16,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig { snapshot_interval: 1, gap: GapPolicy::default(), relay_inputs: false, players_max: 64 }
    }
}

/// How many entities that were changed outside of steps are named; the newest.
const TOUCHED_MAX: usize = 4096;

/// A server that has fallen behind by more ticks than this in one update skips time instead of catching up.
pub const CATCH_UP_TICKS_MAX: u32 = 8;

/// The server of a session.
///
/// Call [`receive`](Server::receive) for every datagram as it comes, then [`update`](Server::update) at any rate, but at
/// least once per tick; send what the outbox holds.
pub struct Server<W: World> {
    config: ServerConfig,
    rules: Rules,
    rules_hash: u64,
    code: RowCode,
    input_widths: Vec<u8>,
    clock: TickClock,
    /// The next tick to step, where the clock steps the world; the number of executed steps where inputs do.
    next: Tick,
    epoch: u8,
    /// Who is at the other end of each connection.
    addresses: BTreeMap<PeerId, PlayerId>,
    /// The number that was given last.
    newest_player: u16,
    /// Ascending by player.
    peers: Vec<Peer<W::Input>>,
    /// What the world has published.
    published: Rows,
    /// When an entity was last changed outside of a step; not older than what snapshots can name.
    touched: Vec<(Entity, Tick)>,
    /// In which step an entity of another player last touched an entity; not older than what snapshots can name.
    /// Ascending by entity.
    contacts: Vec<(Entity, Tick)>,
    contacts_of_step: Contacts,
    /// The entities in them.
    met: Vec<Entity>,
    joined: Vec<PlayerId>,
    left: Vec<PlayerId>,
    inputs: Vec<PlayerInput<W::Input>>,
    /// Hellos to be refused, at most 64.
    refusals: Vec<(PeerId, Refused)>,
    /// The inputs of the datagram that is being read.
    offered: Vec<(Tick, W::Input, Option<u32>)>,
    input_columns: Vec<Column>,
    /// The head of the snapshot that is being written.
    head: SnapshotHead,
    /// The inputs of another player that are being written into it.
    line: RelayLine<W::Input>,
    frame: Served,
    malformed: u64,
}

impl<W: World> Server<W> {
    /// A server whose tick 0 begins at `now`. `epoch` tells this session from an earlier one of the same address: give
    /// it another value at every start.
    pub fn new(rules: Rules, config: ServerConfig, epoch: u8, now: Instant) -> Server<W> {
        Server {
            rules_hash: rules.hash_with::<W::Input>(),
            code: RowCode::new(&rules.schema),
            input_widths: word_bits(<W::Input as Input>::columns().iter()),
            clock: TickClock::new(rules.tick_rate, TickTime::default(), now),
            next: Tick::ZERO,
            epoch,
            addresses: BTreeMap::new(),
            newest_player: 0,
            peers: Vec::new(),
            published: Rows::new(&rules.schema),
            touched: Vec::new(),
            contacts: Vec::new(),
            contacts_of_step: Contacts::default(),
            met: Vec::new(),
            joined: Vec::new(),
            left: Vec::new(),
            inputs: Vec::new(),
            refusals: Vec::new(),
            offered: Vec::with_capacity(64),
            input_columns: <W::Input as Input>::columns(),
            head: SnapshotHead::default(),
            line: RelayLine::with_room(),
            frame: Served::with_room(),
            malformed: 0,
            config,
            rules,
        }
    }

    /// Admits a peer whose client was created [joined](super::client::Client::joined), without a handshake. The world
    /// hears of the player at its next step.
    ///
    /// # Panics
    /// When the session is full.
    pub fn join(&mut self, peer: PeerId) -> PlayerId {
        self.admit(peer, None).expect("the session has a place left")
    }

    /// Removes a peer; the world hears of it at its next step. Call it when the transport has lost the connection: the
    /// server itself waits for ever.
    pub fn leave(&mut self, peer: PeerId) {
        if let Some(index) = self.find(peer) {
            let gone = self.peers.remove(index);
            self.addresses.remove(&peer);
            // The world has not heard of one who is still to join.
            if let Ok(unheard) = self.joined.binary_search(&gone.player) {
                self.joined.remove(unheard);
            } else {
                self.left.push(gone.player);
                self.left.sort_unstable();
            }
            self.frame.note(ServerEvent::Left(gone.player));
        }
    }

    /// Steps the world through all ticks that are due, and writes what is to be sent. What it returns is valid until
    /// the next update.
    pub fn update(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) -> ServerFrame<'_> {
        self.frame.begin();
        self.clock.advance(now);
        self.answer_hellos(now, outbox);
        match self.rules.stepping {
            Stepping::Clock => self.step_by_clock(now, world, outbox),
            Stepping::Arrivals => self.step_by_arrivals(now, world, outbox),
        }
        self.frame.finish();
        self.frame()
    }

    /// What the last update did.
    pub fn frame(&self) -> ServerFrame<'_> {
        ServerFrame::of(self.next, &self.frame)
    }

    /// The next tick to step.
    pub fn tick(&self) -> Tick {
        self.next
    }

    /// What it decides by itself; changes count from the next update on.
    pub fn config_mut(&mut self) -> &mut ServerConfig {
        &mut self.config
    }

    /// The counters of one player.
    pub fn stats(&self, player: PlayerId) -> Option<&PeerStats> {
        let index = self.peers.binary_search_by_key(&player, |peer| peer.player).ok()?;
        Some(&self.peers[index].stats)
    }

    /// The players of the session, ascending.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.peers.iter().map(|peer| peer.player)
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
        let heard = self.touched.len() + self.refusals.len() + self.joined.len() + self.left.len();
        peers + heard + self.frame.events.len() + self.frame.late.len()
    }

    fn admit(&mut self, address: PeerId, nonce: Option<u64>) -> Option<PlayerId> {
        if self.peers.len() >= usize::from(self.config.players_max) {
            return None;
        }
        let player = self.unused_player()?;
        let start = match self.rules.stepping {
            Stepping::Clock => (self.next, TICKS_AHEAD_MAX),
            Stepping::Arrivals => (Tick::ZERO, TICKS_AWAITED_MAX),
        };
        let at = self.peers.partition_point(|peer| peer.player < player);
        self.peers.insert(at, Peer::new(address, player, nonce, start, self.clock.at()));
        self.addresses.insert(address, player);
        self.joined.push(player);
        self.joined.sort_unstable();
        self.frame.note(ServerEvent::Joined(player));
        Some(player)
    }

    /// The next number that nobody has, nor has just given up; after the highest comes 1 again.
    fn unused_player(&mut self) -> Option<PlayerId> {
        for _ in 0..=self.peers.len() + self.left.len() + 1 {
            self.newest_player = self.newest_player.checked_add(1).unwrap_or(1);
            let player = PlayerId::new(self.newest_player);
            let taken = self.peers.binary_search_by_key(&player, |peer| peer.player).is_ok();
            if !taken && self.left.binary_search(&player).is_err() {
                return Some(player);
            }
        }
        None
    }

    fn find(&self, address: PeerId) -> Option<usize> {
        let player = self.addresses.get(&address)?;
        self.peers.binary_search_by_key(player, |peer| peer.player).ok()
    }

    /// Marks what entities of other players have touched in the step of `tick`.
    fn note_contacts(&mut self, tick: Tick) {
        self.contacts_of_step.take(&mut self.met);
        let (met, far) = (&self.met, tick.back(EVENT_TICKS_BACK).unwrap_or(Tick::ZERO));
        self.contacts.retain(|(entity, at)| *at >= far && met.binary_search(entity).is_err());
        self.contacts.extend(met.iter().map(|entity| (*entity, tick)));
        self.contacts.sort_unstable_by_key(|(entity, _)| *entity);
    }

    /// Marks what has changed since the last step as changed by the server itself (DESIGN: causes), with the tick of the
    /// entity's owner where each player has ticks of their own.
    fn note_changes_outside_of_steps(&mut self, world: &W, tick: Tick) {
        world.publish(&mut self.published);
        let changed = self.published.changed().iter().chain(self.published.removed());
        for entity in changed {
            let owner = self.peers.binary_search_by_key(&entity.player(), |peer| peer.player);
            let at = match (self.rules.stepping, owner) {
                (Stepping::Arrivals, Ok(owner)) if self.peers[owner].buffer.next() != tick.next() => {
                    self.peers[owner].buffer.next()
                }
                _ => tick,
            };
            self.touched.retain(|(known, _)| known != entity);
            self.touched.push((*entity, at));
        }
        self.published.settle();
        if self.rules.stepping == Stepping::Clock {
            self.touched.retain(|(_, at)| tick.since(*at) <= EVENT_TICKS_BACK);
        }
        let surplus = self.touched.len().saturating_sub(TOUCHED_MAX);
        self.touched.drain(..surplus);
    }
}
