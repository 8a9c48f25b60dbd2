//! What is near is predicted, and the rest interpolated (`Predict::Near`): who walks through a field of floats.

use core::time::Duration;
use foretell::motion::vector::squared_distance;
use foretell::session::client::{PoseSource, Predict};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Owned, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table,
    Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeMap;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Walk {
    along: i8,
}

/// The first is a player; the others are floats that go up and down, each at its own speed.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Thing {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
    /// How many ticks it has been going, which is another number in every state, and no reason to predict what is out of reach.
    ticks: u16,
}

/// Falls, and is put out of reach and back.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Stone {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
    #[state(teleports)]
    teleports: u8,
}

#[derive(World, Default)]
struct Field {
    things: Table<Thing>,
    stones: Table<Stone>,
    /// How many rows of floats there are beside the first.
    #[world(constant)]
    more_rows: u8,
    /// When the float that leaps does so, and when back.
    #[world(constant)]
    leaps: Option<[Tick; 2]>,
}

/// Which float leaps.
const LEAPER: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 4);
/// From where to where along the row, in metres.
const LEAPS_FROM_M: f64 = 2.0;
const LEAPS_TO_M: f64 = 50.0;

/// In a row.
const FLOATS: u8 = 120;
const WITHIN_M: f64 = 3.0;
const UNTIL_M: f64 = 4.0;
const WALKS_MPS: f64 = 5.0;

impl Simulate for Field {
    type Input = Walk;

    fn step(&mut self, step: &mut Step<'_, Walk>) {
        if step.is_authority() && step.tick() == Tick::ZERO {
            for (row, nth) in (0..=self.more_rows).flat_map(|row| (0..FLOATS).map(move |nth| (row, nth))) {
                let float = Thing {
                    at: [f64::from(nth) * 0.5, 0.0, 1.0 + f64::from(row) * 5.0],
                    velocity: [0.0, 0.5 + f64::from(nth % 5) * 0.3, 0.0],
                    ticks: 0,
                };
                self.things.spawn(step, PlayerId::SERVER, float);
            }
        }
        for joined in step.joined() {
            self.things.spawn(step, joined.player, Thing::default());
        }
        for mut stone in self.stones.simulated(step) {
            let is_far = stone.at[0] > UNTIL_M;
            stone.velocity[1] -= 10.0 * step.seconds();
            stone.at[1] += stone.velocity[1] * step.seconds();
            if stone.at[1] < -3.0 {
                stone.at = [if is_far { LEAPS_FROM_M } else { LEAPS_TO_M }, 0.0, 0.0];
                stone.velocity = [0.0; 3];
                stone.teleports += 1;
            }
        }
        for mut thing in self.things.simulated(step) {
            if let Some(input) = step.input(thing.owner()) {
                thing.velocity = [f64::from(input.input.along) * WALKS_MPS, 0.0, 0.0];
            }
            if thing.owner() == PlayerId::SERVER && thing.at[1].abs() > 0.5 {
                thing.velocity[1] = thing.velocity[1].abs() * -thing.at[1].signum();
            }
            if let Some([there, back]) = self.leaps
                && thing.entity() == LEAPER
            {
                thing.at[0] = if (there..back).contains(&step.tick()) { LEAPS_TO_M } else { LEAPS_FROM_M };
            }
            for axis in 0..3 {
                thing.at[axis] += thing.velocity[axis] * step.seconds();
            }
            thing.ticks = thing.ticks.wrapping_add(1);
        }
    }
}

/// Walks along the floats and back.
#[derive(Default)]
struct Look {
    /// Where each was shown in the frame before.
    before: BTreeMap<Entity, [f64; 3]>,
    farthest_step_m: f64,
    most_predicted: usize,
    changes: u32,
    was_predicted: BTreeMap<Entity, bool>,
}

impl Driver<Field> for Look {
    fn input(&mut self, _player: usize, tick: Tick) -> Walk {
        Walk { along: if tick.get() % 1000 < 500 { 1 } else { -1 } }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Field>, frame: &Frame<'_>) {
        assert!(client.stats().prediction.outcomes.add_up(), "{:?}", client.stats().prediction.outcomes);
        if frame.tick < Tick::new(200) {
            return;
        }
        let mut own = None;
        let mut floats = Vec::new();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            let shown = view.pose().position;
            if view.owner == PlayerId::SERVER {
                floats.push((view.entity, shown, view.source == PoseSource::Predicted));
            } else {
                own = Some(shown);
            }
        }
        let own = own.expect("it is there");
        for (entity, shown, is_predicted) in &floats {
            let before = self.before.insert(*entity, *shown).unwrap_or(*shown);
            self.farthest_step_m = self.farthest_step_m.max(squared_distance(before, *shown).sqrt());
            let away_m = (shown[0] - own[0]).hypot(shown[2] - own[2]);
            // A snapshot is a round trip old when the choice is made of it, and the walker goes on.
            let late_m = WALKS_MPS * 0.35;
            assert!(*is_predicted || away_m > WITHIN_M - late_m, "{entity} is {away_m} m away");
            assert!(!is_predicted || away_m < UNTIL_M + late_m, "{entity} is {away_m} m away");
            let was = self.was_predicted.insert(*entity, *is_predicted);
            self.changes += u32::from(was.is_some_and(|was| was != *is_predicted));
        }
        self.most_predicted = self.most_predicted.max(floats.iter().filter(|(_, _, yes)| *yes).count());
    }
}

