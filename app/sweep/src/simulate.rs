//! Runs one row, a case of a plan with a seed, from beginning to end on virtual time.

use super::observer::Observer;
use super::row::{Row, RowNetwork, RowSession};
use super::summary;
use core::time::Duration;
use foretell::{ClientConfig, Instant, Rules, SendRate, ServerConfig, TickRate, World};
use foretell_arena::Arena;
use foretell_plan::bots::{self, Bots};
use foretell_plan::{Case, Network, Plan};
use foretell_sim::harness::{HostOptions, PlayerOptions, Simulation};
use foretell_sim::netsim::{HostClock, SplitMix64};

/// A player who has not joined by then never will, in seconds.
const JOIN_MAX_S: u64 = 30;
/// Clocks are off by up to so many millionths, as those of real machines are.
const SKEW_PPM: i32 = 100;

/// Runs a row. `begun` gets the session after each machine that was added, before anything happens there.
pub fn run(plan: &Plan, case: &Case, seed: u64, begun: &mut dyn FnMut(&mut Simulation<Arena>)) -> Row {
    let session = &plan.session;
    let config = ServerConfig { snapshot_rate: SendRate::Hz(case.snapshot_rate), ..ServerConfig::default() };
    let rules = Rules { tick_rate: TickRate::hz(session.tick_rate), ..Rules::new(Arena::schema()) };
    let mut simulation = Simulation::new(rules, config, Arena::default(), seed);
    begun(&mut simulation);
    let bots = Bots::new(session, seed);
    let mut observer = Observer::new(bots, bots::pushes(session, seed), session.tick_rate, session.seconds);
    let mut machines = SplitMix64::new(seed ^ 0x006d_6163_6869_6e65);
    for _ in 0..session.players {
        // Each starts within a frame of the one before, so that their frames don't coincide with each other or with
        // the server's ticks.
        let start = simulation.now() + Duration::from_micros(machines.next_u64() % 16_667);
        simulation.run_until(start, &mut observer);
        let options = PlayerOptions {
            client: ClientConfig {
                send_rate: SendRate::Hz(session.send_rate),
                lead_max: session.lead_max_ms.map(|ms| Duration::from_millis(ms.into())),
                ..ClientConfig::default()
            },
            host: HostOptions { clock: clock(&mut machines, case.skew_ppm), ..HostOptions::at(60) },
            conditions: case.network.conditions(),
            world: Arena::default(),
        };
        observer.add(simulation.now());
        simulation.add_player(options);
        set_network(&mut simulation, &case.network, seed);
        begun(&mut simulation);
    }
    let limit = Instant::ZERO + Duration::from_secs(u64::from(session.seconds) + JOIN_MAX_S);
    while !observer.is_done() && simulation.now() < limit {
        set_network(&mut simulation, &case.network, seed);
        simulation.run_until(simulation.now() + Duration::from_millis(250), &mut observer);
    }
    Row {
        plan: plan.name.clone(),
        seed,
        network: RowNetwork::of(&case.network),
        session: RowSession::of(plan, case),
        figures: summary::figures(case, &observer).rounded(),
        outcomes_add_up: observer.players.iter().all(|player| player.outcomes_add_up),
        players_measured: observer.players.iter().filter(|player| player.counters().is_some()).count(),
    }
}

/// Sets every link as the network is by now.
fn set_network(simulation: &mut Simulation<Arena>, network: &Network, seed: u64) {
    let second = simulation.now().micros() / 1_000_000;
    for (index, player) in simulation.players.iter_mut().enumerate() {
        [player.up_conditions, player.down_conditions] = network.conditions_at(second, seed, index);
    }
}

/// A clock that is off by up to an hour and gains so much, and a little more or less.
fn clock(machines: &mut SplitMix64, skew_ppm: i32) -> HostClock {
    let offset = Duration::from_micros(machines.next_u64() % 3_600_000_000);
    let skew = i32::try_from(machines.next_u64() % 201).unwrap_or(0) - SKEW_PPM;
    HostClock::new(offset, skew_ppm + skew)
}
