//! Two and more apps play one game.

use crate::cubes::{self, Cube, Keys, ShotsFired, cubes};
use bevy_app::{App, Last, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Connection, Corrected, Driven, ForetellApp, ForetellPlugin, LocalPlayer, Networked, Play, Pressed, ReadInput,
    Simulated, Simulation, Stats,
};
use bevy_state::prelude::{OnExit, State};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::TransformPlugin;
use bevy_transform::components::{GlobalTransform, Transform};
use core::time::Duration;
use foretell::session::client::Causes;
use foretell_sim::netsim::{Conditions, Loss};

pub fn link(ms: u64, loss: f64) -> Conditions {
    let (latency, jitter) = (Duration::from_millis(ms), Duration::from_millis(ms / 5));
    Conditions { latency, jitter, loss: Loss::Bursts { rate: loss, mean_length: 15.0 }, ..Conditions::default() }
}

#[derive(Resource, Default)]
struct Corrections(Vec<f64>);

fn count_corrections(rig: &mut Rig) {
    for nth in 0..2 {
        let app = rig.player(nth);
        app.init_resource::<Corrections>();
        app.add_observer(|of: On<Corrected>, mut all: ResMut<Corrections>| all.0.push(of.correction.misprediction_m));
    }
}

/// Lets go of all keys, and waits until everything has arrived.
fn come_to_rest(rig: &mut Rig) {
    rig.conditions = link(20, 0.0);
    for nth in 0..2 {
        rig.player(nth)
            .add_systems(ReadInput, (|mut keys: ResMut<Pressed<Keys>>| **keys = Keys::default()).after(cubes::press));
    }
    rig.run(640);
}

#[test]
fn two_apps_see_the_same_cubes_one_predicted_and_one_told() {
    let mut rig = Rig::new(cubes::game, 2, 1, link(50, 0.0));
    rig.run(600);
    for nth in 0..2 {
        let app = rig.player(nth);
        assert_eq!(**app.world().resource::<State<Connection>>(), Connection::Playing);
        let own = app.world().resource::<LocalPlayer>().0.expect("they have joined");
        let world = app.world_mut();
        let mut query = world.query::<(&Networked, Has<Simulated>, &Transform, &Cube)>();
        assert_eq!(query.iter(world).count(), 2);
        for (of, is_simulated, transform, cube) in query.iter(world) {
            assert_eq!(is_simulated, of.owner() == own);
            assert!((transform.translation.x - cube.x[0]).abs() < 0.5 && transform.translation.x != 0.0);
        }
    }
    let stats = rig.player(0).world().resource::<Stats>().0.expect("a client measures");
    assert!((80..200).contains(&stats.network.rtt.as_millis()) && stats.playout.delay_ticks > 1.0, "{stats:?}");
    assert_eq!(*rig.server().world().resource::<Stats>(), Stats(None));
    come_to_rest(&mut rig);
    let truth = cubes(rig.server());
    assert_eq!(truth.len(), 2);
    assert!(truth.iter().all(|(.., cube)| cube.x[0].abs() > 0.1));
    assert_eq!(truth, cubes(rig.player(0)));
    assert_eq!(truth, cubes(rig.player(1)));
}

/// The same game, of which a plugin was there before the one that plays it.
fn added_before(app: &mut App) {
    app.add_systems(Simulation, (cubes::join, cubes::drive).chain()).add_systems(ReadInput, cubes::press);
    app.add_plugins(ForetellPlugin::<Keys>::hz(64)).networked::<Cube>();
}

#[test]
fn systems_that_are_added_before_the_plugin_run() {
    let mut rig = Rig::new(added_before, 1, 1, link(50, 0.0));
    rig.run(200);
    assert!(cubes(rig.player(0)).len() == 1 && cubes(rig.server()).iter().all(|(.., cube)| cube.x[0] != 0.0));
}

/// How often a device was read.
#[derive(Resource, Default)]
struct Device(u32, u32);

#[test]
fn input_is_read_after_all_of_pre_update_and_states_change_after_that() {
    let mut app = App::new();
    let read = |mut device: ResMut<Device>| device.0 += 1;
    app.init_resource::<Device>().add_plugins(TimePlugin).add_systems(PreUpdate, read);
    cubes::game(&mut app);
    app.add_systems(PreUpdate, read).add_systems(PreUpdate, |mut device: ResMut<Device>| device.0 += 1);
    app.add_systems(ReadInput, |mut device: ResMut<Device>| {
        device.1 += 1;
        assert_eq!(device.0, 3 * device.1, "devices are read before it in each frame");
    });
    app.add_systems(OnExit(Connection::Offline), |device: Res<Device>| assert_eq!(device.1, 1, "in the same frame"));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(16))).insert_resource(Play::Alone);
    (0..4).for_each(|_| app.update());
    assert_eq!(app.world().resource::<Device>().1, 4);
    assert_eq!(**app.world().resource::<State<Connection>>(), Connection::Playing);
}

fn count_presses(mut fired: ResMut<ShotsFired>, cubes: Query<&Driven<Keys>, With<Cube>>) {
    fired.0 += u32::try_from(cubes.iter().filter(|keys| keys.shoot).count()).expect("a few");
}

