//! A cube that a player drives with W, S, A, D and space through a field of small cubes (R4, R6), checked by one line.

use foretell::{Entity, Input, PlayerId, Rows, Rules, Schema, Simulate, State, Step, Tick, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};
use foretell_sim::harness::SyncTest;

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

    fn scatter(&mut self, step: &mut Step<'_, Keys>) {
        for place in 0_u8..100 {
            let [x, z] = [f32::from(place % 10) - 4.5, f32::from(place / 10) + 2.0];
            self.0.spawn(step, PlayerId::SERVER, &Thing::Small { body: Body::at([x, 0.2, z]) });
        }
    }
}

impl Simulate for Pile {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.0.prepare(step);
        // Not is_authority: what the server alone brings in no client of an exact session can predict.
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            self.scatter(step);
        }
        self.0.remove_left(step);
        for joined in step.joined() {
            let x = 3.0 * f32::from(joined.player.get());
            self.0.spawn(step, joined.player, &Thing::Driver { body: Body::at([x, 0.5, 0.0]) });
        }
        // What belongs to a player is a driver.
        let bodies: Vec<_> = self.0.owned().collect();
        for of in bodies {
            let Some(player) = step.input(of.owner) else { continue };
            let Keys { w, s, a, d, space } = player.input;
            let axis = |plus, minus| f32::from(i8::from(plus) - i8::from(minus));
            let Some(mut body) = self.0.body_mut(of.entity).filter(|body| body.is_dynamic()) else { continue };
            let jump = if space && body.translation().y < 0.6 { 60.0 } else { 0.0 };
            body.add_force(Vector::new(axis(d, a), jump, axis(w, s)) * 15.0, true);
        }
        self.0.advance(step);
        self.0.tell_touches(step);
    }
}

impl World for Pile {
    type Saved = Physics;

    fn schema() -> Schema {
        Schema::of::<Thing>()
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

    fn publish(&mut self, rows: &mut Rows) {
        self.0.publish(rows, |of, body| match of.owner {
            PlayerId::SERVER => Thing::Small { body },
            _ => Thing::Driver { body },
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
    match SyncTest::new(Rules::new(Pile::schema()), Pile::new).input(input).run(240) {
        Ok(()) => println!("every client can predict it"),
        Err(found) => println!("no client can predict it: {found}"),
    }
}
