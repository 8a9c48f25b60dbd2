//! The game of the tests: each player drives a cube along a line.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::{
    Driven, ForetellApp, ForetellPlugin, Input, LocalPlayer, NetEntity, Networked, PlayerId, Pressed, ReadInput,
    Simulation, State, StepCommands,
};
use bevy_transform::components::Transform;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    pub right: bool,
    pub left: bool,
}

#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
pub struct Cube {
    #[state(position)]
    pub x: [f32; 3],
    #[state(velocity)]
    pub v: [f32; 3],
}

pub fn join(mut step: StepCommands, cubes: Query<(Entity, &Networked)>) {
    for newcomer in step.joined() {
        step.spawn(newcomer.player, Cube::default());
    }
    for (id, of) in &cubes {
        if step.has_left(of.owner()) {
            step.despawn(id);
        }
    }
}

pub fn drive(mut cubes: Query<(&mut Cube, &Driven<Keys>)>, step: StepCommands) {
    for (mut cube, keys) in &mut cubes {
        let push = f32::from(i8::from(keys.right) - i8::from(keys.left));
        let v = 0.95 * cube.v[0] + 20.0 * push * step.seconds();
        let v = if v.abs() < 0.001 { 0.0 } else { v };
        if v != cube.v[0] || v != 0.0 {
            cube.v[0] = v;
            cube.x[0] += v * step.seconds();
        }
    }
}

/// Presses one way and then the other, another rhythm for each player.
pub fn press(mut keys: ResMut<Pressed<Keys>>, own: Res<LocalPlayer>, mut frame: Local<u32>) {
    *frame += 1;
    let period = 40 + 7 * u32::from(own.0.map_or(0, PlayerId::get));
    let right = (*frame / period).is_multiple_of(2);
    **keys = Keys { right, left: !right };
}

pub fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    app.networked::<Cube>();
    app.add_systems(Simulation, (join, drive).chain());
    app.add_systems(ReadInput, press);
}

/// Every cube that is there, by name.
pub fn cubes(app: &mut App) -> Vec<(NetEntity, PlayerId, Cube)> {
    let world = app.world_mut();
    let mut query = world.query::<(&Networked, &Cube)>();
    let mut all: Vec<_> = query.iter(world).map(|(of, cube)| (of.name(), of.owner(), *cube)).collect();
    all.sort_by_key(|(name, ..)| *name);
    all
}
