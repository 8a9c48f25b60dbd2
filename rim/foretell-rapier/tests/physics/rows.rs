//! Rows: what is published is what has changed, and what is equal is left alone.

use crate::yard::{Keys, Thing, Yard, step};
use foretell::world::Side;
use foretell::{Entity, Owned, PlayerId, Rows, Schema, Simulate, State, Step, Tick, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, QueryFilter, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};

#[test]
fn what_is_published_step_by_step_is_all_that_there_is() {
    let mut world = Yard::new(20);
    let mut rows = Rows::new(&Yard::schema());
    for tick in Tick::ZERO.until(Tick::new(400)) {
        step(&mut world, 3, tick);
        world.publish(&mut rows);
        rows.settle();
        assert!(rows.iter().eq(world.rows().iter()), "{tick:?}");
    }
}

#[test]
fn what_sleeps_is_not_published() {
    let mut world = Yard::new(100);
    let mut rows = Rows::new(&Yard::schema());
    for tick in Tick::ZERO.until(Tick::new(800)) {
        // No player: the crates come to rest.
        world.step(&mut still(tick));
        world.publish(&mut rows);
        rows.settle();
    }
    let crates = world.rows().states::<Thing>().filter(|(_, thing)| thing.is_crate()).count();
    assert_eq!(crates, 100);
    world.step(&mut still(Tick::new(800)));
    let mut named = 0;
    world.physics.publish(&mut rows, |of, body| {
        let thing = world.thing(of.entity, body);
        named += u32::from(thing.is_crate());
        thing
    });
    assert!(named < 10, "{named} of 100 crates at rest are published");
    // But whoever has no rows yet gets all of them.
    let mut first = Rows::new(&Yard::schema());
    world.publish(&mut first);
    assert!(first.iter().eq(world.rows().iter()));
}

fn still(tick: Tick) -> Step<'static, Keys> {
    Step::new(tick, Yard::rules().tick_rate, Side::Server, &[])
}

#[test]
fn adopting_what_is_there_already_changes_nothing() {
    let (mut one, mut other) = (Yard::new(30), Yard::new(30));
    for tick in Tick::ZERO.until(Tick::new(300)) {
        let rows = other.rows();
        other.adopt(&rows);
        step(&mut one, 4, tick);
        step(&mut other, 4, tick);
        assert!(one.rows().iter().eq(other.rows().iter()), "{tick:?}");
    }
}

#[test]
fn what_is_adopted_is_there_bit_for_bit() {
    let mut world = Yard::new(10);
    step(&mut world, 5, Tick::ZERO);
    // Zeros of both signs, a quaternion that is a little too long, and everything else that a setter might straighten.
    let odd = Body {
        position: [-0.0, 0.0, 1.0e-40],
        rotation: [0.0, -0.0, 0.6, 0.800_001],
        velocity: [-0.0, 0.0, 3.0],
        spin: [0.0, -0.0, f32::MIN_POSITIVE],
        sleeping: false,
        idle: 0.25,
    };
    let flipped = Body {
        position: [0.0, -0.0, 1.0e-40],
        rotation: [-0.0, 0.0, 0.6, 0.800_001],
        velocity: [0.0, -0.0, 3.0],
        spin: [-0.0, 0.0, f32::MIN_POSITIVE],
        ..odd
    };
    for body in [odd, flipped, Body { sleeping: true, idle: 0.5, ..odd }, odd] {
        let entities: Vec<_> = world.physics.owned().collect();
        let mut rows = Rows::new(&Yard::schema());
        entities.iter().for_each(|of| rows.set(*of, &world.thing(of.entity, body)));
        world.adopt(&rows);
        for Owned { entity, .. } in entities {
            let state = world.physics.state(entity).expect("it is there");
            assert!(state.same_bits(&body), "{entity}: {state:?} for {body:?}");
        }
    }
}

