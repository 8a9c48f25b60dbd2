//! Touches by entity, once each, whatever is rebuilt in between.

use crate::yard::{GOAL, Keys, Thing, Yard};
use foretell::world::Side;
use foretell::{Entity, Newcomer, PlayerId, Simulate, Step, Tick, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, Vector};
use foretell_rapier::{Body, Party, Physics, Touch};

const ONE: PlayerId = PlayerId::new(1);

fn tick(nth: u32) -> Step<'static, Keys> {
    Step::new(Tick::new(nth), Yard::rules().tick_rate, Side::Server, &[])
}

/// A driver that falls onto a crate inside of the sensor.
fn falling() -> (Physics, Entity, Entity) {
    let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
    let goal = ColliderBuilder::cuboid(2.0, 0.4, 2.0).translation(Vector::new(0.0, 0.4, 0.0)).sensor(true);
    let mut physics = Physics::new([0.0, -9.81, 0.0], [floor, goal]);
    let body = Body::at([0.0, 2.0, 0.0]);
    let driver = Thing::Driver { body, hits: 0, touching: false, holds: false };
    let driver = physics.spawn(&mut tick(0), ONE, &driver);
    let small = physics.spawn(&mut tick(1), PlayerId::SERVER, &Thing::Crate { body: Body::at([0.0, 0.2, 0.0]) });
    (physics, driver, small)
}

/// All touches of 200 ticks, each with its tick; rebuilt before every tick that `rebuilt` names.
fn told(rebuilt: impl Fn(u32) -> bool) -> Vec<(u32, Touch)> {
    let (mut physics, ..) = falling();
    let mut told = Vec::new();
    for nth in 0..200 {
        physics.prepare(&tick(nth));
        if rebuilt(nth) {
            physics.rebuild();
        }
        physics.advance(&tick(nth));
        told.extend(physics.touches().iter().map(|touch| (nth, *touch)));
    }
    told
}

#[test]
fn a_touch_begins_once_and_ends_once() {
    let (mut physics, driver, small) = falling();
    let mut touches = Vec::new();
    for nth in 0..200 {
        physics.prepare(&tick(nth));
        physics.advance(&tick(nth));
        touches.extend_from_slice(physics.touches());
    }
    let a = driver;
    let began = |b, sensor| Touch { a, b, sensor, began: true };
    assert!(touches.contains(&began(GOAL, true)), "{touches:?}");
    assert!(touches.contains(&began(Party::Entity(small), false)), "{touches:?}");
    // Now it goes, and with it whatever it touched.
    let held: Vec<_> = physics.touching().collect();
    assert!(held.contains(&(driver, Party::Entity(small), false)));
    physics.prepare(&tick(200));
    physics.despawn(driver);
    physics.advance(&tick(200));
    let ended: Vec<_> =
        held.iter().map(|(a, b, sensor)| Touch { a: *a, b: *b, sensor: *sensor, began: false }).collect();
    assert_eq!(physics.touches(), ended);
}

#[test]
fn a_rebuild_tells_no_touch_twice_and_keeps_none_back() {
    let names = |told: Vec<(u32, Touch)>| -> Vec<Touch> { told.into_iter().map(|(_, touch)| touch).collect() };
    let plain = told(|_| false);
    // Rebuilt in the very tick of each touch, and while all lies still.
    let in_time = told(|nth| plain.iter().any(|(at, _)| *at == nth));
    assert_eq!(in_time.first(), plain.first(), "up to the first touch nothing differs");
    let still = told(|nth| nth > 150);
    assert_eq!(names(still), names(plain.clone()));
    assert!(plain.iter().all(|(at, _)| *at < 150), "by then it lies still: {plain:?}");
    // How it falls after a rebuild may differ a little, but what touches in the end was told.
    let balance = |told: &[(u32, Touch)], sensor| -> i32 {
        told.iter().filter(|(_, touch)| touch.sensor == sensor).map(|(_, touch)| if touch.began { 1 } else { -1 }).sum()
    };
    let always = told(|_| true);
    for sensor in [false, true] {
        assert_eq!(balance(&always, sensor), balance(&plain, sensor), "{always:?}");
    }
}

#[test]
fn what_a_client_hears_of_late_has_not_just_begun_to_touch() {
    let mut server = Yard::new(0);
    server.step(&mut tick(0).with_players(&[Newcomer::new(ONE)], &[]));
    (1..60).for_each(|nth| server.step(&mut tick(nth)));
    assert!(server.physics.touching().count() > 0, "the driver stands on the floor");
    let mut client = Yard::new(0);
    client.adopt(&server.rows());
    client.step(&mut tick(60));
    assert_eq!(client.physics.touches(), []);
    assert!(client.physics.touching().eq(server.physics.touching()));
}

#[test]
fn a_body_that_is_despawned_after_the_step_in_which_it_touches_is_told_of_no_more() {
    let (mut physics, driver, small) = falling();
    let ends = (0..200).find(|nth| {
        physics.prepare(&tick(*nth));
        physics.advance(&tick(*nth));
        // A goal eats the crate in the very tick in which it is hit.
        let eaten = physics.touches().iter().any(|touch| touch.a == driver && touch.b == Party::Entity(small));
        if eaten {
            physics.despawn(small);
        }
        physics.tell_touches(&mut tick(*nth));
        eaten
    });
    let next = ends.expect("the driver falls onto it") + 1;
    physics.prepare(&tick(next));
    physics.advance(&tick(next));
    physics.tell_touches(&mut tick(next));
    let ended = Touch { a: driver, b: Party::Entity(small), sensor: false, began: false };
    assert!(physics.touches().contains(&ended), "{:?}", physics.touches());
    assert!(physics.touching().all(|(a, b, _)| a != small && b != Party::Entity(small)));
}
