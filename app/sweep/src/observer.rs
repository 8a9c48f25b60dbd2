//! Plays one row and observes it: takes the samples that its figures are made of.

use super::samples::Samples;
use core::time::Duration;
use foretell::session::client::{Causes, ClientStats, PoseSource};
use foretell::session::server::PeerStats;
use foretell::{Client, ClientState, Entity, Frame, Instant, PlayerId, Server, ServerFrame, Tick, Views};
use foretell_arena::{Arena, Buttons, Cube};
use foretell_plan::bots::{Bots, Push};
use foretell_plan::figures::JOIN_S;
use foretell_plan::smoothness::{Point, distance};
use foretell_sim::harness::{Driver, Moment, ServerHost};
use std::collections::BTreeMap;

/// Causes that are no network's: machines here neither stand still nor set their clocks, and steps are exact.
const UNSOUND: [Causes; 3] = [Causes::CLOCK, Causes::NONDETERMINISM, Causes::ENDS_DIFFER];

/// Plays a session and measures every player for the same time, each from [`JOIN_S`] seconds after they joined.
pub struct Observer {
    /// By player.
    pub players: Vec<ObservedPlayer>,
    /// Where every entity was after every step of the server, ascending by time.
    pub truth: BTreeMap<Entity, Vec<Point>>,
    bots: Bots,
    /// Those that are still to come, ascending by tick.
    pushes: std::iter::Peekable<std::vec::IntoIter<Push>>,
    ticks_per_s: f64,
    seconds: u32,
}

/// What was seen of one player.
pub struct ObservedPlayer {
    started: Instant,
    id: Option<PlayerId>,
    /// When measuring began, and the counters then.
    from: Option<(Instant, Counters)>,
    /// The counters when measuring was over.
    until: Option<Counters>,
    peer: PeerStats,
    /// How many samples the client had compared.
    compared: u64,
    views: Views,
    before: Option<LastShown>,
    /// From the first hello to the first tick.
    pub join: Duration,
    /// Whether the outcomes added up in every frame.
    pub outcomes_add_up: bool,
    /// What was measured.
    pub samples: PlayerSamples,
}

/// Counters of both ends about one player.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Of the client.
    pub client: ClientStats,
    /// Of the server.
    pub peer: PeerStats,
}

/// What was shown of the own entity in the frame before.
#[derive(Clone, Copy)]
struct LastShown {
    shown: [f64; 3],
    at: SubTick,
}

/// An instant between two states.
#[derive(Clone, Copy)]
struct SubTick {
    /// The newer of the two.
    tick: Tick,
    /// How far it is from the older one to it, 0 to 1.
    fraction: f64,
}

/// Samples of one player, each percentile's own.
#[derive(Clone, Debug, Default)]
pub struct PlayerSamples {
    /// Per correction, in metres.
    pub correction_m: Samples,
    /// Corrections with each of these causes: none known, own input, server event.
    pub causes: [u32; 3],
    /// Corrections that snapped.
    pub teleports: u32,
    /// The deepest rollback.
    pub rollback_ticks: u32,
    /// Per frame, in metres.
    pub step_excess_m: Samples,
    /// Per compared sample, in metres.
    pub misprediction_m: Samples,
    /// Per frame, in ms.
    pub lead_ms: Samples,
    /// Per frame: how old the newest state is, in ms.
    pub snapshot_age_ms: Samples,
    /// Per frame, in ms.
    pub playout_delay_ms: Samples,
    /// Per frame: |speed - 1|.
    pub speed_change: Samples,
    /// Frames, and those in which the client did not fare well.
    pub frames: [u32; 2],
    /// Frames of other entities, and those beyond the newest snapshot.
    pub others_frames: [u32; 2],
    /// Where others were shown.
    pub others: BTreeMap<Entity, Vec<Point>>,
}

impl Observer {
    /// For a session of this tick rate, in which each player is measured for so many seconds.
    pub fn new(bots: Bots, pushes: Vec<Push>, ticks_per_s: u16, seconds: u32) -> Observer {
        Observer {
            players: Vec::new(),
            truth: BTreeMap::new(),
            bots,
            pushes: pushes.into_iter().peekable(),
            ticks_per_s: f64::from(ticks_per_s),
            seconds,
        }
    }

    /// Also looks at the next player, from `now` on.
    pub fn add(&mut self, now: Instant) {
        self.players.push(ObservedPlayer {
            started: now,
            id: None,
            from: None,
            until: None,
            peer: PeerStats::default(),
            compared: 0,
            views: Views::new(),
            before: None,
            join: Duration::ZERO,
            outcomes_add_up: true,
            samples: PlayerSamples::default(),
        });
    }

    /// How long each player is measured, in seconds.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Whether every player was measured.
    pub fn is_done(&self) -> bool {
        self.players.iter().all(|player| player.until.is_some())
    }
}

impl ObservedPlayer {
    /// The counters at the start and at the end; `None` when the player never got as far.
    pub fn counters(&self) -> Option<(Counters, Counters)> {
        Some((self.from?.1, self.until?))
    }

    /// Begins or ends measuring when it is time. Whether this frame is measured.
    fn is_measured(&mut self, now: Instant, client: &Client<Arena>, seconds: u32) -> bool {
        if self.id.is_none() {
            let Some(player) = client.player() else { return false };
            self.id = Some(player);
            self.join = now.since(self.started);
        }
        let counters = Counters { client: client.stats(), peer: self.peer };
        let begin = self.started + self.join + Duration::from_secs(JOIN_S);
        match self.from {
            None if now >= begin => {
                self.from = Some((now, counters));
                true
            }
            None => false,
            Some((from, _)) if now.since(from) >= Duration::from_secs(u64::from(seconds)) => {
                self.until = self.until.or(Some(counters));
                false
            }
            Some(_) => true,
        }
    }

