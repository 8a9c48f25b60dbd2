//! A cube for each player, driven along a line. `cargo run --example cube` plays alone, on a simulated home network;
//! `... -- server` serves, and `... -- URL NAME` joins at the address that the server prints. In a browser it is a page.

use bevy_app::{App, ScheduleRunnerPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_foretell::*;
use bevy_log::{LogPlugin, error, info};
use bevy_time::{Time, TimePlugin, common_conditions::on_timer};
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
pub(crate) struct Keys {
    right: bool,
}

#[derive(Component, State, Clone, Default)]
pub(crate) struct Cube {
    #[state(position)]
    pub(crate) x: [f32; 3],
}

/// The game, whoever plays it: the same for server, client and single player.
pub(crate) fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64).checked()).networked::<Cube>();
    app.add_systems(Simulation, (join, drive).chain());
    app.add_systems(ReadInput, |mut keys: ResMut<Pressed<Keys>>, time: Res<Time>| {
        keys.right = time.elapsed_secs() % 2.0 < 1.0; // As if a key were held for every other second.
    });
}

fn join(mut step: StepCommands, cubes: Query<(Entity, &Networked), With<Cube>>) {
    step.despawn_left(&cubes);
    step.joined().into_iter().for_each(|newcomer| _ = step.spawn(newcomer.player, Cube::default()));
}

fn drive(mut cubes: Query<(&mut Cube, &Driven<Keys>)>, step: StepCommands) {
    cubes.iter_mut().filter(|(_, keys)| keys.right).for_each(|(mut cube, _)| cube.x[0] += 3.0 * step.seconds());
}

fn draw(cubes: Query<(&Networked, &Cube)>) {
    cubes.iter().for_each(|(of, cube)| info!("{} is at {:.2} m", of.owner(), cube.x[0]));
}

fn main() {
    let alone = || Play::Local(LocalServer::with_faults(game, "wifi").expect("a plan of the lab"));
    let mut app = App::new();
    let frames = ScheduleRunnerPlugin::run_loop(Duration::from_millis(4));
    app.add_plugins((frames, TimePlugin, LogPlugin::default()));
    game(&mut app);
    app.add_observer(|of: On<NotConnected>| error!("{}", of.why));
    app.add_systems(Update, draw.run_if(on_timer(Duration::from_secs(1))));
    app.insert_resource(Play::as_told().unwrap_or_else(alone)).run();
}
