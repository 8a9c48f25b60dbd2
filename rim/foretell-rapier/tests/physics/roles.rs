//! Proxies: where their rows say, moved by nothing, and bodies again when they are predicted.

use crate::yard::{Keys, Thing, Yard, crate_name, step};
use foretell::world::Side;
use foretell::{Entity, Newcomer, Owned, PlayerId, Rows, Simulate, Step, Tick, World};
use foretell_rapier::Body;
use foretell_rapier::rapier3d::dynamics::RigidBodyType;
use foretell_rapier::rapier3d::math::Vector;

/// A tick of a client that predicts nothing but the entities of `player`.
fn of_client(player: PlayerId, tick: u32) -> Step<'static, Keys> {
    Step::new(Tick::new(tick), Yard::rules().tick_rate, Side::Client(player), &[])
}

fn crates(world: &Yard) -> Vec<Entity> {
    world.all(Thing::is_crate)
}

#[test]
fn a_proxy_stays_where_its_row_says_and_has_its_velocity() {
    let mut world = Yard::new(10);
    (0..80).for_each(|tick| step(&mut world, 1, Tick::new(tick)));
    let before = world.rows();
    let small = crates(&world)[3];
    let mut rows = Rows::new(&Yard::schema());
    let told = Body { velocity: [1.0, 2.0, 3.0], spin: [0.5, 0.0, 0.0], ..Body::at([5.0, 4.0, -0.0]) };
    rows.set(Owned { entity: small, owner: PlayerId::SERVER }, &Thing::Crate { body: told });
    world.adopt(&rows);
    for tick in 80..90 {
        world.step(&mut of_client(PlayerId::new(1), tick));
        let body = world.physics.body(small).expect("it is there");
        assert_eq!(body.body_type(), RigidBodyType::KinematicVelocityBased);
        assert_eq!(body.linvel().to_array(), [1.0, 2.0, 3.0], "no gravity, and what it meets sees how fast it is");
        assert!(world.physics.state(small).expect("it is there").same_bits(&told));
        // In the step it moves on by its velocity, and is put back before the next one.
        assert!((body.translation().x - (5.0 + 1.0 / 64.0)).abs() < 0.001, "{tick}: {}", body.translation());
        // Nor are those that it falls on or meets moved, which are proxies too.
        for other in crates(&world).into_iter().filter(|other| *other != small) {
            assert!(world.rows().of(other).eq(before.of(other)), "{other}");
        }
    }
}

#[test]
fn a_proxy_pushes_and_is_not_pushed() {
    let (mut world, player) = (Yard::new(0), PlayerId::new(1));
    world.step(
        &mut Step::new(Tick::ZERO, Yard::rules().tick_rate, Side::Server, &[])
            .with_players(&[Newcomer::new(player)], &[]),
    );
    let driver = world.driver().expect("one has joined");
    let small = crate_name(0);
    for tick in 1..65_u16 {
        let mut rows = Rows::new(&Yard::schema());
        // Through the place where the driver stands, at 2 m/s.
        let x = f32::from(tick) / 32.0 - 2.5;
        rows.set(
            Owned { entity: small, owner: PlayerId::SERVER },
            &Thing::Crate { body: Body { velocity: [2.0, 0.0, 0.0], ..Body::at([x, 0.4, 0.0]) } },
        );
        world.adopt(&rows);
        world.step(&mut of_client(player, u32::from(tick)));
        assert_eq!(world.physics.state(small).expect("it is there").position, [x, 0.4, 0.0]);
    }
    let pushed = world.physics.state(driver).expect("it is there").position[0];
    assert!(pushed > -0.5, "it was pushed from -1 m to {pushed} m");
}

