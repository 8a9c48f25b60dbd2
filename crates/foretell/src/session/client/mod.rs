//! The predicting end: runs the world ahead of the server, compares, rolls back, and shows.

mod authority_calls;
mod authority_grant;
mod authority_handoff;
mod authority_table;
mod baselines;
mod compared;
mod config;
mod connection;
mod curves;
mod digest_check;
mod effects;
mod error_offsets;
mod events;
mod exact_causes;
mod followers;
mod frame;
mod join;
mod lifecycles;
mod missed_inputs;
mod owners;
mod pacing;
mod playout;
mod predict_near;
mod predict_others;
mod queries;
mod receive;
mod reconcile;
mod reconciler;
mod remote_smoothing;
mod remote_window;
mod resimulation_budget;
mod sample_window;
mod send;
mod server_rate;
mod snapshots;
mod tap;
mod tick_unwrap;
mod update;
mod view;
mod visual_state;

use alloc::boxed::Box;
use alloc::vec::Vec;
pub use config::{ClientConfig, INPUT_DELAY_MAX, InputDelay, Predict, Redundancy, Show};
pub use curves::Curve;
pub use frame::{AuthorityChange, Causes, ClientEvent, ClientState, ClientStats, Corrected, Frame, Outcomes};
pub use predict_others::EntityMode;
pub use resimulation_budget::ResimulationBudget;
pub use tap::{ClientCall, ClientOrigin, ClientTap};
pub use view::{Source, View};

use super::authority::AuthorityCodec;
use super::packet::SnapshotHead;
use super::row_codec::RowCodec;
use super::{Outbox, Rules};
use crate::rollback::Timeline;
use crate::time::{Instant, MonotonicClock, Tick, TickTime};
use crate::world::{Entity, Input, PlayerId, Predicted, Rows, World, word_bits};
use authority_table::AuthorityTable;
use connection::Connection;
use curves::Curves;
use effects::Effects;
use error_offsets::ErrorOffsets;
use followers::Followers;
use join::Handshake;
use lifecycles::Lifecycles;
use owners::Owners;
use pacing::Pacing;
use playout::{Playout, Points};
use predict_others::RelayReader;
use reconciler::Reconciler;
use remote_window::Seen;
use server_rate::ServerRate;
use snapshots::Snapshots;
use tick_unwrap::TickUnwrap;
use update::{TickCounts, Update};

/// The client of a session.
///
/// Call [`receive`](Client::receive) for every datagram as it comes, [`update`](Client::update) once per rendered frame
/// (at any rate), send what the outbox holds, then [`present`](Client::present). The world is borrowed for each call;
/// nothing but `update` changes it.
pub struct Client<W: World> {
    config: ClientConfig,
    rules: Rules,
    clock: MonotonicClock,
    code: RowCodec,
    input_widths: Vec<u8>,
    /// For which players it was asked to predict their entities, or not to; each once.
    wishes: Vec<(PlayerId, bool)>,
    /// The same for single entities; each once.
    singles: Vec<(Entity, bool)>,
    shared_code: AuthorityCodec,
    /// By which curves others are to be shown.
    curves: Curves,
    origin: ClientOrigin,
    phase: Phase<W>,
    differing: Option<&'static str>,
    /// It asks for a place, or for the one that it had.
    handshake: Option<Box<Handshake>>,
    stats: ClientStats,
    done: TickCounts,
    corrections: Vec<Corrected>,
    events: Vec<ClientEvent>,
    /// What `receive` has found; reported by the next update.
    events_to_come: Vec<ClientEvent>,
    /// The head of the snapshot that is being read.
    head: SnapshotHead,
    /// The inputs of others in it.
    heard: RelayReader<W::Input>,
    /// Whether anything has come or happened.
    used: bool,
    tap: Option<Box<dyn ClientTap<W>>>,
}

/// The longest history that is kept.
const HORIZON_MAX: core::time::Duration = core::time::Duration::from_secs(60);

/// Room from the start for what an ordinary frame reports, so that a first loss does not allocate.
const FEW: usize = 16;

