//! Bodies and colliders that change, gravity, contacts: exactly, or not at all.

use foretell::world::Side;
use foretell::{Entity, Input, Owned, PlayerId, Rows, Simulate, State, Step, Tick, TickRate, World};
use foretell_rapier::rapier3d::prelude::{
    ActiveEvents, ActiveHooks, ColliderBuilder, LockedAxes, RigidBodyBuilder, RigidBodyType, Vector,
};
use foretell_rapier::{Blueprint, Body, Gameplay, Party, Physics, Plan, Scene};
use foretell_sim::harness::SyncTest;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Touch {
    /// Which block is to be another, and what.
    which: u8,
    form: u8,
    push: bool,
}

/// What can be made of blocks.
const FORMS: u8 = 6;

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Thing {
    Block {
        #[state(flatten)]
        body: Body,
        form: u8,
        touched: u32,
    },
    /// What holds for all.
    Sky { upwards: bool, seen: u32 },
}

impl Thing {
    fn is_block(&self) -> bool {
        matches!(self, Thing::Block { .. })
    }

    fn is_sky(&self) -> bool {
        matches!(self, Thing::Sky { .. })
    }
}

impl Blueprint for Thing {
    fn plan(&self, _entity: Entity) -> Plan {
        let Thing::Block { form, .. } = self else { unreachable!("the sky has no body") };
        let dynamic = RigidBodyBuilder::dynamic;
        let cube = |half| ColliderBuilder::cuboid(half, half, half);
        match form {
            0 => Plan::new(dynamic()).with(cube(0.2)),
            1 => Plan::new(RigidBodyBuilder::fixed()).with(cube(0.2)),
            2 => Plan::new(dynamic().gravity_scale(0.1).additional_mass(3.0)).with(cube(0.25).friction(0.0)),
            3 => Plan::new(dynamic().locked_axes(LockedAxes::ROTATION_LOCKED)).with(cube(0.15).restitution(0.7)),
            4 => Plan::new(dynamic().linear_damping(2.0).gravity_scale(0.0)).with(cube(0.2).sensor(true)),
            _ => Plan::new(RigidBodyBuilder::kinematic_velocity_based()).with(cube(0.2)),
        }
    }

    fn design(&self) -> u64 {
        if let Thing::Block { form, .. } = self { u64::from(*form) } else { 0 }
    }
}

struct Blocks;

impl Gameplay for Blocks {
    type Input = Touch;
    type State = Thing;

    fn step(scene: &mut Scene<Blocks>, step: &mut Step<'_, Touch>) {
        if step.simulates(PlayerId::SERVER) && step.tick() == Tick::ZERO {
            scene.spawn(step, PlayerId::SERVER, Thing::Sky { upwards: false, seen: 0 });
            for nth in 0_u8..12 {
                let place = [f32::from(nth % 3) * 0.42, 0.2 + 0.4 * f32::from(nth / 3), 0.0];
                let block = Thing::Block { body: Body::at(place), form: 0, touched: 0 };
                scene.spawn(step, PlayerId::SERVER, block);
            }
        }
        for joined in step.joined() {
            let body = Body::at([-2.0, 1.0, f32::from(joined.player.get())]);
            scene.spawn(step, joined.player, Thing::Block { body, form: 0, touched: 0 });
        }
        let blocks = scene.all(Thing::is_block);
        for input in step.inputs().iter().map(|player| player.input).filter(|input| input.push) {
            let entity = blocks[usize::from(input.which) % blocks.len()];
            if let Some(Thing::Block { form, touched, .. }) = scene.get_mut(entity) {
                (*form, *touched) = (input.form % FORMS, *touched + 1);
            }
            if let Some(mut body) = scene.body_mut(entity) {
                body.apply_impulse(Vector::new(0.02, 0.05, 0.01), true);
            }
        }
        let sky = scene.all(Thing::is_sky).first().copied();
        let upwards = step.tick().get() % 100 >= 80;
        if let Some(Thing::Sky { upwards: now, .. }) = sky.and_then(|sky| scene.get_mut(sky)) {
            *now = upwards;
        }
        scene.set_gravity([0.0, if upwards { 2.0 } else { -9.81 }, 0.0]);
    }

    fn react(scene: &mut Scene<Blocks>, step: &mut Step<'_, Touch>) {
        let pressed = scene.all(Thing::is_block).iter().flat_map(|block| scene.contacts(*block)).count();
        let sky = scene.all(Thing::is_sky).first().copied();
        if let Some(Thing::Sky { seen, .. }) = sky.and_then(|sky| scene.get_mut(sky)) {
            *seen = u32::try_from(pressed).expect("few") + step.tick().get() % 2;
        }
    }
}

fn floor() -> ColliderBuilder {
    ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0))
}

fn scene() -> Scene<Blocks> {
    Scene::new([0.0, -9.81, 0.0], [floor()])
}

fn still(tick: u32) -> Step<'static, Touch> {
    Step::new(Tick::new(tick), TickRate::default(), Side::Server, &[])
}

