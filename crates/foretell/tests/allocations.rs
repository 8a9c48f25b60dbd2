//! A steady-state frame allocates nothing, on either end.

mod common;

use common::Buttons;
use common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, PlayerOptions, Simulation};
use foretell::netsim::{Conditions, Loss};
use foretell::session::client::Predict;
use foretell::{ClientConfig, Rules, ServerConfig, State, Tick};

struct Quiet;

impl Driver<Masses> for Quiet {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16) + player as u64)
    }
}

#[test]
fn a_steady_state_update_allocates_nothing_on_either_end() {
    measure(ServerConfig::default(), ClientConfig::default());
}

#[test]
fn predicting_others_from_relayed_inputs_allocates_nothing_either() {
    let server = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let resimulated = measure(server, ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() });
    assert!(resimulated > 500, "the others' inputs change: {resimulated}");
}

/// Twenty seconds of a session that has been running for a while. Returns how many ticks a client simulated again.
fn measure(server: ServerConfig, client: ClientConfig) -> u64 {
    let mut simulation = Simulation::new(Rules::new(Body::schema()), server, Masses::default(), 3);
    for _ in 0..3 {
        simulation.add_player(PlayerOptions {
            client,
            host: HostOptions::at(60),
            conditions: Conditions {
                latency: Duration::from_millis(40),
                jitter: Duration::from_millis(10),
                loss: Loss::Uniform(0.02),
                ..Conditions::default()
            },
            world: Masses::default(),
        });
    }
    simulation.run_until(foretell::Instant::from_micros(40_000_000), &mut Quiet);
    let before = simulation.players[0].client.stats();
    let used = allocation_counter::measure(|| {
        simulation.run_until(foretell::Instant::from_micros(60_000_000), &mut Quiet);
    });
    let after = simulation.players[0].client.stats();
    assert!(after.outcomes.received - before.outcomes.received > 1000);
    assert_eq!(used.count_total, 0, "{used:?} in 20 s of three clients and a server");
    after.resimulated - before.resimulated
}
