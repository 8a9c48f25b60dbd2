//! A cube that a player drives with W, S, A, D and space through a field of small cubes (R4, R6), checked by one line.

use foretell::harness::sync_test;
use foretell::{Entity, Input, Kind, PlayerId, Rows, Rules, State, Step, Tick, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};

/// What a player can press.
#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    w: bool,
    s: bool,
    a: bool,
    d: bool,
    space: bool,
}

/// What everybody sees.
#[derive(State, Clone, Copy)]
enum Thing {
    Driver {
        #[state(flatten)]
        body: Body,
    },
    Small {
        #[state(flatten)]
        body: Body,
    },
}

const DRIVER: Kind = Kind(0);
const SMALL: Kind = Kind(1);

impl Blueprint for Thing {
    fn plan(&self, _entity: Entity) -> Plan {
        let half = if matches!(self, Thing::Driver { .. }) { 0.5 } else { 0.2 };
        Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::cuboid(half, half, half))
    }
}

/// The game, written once.
#[derive(Clone)]
struct Pile(Physics);

impl Pile {
    /// A floor; in the first tick it gets a field of small cubes.
    fn new() -> Pile {
        let floor = ColliderBuilder::cuboid(50.0, 0.5, 50.0).translation(Vector::new(0.0, -0.5, 0.0));
        Pile(Physics::new([0.0, -9.81, 0.0], [floor]))
    }

    fn scatter(&mut self, step: &Step<'_, Keys>) {
        for place in 0_u8..100 {
            let [x, z] = [f32::from(place % 10) - 4.5, f32::from(place / 10) + 2.0];
            let small = step.spawn(SMALL, PlayerId::SERVER);
            self.0.spawn(small, &Thing::Small { body: Body::at([x, 0.2, z]) });
        }
    }
}

impl World for Pile {
    type Input = Keys;
    type Saved = Physics;

    fn step(&mut self, step: &Step<'_, Keys>) {
        self.0.prepare(step);
        // Not is_authority: what the server alone brings in no client of an exact session can predict.
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            self.scatter(step);
        }
        self.0.retain(|entity| !step.left().contains(&entity.player()));
        for player in step.joined() {
            let x = 3.0 * f32::from(player.get());
            self.0.spawn(step.spawn(DRIVER, *player), &Thing::Driver { body: Body::at([x, 0.5, 0.0]) });
        }
        let drivers: Vec<_> = self.0.entities().filter(|entity| entity.kind() == DRIVER).collect();
        for driver in drivers {
            let Some(player) = step.input(driver.player()) else { continue };
            let Keys { w, s, a, d, space } = player.input;
            let axis = |plus, minus| f32::from(i8::from(plus) - i8::from(minus));
            let Some(mut body) = self.0.body_mut(driver).filter(|body| body.is_dynamic()) else { continue };
            let jump = if space && body.translation().y < 0.6 { 60.0 } else { 0.0 };
            body.add_force(Vector::new(axis(d, a), jump, axis(w, s)) * 15.0, true);
        }
        self.0.advance(step);
        self.0.tell_touches(step);
    }

    fn save(&self, into: &mut Physics) {
        into.clone_from(&self.0);
    }

    fn load(&mut self, from: &Physics) {
        self.0.clone_from(from);
    }

    fn take(&mut self, from: &mut Physics) {
        core::mem::swap(&mut self.0, from);
    }

    fn publish(&self, rows: &mut Rows) {
        self.0.publish(rows, |entity, body| match entity.kind() {
            DRIVER => Thing::Driver { body },
            _ => Thing::Small { body },
        });
    }

    fn adopt(&mut self, rows: &Rows) {
        self.0.adopt::<Thing>(rows);
    }
}

/// Whether it can be predicted: every save, load, rollback and adopted row, bit by bit.
fn main() {
    let input = |_: PlayerId, tick: Tick| Keys {
        w: tick.get() % 128 < 96,
        space: tick.get().is_multiple_of(64),
        ..Keys::default()
    };
    match sync_test(&Rules::new(Thing::schema()), Pile::new, input, 240) {
        Ok(()) => println!("every client can predict it"),
        Err(found) => println!("no client can predict it: {found}"),
    }
}