#[test]
fn what_is_pressed_for_a_moment_counts_once_also_in_a_frame_in_which_no_tick_is_due() {
    for pressed_in in 20..28 {
        let mut app = App::new();
        app.add_plugins((TimePlugin, ForetellPlugin::<Keys>::hz(64)));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(4)));
        app.networked::<Cube>().rolled_back_resource::<ShotsFired>().init_resource::<ShotsFired>();
        app.add_systems(Simulation, (cubes::join, cubes::drive, count_presses).chain());
        app.add_systems(ReadInput, move |mut keys: ResMut<Pressed<Keys>>, mut frame: Local<u32>| {
            *frame += 1;
            keys.right = true;
            keys.shoot |= *frame == pressed_in;
        });
        app.insert_resource(Play::Alone);
        (0..60).for_each(|_| app.update());
        assert_eq!(app.world().resource::<ShotsFired>().0, 1, "pressed in frame {pressed_in}");
        assert!(cubes(&mut app)[0].2.x[0] > 0.1, "what is held goes on");
    }
}

/// Shoots in its first frames, in which nobody has joined yet.
fn hasty_game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    app.networked::<Cube>().rolled_back_resource::<ShotsFired>().init_resource::<ShotsFired>();
    app.add_systems(Simulation, (cubes::join, cubes::drive, count_presses).chain());
    app.add_systems(ReadInput, |mut keys: ResMut<Pressed<Keys>>, mut frame: Local<u32>| {
        *frame += 1;
        keys.shoot |= *frame <= 3;
    });
}

#[test]
fn what_is_pressed_before_anybody_has_joined_is_no_input_of_the_first_tick() {
    let mut rig = Rig::new(hasty_game, 1, 7, link(50, 0.0));
    rig.run(200);
    assert_eq!(cubes(rig.server()).len(), 1, "they have joined");
    let fired = [rig.server().world().resource::<ShotsFired>().0, rig.player(0).world().resource::<ShotsFired>().0];
    assert_eq!(fired, [0, 0]);
}

#[test]
fn a_perfect_link_needs_no_correction_and_a_lossy_one_corrects_until_both_ends_agree() {
    for (conditions, is_corrected) in [(link(50, 0.0), false), (link(100, 0.2), true)] {
        let mut rig = Rig::new(cubes::game, 2, 7, conditions);
        count_corrections(&mut rig);
        rig.run(2_000);
        let corrections = rig.player(0).world().resource::<Corrections>().0.clone();
        assert_eq!(corrections.iter().any(|m| *m > 0.0), is_corrected, "{corrections:?}");
        come_to_rest(&mut rig);
        assert_eq!(cubes(rig.server()), cubes(rig.player(0)));
    }
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let run = |seed| {
        let mut rig = Rig::new(cubes::game, 2, seed, link(80, 0.1));
        count_corrections(&mut rig);
        rig.run(700);
        let corrections = rig.player(1).world().resource::<Corrections>().0.clone();
        (cubes(rig.server()), cubes(rig.player(0)), cubes(rig.player(1)), corrections)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

/// The furthest that a drawn cube was from where it is simulated, and whether anything was written while all stood still.
#[derive(Resource, Default)]
struct Drawn {
    furthest_m: f32,
    moved: usize,
}

/// What draws: after propagation, in the same frame.
fn draw(
    cubes: Query<(&Cube, &Transform, &GlobalTransform)>,
    moved: Query<(), (Changed<Transform>, With<Cube>)>,
    mut drawn: ResMut<Drawn>,
) {
    drawn.moved = moved.iter().count();
    for (cube, transform, global) in &cubes {
        assert_eq!(global.translation(), transform.translation, "it was written before it was propagated");
        drawn.furthest_m = drawn.furthest_m.max((transform.translation.x - cube.x[0]).abs());
    }
}

#[test]
fn what_is_drawn_is_the_shown_pose_with_its_correction_and_rests_when_that_does() {
    let drawn = |app: &mut App| {
        cubes::game(app);
        app.add_plugins(TransformPlugin).init_resource::<Drawn>().add_systems(Last, draw);
    };
    let mut rig = Rig::new(drawn, 2, 7, link(100, 0.2));
    rig.run(2_000);
    let furthest_m = rig.player(0).world().resource::<Drawn>().furthest_m;
    assert!(
        furthest_m > 0.3,
        "another is drawn where it was, and an own cube that was corrected goes there smoothly: {furthest_m}"
    );
    come_to_rest(&mut rig);
    rig.player(0).insert_resource(Drawn::default());
    rig.frame();
    let last = rig.player(0).world().resource::<Drawn>();
    assert_eq!((last.furthest_m, last.moved), (0.0, 0), "shots fly on, cubes stand");
}

#[derive(Resource, Default)]
struct Why(Vec<Causes>);

#[test]
fn what_a_server_changes_outside_of_steps_is_told_and_corrected_with_its_cause() {
    for is_checked in [false, true] {
        let game = if is_checked { cubes::checked_game } else { cubes::game };
        let mut rig = Rig::new(game, 2, 1, link(30, 0.0));
        rig.run(200);
        let app = rig.player(0);
        app.init_resource::<Why>();
        app.add_observer(|of: On<Corrected>, mut why: ResMut<Why>| why.0.push(of.correction.causes));
        let world = rig.server().world_mut();
        world.query::<&mut Cube>().iter_mut(world).for_each(|mut cube| cube.x[1] = 9.0);
        rig.run(40);
        assert!(cubes(rig.player(0)).iter().all(|(.., cube)| cube.x[1] == 9.0));
        let why = &rig.player(0).world().resource::<Why>().0;
        assert!(why.len() == 1 && why[0].contains(Causes::SERVER_EVENT), "{why:?}");
    }
}

#[test]
fn who_ends_the_program_says_good_bye() {
    let mut rig = Rig::new(cubes::game, 2, 1, link(20, 0.0));
    rig.run(200);
    assert_eq!(cubes(rig.server()).len(), 2);
    rig.player(0).world_mut().write_message(bevy_app::AppExit::Success);
    rig.run(20);
    assert_eq!(cubes(rig.server()).len(), 1);
}