/// Where in its life a client is.
enum Phase<W: World> {
    Joining,
    Refused(super::Refusal),
    Playing(Box<Session<W>>),
}

/// Everything that lives from the start of a session to its end.
struct Session<W: World> {
    player: PlayerId,
    connection: Connection,
    timeline: Timeline<W>,
    snapshots: Snapshots,
    server_rate: ServerRate,
    pacing: Pacing,
    playout: Playout,
    /// Whose entities are to be predicted, by the newest compared snapshot.
    wanted: Predicted,
    owners: Owners,
    /// Where the own entities are, for [`Predict::Near`].
    near: Vec<[f64; 3]>,
    reconciler: Reconciler,
    offsets: ErrorOffsets,
    lifecycles: Lifecycles,
    effects: Effects,
    authority: AuthorityTable,
    /// Where the cursor stood at the last update.
    told_at: Option<Points>,
    /// The rows of other entities at the cursor, written before each step.
    proxies: Rows,
    tick_unwrap: TickUnwrap,
    /// Since when it waits for a snapshot to start again from, if it does.
    resyncing: Option<Instant>,
    /// When the last update was.
    updated: Instant,
    /// How many snapshots in a row it has started again from, because they were older than the horizon.
    beyond_horizon: u32,
    /// In an exact session: the newest state whose digest was not that of the prediction, while no other is known.
    asks: Option<Tick>,
    /// The next tick whose input is to be asked for.
    unasked: Tick,
    /// For how many ticks an input waits, and is to wait.
    input_delay: u32,
    wanted_delay: u32,
    /// By which states and curves others were shown in the last update.
    seen: Option<Seen>,
    curves: Curves,
    followers: Followers,
}

impl<W: World> Client<W> {
    /// A client that asks to join. Give its updates a world without entities: everything in it comes with the first
    /// snapshot.
    ///
    /// `nonce` says who it is: a random number, known to it and the server alone. With the same one a program that was
    /// started again, or comes over another connection, gets the player back that it had, as long as the
    /// [server keeps the place](super::server::ServerConfig::keep_lost). After a good-bye, or for another player, it has
    /// to be another one.
    ///
    /// # Panics
    /// When the rules are [exact](Rules::exact) and can't be.
    pub fn new(rules: Rules, config: ClientConfig, nonce: u64) -> Client<W> {
        let mut client = Client::with(rules, config, ClientOrigin::New { nonce }, Phase::Joining);
        client.ask(nonce, None);
        client
    }

    /// A client that has joined already, as `player`, in the session of `epoch`, and whose world is in state 0. For
    /// tests and replays; the server is told by [`join`](super::server::Server::join).
    pub fn joined(
        rules: Rules,
        config: ClientConfig,
        (player, epoch): (PlayerId, u8),
        now: Instant,
        world: &mut W,
    ) -> Client<W> {
        let snapshots = Snapshots::new(&rules.schema, rules.tick_rate);
        let connection = Connection::new((epoch, epoch), now);
        let origin = ClientOrigin::Joined { player, epoch, now };
        let mut session = Session::new(&rules, &config, (player, connection), (TickTime::default(), now), snapshots);
        session.predict_everything(&rules, &Rows::new(&rules.schema));
        session.timeline.begin(world, Tick::ZERO);
        let mut client = Client::with(rules, config, origin, Phase::Playing(Box::new(session)));
        client.clock = MonotonicClock::new(now);
        client
    }

    fn with(rules: Rules, config: ClientConfig, origin: ClientOrigin, phase: Phase<W>) -> Client<W> {
        rules.assert_possible();
        let code = RowCodec::new(&rules.schema);
        Client {
            clock: MonotonicClock::new(Instant::ZERO),
            shared_code: AuthorityCodec::new(rules.schema.components(), &code),
            code,
            singles: Vec::new(),
            input_widths: word_bits(W::Input::columns().iter()),
            wishes: Vec::new(),
            curves: Curves::new(config.curve),
            origin,
            phase,
            differing: None,
            handshake: None,
            stats: ClientStats { speed: 1.0, ..ClientStats::default() },
            done: TickCounts::default(),
            corrections: Vec::with_capacity(FEW),
            events: Vec::with_capacity(FEW),
            events_to_come: Vec::with_capacity(FEW),
            head: SnapshotHead::default(),
            heard: RelayReader::default(),
            used: false,
            tap: None,
            config,
            rules,
        }
    }

