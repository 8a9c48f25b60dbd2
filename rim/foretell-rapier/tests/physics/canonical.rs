//! Rebuilds: what follows depends on the bodies alone, and names, joints and sleep survive.

use crate::yard::{Keys, Thing, Yard, bead_before, bead_name, step};
use foretell::world::Side;
use foretell::{Entity, Owned, Rows, Simulate, Step, Tick, World};
use foretell_rapier::{Body, Link};
use proptest::prelude::*;

/// A world of the same bodies with another past: it has played by itself for a while, in which other bodies came and went.
fn twin_of(world: &Yard, crates: u16, past: u32) -> Yard {
    let mut twin = Yard::new(crates);
    (0..past).for_each(|tick| step(&mut twin, 77, Tick::new(tick)));
    let mut rows = twin.rows();
    rows.settle();
    let all = world.rows();
    rows.retain(|key, _| all.words(key).is_some());
    all.iter().for_each(|row| rows.set_words(row));
    twin.adopt(&rows);
    twin
}

/// The first tick in which the rows of the two differ.
fn parting(one: &mut Yard, other: &mut Yard, seed: u32, ticks: core::ops::Range<u32>) -> Option<u32> {
    ticks.into_iter().find(|tick| {
        step(one, seed, Tick::new(*tick));
        step(other, seed, Tick::new(*tick));
        !one.rows().iter().eq(other.rows().iter())
    })
}

fn rebuilt_twins_part(crates: u16, seed: u32, at: u32, ticks: u32) -> Option<u32> {
    let mut world = Yard::new(crates);
    (0..at).for_each(|tick| step(&mut world, seed, Tick::new(tick)));
    let mut twin = twin_of(&world, crates, 57);
    world.physics.rebuild();
    twin.physics.rebuild();
    parting(&mut world, &mut twin, seed, at..at + ticks)
}

#[test]
fn worlds_of_equal_bodies_go_on_equally_when_both_are_rebuilt() {
    for crates in [10, 100, 901] {
        assert_eq!(rebuilt_twins_part(crates, 11, 100, 600), None, "{crates} crates");
    }
}

#[test]
fn worlds_of_equal_bodies_part_when_they_are_not_rebuilt() {
    let mut world = Yard::new(100);
    (0..100).for_each(|tick| step(&mut world, 11, Tick::new(tick)));
    let mut twin = twin_of(&world, 100, 57);
    assert!(parting(&mut world, &mut twin, 11, 100..200).is_some(), "or the test above shows nothing");
}

#[test]
fn a_rebuild_moves_nothing_and_keeps_names_and_joints() {
    let mut world = Yard::new(20);
    (0..90).for_each(|tick| step(&mut world, 12, Tick::new(tick)));
    let before = world.rows();
    world.physics.rebuild();
    assert!(world.rows().iter().eq(before.iter()));
    for entity in world.physics.entities() {
        let handle = world.physics.handle(entity).expect("it has a body");
        assert_eq!(world.physics.entity(handle), Some(entity));
    }
    assert_eq!(world.all(|thing| thing.is_bead() || thing.is_door()).len(), 6);
    for tick in 90..300 {
        step(&mut world, 12, Tick::new(tick));
        for bead in world.all(Thing::is_bead) {
            let before = bead_before(bead);
            assert!(world.physics.joint(Link::new(bead, before)).is_some(), "{bead} hangs on");
            let Some(before) = before else { continue };
            let [a, b] = [bead, before].map(|bead| world.physics.state(bead).expect("it is there").position);
            let apart = (0..3).map(|lane| (a[lane] - b[lane]).powi(2)).sum::<f32>().sqrt();
            assert!(apart < 0.6, "{bead} and {before} are {apart} m apart");
        }
    }
}

fn still(tick: u32) -> Step<'static, Keys> {
    Step::new(Tick::new(tick), Yard::rules().tick_rate, Side::Server, &[])
}

/// How many crates sleep.
fn asleep(world: &Yard) -> usize {
    let crates = world.rows();
    let sleeps = |(_, thing): &(Owned, Thing)| matches!(thing, Thing::Crate { body } if body.sleeping);
    crates.states::<Thing>().filter(sleeps).count()
}