#[test]
fn whatever_a_design_changes_of_bodies_and_colliders_every_end_comes_to_the_same_bits() {
    let touch = |player: PlayerId, tick: Tick| {
        let drawn = tick.get().wrapping_mul(2_654_435_761).rotate_left(u32::from(player.get()) * 7);
        let [which, form, ..] = drawn.to_be_bytes();
        Touch { which, form, push: tick.get() % 7 == u32::from(player.get()) }
    };
    assert_eq!(SyncTest::new(scene().rules(), scene).input(touch).run(300), Ok(()));
}

/// A scene in which this block has become that, after a number of ticks.
fn with(form: u8, before: u32, after: u32) -> (Scene<Blocks>, Entity) {
    let mut scene = scene();
    (0..before).for_each(|tick| scene.step(&mut still(tick)));
    let block = scene.all(Thing::is_block)[11];
    if let Some(Thing::Block { form: now, .. }) = scene.get_mut(block) {
        *now = form;
    }
    (before..before + after).for_each(|tick| scene.step(&mut still(tick)));
    (scene, block)
}

#[test]
fn a_block_that_becomes_another_is_that_at_once_and_stays_where_it_is() {
    for before in [5, 70] {
        let (plain, block) = with(0, before, 0);
        let place = plain.state(block).expect("it is there").position;
        let (frozen, _) = with(1, before, 1);
        assert_eq!(frozen.body(block).map(|body| body.body_type()), Some(RigidBodyType::Fixed));
        assert_eq!(frozen.state(block).expect("it is there").position, place);
        let (heavy, _) = with(2, before, 1);
        let body = heavy.body(block).expect("it is there");
        assert!((body.mass() - 3.125).abs() < 1e-4 && body.gravity_scale() == 0.1, "{}", body.mass());
        assert_eq!(heavy.colliders(block).next().expect("it has one").friction(), 0.0);
        // What is no obstacle any more lets others through.
        let (sensor, _) = with(4, before, 1);
        assert!(sensor.colliders(block).all(|collider| collider.is_sensor()));
    }
}

/// All rows of a scene.
fn rows_of(scene: &mut Scene<Blocks>) -> Rows {
    let mut rows = Rows::new(&Scene::<Blocks>::schema());
    scene.publish(&mut rows);
    rows
}

#[test]
fn a_client_that_has_a_body_of_an_older_design_makes_it_anew_when_rows_say_so() {
    for form in 1..FORMS {
        let (mut server, block) = with(form, 60, 10);
        let (mut client, _) = with(0, 60, 10);
        client.adopt(&rows_of(&mut server));
        let kind = |scene: &Scene<Blocks>| scene.body(block).map(|body| body.body_type());
        assert_eq!(kind(&client), kind(&server));
        [&mut server, &mut client].into_iter().for_each(|scene| scene.rebuild());
        for tick in 70..200 {
            server.step(&mut still(tick));
            client.step(&mut still(tick));
            assert!(rows_of(&mut server).iter().eq(rows_of(&mut client).iter()), "form {form}, tick {tick}");
        }
    }
}

#[test]
fn a_block_that_is_shown_moving_and_becomes_fixed_lies_where_its_rows_say_from_then_on() {
    let of_client = |tick| Step::new(Tick::new(tick), TickRate::default(), Side::Client(PlayerId::new(1)), &[]);
    let (mut server, block) = with(0, 5, 0);
    let mut client = scene();
    server.body_mut(block).expect("it is there").set_linvel(Vector::new(0.0, 0.0, 10.0), true);
    for tick in 5..8 {
        server.step(&mut still(tick));
        client.adopt(&rows_of(&mut server));
        client.step(&mut of_client(tick + 1));
    }
    assert!(client.state(block).expect("it is there").velocity[2] > 9.0);
    if let Some(Thing::Block { form, .. }) = server.get_mut(block) {
        *form = 1;
    }
    // And somewhere else it goes at last, fixed as it is.
    for tick in 8..12 {
        if tick == 11 {
            server.body_mut(block).expect("it is there").set_translation(Vector::new(5.0, 1.0, 5.0), true);
        }
        server.step(&mut still(tick));
        client.adopt(&rows_of(&mut server));
        let told = server.state(block).expect("it is there");
        for what in ["before", "after"] {
            let now = Body::of(client.body(block).expect("it is there"));
            assert!(now.same_bits(&told), "tick {tick}, {what} its step: {now:?} for {told:?}");
            client.step(&mut of_client(tick + 1));
            assert_eq!(client.body(block).map(|body| body.body_type()), Some(RigidBodyType::Fixed));
        }
    }
}

