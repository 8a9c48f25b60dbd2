//! Sessions in which the inputs of others are relayed, and what each player sees of the others.

use super::Buttons;
use super::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::motion::vector::squared_distance;
use foretell::session::client::{Corrected, Predict};
use foretell::session::server::Server;
use foretell::{
    Client, ClientConfig, Entity, Frame, Instant, Rows, Rules, ServerConfig, ServerFrame, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use std::collections::BTreeMap;

/// What a player saw of another: the own time in ticks, and the place.
pub struct Seen {
    pub entity: Entity,
    pub at: f64,
    pub place: [f64; 3],
}

/// Plays by a seeded script, and looks at what each player sees of the others.
pub struct Play {
    pub seed: u64,
    /// After how many ticks the keys change.
    pub change_every: u32,
    /// From which tick on the players let go of the keys.
    pub quiet_from: Tick,
    /// Before which ticks the server pushes the first mass.
    pub pushes: Vec<Tick>,
    /// The server's states by tick.
    pub truth: BTreeMap<Tick, Rows>,
    pub own: Vec<Corrected>,
    pub others: Vec<Corrected>,
    pub seen: Vec<Seen>,
    /// Where each entity was shown last, by looker.
    pub shown: BTreeMap<(usize, Entity), [f64; 3]>,
    /// The farthest that an entity was shown from where it was shown a frame before, in metres.
    pub step_max_m: f64,
    /// The most samples that waited for their outcome after an update.
    pub waiting_max: u64,
}

impl Play {
    pub fn new(seed: u64) -> Play {
        Play {
            seed,
            change_every: 16,
            quiet_from: Tick::new(u32::MAX),
            pushes: Vec::new(),
            truth: BTreeMap::new(),
            own: Vec::new(),
            others: Vec::new(),
            seen: Vec::new(),
            shown: BTreeMap::new(),
            step_max_m: 0.0,
            waiting_max: 0,
        }
    }

    /// What has happened so far does not count.
    pub fn forget(&mut self) {
        self.own.clear();
        self.others.clear();
        self.seen.clear();
        self.step_max_m = 0.0;
    }

    /// How far others were shown on average from where they truly were that number of ticks before the own time, in metres.
    pub fn error_m(&self, ticks_ago: f64) -> f64 {
        let errors = self.seen.iter().filter_map(|seen| {
            let at = seen.at - ticks_ago;
            let of = |tick: f64| Some(self.truth.get(&Tick::new(tick as u32))?.state::<Body>(seen.entity)?.position);
            let (from, to) = (of(at.floor())?, of(at.floor() + 1.0)?);
            let truth = core::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * at.fract());
            Some(distance(truth, seen.place))
        });
        let errors: Vec<f64> = errors.collect();
        assert!(errors.len() > 1000, "{}", errors.len());
        errors.iter().sum::<f64>() / errors.len() as f64
    }

    /// By how many ticks others are shown in the past: where they fit the truth best.
    pub fn behind_ticks(&self) -> u32 {
        let fits = |ago: &u32| self.error_m(f64::from(*ago));
        (0..40).min_by(|a, b| fits(a).total_cmp(&fits(b))).expect("some")
    }
}

pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    squared_distance(a, b).sqrt()
}

impl Driver<Masses> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        if tick >= self.quiet_from {
            return Buttons::default();
        }
        let part = u64::from((tick.get() + 5 * player as u32) / self.change_every);
        Buttons::from_bits(SplitMix64::new(self.seed ^ part ^ (player as u64) << 32).next_u64() & 15)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        if self.pushes.contains(&server.server.tick()) {
            server.world.first().velocity[0] += 3.0;
        }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Masses>, frame: &ServerFrame<'_>) {
        self.truth.insert(frame.tick, server.rows().clone());
    }

    fn after_client(
        &mut self,
        player: usize,
        Moment { local, .. }: Moment,
        client: &Client<Masses>,
        frame: &Frame<'_>,
    ) {
        let Some(own) = client.player() else { return };
        for correction in frame.corrections {
            let mine = correction.owner == own;
            if mine { &mut self.own } else { &mut self.others }.push(*correction);
            assert!(!correction.causes.is_unexplained(), "{correction:?}");
        }
        let stats = client.stats();
        assert!(stats.prediction.outcomes.add_up(), "{:?}", stats.prediction.outcomes);
        self.waiting_max = self.waiting_max.max(stats.prediction.outcomes.waiting);
        // Shown is the moment between the last two states.
        let at = f64::from(client.tick().get()) - 1.0 + client.tick_fraction(local);
        let mut views = Views::new();
        client.present(local, &mut views);
        for view in &views {
            let Some(Body { position: place, .. }) = view.get() else { continue };
            if view.owner != own {
                self.seen.push(Seen { entity: view.entity, at, place });
            }
            if let Some(before) = self.shown.insert((player, view.entity), place) {
                self.step_max_m = self.step_max_m.max(distance(before, place));
            }
        }
    }
}

pub fn conditions(rtt_ms: u64, loss: f64) -> Conditions {
    Conditions { latency: Duration::from_micros(rtt_ms * 500), loss: Loss::Uniform(loss), ..Conditions::default() }
}

pub fn session(relay_inputs: bool, seed: u64) -> Simulation<Masses> {
    let config = ServerConfig { relay_inputs, ..ServerConfig::default() };
    Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), seed)
}

pub fn add_player(simulation: &mut Simulation<Masses>, predict: Predict, conditions: Conditions) -> usize {
    let client = ClientConfig { predict, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Masses::default() })
}

pub fn session_of(
    count: usize,
    (relay_inputs, predict): (bool, Predict),
    conditions: Conditions,
    seed: u64,
) -> Simulation<Masses> {
    let mut simulation = session(relay_inputs, seed);
    for _ in 0..count {
        add_player(&mut simulation, predict, conditions.clone());
    }
    simulation
}

pub fn run(simulation: &mut Simulation<Masses>, seconds: f64, play: &mut Play) {
    let until = simulation.now() + Duration::from_secs_f64(seconds);
    simulation.run_until(until, play);
}