#[test]
fn what_is_near_is_predicted_and_goes_over_without_a_jump() {
    // All floats can be told with each state.
    let config = ServerConfig { budget: 400_000, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Field::schema()), config, Field::default(), 5);
    let latency = Duration::from_millis(75);
    let conditions = Conditions { latency, loss: Loss::Uniform(0.03), ..Conditions::default() };
    let predict = Predict::Near { within_m: WITHIN_M, until_m: UNTIL_M };
    let client = ClientConfig { predict, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Field::default() });
    let mut look = Look::default();
    simulation.run_until(foretell::Instant::ZERO + Duration::from_secs(24), &mut look);
    assert!(look.changes > 100, "{} came or went", look.changes);
    assert!((8..=24).contains(&look.most_predicted), "of 120: {}", look.most_predicted);
    // The fastest goes 1.7 m/s; where it goes over it makes up for a round trip and the playout delay, in some frames.
    assert!(look.farthest_step_m < 0.15, "{} m in a frame", look.farthest_step_m);
    let stats = simulation.players[0].client.stats();
    assert_eq!(stats.prediction.resyncs, 0);
}

#[test]
fn in_a_crowd_of_a_thousand_what_is_near_is_predicted_and_all_others_are_shown() {
    let field = || Field { more_rows: 8, ..Field::default() };
    let mut simulation = Simulation::new(Rules::new(Field::schema()), ServerConfig::default(), field(), 5);
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let predict = Predict::Near { within_m: WITHIN_M, until_m: UNTIL_M };
    let client = ClientConfig { predict, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: field() });
    let mut look = Look::default();
    simulation.run_until(foretell::Instant::ZERO + Duration::from_secs(16), &mut look);
    assert!((8..=24).contains(&look.most_predicted), "of a thousand: {}", look.most_predicted);
    let client = &simulation.players[0].client;
    let (newest, rows) = client.newest_snapshot().expect("a state");
    let age = |key| newest.since(client.told_in(key).expect("it is there"));
    let oldest = rows.iter().map(|row| age(row.key())).max();
    assert_eq!(rows.len(), 1 + 9 * usize::from(FLOATS));
    assert!(oldest < Some(128), "the oldest is of {oldest:?} ticks before");
    let sent = simulation.server.server.stats(client.player().expect("joined")).expect("there").bytes_sent;
    assert!(sent / 16 < 134_000, "{} B/s", sent / 16);
}

/// Stands still and watches the float that leaps.
#[derive(Default)]
struct Watch {
    /// Where it was shown along the row, in each frame.
    shown: Vec<f64>,
}

impl Driver<Field> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Walk {
        Walk::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Field>, frame: &Frame<'_>) {
        if frame.tick >= Tick::new(200) {
            let mut views = Views::new();
            client.present(at.local, &mut views);
            self.shown.extend(views.get(LEAPER).map(|view| view.pose().position[0]));
        }
    }
}

#[test]
fn what_is_put_out_of_reach_and_back_is_shown_to_leap_once_each() {
    for latency_ms in [25, 50, 75, 120] {
        let field = || Field { leaps: Some([400, 600].map(Tick::new)), ..Field::default() };
        let mut simulation = Simulation::new(Rules::new(Field::schema()), ServerConfig::default(), field(), 5);
        let conditions = Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() };
        let predict = Predict::Near { within_m: WITHIN_M, until_m: UNTIL_M };
        let client = ClientConfig { predict, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: field() });
        let mut watch = Watch::default();
        simulation.run_until(foretell::Instant::ZERO + Duration::from_secs(12), &mut watch);
        let leaps = watch.shown.windows(2).filter(|two| (two[1] - two[0]).abs() > 0.2);
        let ends: Vec<_> = leaps.map(|two| two[1].round()).collect();
        assert_eq!(ends, [LEAPS_TO_M, LEAPS_FROM_M], "{latency_ms} ms");
    }
}

/// Stands still and watches the stone.
#[derive(Default)]
struct WatchStone {
    before: Option<[f64; 3]>,
    leaps: Vec<f64>,
    farthest_up_m: f64,
    predicted: u32,
}

impl Driver<Field> for WatchStone {
    fn input(&mut self, _player: usize, _tick: Tick) -> Walk {
        Walk::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Field>, frame: &Frame<'_>) {
        if frame.tick < Tick::new(200) {
            return;
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let stone = views.iter().find(|view| view.get::<Stone>().is_some()).expect("it is always there");
        let (now, before) = (stone.pose().position, self.before.unwrap_or(stone.pose().position));
        self.predicted += u32::from(stone.source == PoseSource::Predicted);
        if (now[0] - before[0]).abs() > 10.0 {
            self.leaps.push(now[0].round());
        } else {
            self.farthest_up_m = self.farthest_up_m.max(now[1] - before[1]);
        }
        self.before = Some(now);
    }
}

#[test]
fn what_falls_and_is_put_out_of_reach_falls_once() {
    for latency_ms in [10, 25, 50, 75, 120, 180] {
        let mut field = Field::default();
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 200);
        let at = [LEAPS_FROM_M, 0.0, 0.0];
        field.stones.insert(Owned { entity, owner: PlayerId::SERVER }, Stone { at, ..Stone::default() });
        let mut simulation = Simulation::new(Rules::new(Field::schema()), ServerConfig::default(), field, 5);
        let conditions = Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() };
        let predict = Predict::Near { within_m: WITHIN_M, until_m: UNTIL_M };
        let client = ClientConfig { predict, ..ClientConfig::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Field::default() });
        let mut watch = WatchStone::default();
        simulation.run_until(foretell::Instant::ZERO + Duration::from_secs(20), &mut watch);
        assert!(watch.predicted > 200, "{latency_ms} ms");
        // A visual offset goes over to where it is shown as it is told, which is some way behind.
        assert!(watch.farthest_up_m < 0.1, "{latency_ms} ms: {} m upwards", watch.farthest_up_m);
        assert!(watch.leaps.len() >= 20 && watch.leaps.windows(2).all(|two| two[0] != two[1]), "{:?}", watch.leaps);
    }
}
