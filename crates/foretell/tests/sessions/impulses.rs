//! Impulses by the server, as in the second article's runs, over the same links, and on the server's own clock: how many
//! corrections follow, and how large they are.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::session::client::{Causes, ClientStats, Corrected, Redundancy};
use foretell::{Client, ClientConfig, Frame, Instant, Rules, SendRate, ServerConfig, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};

/// The server pushes the body by 3 m/s before this tick.
const PUSHED: u32 = 640;

/// One player, who presses keys, or none.
#[derive(Default)]
struct Play {
    presses: bool,
    pushes: bool,
    corrections: Vec<Corrected>,
}

impl Driver<Masses> for Play {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        let keys = SplitMix64::new(u64::from(tick.get() / 16)).next_u64() & 31;
        // At last nobody presses anything, so that the body comes to rest.
        if self.presses && tick < Tick::new(1920) { Buttons::from_bits(keys) } else { Buttons::default() }
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        if self.pushes && server.server.tick() == Tick::new(PUSHED) {
            server.world.bodies.iter_mut().for_each(|mut body| body.velocity[0] += 3.0);
        }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        assert!(client.stats().prediction.outcomes.add_up(), "{:?}", client.stats().prediction.outcomes);
        self.corrections.extend(frame.corrections);
    }
}

/// Thirty-two seconds at this rate of snapshots, in Hz. What the client has counted, of substituted inputs after it
/// has found its lead; the two ends agree then, bit for bit.
fn run(conditions: Conditions, rate: u16, redundancy: Redundancy, play: &mut Play) -> ClientStats {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(rate), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), 1);
    let (host, world) = (HostOptions::at(64), Masses::default());
    let client = ClientConfig { redundancy, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host, conditions, world });
    simulation.run_until(Instant::from_micros(4_000_000), play);
    let begun = simulation.players[0].client.stats().inputs.substituted;
    simulation.run_until(Instant::from_micros(32_000_000), play);
    let client = &simulation.players[0].client;
    let (tick, told) = client.newest_snapshot().expect("snapshots have come");
    assert!(client.predicted(tick).expect("it is remembered").iter().eq(told.iter()), "{tick:?}");
    let mut stats = client.stats();
    stats.inputs.substituted -= begun;
    stats
}

fn latency(ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(ms), ..Conditions::default() }
}

/// The latencies and the snapshot rates of the article's runs.
fn networks() -> impl Iterator<Item = (u64, u16)> {
    [0, 75, 250].into_iter().flat_map(|ms| [64, 16, 2].map(|rate| (ms, rate)))
}

#[test]
fn where_nothing_is_lost_and_nobody_pushes_nothing_is_corrected() {
    for (ms, rate) in networks() {
        let mut play = Play { presses: true, ..Play::default() };
        let stats = run(latency(ms), rate, Redundancy::default(), &mut play);
        assert_eq!(
            (stats.prediction.corrections, stats.prediction.resimulated, stats.inputs.substituted),
            (0, 0, 0),
            "{ms} ms, {rate} Hz"
        );
        assert!(stats.prediction.outcomes.agreed > 1_500 * u64::from(rate) / 64 - 2, "{:?}", stats.prediction.outcomes);
    }
}

#[test]
fn a_push_is_one_correction_as_large_as_the_way_that_it_made_until_the_next_snapshot() {
    for (ms, rate) in networks() {
        let mut play = Play { pushes: true, ..Play::default() };
        let stats = run(latency(ms), rate, Redundancy::default(), &mut play);
        let at = format!("{ms} ms, {rate} Hz");
        let [correction] = play.corrections[..] else { panic!("{at}: {:?}", play.corrections) };
        assert_eq!(
            (stats.prediction.corrections, stats.prediction.rollbacks, correction.causes),
            (1, 1, Causes::SERVER_EVENT),
            "{at}"
        );
        // The first state after the push that is told.
        let tick = (PUSHED + 1).next_multiple_of(64 / u32::from(rate));
        assert_eq!(correction.tick, Tick::new(tick), "{at}");
        let mut pushed = Body { velocity: [3.0, 0.0, 0.0], ..Body::default() };
        (PUSHED..tick).for_each(|_| pushed.step(Buttons::default(), 1.0 / 64.0));
        assert!((correction.misprediction_m - pushed.position[0]).abs() < 1e-12, "{at}: {correction:?}");
        // It goes back by the way there and back, and by the slack of the inputs.
        let way = 2.0 * 0.064 * ms as f64;
        let depth = f64::from(stats.prediction.rollback_ticks_max);
        assert!((way..way + 8.0).contains(&depth), "{at}: {depth} ticks, {way} of them on the way");
        assert_eq!(stats.prediction.resimulated, u64::from(stats.prediction.rollback_ticks_max), "{at}");
    }
}

#[test]
fn lost_inputs_are_corrected_where_nothing_is_repeated_and_with_redundancy_hardly_any_is_missed() {
    for loss in [0.05, 0.1, 0.25] {
        let mut corrections = 0;
        for (ms, rate) in networks() {
            let at = format!("{loss}, {ms} ms, {rate} Hz");
            let lossy = Conditions { loss: Loss::Uniform(loss), ..latency(ms) };
            let count = |redundancy| {
                let mut play = Play { presses: true, ..Play::default() };
                let stats = run(lossy.clone(), rate, redundancy, &mut play);
                let explained = |one: &Corrected| one.causes.contains(Causes::OWN_INPUT);
                assert!(play.corrections.iter().all(explained), "{at}: {:?}", play.corrections);
                assert!(stats.prediction.corrections <= stats.inputs.substituted + 8, "{at}: {stats:?}");
                stats
            };
            let (without, with) = (count(Redundancy::None), count(Redundancy::default()));
            assert!(without.inputs.substituted > (1_000.0 * loss) as u64, "{at}: {without:?}");
            assert!(with.inputs.substituted * 4 < without.inputs.substituted, "{at}: {with:?}, {without:?}");
            corrections += without.prediction.corrections;
        }
        assert!(corrections > 30, "{loss}: {corrections}");
    }
}
