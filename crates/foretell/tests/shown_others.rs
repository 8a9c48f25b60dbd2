//! What a player sees of others when snapshots come late, in bursts, or not at all for a while.

mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell::netsim::{Conditions, Loss};
use foretell::session::client::Source;
use foretell::{Client, ClientConfig, Frame, Instant, Rules, ServerConfig, State, Tick};

/// Watches the second player through the eyes of the first.
#[derive(Default)]
struct Watch {
    last: Option<(Instant, [f64; 3])>,
    /// The fastest that the other was shown, in m/s.
    fastest_mps: f64,
    extrapolated: u32,
    shown: u32,
}

impl Driver<Masses> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        // Up and down, never standing.
        let up = (tick.get() / 48).is_multiple_of(2);
        Buttons { up: up && player == 1, down: !up && player == 1, ..Buttons::default() }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        let Some(own) = client.player().filter(|_| player == 0 && at.now >= Instant::from_micros(6_000_000)) else {
            return;
        };
        client.present(at.local, |view| {
            if view.entity.player() == own {
                return;
            }
            let place = view.pose().position;
            if let Some((before, from)) = self.last.replace((at.now, place)) {
                let way = (0..3).map(|axis| (place[axis] - from[axis]).powi(2)).sum::<f64>().sqrt();
                self.fastest_mps = self.fastest_mps.max(way / at.now.since(before).as_secs_f64());
            }
            self.shown += 1;
            self.extrapolated += u32::from(matches!(view.source, Source::Extrapolated(_)));
        });
    }
}

fn seen(interval: u32, loss: Loss, seed: u64) -> Watch {
    let config = ServerConfig { snapshot_interval: interval, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Body::schema()), config, Masses::default(), seed);
    for player in 0..2 {
        let (latency, jitter) = (Duration::from_millis(50), Duration::from_millis(20));
        let conditions = Conditions { latency, jitter, ..Conditions::default() };
        let loss = if player == 0 { loss } else { Loss::default() };
        let client = ClientConfig::default();
        let host = HostOptions::at(60);
        simulation.add_player(PlayerOptions { client, host, conditions, world: Masses::default() });
        simulation.players[player].down_conditions.loss = loss;
    }
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(40_000_000), &mut watch);
    watch
}

#[test]
fn shown_others_never_jump_when_snapshots_come_late() {
    let calm = seen(4, Loss::default(), 1).fastest_mps;
    assert!((5.0..10.0).contains(&calm), "{calm} m/s");
    for (interval, loss) in [
        (1, Loss::Bursts { rate: 0.1, mean_length: 8.0 }),
        (4, Loss::Uniform(0.2)),
        (4, Loss::Bursts { rate: 0.2, mean_length: 4.0 }),
    ] {
        for seed in 0..4 {
            let watch = seen(interval, loss, seed);
            assert!(watch.extrapolated > 10, "{interval} {loss:?}: {} of {}", watch.extrapolated, watch.shown);
            // An offset of some metres begins to vanish by ten times as much in a second: not in a frame.
            assert!(watch.fastest_mps < calm + 35.0, "{interval} {loss:?}: {} m/s", watch.fastest_mps);
        }
    }
}

#[test]
fn losses_that_the_delay_covers_are_not_seen_at_all() {
    let watch = seen(1, Loss::Uniform(0.05), 1);
    assert!(watch.extrapolated * 100 < watch.shown, "{} of {}", watch.extrapolated, watch.shown);
    assert!(watch.fastest_mps < seen(1, Loss::default(), 1).fastest_mps * 1.15, "{}", watch.fastest_mps);
}
