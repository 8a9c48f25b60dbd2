//! Bodies of others that rest among moving ones, as the step of a client sees them.

use core::time::Duration;
use foretell::{
    Client, ClientConfig, Curve, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig,
    Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

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

/// Looks at where the second stone is shown, and where the cursor stands, in every update.
#[derive(Default)]
struct Looking {
    shown: Vec<f64>,
    cursors: Vec<f64>,
}

impl Driver<Slope> for Looking {
    fn input(&mut self, _player: usize, _tick: Tick) -> Watching {
        Watching {}
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Slope>, _frame: &Frame<'_>) {
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let Some(stone) = views.nth(1) else { return };
        self.shown.push(stone.pose().position[0]);
        self.cursors.extend(client.playout_cursor(at.local).map(|cursor| cursor.as_ticks()));
    }
}

/// A client that hides nothing, over a way down that becomes a third of a second longer while the second stone comes to rest. By how
/// much a step saw that elsewhere than it was shown, at most, and how far the cursor has leapt back, in ticks.
fn seen_beside_shown(curve: Curve, rate: SendRate) -> (f64, f64) {
    let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Slope::schema()), config, Slope::new(), 1);
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let client = ClientConfig { curve, correction: None, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(64), conditions, world: Slope::default() });
    let mut looking = Looking::default();
    simulation.run_until(Instant::from_micros(6_300_000), &mut looking);
    simulation.players[0].down_conditions.latency = Duration::from_millis(400);
    simulation.run_until(Instant::from_micros(9_000_000), &mut looking);
    // In each frame is a step.
    let seen = simulation.players[0].world.seen.iter().rev();
    let off_m = seen.zip(looking.shown.iter().rev()).map(|(seen, shown)| (seen - shown).abs()).fold(0.0, f64::max);
    let back = looking.cursors.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
    (off_m, back)
}

#[test]
fn each_step_sees_bodies_of_others_where_they_are_shown_by_any_curve_also_where_the_cursor_leaps() {
    for curve in Curve::ALL {
        for rate in [SendRate::EveryTick, SendRate::Hz(10)] {
            let (off_m, back) = seen_beside_shown(curve, rate);
            assert!(back > 10.0, "{curve:?}, {rate:?}: {back} ticks");
            assert!(off_m < 1e-9, "{curve:?}, {rate:?}: {off_m} m");
        }
    }
}

#[test]
fn a_body_that_begins_to_move_while_states_are_lost_does_not_make_the_way_of_all_of_them_in_one() {
    for rate in [SendRate::EveryTick, SendRate::Hz(20)] {
        let mut largest = 0.0_f64;
        for seed in 1..=20 {
            let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
            let mut simulation = Simulation::new(Rules::new(Slope::schema()), config, Slope::new(), seed);
            let latency = Duration::from_millis(40);
            let conditions = Conditions { latency, loss: Loss::Uniform(0.3), ..Conditions::default() };
            let (client, host) = (ClientConfig::default(), HostOptions::at(64));
            simulation.add_player(PlayerOptions { client, host, conditions, world: Slope::default() });
            let mut looking = Looking::default();
            simulation.run_until(Instant::from_micros(14_000_000), &mut looking);
            let shown = looking.shown.windows(2).map(|pair| (pair[1] - pair[0]).abs());
            largest = shown.fold(largest, f64::max);
        }
        assert!(largest < 2.0 * PACE_M, "{rate:?}: {largest} m in a frame");
    }
}