#[test]
fn a_proxy_that_is_predicted_goes_on_from_where_it_was() {
    let mut world = Yard::new(10);
    (0..70).for_each(|tick| step(&mut world, 1, Tick::new(tick)));
    world.step(&mut of_client(PlayerId::new(1), 70));
    let proxies = world.rows();
    step(&mut world, 1, Tick::new(71));
    for small in crates(&world) {
        let body = world.physics.body(small).expect("it is there");
        assert_eq!(body.body_type(), RigidBodyType::Dynamic);
        let was = proxies.state::<Thing>(small);
        let Some(Thing::Crate { body: was }) = was else { panic!("a crate is one: {was:?}") };
        let speed = was.velocity.map(|lane| lane * lane).iter().sum::<f32>().sqrt();
        let now = body.translation().to_array();
        let moved = core::array::from_fn::<f32, 3, _>(|lane| now[lane] - was.position[lane]);
        let moved = moved.map(|lane| lane * lane).iter().sum::<f32>().sqrt();
        assert!(moved <= (speed + 1.0) / 64.0, "{small} jumped by {moved} m at {speed} m/s");
    }
}

#[test]
fn a_client_that_is_told_few_bodies_has_few() {
    let mut server = Yard::new(100);
    (0..10).for_each(|tick| step(&mut server, 1, Tick::new(tick)));
    let is_near = |entity: Entity| !crates(&server)[20..].contains(&entity);
    let mut client = Yard::new(100);
    let mut rows = server.rows();
    rows.retain(|key, _| is_near(key.entity));
    rows.settle();
    client.adopt(&rows);
    assert_eq!(crates(&client).len(), 20);
    client.step(&mut of_client(PlayerId::new(1), 10));
    assert!(client.physics.entities().eq(server.physics.entities().filter(|entity| is_near(*entity))));
}

#[test]
fn what_rows_have_put_to_sleep_does_not_fall_through_the_floor() {
    let mut server = Yard::new(10);
    (0..400).for_each(|tick| step(&mut server, 1, Tick::new(tick)));
    let told = server.rows();
    let resting: Vec<_> = crates(&server)
        .into_iter()
        .filter(|small| server.physics.state(*small).expect("it is there").sleeping)
        .collect();
    assert!(resting.len() > 5, "{} sleep", resting.len());
    let mut client = Yard::new(10);
    let check = |client: &Yard, what: &str| {
        for small in &resting {
            let [now, then] = [client, &server].map(|world| world.physics.state(*small).expect("it is there").position);
            assert!((now[1] - then[1]).abs() < 0.001, "{small}, {what}: {} m above its place", now[1] - then[1]);
        }
    };
    // Brought by rows, and predicted.
    client.adopt(&told);
    (400..410).for_each(|tick| step(&mut client, 1, Tick::new(tick)));
    check(&client, "brought");
    // Put back into its sleep.
    client.adopt(&told);
    (410..420).for_each(|tick| step(&mut client, 1, Tick::new(tick)));
    check(&client, "put back");
    // Proxies for a while.
    client.adopt(&told);
    (420..424).for_each(|tick| client.step(&mut of_client(PlayerId::new(1), tick)));
    (424..434).for_each(|tick| step(&mut client, 1, Tick::new(tick)));
    check(&client, "predicted again");
    // And nothing stays awake for it.
    (434..560).for_each(|tick| step(&mut client, 1, Tick::new(tick)));
    let asleep = resting.iter().filter(|small| client.physics.state(**small).expect("it is there").sleeping);
    assert!(asleep.count() > 5);
}

#[test]
fn what_a_step_puts_to_sleep_in_an_awake_tower_does_not_fall_through_the_floor() {
    let still = |tick| Step::<Keys>::new(Tick::new(tick), Yard::rules().tick_rate, Side::Server, &[]);
    let mut world = Yard::new(5);
    (0..30).for_each(|tick| world.step(&mut still(tick)));
    let tower = crates(&world);
    let states = |world: &Yard| -> Vec<Body> {
        tower.iter().map(|small| world.physics.state(*small).expect("it is there")).collect()
    };
    let before = states(&world);
    assert!(before.iter().all(|body| !body.sleeping));
    world.physics.body_mut(tower[1]).expect("it is there").sleep();
    for tick in 30..60 {
        // What stands on it is not still.
        world.physics.body_mut(tower[4]).expect("it is there").set_angvel(Vector::Y, true);
        world.step(&mut still(tick));
        for (now, before) in states(&world).iter().zip(&before) {
            let moved = now.position[1] - before.position[1];
            assert!(moved.abs() < 0.01, "by {moved} m in tick {tick}");
        }
    }
    (60..160).for_each(|tick| world.step(&mut still(tick)));
    assert!(states(&world).iter().all(|body| body.sleeping));
}