#[test]
fn what_is_written_into_the_body_of_a_state_is_told_to_nobody_though_the_body_rests() {
    for form in [0, 1] {
        let (mut scene, block) = with(form, 5, 1);
        // Before gravity turns, until all sleep.
        (6..200).for_each(|tick: u32| scene.step(&mut still(tick.min(79))));
        let rests = scene.state(block).expect("it is there");
        assert!(rests.sleeping || form == 1, "{rests:?}");
        let write = |scene: &mut Scene<Blocks>| {
            if let Some(Thing::Block { body, touched, .. }) = scene.get_mut(block) {
                (*body, *touched) = (Body::at([9.0, 8.0, 7.0]), *touched + 1);
            }
        };
        let check = |scene: &mut Scene<Blocks>, times: u32| {
            let told = rows_of(scene).state::<Thing>(block);
            assert_eq!(told, Some(Thing::Block { body: rests, form, touched: times }));
            assert_eq!(scene.get(block).copied(), told);
        };
        write(&mut scene);
        check(&mut scene, 1);
        write(&mut scene);
        scene.step(&mut still(79));
        check(&mut scene, 2);
    }
}

#[test]
fn what_stood_on_a_block_that_shrinks_or_goes_wakes_and_comes_down() {
    let mut scene = scene();
    (0..70).for_each(|tick| scene.step(&mut still(tick)));
    let blocks = scene.all(Thing::is_block);
    let height = |scene: &Scene<Blocks>, nth: usize| scene.state(blocks[nth]).expect("it is there").position[1];
    let before = height(&scene, 3);
    if let Some(Thing::Block { form, .. }) = scene.get_mut(blocks[0]) {
        *form = 4;
    }
    // Before gravity turns.
    (28..79).for_each(|tick| scene.step(&mut still(tick)));
    assert!(height(&scene, 3) < before - 0.1, "{before} {}", height(&scene, 3));
}

#[test]
fn a_contact_has_the_other_the_direction_and_the_weight_that_rests_on_it() {
    let (mut physics, seconds) = (Physics::new([0.0, -9.81, 0.0], [floor()]), 1.0 / 64.0);
    let entity = |nth| Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
    for nth in 0..2_u16 {
        let body = Body::at([0.0, 0.2 + 0.4 * f32::from(nth), 0.0]);
        let of = Owned { entity: entity(nth), owner: PlayerId::SERVER };
        physics.insert(of, &Thing::Block { body, form: 0, touched: 0 });
    }
    for tick in 0..20 {
        physics.prepare(&still(tick));
        physics.advance(&still(tick));
    }
    let weight = physics.body(entity(0)).expect("it is there").mass() * 9.81 * seconds;
    let [upper] = physics.contacts(entity(1))[..] else { panic!("{:?}", physics.contacts(entity(1))) };
    assert_eq!(upper.with, Party::Entity(entity(0)));
    assert!(upper.normal[1] > 0.999 && (upper.impulse / weight - 1.0).abs() < 0.1, "{upper:?} of {weight}");
    assert!((upper.point[1] - 0.4).abs() < 0.02, "{upper:?}");
    let lower = physics.contacts(entity(0));
    assert_eq!(
        lower.iter().map(|contact| contact.with).collect::<Vec<_>>(),
        [Party::Entity(entity(1)), Party::Scenery(0)]
    );
    assert!(lower[0].normal[1] < -0.999 && (lower[1].impulse / weight - 2.0).abs() < 0.2, "{lower:?}");
    assert_eq!(physics.contacts(entity(7)), []);
}

#[test]
fn a_fingerprint_tells_what_of_two_worlds_differs() {
    let of = |physics: &Physics| physics.fingerprints();
    let same = of(&Physics::new([0.0, -9.81, 0.0], [floor()]));
    assert_eq!(same, of(&Physics::new([0.0, -9.81, 0.0], [floor()])));
    assert_eq!(same, scene().fingerprints());
    let differing = |other: Vec<foretell::Fingerprint>| -> Vec<&str> {
        same.iter().zip(&other).filter(|(one, other)| one != other).map(|(one, _)| one.name).collect()
    };
    let wider = ColliderBuilder::cuboid(20.05, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
    assert_eq!(differing(of(&Physics::new([0.0, -9.81, 0.0], [wider]))), ["scenery"]);
    assert_eq!(differing(of(&Physics::new([0.0, -9.81, 0.0], [floor().friction(0.4)]))), ["scenery"]);
    assert_eq!(differing(of(&Physics::new([0.0, -9.8, 0.0], [floor()]))), ["physics settings"]);
    let mut finer = Physics::new([0.0, -9.81, 0.0], [floor()]);
    finer.parameters_mut().num_solver_iterations += 1;
    assert_eq!(differing(of(&finer)), ["physics settings"]);
}

#[test]
#[should_panic(expected = "physics hooks are never called")]
fn a_collider_that_asks_for_hooks_is_refused() {
    let _ = Plan::new(RigidBodyBuilder::dynamic())
        .with(ColliderBuilder::ball(1.0).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS));
}

#[test]
#[should_panic(expected = "contact-force events are never told")]
fn scenery_that_asks_for_contact_force_events_is_refused() {
    let _ = Physics::new([0.0; 3], [floor().active_events(ActiveEvents::CONTACT_FORCE_EVENTS)]);
}