#[test]
fn what_is_removed_goes_and_what_comes_back_is_made_by_its_plan() {
    let mut world = Yard::new(10);
    (0..50).for_each(|tick| step(&mut world, 6, Tick::new(tick)));
    let before = world.rows();
    let mut rows = world.rows();
    rows.settle();
    let crates = world.all(Thing::is_crate);
    rows.retain(|key, _| !crates.contains(&key.entity));
    world.adopt(&rows);
    assert_eq!((crates.len(), world.all(Thing::is_crate).len()), (10, 0));
    let mut published = before.clone();
    world.publish(&mut published);
    assert!(published.states::<Thing>().all(|(_, thing)| !thing.is_crate()));
    world.adopt(&before);
    assert!(world.rows().iter().eq(before.iter()));
}

#[test]
fn queries_find_a_body_where_rows_have_put_it() {
    let mut world = Yard::new(5);
    step(&mut world, 7, Tick::ZERO);
    let small = world.all(Thing::is_crate)[0];
    let mut rows = Rows::new(&Yard::schema());
    rows.set(Owned { entity: small, owner: PlayerId::SERVER }, &Thing::Crate { body: Body::at([20.0, 5.0, -20.0]) });
    world.adopt(&rows);
    let at = |point: [f32; 3]| {
        let queries = world.physics.queries(QueryFilter::default().exclude_sensors());
        let found = queries.intersect_point(Vector::from_array(point)).next();
        found.and_then(|(_, collider)| world.physics.entity(collider.parent()?))
    };
    assert_eq!(at([20.1, 5.1, -20.1]), Some(small));
    assert_eq!(at([-3.0, 0.21, 2.0]), None, "it was there");
}

/// A board of a length in metres, which its plan goes by.
#[derive(State, Clone, Copy)]
struct Board {
    #[state(flatten)]
    body: Body,
    length: u8,
}

impl Blueprint for Board {
    fn plan(&self, _entity: Entity) -> Plan {
        let half = f32::from(self.length) / 2.0;
        Plan::new(RigidBodyBuilder::fixed()).with(ColliderBuilder::cuboid(half, 0.5, 0.5))
    }

    fn design(&self) -> u64 {
        self.length.into()
    }
}

#[test]
fn queries_find_a_body_that_rows_have_brought_or_made_anew_before_the_next_step() {
    let mut physics = Physics::new([0.0; 3], []);
    let mut rows = Rows::new(&Schema::of::<Board>());
    let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER };
    for (length, farthest) in [(2, 0.9), (8, 3.9)] {
        rows.set(of, &Board { body: Body::at([5.0, 0.0, 0.0]), length });
        physics.adopt::<Board>(&rows);
        for what in ["before", "after"] {
            let queries = physics.queries(QueryFilter::default());
            let found = queries.intersect_point(Vector::new(5.0 + farthest, 0.0, 0.0)).next();
            let found = found.and_then(|(_, collider)| physics.entity(collider.parent()?));
            assert_eq!(found, Some(of.entity), "{length} m, {what} the next step");
            physics.prepare(&still(Tick::ZERO));
            physics.advance(&still(Tick::ZERO));
        }
    }
}

/// One that weighs more than its collider.
#[derive(State, Clone, Copy)]
struct Heavy {
    #[state(flatten)]
    body: Body,
}

impl Blueprint for Heavy {
    fn plan(&self, _entity: Entity) -> Plan {
        Plan::new(RigidBodyBuilder::dynamic().additional_mass(3.0)).with(ColliderBuilder::cuboid(0.5, 0.5, 0.5))
    }
}

#[test]
fn a_new_body_weighs_what_its_plan_says_before_the_next_step() {
    let mut physics = Physics::new([0.0; 3], []);
    let heavy = physics.spawn(&mut still(Tick::ZERO), PlayerId::SERVER, &Heavy { body: Body::default() });
    physics.body_mut(heavy).expect("it is there").apply_impulse(Vector::X, true);
    assert_eq!(physics.state(heavy).expect("it is there").velocity, [0.25, 0.0, 0.0]);
    physics.rebuild();
    physics.body_mut(heavy).expect("it is there").apply_impulse(Vector::X, true);
    assert_eq!(physics.state(heavy).expect("it is there").velocity, [0.5, 0.0, 0.0]);
}
