//! A cube for each player, driven along a line. `cargo run --example cube` plays alone, on a simulated home network;
//! `... -- server` serves, and `... -- URL NAME` joins at the address that the server prints.

use bevy_app::{App, ScheduleRunnerPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_foretell::*;
use bevy_time::{Time, TimePlugin, common_conditions::on_timer};
use bevy_transform::components::Transform;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
pub(crate) struct Keys {
    right: bool,
}

#[derive(Component, State, Clone, Default)]
#[require(Transform)]
pub(crate) struct Cube {
    #[state(position)]
    x: [f32; 3],
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

fn draw(cubes: Query<(&Networked, &Transform)>) {
    cubes.iter().for_each(|(of, shown)| println!("{}: {:.2} m", of.owner(), shown.translation.x));
}

fn main() {
    let said: Vec<_> = std::env::args().skip(1).collect();
    let play = match said.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => Play::Serve(Serve::at(([127, 0, 0, 1], 4433).into(), Access::insecure_development())),
        [url, name] => Play::Connect(Connect::to(url, insecure_token(name).expect("a name of 1 to 64 bytes"))),
        _ => Play::Local(LocalServer::with_faults(game, "wifi").expect("a plan of the lab")),
    };
    let mut app = App::new();
    app.add_plugins((ScheduleRunnerPlugin::run_loop(Duration::from_millis(4)), TimePlugin));
    game(&mut app);
    let tell = |serving: Res<Serving>| println!("join {}", serving.url("127.0.0.1"));
    app.add_systems(Update, tell.run_if(resource_added::<Serving>));
    app.add_systems(Update, draw.run_if(on_timer(Duration::from_secs(1)))).insert_resource(play).run();
}
