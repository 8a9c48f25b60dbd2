//! The game of `plain.rs` for many players over a network, checked by one line: docs/PHYSICS.md goes through it.

use foretell::{Entity, Input, PlayerId, State, Step, Tick};
use foretell_rapier::rapier3d::prelude::*;
use foretell_rapier::{Blueprint, Body, Gameplay, Party, Plan, Scene};
use foretell_sim::harness::SyncTest;

/// What is pressed.
#[derive(Input, Clone, Copy, PartialEq, Default)]
pub(crate) struct Keys {
    right: i8,
    ahead: i8,
}

impl Keys {
    /// In a tick, by somebody who drives to and fro.
    pub(crate) fn at(tick: u32) -> Keys {
        Keys { right: i8::from(tick % 100 < 10), ahead: if tick % 200 < 120 { 1 } else { -1 } }
    }

    fn force(self) -> Vector {
        Vector::new(f32::from(self.right), 0.0, f32::from(self.ahead)) * 12.0
    }
}

const GRAVITY: Vector = Vector::new(0.0, -9.81, 0.0);

/// The floor, and the goal.
fn scenery() -> [ColliderBuilder; 2] {
    let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
    let goal = ColliderBuilder::cuboid(3.0, 1.0, 0.5).translation(Vector::new(0.0, 1.0, 6.0)).sensor(true);
    [floor, goal]
}

fn driver() -> (RigidBodyBuilder, ColliderBuilder) {
    (RigidBodyBuilder::dynamic().linear_damping(1.0), ColliderBuilder::cuboid(0.5, 0.5, 0.5))
}

fn small() -> (RigidBodyBuilder, ColliderBuilder) {
    (RigidBodyBuilder::dynamic(), ColliderBuilder::cuboid(0.2, 0.2, 0.2))
}

/// Where a driver starts.
fn start() -> Vector {
    Vector::new(0.0, 0.5, -2.0)
}

/// Where the crates stand at first.
fn places() -> impl Iterator<Item = Vector> {
    (0_u8..10).map(|nth| Vector::new(f32::from(nth % 5) - 2.0, 0.2, f32::from(nth / 5) + 1.0))
}

#[derive(State, Clone, Copy)]
pub(crate) enum Thing {
    Driver {
        #[state(flatten)]
        body: Body,
        points: u32,
    },
    Crate(#[state(flatten)] Body),
}

impl Thing {
    pub(crate) fn is_driver(&self) -> bool {
        matches!(self, Thing::Driver { .. })
    }
}

const GOAL: Party = Party::Scenery(1);

impl Blueprint for Thing {
    fn plan(&self, _: Entity) -> Plan {
        let (body, collider) = if self.is_driver() { driver() } else { small() };
        Plan::new(body).with(collider)
    }
}

pub(crate) struct Game;

impl Game {
    pub(crate) fn new() -> Scene<Game> {
        Scene::new(GRAVITY, scenery())
    }
}

impl Gameplay for Game {
    type Input = Keys;
    type State = Thing;

    fn step(game: &mut Scene<Game>, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            let beside = Vector::X * 1.5 * f32::from(joined.player.get() - 1);
            game.spawn(step, joined.player, Thing::Driver { body: Body::at(start() + beside), points: 0 });
        }
        if step.tick() == Tick::ZERO && step.simulates(PlayerId::SERVER) {
            for place in places() {
                game.spawn(step, PlayerId::SERVER, Thing::Crate(Body::at(place)));
            }
        }
        for (driver, keys) in game.driven(step, Thing::is_driver) {
            if let Some(mut driver) = game.body_mut(driver) {
                driver.add_force(keys.force(), true);
            }
        }
    }

    fn react(game: &mut Scene<Game>, _: &mut Step<'_, Keys>) {
        for inside in game.inside(GOAL) {
            if game.get(inside).is_some_and(Thing::is_driver) {
                continue;
            }
            game.despawn(inside);
            for driver in game.all(Thing::is_driver) {
                if let Some(Thing::Driver { points, .. }) = game.get_mut(driver) {
                    *points += 1;
                }
            }
        }
    }
}

fn main() {
    match SyncTest::new(Game::new().rules(), Game::new).input(|_, tick| Keys::at(tick.get())).run(600) {
        Ok(()) => println!("every client can predict it"),
        Err(found) => println!("no client can predict it: {found}"),
    }
}
