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

/// A part of a vehicle.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Siren {
    loud: bool,
}

/// What a car becomes.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Fate {
    #[default]
    Wreck,
    /// Goes to the other table, and is not another variant.
    Shell,
    /// Loses its siren.
    Silent,
    /// Gets a siren.
    Loud,
    /// Ends.
    Gone,
}

#[derive(World, Clone, Default)]
struct Road {
    pawns: Table<Pawn>,
    vehicles: Table<Vehicle>,
    shells: Table<Shell>,
    sirens: Table<Siren>,
    /// Whether each player has a car from the start.
    #[world(constant)]
    is_owned: bool,
    #[world(constant)]
    fate: Fate,
    /// How far it is thrown as it becomes one.
    #[world(constant)]
    thrown_m: f64,
    /// How many ticks later it becomes the server's, and whether the client's step says so, too.
    #[world(constant)]
    given: Option<(u32, bool)>,
}

impl Road {
    /// With a car of the server's.
    fn of_server(fate: Fate, thrown_m: f64) -> Road {
        let mut road = Road { fate, thrown_m, ..Road::default() };
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        road.add_car(Owned { entity, owner: PlayerId::SERVER });
        road
    }

    fn add_car(&mut self, of: Owned) {
        self.vehicles.insert(of, CAR);
        if self.fate == Fate::Silent {
            self.sirens.insert(of, Siren::default());
        }
    }

    fn meet_fate(&mut self, of: Owned, at: [f64; 3]) {
        let at = [at[0] + self.thrown_m, at[1], at[2]];
        match self.fate {
            Fate::Wreck => {
                let vehicle = self.vehicles.get_mut(of.entity);
                vehicle.into_iter().for_each(|mut vehicle| *vehicle = Vehicle::Wreck { at });
            }
            Fate::Shell => {
                self.vehicles.remove(of.entity);
                self.shells.insert(of, Shell { at });
            }
            Fate::Silent => drop(self.sirens.remove(of.entity)),
            Fate::Loud => self.sirens.insert(of, Siren { loud: true }),
            Fate::Gone => drop(self.vehicles.remove(of.entity)),
        }
    }

    fn give_away(&mut self) {
        let vehicles: Vec<Entity> = self.vehicles.iter().map(|one| one.entity()).collect();
        let shells: Vec<Entity> = self.shells.iter().map(|one| one.entity()).collect();
        let sirens: Vec<Entity> = self.sirens.iter().map(|one| one.entity()).collect();
        for entity in vehicles {
            self.vehicles.set_owner(entity, PlayerId::SERVER);
        }
        for entity in shells {
            self.shells.set_owner(entity, PlayerId::SERVER);
        }
        for entity in sirens {
            self.sirens.set_owner(entity, PlayerId::SERVER);
        }
    }
}

impl Simulate for Road {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
            if self.is_owned {
                let entity = self.vehicles.spawn(step, joined.player, CAR);
                self.add_car(Owned { entity, owner: joined.player });
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
            self.meet_fate(of, at);
        }
        let is_given = |(after, by_both): (u32, bool)| tick == WRECKED + after && (by_both || step.is_authority());
        if self.given.is_some_and(is_given) {
            self.give_away();
        }
    }
}

/// How a game has a vehicle that was seen, before each frame, and whether it has met its fate.
type Choose = fn(&mut Client<Road>, Entity, bool);

#[derive(Default)]
struct Watch {
    /// Whether the player builds a car.
    builds: bool,
    choose: Option<Choose>,
    vehicle: Option<Entity>,
    fate: Fate,
    /// What was shown, C or for what has met its fate W for each vehicle, without what was in the frame before.
    seen: String,
    views: Views,
}

impl Driver<Road> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { builds: self.builds && tick.get() == BUILT }
    }

    fn before_client(&mut self, _player: usize, _at: Moment, client: &mut Client<Road>) {
        if let (Some(choose), Some(vehicle)) = (self.choose, self.vehicle) {
            choose(client, vehicle, !self.seen.ends_with('C'));
        }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Road>, _frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        let mut now = String::new();
        let has_siren = |entity| self.views.of(entity).any(|view| view.get::<Siren>().is_some());
        for view in &self.views {
            let (vehicle, shell) = (view.get::<Vehicle>(), view.get::<Shell>());
            if vehicle.is_none() && shell.is_none() {
                continue;
            }
            let is_fulfilled = match self.fate {
                Fate::Wreck => matches!(vehicle, Some(Vehicle::Wreck { .. })),
                Fate::Shell => shell.is_some(),
                Fate::Silent => !has_siren(view.entity),
                Fate::Loud => has_siren(view.entity),
                Fate::Gone => false,
            };
            self.vehicle = Some(view.entity);
            now.push(if is_fulfilled { 'W' } else { 'C' });
        }
        let now = format!(" {now}");
        let has_begun = now != " " || !self.seen.is_empty();
        if has_begun && !self.seen.ends_with(&now) {
            self.seen += &now;
        }
    }
}

