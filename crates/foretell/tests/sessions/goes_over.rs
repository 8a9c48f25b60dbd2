//! What is predicted, becomes another thing, and is shown by the server's states from about then on: it is one thing after the other, in
//! each frame.

use crate::budgets::link;
use foretell::session::client::{EntityMode, Predict};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};

/// In which tick every car becomes a wreck, on both ends; and in which a player builds one.
const WRECKED: u32 = 300;
const BUILT: u32 = 200;
const CAR: Vehicle = Vehicle::Car { at: [2.0, 0.0, 0.0] };

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    builds: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    at: [f64; 3],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Vehicle {
    Car {
        #[state(position)]
        at: [f64; 3],
    },
    Wreck {
        #[state(position)]
        at: [f64; 3],
    },
}

/// A wreck in a table of its own.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Shell {
    #[state(position)]
    at: [f64; 3],
}

#[derive(World, Clone, Default)]
struct Road {
    pawns: Table<Pawn>,
    vehicles: Table<Vehicle>,
    shells: Table<Shell>,
    /// Whether each player has a car from the start.
    #[world(constant)]
    is_owned: bool,
    /// Whether a wreck goes to the other table, and is not another variant.
    #[world(constant)]
    has_shells: bool,
    /// How far it is thrown as it becomes one.
    #[world(constant)]
    thrown_m: f64,
    /// How many ticks later it becomes the server's, and whether the client's step says so, too.
    #[world(constant)]
    given: Option<(u32, bool)>,
}

impl Road {
    /// With a car of the server's.
    fn of_server(thrown_m: f64) -> Road {
        let mut road = Road { thrown_m, ..Road::default() };
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        road.vehicles.insert(Owned { entity, owner: PlayerId::SERVER }, CAR);
        road
    }

    fn wreck(&mut self, of: Owned, at: [f64; 3]) {
        let at = [at[0] + self.thrown_m, at[1], at[2]];
        if self.has_shells {
            self.vehicles.remove(of.entity);
            self.shells.insert(of, Shell { at });
        } else if let Some(mut vehicle) = self.vehicles.get_mut(of.entity) {
            *vehicle = Vehicle::Wreck { at };
        }
    }

    fn give_away(&mut self) {
        let vehicles: Vec<Entity> = self.vehicles.iter().map(|one| one.entity()).collect();
        let shells: Vec<Entity> = self.shells.iter().map(|one| one.entity()).collect();
        for entity in vehicles {
            self.vehicles.set_owner(entity, PlayerId::SERVER);
        }
        for entity in shells {
            self.shells.set_owner(entity, PlayerId::SERVER);
        }
    }
}

impl Simulate for Road {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
            if self.is_owned {
                self.vehicles.spawn(step, joined.player, CAR);
            }
        }
        let builders: Vec<PlayerId> = step.inputs().iter().filter(|of| of.input.builds).map(|of| of.player).collect();
        for player in builders {
            self.vehicles.spawn(step, player, CAR);
        }
        let tick = step.tick().get();
        let mut wrecked = Vec::new();
        for mut vehicle in self.vehicles.simulated(step) {
            let of = vehicle.owned();
            let (Vehicle::Car { at } | Vehicle::Wreck { at }) = &mut *vehicle;
            at[1] += 1.0 / 512.0;
            wrecked.extend((tick == WRECKED).then_some((of, *at)));
        }
        for mut shell in self.shells.simulated(step) {
            shell.at[1] += 1.0 / 512.0;
        }
        for (of, at) in wrecked {
            self.wreck(of, at);
        }
        let is_given = |(after, by_both): (u32, bool)| tick == WRECKED + after && (by_both || step.is_authority());
        if self.given.is_some_and(is_given) {
            self.give_away();
        }
    }
}

#[derive(Default)]
struct Watch {
    /// Whether the player builds a car, and has it shown as it is told from when they see it.
    builds: bool,
    vehicle: Option<Entity>,
    /// What was shown, C or W for each view, without what was in the frame before.
    seen: String,
    views: Views,
}

impl Driver<Road> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { builds: self.builds && tick.get() == BUILT }
    }

    fn before_client(&mut self, _player: usize, _at: Moment, client: &mut Client<Road>) {
        if let Some(vehicle) = self.vehicle.filter(|_| self.builds) {
            client.set_mode(vehicle, Some(EntityMode::Interpolated));
        }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Road>, _frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        let mut now = String::new();
        for view in &self.views {
            let is_wreck = match view.get::<Vehicle>() {
                Some(vehicle) => matches!(vehicle, Vehicle::Wreck { .. }),
                None if view.get::<Shell>().is_some() => true,
                None => continue,
            };
            self.vehicle = Some(view.entity);
            now.push(if is_wreck { 'W' } else { 'C' });
        }
        let now = format!(" {now}");
        let has_begun = now != " " || !self.seen.is_empty();
        if has_begun && !self.seen.ends_with(&now) {
            self.seen += &now;
        }
    }
}

/// What is seen over 8 s.
fn watch(world: &Road, builds: bool, predict: Predict, latency_ms: u64, snapshot_rate: SendRate) -> String {
    let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Road::schema()), config, world.clone(), 1);
    let client = ClientConfig { predict, ..ClientConfig::default() };
    let world = Road { vehicles: Table::default(), ..world.clone() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions: link(latency_ms), world });
    let mut watch = Watch { builds, ..Watch::default() };
    simulation.run_until(Instant::from_micros(8_000_000), &mut watch);
    watch.seen
}

fn links() -> impl Iterator<Item = (u64, SendRate)> {
    [10, 50, 120]
        .into_iter()
        .flat_map(|latency_ms| [SendRate::EveryTick, SendRate::Hz(20)].map(|rate| (latency_ms, rate)))
}

#[test]
fn what_its_player_makes_a_wreck_and_gives_away_is_no_car_again() {
    let mut wrong = Vec::new();
    for (after, by_both, has_shells) in
        [(0, false, false), (0, true, false), (0, false, true), (1, false, false), (2, false, false), (8, false, false)]
    {
        for (latency_ms, rate) in links() {
            let world = Road { is_owned: true, has_shells, given: Some((after, by_both)), ..Road::default() };
            let seen = watch(&world, false, Predict::Own, latency_ms, rate);
            let case =
                format!("given {after} later, by both {by_both}, shells {has_shells}, {latency_ms} ms, {rate:?}");
            wrong.extend((seen != " C W").then(|| format!("{case}: {seen}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_thrown_out_of_reach_as_a_wreck_is_no_car_again() {
    let near = Predict::Near { within_m: 3.0, until_m: 4.0 };
    let mut wrong = Vec::new();
    for (latency_ms, rate) in links() {
        // Where it is told exactly still, and where it is not.
        for thrown_m in [5.0, 48.0] {
            let seen = watch(&Road::of_server(thrown_m), false, near, latency_ms, rate);
            wrong.extend((seen != " C W").then(|| format!("{thrown_m} m, {latency_ms} ms, {rate:?}: {seen}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_built_and_shown_as_it_is_told_is_there_from_then_on() {
    let mut wrong = Vec::new();
    for (latency_ms, rate) in links() {
        let seen = watch(&Road::default(), true, Predict::Own, latency_ms, rate);
        wrong.extend((seen != " C W").then(|| format!("{latency_ms} ms, {rate:?}: {seen}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
