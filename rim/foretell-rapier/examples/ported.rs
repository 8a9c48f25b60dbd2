//! The game of `plain.rs` for many players over a network, checked by one line: docs/PHYSICS.md goes through it.

use foretell::harness::sync_test;
use foretell::{Input, Kind, PlayerId, Rules, State, Step, Tick};
use foretell_rapier::rapier3d::prelude::*;
use foretell_rapier::{Blueprint, Body, Gameplay, Party, Plan, Scene};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    right: i8,
    ahead: i8,
}

#[derive(State, Clone, Copy)]
enum Thing {
    Driver {
        #[state(flatten)]
        body: Body,
        points: u32,
    },
    Crate {
        #[state(flatten)]
        body: Body,
    },
}

const DRIVER: Kind = Kind(0);
const CRATE: Kind = Kind(1);
/// Of the scenery: the floor is the first.
const GOAL: Party = Party::Scenery(1);

impl Blueprint for Thing {
    fn body_mut(&mut self) -> Option<&mut Body> {
        let (Thing::Driver { body, .. } | Thing::Crate { body }) = self;
        Some(body)
    }

    fn plan(&self, _: foretell::Entity) -> Plan {
        let (body, half) = match self {
            Thing::Driver { .. } => (RigidBodyBuilder::dynamic().linear_damping(1.0), 0.5),
            Thing::Crate { .. } => (RigidBodyBuilder::dynamic(), 0.2),
        };
        Plan::new(body).with(ColliderBuilder::cuboid(half, half, half))
    }
}

struct Game;

impl Game {
    fn scene() -> Scene<Game> {
        let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
        let goal = ColliderBuilder::cuboid(3.0, 1.0, 0.5).translation(Vector::new(0.0, 1.0, 6.0)).sensor(true);
        Scene::new([0.0, -9.81, 0.0], [floor, goal.active_events(ActiveEvents::COLLISION_EVENTS)])
    }
}

impl Gameplay for Game {
    type Input = Keys;
    type State = Thing;

    fn step(game: &mut Scene<Game>, step: &Step<'_, Keys>) {
        if step.tick() == Tick::ZERO && step.simulates(PlayerId::SERVER) {
            for nth in 0_u8..10 {
                let body = Body::at([f32::from(nth % 5) - 2.0, 0.2, f32::from(nth / 5) + 1.0]);
                game.spawn(step, (CRATE, PlayerId::SERVER), Thing::Crate { body });
            }
        }
        for player in step.joined() {
            let body = Body::at([f32::from(player.get()) * 1.5 - 1.5, 0.5, -2.0]);
            game.spawn(step, (DRIVER, *player), Thing::Driver { body, points: 0 });
        }
        for driver in game.all(DRIVER) {
            let Some(player) = step.input(driver.player()) else { continue };
            let push = Vector::new(f32::from(player.input.right), 0.0, f32::from(player.input.ahead)) * 12.0;
            game.body_mut(driver).into_iter().for_each(|mut body| body.add_force(push, true));
        }
    }

    fn react(game: &mut Scene<Game>, _: &Step<'_, Keys>) {
        let inside = game.touching().filter(|(_, other, _)| *other == GOAL).map(|(entity, ..)| entity);
        for eaten in inside.filter(|entity| entity.kind() == CRATE).collect::<Vec<_>>() {
            game.despawn(eaten);
            for driver in game.all(DRIVER) {
                if let Some(Thing::Driver { points, .. }) = game.get_mut(driver) {
                    *points += 1;
                }
            }
        }
    }
}

fn main() {
    let fingerprints = Game::scene().fingerprints();
    let rules = Rules { exact: true, fingerprints, ..Rules::new(Thing::schema()) };
    let keys = |_: PlayerId, tick: Tick| {
        let tick = tick.get();
        Keys { right: i8::from(tick % 100 < 10), ahead: if tick % 200 < 120 { 1 } else { -1 } }
    };
    match sync_test(&rules, Game::scene, keys, 600) {
        Ok(()) => println!("every client can predict it"),
        Err(found) => println!("no client can predict it: {found}"),
    }
}