/// What is seen over 8 s.
fn watch(world: &Road, mut watch: Watch, predict: Predict, latency_ms: u64, snapshot_rate: SendRate) -> String {
    let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Road::schema()), config, world.clone(), 1);
    let client = ClientConfig { predict, ..ClientConfig::default() };
    watch.fate = world.fate;
    let world = Road { vehicles: Table::default(), sirens: Table::default(), ..world.clone() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions: link(latency_ms), world });
    simulation.run_until(Instant::from_micros(8_000_000), &mut watch);
    watch.seen
}

fn links() -> impl Iterator<Item = (u64, SendRate)> {
    [10, 50, 120]
        .into_iter()
        .flat_map(|latency_ms| [SendRate::EveryTick, SendRate::Hz(20)].map(|rate| (latency_ms, rate)))
}

const FATES: [Fate; 5] = [Fate::Wreck, Fate::Shell, Fate::Silent, Fate::Loud, Fate::Gone];

fn once(fate: Fate) -> &'static str {
    if fate == Fate::Gone { " C " } else { " C W" }
}

#[test]
fn what_its_player_changes_and_gives_away_is_not_as_it_was_again() {
    let mut wrong = Vec::new();
    for (after, by_both) in [(0, false), (0, true), (1, false), (2, false), (8, false)] {
        for fate in FATES {
            for (latency_ms, rate) in links() {
                let world = Road { is_owned: true, fate, given: Some((after, by_both)), ..Road::default() };
                let seen = watch(&world, Watch::default(), Predict::Own, latency_ms, rate);
                let case = format!("given {after} later, by both {by_both}, {fate:?}, {latency_ms} ms, {rate:?}");
                wrong.extend((seen != once(fate)).then(|| format!("{case}: {seen}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_changes_and_is_thrown_out_of_reach_is_not_as_it_was_again() {
    let near = Predict::Near { within_m: 3.0, until_m: 4.0 };
    let mut wrong = Vec::new();
    for fate in FATES {
        for (latency_ms, rate) in links() {
            // Where it is told exactly still, and where it is not.
            for thrown_m in [5.0, 48.0] {
                let seen = watch(&Road::of_server(fate, thrown_m), Watch::default(), near, latency_ms, rate);
                let case = format!("{fate:?}, {thrown_m} m, {latency_ms} ms, {rate:?}");
                wrong.extend((seen != once(fate)).then(|| format!("{case}: {seen}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_built_and_shown_as_it_is_told_is_there_from_then_on() {
    let mut wrong = Vec::new();
    for (latency_ms, rate) in links() {
        let choose: Choose = |client, vehicle, _| client.set_mode(vehicle, Some(EntityMode::Interpolated));
        let builder = Watch { builds: true, choose: Some(choose), ..Watch::default() };
        let seen = watch(&Road::default(), builder, Predict::Own, latency_ms, rate);
        wrong.extend((seen != " C W").then(|| format!("{latency_ms} ms, {rate:?}: {seen}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_predicted_until_it_is_seen_to_change_is_not_as_it_was_again() {
    let mut wrong = Vec::new();
    let ways: [(&str, Choose); 4] = [
        ("predicted", |client, vehicle, _| client.set_mode(vehicle, Some(EntityMode::Predicted))),
        ("then as the others", |client, vehicle, has_changed| {
            client.set_mode(vehicle, (!has_changed).then_some(EntityMode::Predicted));
        }),
        ("then interpolated", |client, vehicle, has_changed| {
            let mode = if has_changed { EntityMode::Interpolated } else { EntityMode::Predicted };
            client.set_mode(vehicle, Some(mode));
        }),
        ("all of the server's", |client, _, has_changed| client.predict(PlayerId::SERVER, !has_changed)),
    ];
    for (name, choose) in ways {
        for fate in FATES {
            for (latency_ms, rate) in links() {
                let game = Watch { choose: Some(choose), ..Watch::default() };
                let seen = watch(&Road::of_server(fate, 5.0), game, Predict::Own, latency_ms, rate);
                wrong.extend(
                    (seen != once(fate)).then(|| format!("{name}, {fate:?}, {latency_ms} ms, {rate:?}: {seen}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
