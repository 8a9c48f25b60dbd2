//! Others predicted from relayed inputs: whole sessions of several players.

mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, PlayerOptions, Simulation};
use foretell::motion::vector::squared_distance;
use foretell::netsim::{Conditions, Loss, SplitMix64};
use foretell::session::client::{Causes, Corrected, Predict, Source};
use foretell::session::server::Server;
use foretell::time::TickTime;
use foretell::{
    Client, ClientConfig, Entity, Frame, GapPolicy, Instant, PlayerId, Rules, ServerConfig, ServerFrame, State, Tick,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Plays by a seeded script, and looks at what each player sees of the others.
struct Play {
    seed: u64,
    /// Every so many ticks the keys change.
    change_every: u32,
    /// From which tick on the players let go of the keys.
    quiet_from: Tick,
    /// The server's state by tick: the truth.
    truth: BTreeMap<Tick, Vec<(Entity, Body)>>,
    own: Vec<Corrected>,
    others: Vec<Corrected>,
    /// How far others are shown from where they truly are at the tick that is shown of the own player, in metres.
    errors_m: Vec<f64>,
    /// Where each other is shown, by looker.
    shown: BTreeMap<(usize, Entity), [f64; 3]>,
    /// The farthest that an entity was shown from where it was shown in the frame before.
    farthest_step_m: f64,
    watching: bool,
}

impl Play {
    fn new(seed: u64) -> Play {
        Play {
            seed,
            change_every: 16,
            quiet_from: Tick::new(u32::MAX),
            truth: BTreeMap::new(),
            own: Vec::new(),
            others: Vec::new(),
            errors_m: Vec::new(),
            shown: BTreeMap::new(),
            farthest_step_m: 0.0,
            watching: false,
        }
    }

    fn forget(&mut self) {
        self.own.clear();
        self.others.clear();
        self.errors_m.clear();
        self.farthest_step_m = 0.0;
    }

    /// Looks at the others as they are shown, against the truth of the moment that the own player lives in.
    fn watch(&mut self, looker: usize, local: Instant, client: &Client<Masses>) {
        let own = client.player();
        let at = TickTime::start_of(client.tick()) - TickTime::ticks(1.0 - client.tick_fraction(local));
        let (before, t) = (at.tick(), at.fraction());
        let (mut errors, mut steps) = (Vec::new(), Vec::new());
        client.present(local, |view| {
            if Some(view.entity.player()) != own {
                let place = view.state::<Body>().position;
                errors.push((view.entity, place));
                steps.push((view.entity, place));
            }
        });
        for (entity, place) in steps {
            if let Some(before) = self.shown.insert((looker, entity), place) {
                self.farthest_step_m = self.farthest_step_m.max(distance(before, place));
            }
        }
        // The truth of that moment is not simulated yet: remember what was shown.
        self.pending(before, t, errors);
    }

    fn pending(&mut self, tick: Tick, t: f64, shown: Vec<(Entity, [f64; 3])>) {
        self.errors_m.extend(shown.iter().filter_map(|(entity, place)| {
            let of = |tick: Tick| Some(self.truth.get(&tick)?.iter().find(|(known, _)| known == entity)?.1.position);
            let (from, to) = (of(tick)?, of(tick.next())?);
            let truth = core::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * t);
            Some(distance(truth, *place))
        }));
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
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

    fn after_client(&mut self, player: usize, local: Instant, client: &Client<Masses>, frame: &Frame<'_>) {
        let own = client.player();
        for correction in frame.corrections {
            let mine = Some(correction.entity.player()) == own;
            if mine { &mut self.own } else { &mut self.others }.push(*correction);
            assert!(!correction.causes.is_unexplained(), "{correction:?}");
        }
        let stats = client.stats();
        assert!(stats.outcomes.add_up(), "{:?}", stats.outcomes);
        if self.watching {
            self.watch(player, local, client);
        }
    }
}

fn conditions(rtt_ms: u64, loss: f64) -> Conditions {
    Conditions { latency: Duration::from_micros(rtt_ms * 500), loss: Loss::Uniform(loss), ..Conditions::default() }
}

fn session(relay_inputs: bool, predict: Predict, each: &[Conditions], seed: u64) -> Simulation<Masses> {
    let config = ServerConfig { relay_inputs, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Body::schema()), config, Masses::default(), seed);
    for conditions in each {
        let client = ClientConfig { predict, ..ClientConfig::default() };
        let host = HostOptions::at(60);
        simulation.add_player(PlayerOptions { client, host, conditions: *conditions, world: Masses::default() });
    }
    simulation
}

fn run(simulation: &mut Simulation<Masses>, seconds: f64, play: &mut Play) {
    let until = simulation.now() + Duration::from_secs_f64(seconds);
    simulation.run_until(until, play);
}

/// What the state of every entity will be: the same session, run ahead.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    if sorted.is_empty() { 0.0 } else { sorted[((sorted.len() - 1) as f64 * q) as usize] }
}

fn sizes(corrections: &[Corrected]) -> Vec<f64> {
    let mut sizes: Vec<f64> = corrections.iter().map(|one| one.shown_m).collect();
    sizes.sort_by(f64::total_cmp);
    sizes
}

#[test]
#[ignore = "a measurement"]
fn measure() {
    for (rtt, loss, change) in
        [(150, 0.05, 16), (150, 0.0, 16), (50, 0.05, 16), (150, 0.05, 32), (300, 0.05, 16), (1, 0.0, 16)]
    {
        for (relay, predict) in [(false, Predict::Own), (true, Predict::Own), (true, Predict::Everyone)] {
            let mut simulation = session(relay, predict, &[conditions(rtt, loss); 4], 7);
            let mut play = Play { change_every: change, ..Play::new(7) };
            run(&mut simulation, 5.0, &mut play);
            play.forget();
            let bytes = simulation.players[0].client.stats().bytes_received;
            let before = simulation.players[0].client.stats();
            run(&mut simulation, 60.0, &mut play);
            let after = simulation.players[0].client.stats();
            let bytes = (after.bytes_received - bytes) / 60;
            let (own, others) = (sizes(&play.own), sizes(&play.others));
            println!(
                "rtt {rtt} loss {loss} change {change} relay {relay} {predict:?}: {bytes} B/s; others {}/min per pair p50 {:.3} p99 {:.3} max {:.3}; own {}/min; resim {}/s",
                play.others.len() / 12,
                quantile(&others, 0.5),
                quantile(&others, 0.99),
                quantile(&others, 1.0),
                own.len() / 4,
                (after.resimulated - before.resimulated) / 60,
            );
        }
    }
}