    /// Reconciles with the newest snapshot, runs the ticks that are due and writes what is to be sent.
    ///
    /// `input` is called once for each new tick, in order, and never for one that is simulated again. Nothing of the
    /// session is called back from it.
    pub fn update(
        &mut self,
        now: Instant,
        world: &mut W,
        input: &mut dyn FnMut(Tick) -> W::Input,
        outbox: &mut Outbox,
    ) -> Frame<'_> {
        let Some(mut tap) = self.tap.take() else {
            self.advance(now, world, input, outbox);
            return self.frame(now);
        };
        tap.begin_update(self);
        let mut noted = |tick| {
            let given = input(tick);
            tap.input(tick, &given);
            given
        };
        self.advance(now, world, &mut noted, outbox);
        tap.end_update(self, now);
        self.tap = Some(tap);
        self.frame(now)
    }

    fn advance(&mut self, now: Instant, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input, outbox: &mut Outbox) {
        self.used = true;
        let now = self.clock.note(now);
        self.corrections.clear();
        self.events.clear();
        self.events.append(&mut self.events_to_come);
        self.join(now, world, outbox);
        self.curves.usual = self.config.curve;
        self.done = match &mut self.phase {
            Phase::Playing(session) => {
                let (config, rules, input_widths) = (&self.config, &self.rules, &self.input_widths);
                let (stats, corrections, events) = (&mut self.stats, &mut self.corrections, &mut self.events);
                let (wishes, singles, curves) = (&self.wishes, &self.singles, &self.curves);
                let shared_code = &self.shared_code;
                Update {
                    now,
                    session,
                    config,
                    rules,
                    wishes,
                    singles,
                    curves,
                    input_widths,
                    shared_code,
                    stats,
                    corrections,
                    events,
                }
                .play(world, input, outbox)
            }
            _ => TickCounts::default(),
        };
        for event in &self.events {
            if let ClientEvent::Despawned { entity, .. } | ClientEvent::Withdrawn { entity, .. } = event {
                self.curves.forget(*entity);
            }
        }
    }

    /// What both ends have agreed on.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What it decides by itself.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// The same; changes count from the next update on.
    pub fn config_mut(&mut self) -> &mut ClientConfig {
        &mut self.config
    }
}

impl<W: World> Session<W> {
    fn new(
        rules: &Rules,
        config: &ClientConfig,
        (player, connection): (PlayerId, Connection),
        (at, now): (TickTime, Instant),
        snapshots: Snapshots,
    ) -> Session<W> {
        Session {
            player,
            connection,
            timeline: Timeline::new(
                &rules.schema,
                player,
                rules.tick_rate,
                rules.tick_rate.ticks_in(config.horizon.min(HORIZON_MAX)),
                config.checkpoint_interval,
            ),
            snapshots,
            server_rate: ServerRate::new(rules.tick_rate, at, now),
            pacing: Pacing::new(rules.tick_rate, at, now),
            playout: Playout::new(rules.tick_rate),
            wanted: Predicted::own(player),
            owners: Owners::default(),
            near: Vec::new(),
            reconciler: Reconciler::new(&rules.schema, player),
            offsets: ErrorOffsets::new(now),
            lifecycles: Lifecycles::new(&rules.schema, player),
            effects: Effects::new(),
            authority: AuthorityTable::new(),
            told_at: None,
            proxies: Rows::new(&rules.schema),
            tick_unwrap: TickUnwrap::new(at.tick(), now),
            resyncing: None,
            updated: now,
            beyond_horizon: 0,
            asks: None,
            unasked: Tick::ZERO,
            input_delay: 0,
            wanted_delay: 0,
            seen: None,
            curves: Curves::new(config.curve),
            followers: Followers::new(),
        }
    }
}