    fn note_corrections(&mut self, frame: &Frame<'_>) {
        for corrected in frame.corrections {
            self.samples.correction_m.push(corrected.shown_m);
            self.samples.teleports += u32::from(corrected.teleport);
            self.samples.rollback_ticks = self.samples.rollback_ticks.max(corrected.until.since(corrected.tick));
            let causes = corrected.causes;
            let known = [Causes::OWN_INPUT, Causes::SERVER_EVENT].map(|cause| causes.contains(cause));
            let [unexplained, own_input, server_event] = &mut self.samples.causes;
            *unexplained += u32::from(causes.is_unexplained() || UNSOUND.iter().any(|cause| causes.contains(*cause)));
            *own_input += u32::from(known[0]);
            *server_event += u32::from(known[1]);
        }
    }

    fn note_clock(&mut self, Moment { now, local }: Moment, client: &Client<Arena>, ticks_per_s: f64) {
        let stats = client.stats();
        let at_s = now.micros() as f64 / 1e6;
        // The next tick to run is the one after the running one.
        let running = f64::from(client.tick().get()) - 1.0 + client.tick_fraction(local);
        self.samples.lead_ms.push((running / ticks_per_s - at_s) * 1000.0);
        if let Some(made) = client.newest_snapshot().and_then(|(tick, _)| tick.back(1)) {
            // A state is there when the tick before it begins.
            self.samples.snapshot_age_ms.push((at_s - f64::from(made.get()) / ticks_per_s) * 1000.0);
        }
        self.samples.playout_delay_ms.push(stats.playout.delay_ticks / ticks_per_s * 1000.0);
        self.samples.speed_change.push((stats.clock.speed - 1.0).abs());
    }

    fn note_shown(&mut self, Moment { now, local }: Moment, client: &Client<Arena>) {
        let at_s = now.micros() as f64 / 1e6;
        let own = client.player();
        let mut before = None;
        client.present(local, &mut self.views);
        for view in &self.views {
            let shown = view.pose().position;
            if Some(view.owner) != own {
                self.samples.others_frames[0] += 1;
                self.samples.others_frames[1] += u32::from(matches!(view.source, PoseSource::Extrapolated(_)));
                self.samples.others.entry(view.entity).or_default().push(Point { at_s, position: shown });
                continue;
            }
            let simulated = sub(shown, view.offset.position());
            if let Some(before) = self.before {
                let now_known = simulated_at(client, view.entity, before.at);
                // After a resync that state is gone: where the entity would have been at its present velocity.
                let step = scale(view.velocity(), 1.0 / 60.0);
                let simulated_before = now_known.unwrap_or_else(|| sub(simulated, step));
                let excess = distance(sub(shown, before.shown), sub(simulated, simulated_before));
                self.samples.step_excess_m.push(excess);
            }
            before =
                Some(LastShown { shown, at: SubTick { tick: client.tick(), fraction: client.tick_fraction(local) } });
        }
        self.before = before;
    }
}

/// Where an entity is simulated between two states, as the client knows it now: a step over a correction is measured in
/// one history, not from the wrong one into the corrected one.
fn simulated_at(client: &Client<Arena>, entity: Entity, SubTick { tick, fraction }: SubTick) -> Option<[f64; 3]> {
    let position = |tick: Tick| Some(client.predicted(tick)?.state::<Cube>(entity)?.position.map(f64::from));
    let (from, to) = (position(tick.back(1)?)?, position(tick)?);
    Some(std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * fraction))
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn scale(a: [f64; 3], by: f64) -> [f64; 3] {
    a.map(|value| value * by)
}

impl Driver<Arena> for Observer {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        self.bots.buttons(player, tick)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Arena>) {
        let tick = server.server.tick();
        while let Some(push) = self.pushes.next_if(|push| push.tick <= tick) {
            let player = self.players.get(push.player).and_then(|player| player.id);
            let Some(cube) = player.and_then(|player| server.world.cube_mut(player)) else { continue };
            (0..3).for_each(|axis| cube.velocity[axis] += push.velocity[axis]);
        }
    }

    fn after_server(&mut self, now: Instant, server: &Server<Arena>, _frame: &ServerFrame<'_>) {
        let at_s = now.micros() as f64 / 1e6;
        for (of, cube) in server.rows().states::<Cube>() {
            let point = Point { at_s, position: cube.position.map(f64::from) };
            self.truth.entry(of.entity).or_default().push(point);
        }
        for player in &mut self.players {
            let stats = player.id.and_then(|player| server.stats(player));
            player.peer = stats.copied().unwrap_or(player.peer);
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        let player = &mut self.players[player];
        let outcomes = client.stats().prediction.outcomes;
        player.outcomes_add_up &= outcomes.add_up();
        let compared = outcomes.agreed + outcomes.corrected;
        let is_new = player.compared < compared;
        player.compared = compared;
        if !player.is_measured(at.now, client, self.seconds) {
            player.before = None;
            return;
        }
        if is_new {
            player.samples.misprediction_m.push(client.stats().prediction.misprediction_m);
        }
        player.samples.frames[0] += 1;
        player.samples.frames[1] += u32::from(frame.state != ClientState::Playing);
        player.note_corrections(frame);
        player.note_clock(at, client, self.ticks_per_s);
        player.note_shown(at, client);
    }
}
