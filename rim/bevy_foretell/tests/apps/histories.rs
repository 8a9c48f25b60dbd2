//! One world, saved and gone back to: what is restored, what counts as changed, and which entity is which.

use crate::cubes::{self, Cube, Keys, Reload, Shot, ShotsFired, game};
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use bevy_foretell::{GameWorld, Gone, NetEntity, Networked, PlayerId, StepCommands};
use foretell::world::Side;
use foretell::{InputStatus, Newcomer, PlayerInput, Rows, Simulate, Step, Tick, TickRate, World as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A world that is stepped by hand, as the client of a player is who is alone.
struct Alone {
    game: GameWorld<Keys>,
    rows: Rows,
    tick: Tick,
}

const ME: PlayerId = PlayerId::new(1);

impl Alone {
    /// After the first tick, with a cube.
    fn new() -> Alone {
        Alone::of(game)
    }

    fn of(game: fn(&mut bevy_app::App)) -> Alone {
        let rows = Rows::new(&GameWorld::<Keys>::rules(game).schema);
        let mut alone = Alone { game: GameWorld::of(game), rows, tick: Tick::ZERO };
        let joined = [Newcomer::new(ME)];
        let step = Step::new(Tick::ZERO, TickRate::hz(64), Side::Server, &[]).with_players(&joined, &[]);
        alone.run(step);
        alone
    }

    fn run(&mut self, mut step: Step<'_, Keys>) {
        self.game.step(&mut step);
        self.game.publish(&mut self.rows);
        self.rows.settle();
        self.tick = self.tick.next();
    }

    fn step(&mut self, input: Keys) {
        let inputs = [PlayerInput { player: ME, input, status: InputStatus::Received, presented: None }];
        self.run(Step::new(self.tick, TickRate::hz(64), Side::Client(ME), &inputs));
    }

    fn steps(&mut self, count: u32, input: Keys) {
        (0..count).for_each(|_| self.step(input));
    }

    fn save(&self) -> (Tick, <GameWorld<Keys> as foretell::World>::Saved, Rows) {
        let mut saved = Default::default();
        self.game.save(&mut saved);
        (self.tick, saved, self.rows.clone())
    }

    fn load(&mut self, (tick, saved, rows): &(Tick, <GameWorld<Keys> as foretell::World>::Saved, Rows)) {
        self.game.load(saved);
        (self.tick, self.rows) = (*tick, rows.clone());
    }

    /// The shots that are there, by name, with their ids.
    fn shots(&mut self) -> Vec<(NetEntity, Entity)> {
        let world = self.game.world();
        let mut query = world.query::<(&Networked, Entity, &Shot)>();
        query.iter(world).map(|(of, id, _)| (of.name(), id)).collect()
    }

    fn reload(&mut self) -> Option<Reload> {
        let world = self.game.world();
        world.query::<(&Cube, Option<&Reload>)>().single(world).expect("there is one cube").1.copied()
    }
}

const SHOOT: Keys = Keys { right: false, left: false, shoot: true };
const RIGHT: Keys = Keys { right: true, left: false, shoot: false };
const NOTHING: Keys = Keys { right: false, left: false, shoot: false };

#[test]
fn components_and_resources_come_back_also_those_that_were_inserted_and_removed() {
    let mut alone = Alone::new();
    let before = alone.save();
    alone.step(SHOOT);
    let shot = alone.save();
    assert_eq!((alone.reload(), alone.game.world().resource::<ShotsFired>().0), (Some(Reload(10)), 1));
    alone.load(&before);
    assert_eq!((alone.reload(), alone.game.world().resource::<ShotsFired>().0), (None, 0));
    alone.load(&shot);
    assert_eq!((alone.reload(), alone.game.world().resource::<ShotsFired>().0), (Some(Reload(10)), 1));
    alone.steps(10, NOTHING);
    assert_eq!(alone.reload(), None);
    alone.load(&shot);
    assert_eq!(alone.reload(), Some(Reload(10)));
}

#[derive(Resource, Default, PartialEq, Debug)]
struct Changes(Vec<&'static str>);

/// Notes what has changed since it has run last.
fn note(
    cubes: Query<(), Changed<Cube>>,
    shots: Query<(), Changed<Shot>>,
    fired: Res<ShotsFired>,
    mut changes: ResMut<Changes>,
) {
    let cubes = cubes.iter().map(|()| "cube");
    let shots = shots.iter().map(|()| "shot");
    let fired = fired.is_changed().then_some("fired");
    changes.0 = cubes.chain(shots).chain(fired).collect();
}

#[test]
fn only_what_a_load_has_made_different_counts_as_changed() {
    let mut alone = Alone::new();
    alone.game.world().init_resource::<Changes>();
    let mut noting = Schedule::default();
    noting.add_systems(note);
    let mut seen = |alone: &mut Alone| {
        noting.run(alone.game.world());
        alone.game.world().resource::<Changes>().0.clone()
    };
    alone.step(SHOOT);
    let saved = alone.save();
    assert_eq!(seen(&mut alone), ["cube", "shot", "fired"]);
    alone.load(&saved);
    assert!(seen(&mut alone).is_empty(), "nothing is different");
    alone.step(NOTHING);
    assert_eq!(seen(&mut alone), ["shot"], "the cube stands still");
    alone.load(&saved);
    assert_eq!(seen(&mut alone), ["shot"]);
    alone.step(RIGHT);
    assert_eq!(seen(&mut alone), ["cube", "shot"]);
}

#[test]
fn what_is_despawned_keeps_its_id_while_it_may_come_back_and_is_gone_for_good_then() {
    let mut alone = Alone::new();
    alone.step(SHOOT);
    let there = alone.shots();
    let saved = alone.save();
    alone.steps(30, NOTHING);
    assert!(alone.shots().is_empty(), "it has flown for its time");
    assert!(alone.game.world().get::<Gone>(there[0].1).is_some());
    alone.load(&saved);
    assert_eq!(alone.shots(), there);
    alone.steps(30, NOTHING);
    assert!(alone.shots().is_empty());
    alone.steps(129, NOTHING);
    assert!(alone.game.world().get_entity(there[0].1).is_ok(), "two seconds and two ticks have not passed");
    alone.steps(2, NOTHING);
    assert!(alone.game.world().get_entity(there[0].1).is_err());
}

#[test]
fn what_went_in_a_session_before_one_that_begins_anew_is_gone_for_good() {
    let mut alone = Alone::new();
    alone.tick = Tick::new(100_000);
    alone.step(SHOOT);
    let former = alone.shots();
    alone.steps(30, NOTHING);
    alone.tick = Tick::new(1);
    alone.step(SHOOT);
    let there = alone.shots();
    alone.steps(30, NOTHING);
    assert!(alone.game.world().get_entity(former[0].1).is_err());
    assert!(alone.game.world().get_entity(there[0].1).is_ok(), "this one may come back");
    alone.steps(131, NOTHING);
    assert!(alone.game.world().get_entity(there[0].1).is_err());
}

#[test]
fn who_says_something_of_a_step_outside_of_one_is_told_where_to_say_it() {
    for game in [game, cubes::checked_game] {
        let mut alone = Alone::of(game);
        alone.step(NOTHING);
        let world = alone.game.world();
        let spawn = || world.run_system_once(|mut step: StepCommands| _ = step.spawn(ME, Shot::default()));
        let said = catch_unwind(AssertUnwindSafe(spawn)).expect_err("there is no step");
        let said = said.downcast_ref::<&str>().expect("it is said in words");
        assert!(said.contains("StepCommands is for systems in Simulation"), "{said}");
    }
}

#[derive(Component)]
struct Art;

#[test]
fn what_is_spawned_again_in_a_re_simulation_is_the_same_entity_as_if_it_were_new() {
    let mut alone = Alone::new();
    let before = alone.save();
    alone.step(SHOOT);
    let there = alone.shots();
    alone.game.world().entity_mut(there[0].1).insert((Art, Reload(99)));
    alone.steps(3, NOTHING);
    alone.load(&before);
    assert!(alone.shots().is_empty());
    alone.step(SHOOT);
    assert_eq!(alone.shots(), there);
    let world = alone.game.world();
    assert!(world.get::<Art>(there[0].1).is_some(), "what is none of the simulation's stays");
    assert_eq!(world.get::<Reload>(there[0].1), None, "what a former life has had of it does not");
    assert_eq!(world.get::<Shot>(there[0].1).map(|shot| shot.ticks_left), Some(30));
}

#[test]
fn what_is_below_an_entity_goes_and_comes_with_it() {
    let mut alone = Alone::new();
    alone.step(SHOOT);
    let (_, shot) = alone.shots()[0];
    let saved = alone.save();
    let art = alone.game.world().spawn((Art, ChildOf(shot))).id();
    let count = |alone: &mut Alone| {
        let world = alone.game.world();
        world.query::<&Art>().iter(world).count()
    };
    alone.steps(30, NOTHING);
    assert_eq!(count(&mut alone), 0);
    alone.load(&saved);
    assert_eq!(count(&mut alone), 1);
    alone.steps(200, NOTHING);
    assert!(alone.game.world().get_entity(art).is_err());
}

#[test]
fn what_the_game_has_despawned_itself_comes_back_as_another_entity() {
    let mut alone = Alone::new();
    let before = alone.save();
    alone.step(SHOOT);
    let after = alone.save();
    let (name, id) = alone.shots()[0];
    alone.game.world().despawn(id);
    alone.step(NOTHING);
    assert!(alone.shots().is_empty());
    alone.load(&after);
    assert!(alone.shots().iter().all(|(of, new)| *of == name && *new != id) && alone.shots().len() == 1);
    let (_, new) = alone.shots()[0];
    alone.game.world().despawn(new);
    alone.load(&before);
    alone.step(SHOOT);
    assert_eq!(alone.shots().len(), 1);
}

#[test]
fn what_is_changed_between_steps_is_published_with_the_next_one_also_where_steps_are_checked() {
    for game in [game, cubes::checked_game] {
        let mut alone = Alone::of(game);
        let world = alone.game.world();
        world.query::<&mut Cube>().iter_mut(world).for_each(|mut cube| cube.x[1] = 7.0);
        alone.step(NOTHING);
        assert!(alone.rows.states::<Cube>().all(|(_, cube)| cube.x[1] == 7.0) && alone.rows.count::<Cube>() == 1);
    }
}

#[test]
fn names_of_what_the_game_has_despawned_itself_are_forgotten_in_the_end() {
    let mut alone = Alone::new();
    let mut names = Vec::new();
    for _ in 0..90 {
        alone.step(SHOOT);
        let (name, id) = alone.shots()[0];
        names.push(name);
        let world = alone.game.world();
        world.despawn(id);
        let cube = world.query_filtered::<Entity, With<Reload>>().single(world).expect("the cube has shot");
        world.entity_mut(cube).remove::<Reload>();
    }
    let known = move |step: StepCommands| names.iter().filter(|name| step.find(**name).is_some()).count();
    let known = alone.game.world().run_system_once(known).expect("it runs");
    assert!((1..=67).contains(&known), "{known}");
}