#[test]
fn what_sleeps_sleeps_on_through_a_rebuild_and_wakes_when_it_loses_its_hold() {
    let mut world = Yard::new(50);
    (0..500).for_each(|tick| world.step(&mut still(tick)));
    assert_eq!(asleep(&world), 50);
    let before = world.rows();
    world.physics.rebuild();
    (500..520).for_each(|tick| world.step(&mut still(tick)));
    assert_eq!(asleep(&world), 50);
    let crates = |rows: &Rows| -> Vec<Thing> {
        rows.states::<Thing>().map(|(_, thing)| thing).filter(Thing::is_crate).collect()
    };
    assert_eq!(crates(&world.rows()), crates(&before));
    // The lowest of a tower goes: what stood on it must not stay in the air.
    let rows = world.rows();
    let lowest = rows.states::<Thing>().filter_map(|(of, thing)| match thing {
        Thing::Crate { body } if body.position[1] < 0.25 => Some(of.entity),
        _ => None,
    });
    let lowest: Vec<_> = lowest.collect();
    assert!(lowest.len() >= 5, "{lowest:?}");
    world.physics.rebuild();
    world.physics.prepare(&still(520));
    assert!(lowest.iter().all(|entity| world.physics.despawn(*entity)));
    world.physics.advance(&still(520));
    (521..700).for_each(|tick| world.step(&mut still(tick)));
    let rows = world.rows();
    let lowest_now = rows.states::<Thing>().filter_map(|(_, thing)| match thing {
        Thing::Crate { body } => Some(body.position[1]),
        _ => None,
    });
    let on_the_floor = lowest_now.filter(|height| *height < 0.25).count();
    assert!(on_the_floor >= 5, "{on_the_floor} have come down");
}

#[test]
fn what_rested_on_a_body_that_is_despawned_after_a_step_wakes_even_where_the_next_one_is_canonical() {
    let mut world = Yard::new(10);
    (0..500).for_each(|tick| world.step(&mut still(tick)));
    assert_eq!(asleep(&world), 10);
    let height = |world: &Yard| -> f32 {
        let rows = world.rows();
        let crates = rows.states::<Thing>().filter_map(|(_, thing)| match thing {
            Thing::Crate { body } => Some(body.position[1]),
            _ => None,
        });
        crates.fold(0.0, f32::max)
    };
    let before = height(&world);
    let is_low =
        |world: &Yard, entity: &Entity| world.physics.state(*entity).is_some_and(|body| body.position[1] < 0.25);
    let lowest: Vec<_> = world.all(Thing::is_crate).into_iter().filter(|entity| is_low(&world, entity)).collect();
    lowest.iter().for_each(|entity| assert!(world.physics.despawn(*entity)));
    let mut rows = Rows::new(&Yard::schema());
    world.publish(&mut rows);
    world.physics.rebuild();
    (500..600).for_each(|tick| world.step(&mut still(tick)));
    assert!(height(&world) < before - 0.2, "{before} {}", height(&world));
}

#[test]
fn bodies_fall_asleep_even_where_the_world_is_rebuilt_twice_a_second() {
    let mut world = Yard::new(50);
    for tick in 0..600 {
        if tick % 32 == 0 {
            world.physics.rebuild();
        }
        world.step(&mut still(tick));
    }
    assert_eq!(asleep(&world), 50);
}

#[test]
fn an_impulse_after_adopting_works_on_the_mass_and_the_turn_that_the_body_has() {
    // The door's centre of mass is beside its origin, and its inertia depends on how it is turned.
    let mut world = Yard::new(0);
    (0..100).for_each(|tick| step(&mut world, 13, Tick::new(tick)));
    let door = world.all(Thing::is_door)[0];
    let mut twin = Yard::new(0);
    twin.adopt(&world.rows());
    let pushed = |world: &mut Yard| -> Body {
        let mut body = world.physics.body_mut(door).expect("it is there");
        body.apply_torque_impulse([0.3, 0.2, 0.1].into(), true);
        body.apply_impulse_at_point([0.1, 0.0, 0.5].into(), [-4.0, 1.2, 0.1].into(), true);
        world.physics.state(door).expect("it is there")
    };
    let (one, other) = (pushed(&mut world), pushed(&mut twin));
    assert!(one.same_bits(&other), "{one:?}, {other:?}");
}

#[test]
fn a_joint_rests_while_one_of_its_ends_is_not_there() {
    let mut world = Yard::new(0);
    step(&mut world, 14, Tick::ZERO);
    let link = Link::new(bead_name(2), Some(bead_name(1)));
    assert!(world.physics.joint(link).is_some());
    let gone = world.rows();
    let mut rows = world.rows();
    rows.settle();
    rows.remove_entity(bead_name(1));
    world.adopt(&rows);
    assert!(world.physics.joint(link).is_none());
    world.physics.rebuild();
    world.adopt(&gone);
    assert!(world.physics.joint(link).is_some());
    assert_eq!(Yard::schema().components().len(), 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn rebuilt_twins_never_part(seed in any::<u32>(), crates in 0_u16..60, at in 1_u32..400) {
        prop_assert_eq!(rebuilt_twins_part(crates, seed, at, 200), None);
    }
}
