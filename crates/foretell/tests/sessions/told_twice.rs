//! What changes once, and no later state repairs: on a link that loses datagrams it is told with two states, so that it is seldom late.

use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table,
    Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {}

/// Rests all its life.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Crate {
    #[state(position)]
    at: [f32; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Lamp {
    lit_in: u32,
}

#[derive(World, Clone, Default)]
struct Store {
    crates: Table<Crate>,
    lamps: Table<Lamp>,
}

/// How many ticks are between one change and the next, and how many changes after a crate has come it ends.
const EVERY: u32 = 50;
const STAYS: u32 = 3;

impl Simulate for Store {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        let tick = step.tick().get();
        if !step.is_authority() || !tick.is_multiple_of(EVERY) {
            return;
        }
        if tick == 0 {
            self.lamps.spawn(step, PlayerId::SERVER, Lamp::default());
        }
        self.lamps.iter_mut().for_each(|mut lamp| lamp.lit_in = tick);
        self.crates.spawn(step, PlayerId::SERVER, Crate { at: [tick as f32, 0.0] });
        let old = self.crates.iter().map(|one| one.entity()).find(|of| of.tick().get() + STAYS * EVERY <= tick);
        old.into_iter().for_each(|old| _ = self.crates.remove(old));
    }
}

#[derive(Default)]
struct Watch {
    views: Views,
    shown: BTreeMap<Entity, u32>,
    lit_in: u32,
    /// How many seconds after its tick each of these was shown.
    changes: Vec<f64>,
    begins: Vec<f64>,
    ends: Vec<f64>,
}

impl Driver<Store> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Keys {
        Keys {}
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Store>, _frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        let now_s = at.now.micros() as f64 / 1e6;
        let late_s = |tick: u32| now_s - f64::from(tick) / 64.0;
        let mut there = BTreeMap::new();
        for view in &self.views {
            if let Some(lamp) = view.get::<Lamp>().filter(|lamp| lamp.lit_in != self.lit_in) {
                self.lit_in = lamp.lit_in;
                self.changes.push(late_s(lamp.lit_in));
            }
            if view.get::<Crate>().is_some() {
                there.insert(view.entity, view.entity.tick().get());
            }
        }
        let begun = there.iter().filter(|(of, _)| !self.shown.contains_key(of));
        self.begins.extend(begun.map(|(_, tick)| late_s(*tick)));
        let ended = self.shown.iter().filter(|(of, _)| !there.contains_key(of));
        self.ends.extend(ended.map(|(_, tick)| late_s(tick + STAYS * EVERY)));
        self.shown = there;
    }
}

/// How many of these are late by more than half a round trip, and how many there are.
fn late(mut of: Vec<f64>, latency_s: f64) -> (usize, usize) {
    of.drain(..8);
    of.sort_by(f64::total_cmp);
    let usual = of[of.len() / 2];
    (of.iter().filter(|late| **late > usual + latency_s).count(), of.len())
}

#[test]
fn what_changes_begins_or_ends_once_is_seldom_late_by_a_round_trip_where_datagrams_are_lost() {
    for (latency_ms, lost, seed) in [(80, 0.05, 1), (150, 0.05, 2), (150, 0.1, 3)] {
        let mut simulation =
            Simulation::new(Rules::new(Store::schema()), ServerConfig::default(), Store::default(), seed);
        let conditions = Conditions {
            latency: Duration::from_millis(latency_ms),
            loss: Loss::Uniform(lost),
            ..Conditions::default()
        };
        let (client, world) = (ClientConfig::default(), Store::default());
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world });
        let mut watch = Watch::default();
        simulation.run_until(Instant::ZERO + Duration::from_secs(240), &mut watch);
        for (name, of) in [("changes", watch.changes), ("begins", watch.begins), ("ends", watch.ends)] {
            let (late, all) = late(of, latency_ms as f64 / 1000.0);
            assert!(all > 280, "{all} {name}");
            // One in a hundred where one in ten datagrams is lost; of those told once it was one in ten.
            assert!(late * 60 <= all, "{name}: {late} of {all} late at {latency_ms} ms, {lost} lost");
        }
    }
}
