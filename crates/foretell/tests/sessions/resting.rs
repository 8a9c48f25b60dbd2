//! Bodies of others that rest among moving ones, as the step of a client sees them.

use core::time::Duration;
use foretell::{
    ClientConfig, Entity, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate, State, Step, Table,
    Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Watching {}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Stone {
    #[state(position)]
    at: [f64; 3],
}

/// How far a stone that moves goes in a tick, in metres.
const PACE_M: f64 = 0.1;
/// In these ticks the second stone moves; the first always does.
const MOVES: [core::ops::Range<u32>; 3] = [300..420, 600..720, 800..802];

#[derive(World, Clone, Default)]
struct Slope {
    stones: Table<Stone>,
    /// Where the second stone was before each step of a client.
    #[world(constant)]
    seen: Vec<f64>,
}

impl Slope {
    fn new() -> Slope {
        let mut slope = Slope::default();
        for nth in 0..40 {
            let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
            slope.stones.insert(of, Stone { at: [0.0, 0.0, f64::from(nth)] });
        }
        slope
    }
}

impl Simulate for Slope {
    type Input = Watching;

    fn step(&mut self, step: &mut Step<'_, Watching>) {
        let tick = step.tick().get();
        if !step.is_authority() {
            self.seen.extend(self.stones.iter().nth(1).map(|stone| stone.at[0]));
            return;
        }
        let moves = [true, MOVES.iter().any(|ticks| ticks.contains(&tick))];
        for (mut stone, _) in self.stones.iter_mut().zip(moves).filter(|(_, moves)| *moves) {
            stone.at[0] += PACE_M;
        }
    }
}

/// Nobody presses anything.
struct Idle;

impl Driver<Slope> for Idle {
    fn input(&mut self, _player: usize, _tick: Tick) -> Watching {
        Watching {}
    }
}

#[test]
fn a_body_that_begins_to_move_among_others_neither_hesitates_nor_jumps() {
    for rate in [SendRate::EveryTick, SendRate::Hz(20), SendRate::Hz(10)] {
        let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
        let mut simulation = Simulation::new(Rules::new(Slope::schema()), config, Slope::new(), 1);
        let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(64));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Slope::default() });
        simulation.run_until(Instant::from_micros(14_000_000), &mut Idle);
        let seen = &simulation.players[0].world.seen;
        let whole = MOVES.iter().map(|ticks| f64::from(ticks.end - ticks.start)).sum::<f64>() * PACE_M;
        assert!(seen.last().is_some_and(|last| (last - whole).abs() < 1e-9), "{rate:?}: it has arrived");
        // A cubic by the neighbours is up to half as fast again where a body starts and stops.
        let largest = seen.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        assert!(largest < 1.5 * PACE_M, "{rate:?}: {largest} m in a tick");
    }
}
