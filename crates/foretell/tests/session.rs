//! Whole sessions on the server's own clock, over simulated links: what must hold on any network.

mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, PlayerOptions, ServerHost, Simulation};
use foretell::netsim::{Conditions, SplitMix64};
use foretell::session::client::{Causes, Corrected};
use foretell::{Client, ClientConfig, Frame, Instant, Rules, ServerConfig, State, Tick};
use proptest::prelude::*;

/// Plays by a seeded script, pushes the first player's mass on the server before given ticks, and keeps what happened.
struct Play {
    seed: u64,
    /// Before which tick the server pushes.
    pushes: Vec<Tick>,
    /// From which tick on the players let go of the keys.
    quiet_from: Tick,
    corrections: Vec<(Instant, Corrected)>,
    farthest_m: f64,
}

impl Play {
    fn new(seed: u64) -> Play {
        Play { seed, pushes: Vec::new(), quiet_from: Tick::new(u32::MAX), corrections: Vec::new(), farthest_m: 0.0 }
    }
}

impl Driver<Masses> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        if tick >= self.quiet_from {
            return Buttons::default();
        }
        let part = u64::from(tick.get() / 16);
        Buttons::from_bits(SplitMix64::new(self.seed ^ part ^ (player as u64) << 32).next_u64() & 31)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        let tick = server.server.tick();
        if self.pushes.contains(&tick) {
            server.world.bodies[0].1.velocity[0] += 3.0;
        }
    }

    fn after_client(&mut self, _player: usize, local: Instant, client: &Client<Masses>, frame: &Frame<'_>) {
        self.corrections.extend(frame.corrections.iter().map(|correction| (local, *correction)));
        let stats = client.stats();
        assert!(stats.outcomes.add_up(), "{:?}", stats.outcomes);
        self.farthest_m = self.farthest_m.max(stats.misprediction_m);
    }
}

fn conditions(latency_ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() }
}

fn session(snapshot_interval: u32, seed: u64) -> Simulation<Masses> {
    let config = ServerConfig { snapshot_interval, ..ServerConfig::default() };
    Simulation::new(Rules::new(Body::schema()), config, Masses::default(), seed)
}

fn player(conditions: Conditions, host: HostOptions) -> PlayerOptions<Masses> {
    PlayerOptions { client: ClientConfig::default(), host, conditions, world: Masses::default() }
}

fn run(simulation: &mut Simulation<Masses>, seconds: f64, play: &mut Play) {
    let until = simulation.now() + Duration::from_secs_f64(seconds);
    simulation.run_until(until, play);
}

#[test]
fn a_push_is_one_correction_of_the_articles_size() {
    for (interval, size) in [(1, 0.044), (4, 0.160), (32, 0.614)] {
        let mut simulation = session(interval, 1);
        simulation.add_player(player(conditions(75), HostOptions::at(60)));
        let mut play = Play { pushes: vec![Tick::new(320)], ..Play::new(3) };
        run(&mut simulation, 10.0, &mut play);
        let [(_, correction)] = play.corrections[..] else { panic!("{interval}: {:?}", play.corrections) };
        assert!((correction.misprediction_m - size).abs() < 0.0005, "{interval}: {correction:?}");
        assert_eq!(correction.causes, Causes::SERVER_EVENT);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn without_a_missed_deadline_there_is_no_correction(
        latency in 0_u64..500,
        interval in prop::sample::select(vec![1_u32, 2, 4, 8, 32]),
        fps in prop::sample::select(vec![30_u32, 60, 64, 144]),
        seed: u64,
    ) {
        let mut simulation = session(interval, seed);
        simulation.add_player(player(conditions(latency), HostOptions::at(fps)));
        let mut play = Play::new(seed);
        run(&mut simulation, 12.0, &mut play);
        let client = &simulation.players[0].client;
        let served = simulation.server.server.stats(client.player().expect("joined")).expect("known");
        prop_assert_eq!(served.inputs_missed, 0, "{:?}", client.stats());
        prop_assert_eq!(&play.corrections[..], &[]);
        prop_assert!(client.stats().outcomes.agreed > 20);
    }
}
