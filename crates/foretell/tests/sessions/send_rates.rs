//! How often snapshots and inputs go out, by their rates.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::{Client, ClientConfig, Frame, Instant, Rules, SendRate, ServerConfig, Tick, TickRate, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

/// The ticks of the newest snapshots that the client has had, each once.
#[derive(Default)]
struct Snapshots(Vec<u32>);

impl Driver<Masses> for Snapshots {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        let Some((tick, _)) = client.newest_snapshot() else { return };
        if self.0.last() != Some(&tick.get()) {
            self.0.push(tick.get());
        }
    }
}

/// Four seconds at 60 ticks per second. The ticks of the snapshots after the first two seconds, and how many datagrams the
/// client has sent in the last second.
fn run(rate: SendRate) -> (Vec<u32>, u64) {
    let rules = Rules { tick_rate: TickRate::hz(60), ..Rules::new(Masses::schema()) };
    let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Masses::default(), 1);
    let client = ClientConfig { send_rate: rate, ..ClientConfig::default() };
    let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(240), conditions, world: Masses::default() });
    let mut snapshots = Snapshots::default();
    simulation.run_until(Instant::from_micros(3_000_000), &mut snapshots);
    let sent = simulation.players[0].client.stats().network.datagrams_sent;
    simulation.run_until(Instant::from_micros(4_000_000), &mut snapshots);
    snapshots.0.retain(|tick| *tick >= 120);
    (snapshots.0, simulation.players[0].client.stats().network.datagrams_sent - sent)
}

#[test]
fn snapshots_and_inputs_go_out_as_often_as_their_rates_say_evenly_apart() {
    for (rate, apart) in [
        (SendRate::EveryTick, 1),
        (SendRate::Hz(60), 1),
        (SendRate::Hz(1000), 1),
        (SendRate::Hz(20), 3),
        // 2.4 ticks apart are 2.
        (SendRate::Hz(25), 2),
    ] {
        let (snapshots, inputs) = run(rate);
        assert!(snapshots.windows(2).all(|pair| pair[1] - pair[0] == apart), "{rate:?}: {snapshots:?}");
        assert!(snapshots.iter().all(|tick| tick.is_multiple_of(apart)), "{rate:?}: {snapshots:?}");
        assert!(snapshots.len() > 100 / apart as usize, "{rate:?}: {snapshots:?}");
        let expected = 60 / u64::from(apart);
        assert!((expected - 1..=expected + 1).contains(&inputs), "{rate:?}: {inputs}");
    }
    let (snapshots, _) = run(SendRate::Hz(0));
    assert_eq!(snapshots, [120, 180], "0 counts as 1");
}
