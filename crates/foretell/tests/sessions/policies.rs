//! What becomes of a wrong prediction where nothing is rolled back: the policies that start again from the authority's
//! state, or snap to it.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell::motion::vector::squared_distance;
use foretell::netsim::{Conditions, Loss, SplitMix64};
use foretell::session::client::{Causes, ClientStats, Corrected, Predict, Reconciliation};
use foretell::{Client, ClientConfig, ClientState, Frame, Instant, Rules, ServerConfig, State, Tick};
use proptest::prelude::*;

/// Presses keys, or none from a tick on; everybody is pushed by the server before some ticks.
#[derive(Default)]
struct Play {
    pushes: Vec<u32>,
    quiet_from: Option<u32>,
    corrections: Vec<Corrected>,
    /// For how many updates the first client has waited for a resync.
    waited: u32,
    /// How often an input was asked for.
    asked: Vec<Tick>,
}

impl Driver<Masses> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        if player == 0 {
            self.asked.push(tick);
        }
        if self.quiet_from.is_some_and(|from| tick.get() >= from) {
            return Buttons::default();
        }
        let part = u64::from(tick.get() / 16);
        Buttons::from_bits(SplitMix64::new(part ^ (player as u64) << 32).next_u64() & 31)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        if self.pushes.contains(&server.server.tick().get()) {
            server.world.bodies.iter_mut().for_each(|(_, body)| body.velocity[0] += 3.0);
        }
    }

    fn after_client(&mut self, player: usize, _at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        assert!(client.stats().outcomes.add_up(), "{:?}", client.stats().outcomes);
        if player == 0 {
            self.corrections.extend(frame.corrections);
        }
        self.waited += u32::from(player == 0 && frame.state == ClientState::Resyncing);
    }
}

/// Two players; the first with this policy, and predicting everybody if it is asked to. Returns its counters, and how far it is from the truth in the end.
fn run(
    reconciliation: Reconciliation,
    conditions: Conditions,
    (seed, predict): (u64, Predict),
    play: &mut impl Driver<Masses>,
) -> (ClientStats, f64) {
    let config = ServerConfig { snapshot_interval: 4, relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Body::schema()), config, Masses::default(), seed);
    for reconciliation in [reconciliation, Reconciliation::Rollback] {
        let client = ClientConfig { reconciliation, predict, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions {
            client,
            host: HostOptions::at(60),
            conditions,
            world: Masses::default(),
        });
    }
    simulation.run_until(Instant::ZERO + Duration::from_secs(22), play);
    let host = &simulation.players[0];
    let own = host.client.player().expect("it has joined");
    let mut bodies = simulation.server.world.bodies.iter();
    let (entity, truth) = bodies.find(|(entity, _)| entity.player() == own).expect("it is there");
    (host.client.stats(), squared_distance(truth.position, host.world.body(*entity).position).sqrt())
}

fn latency(ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(ms), ..Conditions::default() }
}

#[test]
fn a_resync_lets_go_for_a_round_trip_and_is_one_correction() {
    let mut play = Play { pushes: vec![640], quiet_from: Some(1200), ..Play::default() };
    let (stats, apart) = run(Reconciliation::Resync, latency(75), (1, Predict::Own), &mut play);
    assert_eq!((stats.resyncs, stats.rollbacks, stats.corrections), (1, 0, 1), "{stats:?}");
    let correction = play.corrections[0];
    assert_eq!((play.corrections.len(), correction.causes), (1, Causes::RESYNC));
    assert!(correction.tick > Tick::new(650) && correction.tick < Tick::new(680), "{correction:?}");
    // 150 ms, the way of four ticks between two snapshots, and a frame.
    assert!((8..=16).contains(&play.waited), "{} frames", play.waited);
    assert!(stats.outcomes.left > 0 && stats.outcomes.resync == 1, "{:?}", stats.outcomes);
    assert!(apart < 1e-3, "{apart}");
    assert!(play.asked.windows(2).all(|two| two[0] < two[1]), "inputs are asked for once, dropped or not");
}

/// Everybody goes right from tick 600 on, and is pushed before tick 640; how slow the slowest is soon after, on the server.
struct Right(f64);

impl Driver<Masses> for Right {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        Buttons { right: tick >= Tick::new(600), ..Buttons::default() }
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        let tick = server.server.tick().get();
        for (_, body) in &mut server.world.bodies {
            body.velocity[0] += if tick == 640 { 3.0 } else { 0.0 };
            if (642..680).contains(&tick) {
                self.0 = self.0.min(body.velocity[0]);
            }
        }
    }
}

#[test]
fn who_has_let_go_presses_nothing() {
    let slowest = |policy| {
        let mut right = Right(f64::INFINITY);
        run(policy, latency(75), (1, Predict::Own), &mut right);
        right.0
    };
    let (kept, let_go) = (slowest(Reconciliation::Rollback), slowest(Reconciliation::Resync));
    assert!(kept > 6.5 && let_go < 5.0, "{kept} {let_go} m/s");
}

#[test]
fn a_snap_simulates_nothing_again_and_comes_back_until_one_stands_still() {
    let run_with = |policy, quiet_from| {
        let mut play = Play { pushes: vec![640], quiet_from: Some(quiet_from), ..Play::default() };
        let (stats, apart) = run(policy, latency(75), (1, Predict::Own), &mut play);
        let explained = play.corrections.iter().all(|correction| !correction.causes.is_unexplained());
        assert!(explained, "{policy:?}: {:?}", play.corrections);
        (stats, apart, play.corrections)
    };
    let (snapped, apart, corrections) = run_with(Reconciliation::Snap, 1200);
    assert_eq!((snapped.resimulated, snapped.rollbacks, snapped.resyncs), (0, 0, 0), "{snapped:?}");
    assert!(apart < 1e-3, "{apart}");
    let (rolled, _, _) = run_with(Reconciliation::Rollback, 1200);
    assert_eq!(rolled.corrections, 1);
    assert!(snapped.corrections > 20, "while it moves it is behind: {}", snapped.corrections);
    assert_eq!(corrections[0].causes, Causes::SERVER_EVENT);
    assert!(corrections[1].causes.contains(Causes::LEFT), "{:?}", corrections[1]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 24, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_policy_and_the_network_outcomes_add_up_and_calm_brings_agreement(
        seed: u64, ms in 0_u64..200, jitter in 0_u64..60, loss in 0.0..0.15,
        predict in prop_oneof![Just(Predict::Own), Just(Predict::Everyone)],
        policy in prop_oneof![Just(Reconciliation::Snap), Just(Reconciliation::Resync)],
    ) {
        let jitter = Duration::from_millis(jitter);
        let conditions = Conditions { jitter, loss: Loss::Uniform(loss), ..latency(ms) };
        let mut play = Play { pushes: vec![200, 300, 420], quiet_from: Some(640), ..Play::default() };
        let (stats, apart) = run(policy, conditions, (seed, predict), &mut play);
        prop_assert!(stats.corrections > 0 && stats.outcomes.agreed > 0, "{stats:?}");
        prop_assert!(apart < 1e-3, "{apart}");
        let unexplained = play.corrections.iter().find(|correction| correction.causes.is_unexplained());
        prop_assert!(unexplained.is_none(), "{unexplained:?}");
    }
}
