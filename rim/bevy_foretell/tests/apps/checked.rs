//! A game in development is told what no client can repeat, and by which system.

use crate::cubes::{self, Cube, Keys, Shot, ShotsFired};
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{Driven, ForetellApp, Networked, Pressed, Simulated, Simulation, StepCommands};
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_time::{Real, Time};
use bevy_transform::components::Transform;
use core::sync::atomic::{AtomicU32, Ordering};
use std::panic::catch_unwind;

/// What a game is told, with one system more after all others; empty where it is told nothing.
fn told(game: fn(&mut App)) -> String {
    let run = move || {
        let mut rig = Rig::new(game, 2, 1, link(20, 0.0));
        rig.run(120);
    };
    match catch_unwind(run) {
        Ok(()) => String::new(),
        Err(said) => said.downcast_ref::<String>().cloned().unwrap_or_default(),
    }
}

/// Adds a system after all others.
fn with<M>(app: &mut App, system: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) {
    cubes::checked_game(app);
    app.add_systems(Simulation, system.after(cubes::shoot));
}

#[test]
fn a_game_without_mistakes_is_told_nothing_and_plays_as_it_would_unchecked() {
    let play = |game| {
        let mut rig = Rig::new(game, 2, 1, link(60, 0.1));
        rig.run(400);
        (cubes::cubes(rig.server()), cubes::cubes(rig.player(0)))
    };
    assert_eq!(play(cubes::checked_game), play(cubes::game));
}

/// A game, its wrong system, and what that is told of.
type Case = (fn(&mut App), &'static str, &'static str);

fn by_real_time(time: Res<Time<Real>>, mut cubes: Query<&mut Cube, With<Simulated>>) {
    cubes.iter_mut().for_each(|mut cube| cube.x[1] += time.delta_secs());
}

fn by_device(keys: Res<Pressed<Keys>>, mut cubes: Query<&mut Cube, With<Simulated>>) {
    cubes.iter_mut().for_each(|mut cube| cube.x[1] += f32::from(u8::from(keys.right)));
}

fn by_keyboard(keys: Res<ButtonInput<KeyCode>>, mut cubes: Query<&mut Cube, With<Simulated>>) {
    cubes.iter_mut().for_each(|mut cube| cube.x[1] += f32::from(u8::from(keys.pressed(KeyCode::KeyW))));
}

fn by_child(mut cubes: Query<(&mut Cube, &Children), With<Simulated>>) {
    cubes.iter_mut().for_each(|(mut cube, children)| cube.x[1] += f32::from(u8::from(children.len() > 1)));
}

#[derive(Component, Default)]
struct Fuel(f32);

fn by_unregistered(mut cubes: Query<(&mut Cube, &mut Fuel)>) {
    cubes.iter_mut().for_each(|(mut cube, mut fuel)| (cube.x[1], fuel.0) = (fuel.0, fuel.0 + 1.0));
}

fn by_marker(mut cubes: Query<&mut Cube, With<Fuel>>) {
    cubes.iter_mut().for_each(|mut cube| cube.x[1] += 1.0);
}

fn by_display(mut cubes: Query<(&mut Cube, &Transform), With<Simulated>>) {
    cubes.iter_mut().for_each(|(mut cube, transform)| cube.x[1] = transform.translation.x);
}

#[test]
fn a_system_that_asks_for_what_a_session_does_not_know_is_refused_at_the_start() {
    let cases: [Case; 7] = [
        (|app| with(app, by_real_time), "by_real_time", "Time"),
        (|app| with(app.init_resource::<ButtonInput<KeyCode>>(), by_keyboard), "by_keyboard", "ButtonInput"),
        (|app| with(app, by_child), "by_child", "`networked_children`"),
        (|app| with(app, by_device), "by_device", "Pressed"),
        (|app| with(app, by_unregistered), "by_unregistered", "Fuel"),
        (|app| with(app, by_marker), "by_marker", "Fuel"),
        (|app| with(app, by_display), "by_display", "Transform"),
    ];
    for (game, system, asked) in cases {
        let told = told(game);
        assert!(told.contains(system) && told.contains(asked) && told.lines().count() == 2, "{system}: {told}");
    }
}

