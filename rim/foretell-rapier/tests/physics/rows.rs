//! Rows: what is published is what has changed, and what is equal is left alone.

use crate::yard::{CRATE, Thing, Yard, step};
use foretell::{Rows, State, Tick, World};
use foretell_rapier::Body;

#[test]
fn what_is_published_step_by_step_is_all_that_there_is() {
    let mut world = Yard::new(20);
    let mut rows = Rows::new(&Thing::schema());
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
    let mut rows = Rows::new(&Thing::schema());
    for tick in Tick::ZERO.until(Tick::new(800)) {
        // No player: the crates come to rest.
        world.step(&still(tick));
        world.publish(&mut rows);
        rows.settle();
    }
    let crates = world.rows().states::<Thing>().filter(|(entity, _)| entity.kind() == CRATE).count();
    assert_eq!(crates, 100);
    world.step(&still(Tick::new(800)));
    let mut named = Rows::new(&Thing::schema());
    world.publish(&mut named);
    let named = named.iter().filter(|(entity, _)| entity.kind() == CRATE).count();
    assert!(named < 10, "{named} of 100 crates at rest are published");
}

fn still(tick: Tick) -> foretell::Step<'static, crate::yard::Keys> {
    foretell::Step::new(tick, Yard::rules().tick_rate, foretell::rollback::Side::Server, &[])
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
        let entities: Vec<_> = world.physics.entities().collect();
        let mut rows = Rows::new(&Thing::schema());
        entities.iter().for_each(|entity| rows.set(*entity, &world.thing(*entity, body)));
        world.adopt(&rows);
        for entity in entities {
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
    rows.retain(|entity| entity.kind() != CRATE);
    world.adopt(&rows);
    assert!(world.physics.entities().all(|entity| entity.kind() != CRATE));
    let mut published = before.clone();
    world.publish(&mut published);
    assert!(published.iter().all(|(entity, _)| entity.kind() != CRATE));
    world.adopt(&before);
    assert!(world.rows().iter().eq(before.iter()));
}