#[derive(Resource)]
struct Gravity(f32);

#[test]
fn what_never_changes_may_be_read_when_it_is_registered() {
    fn by_gravity(gravity: Res<Gravity>, mut cubes: Query<&mut Cube, With<Simulated>>) {
        cubes.iter_mut().for_each(|mut cube| cube.x[1] = gravity.0);
    }
    assert!(told(|app| with(app.insert_resource(Gravity(1.0)), by_gravity)).contains("Gravity"));
    let told = told(|app| {
        with(app.insert_resource(Gravity(1.0)), by_gravity);
        app.constant::<Gravity>();
    });
    assert_eq!(told, "");
}

fn by_local(mut count: Local<f32>, mut cubes: Query<&mut Cube, With<Simulated>>) {
    *count += 1.0;
    cubes.iter_mut().for_each(|mut cube| cube.x[1] = *count);
}

static OUTSIDE: AtomicU32 = AtomicU32::new(0);

/// As a clock, or an unseeded random number.
fn by_outside(mut shots: Query<&mut Shot, With<Simulated>>) {
    #[expect(clippy::cast_precision_loss, reason = "any number does")]
    let outside = OUTSIDE.fetch_add(1, Ordering::Relaxed) as f32;
    shots.iter_mut().for_each(|mut shot| shot.x[1] = outside);
}

fn by_order(mut cubes: Query<&mut Cube, (With<Simulated>, With<Driven<Keys>>)>) {
    (0_u8..).zip(&mut cubes).for_each(|(nth, mut cube)| cube.x[1] = f32::from(nth));
}

fn by_sorted_order(mut cubes: Query<(&Networked, &mut Cube), With<Driven<Keys>>>) {
    let sorted = cubes.iter_mut().sort::<&Networked>();
    (0_u8..).zip(sorted).for_each(|(nth, (_, mut cube))| cube.x[1] = f32::from(nth));
}

fn by_first_time(step: StepCommands, mut fired: ResMut<ShotsFired>) {
    fired.0 += u32::from(step.first_time());
}

fn by_spawning(mut step: StepCommands, mut count: Local<u32>) {
    *count += 1;
    if count.is_multiple_of(2) && step.is_authority() {
        step.spawn(bevy_foretell::PlayerId::SERVER, Shot { ticks_left: 9, ..Shot::default() });
    }
}

/// What a cube aims at.
#[derive(Component, Clone, PartialEq)]
struct Target(Entity);

/// What commands spawn has another id each time, and is not gone when the tick is gone back from.
fn by_reference(cubes: Query<Entity, (With<Cube>, Without<Target>)>, mut commands: Commands) {
    for cube in cubes {
        let target = commands.spawn_empty().id();
        commands.entity(cube).insert(Target(target));
    }
}

fn aiming(app: &mut App) {
    with(app, by_reference);
    app.rolled_back::<Target>();
}

#[test]
fn a_step_that_comes_to_something_else_is_named_with_its_system_component_and_field() {
    let cases: [Case; 6] = [
        (aiming, "only `Commands` write it", "Target"),
        (|app| with(app, by_local), "last written by apps::checked::by_local", "Cube.x"),
        (|app| with(app, by_outside), "last written by apps::checked::by_outside", "Shot.x"),
        (|app| with(app, by_order), "last written by apps::checked::by_order", "Cube.x"),
        (|app| with(app, by_first_time), "last written by apps::checked::by_first_time", "ShotsFired"),
        (|app| with(app, by_spawning), "written by", "Shot"),
    ];
    for (game, system, what) in cases {
        let told = told(game);
        assert!(told.contains(system) && told.contains(what), "{system}: {told}");
    }
    assert_eq!(told(|app| with(app, by_sorted_order)), "");
}

#[test]
fn systems_without_an_order_are_named() {
    fn unordered(mut cubes: Query<&mut Cube, With<Simulated>>) {
        cubes.iter_mut().for_each(|mut cube| cube.x[1] = 1.0);
    }
    let told = told(|app| {
        cubes::checked_game(app);
        app.add_systems(Simulation, unordered);
    });
    assert!(told.contains("unordered") && told.contains("drive"), "{told}");
}
