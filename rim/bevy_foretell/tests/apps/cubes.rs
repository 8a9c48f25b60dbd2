//! The game of the tests: each player drives a cube along a line.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::{
    Driven, EffectKind, ForetellApp, ForetellPlugin, Input, LocalPlayer, NetEntity, Networked, PlayerId, Pressed,
    ReadInput, Simulated, Simulation, State, StepCommands,
};
use bevy_transform::components::Transform;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    pub right: bool,
    pub left: bool,
    pub shoot: bool,
}

/// What a cube has shot: flies for a while.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
pub struct Shot {
    #[state(position)]
    pub x: [f32; 3],
    pub ticks_left: u8,
}

/// A shot is heard.
pub const BANG: EffectKind = EffectKind(1);

/// How long a cube has to wait until it may shoot again.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct Reload(pub u8);

/// How many shots there have been of those who are simulated here.
#[derive(Resource, Clone, Copy, PartialEq, Default, Debug)]
pub struct ShotsFired(pub u32);

#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
pub struct Cube {
    #[state(position)]
    pub x: [f32; 3],
    #[state(velocity)]
    pub v: [f32; 3],
}

pub fn join(mut step: StepCommands, cubes: Query<(Entity, &Networked)>) {
    step.despawn_left(&cubes);
    for newcomer in step.joined() {
        step.spawn(newcomer.player, Cube::default());
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

/// What shoots.
type Shooter = (&'static Networked, &'static Cube, &'static Driven<Keys>, Option<&'static mut Reload>, Entity);

pub fn shoot(mut step: StepCommands, mut cubes: Query<Shooter>, mut fired: ResMut<ShotsFired>, mut commands: Commands) {
    for (of, cube, keys, reload, id) in cubes.iter_mut().sort::<&Networked>() {
        match reload {
            Some(mut reload) if reload.0 > 1 => reload.0 -= 1,
            Some(_) => _ = commands.entity(id).remove::<Reload>(),
            None if keys.shoot => {
                step.spawn(of.owner(), Shot { x: cube.x, ticks_left: 30 });
                step.effect(BANG, of, Some(cube.x));
                let seen: Vec<_> = step.rewound(of.owner()).collect();
                seen.into_iter().for_each(|(victim, _)| step.hit(of.owner(), victim));
                commands.entity(id).insert(Reload(10));
                fired.0 += 1;
            }
            None => {}
        }
    }
}

pub fn fly(mut step: StepCommands, mut shots: Query<(Entity, &mut Shot), With<Simulated>>) {
    for (id, mut shot) in &mut shots {
        shot.x[2] += 10.0 * step.seconds();
        shot.ticks_left -= 1;
        if shot.ticks_left == 0 {
            step.despawn(id);
        }
    }
}

/// Presses one way and then the other, another rhythm for each player.
pub fn press(mut keys: ResMut<Pressed<Keys>>, own: Res<LocalPlayer>, mut frame: Local<u32>) {
    *frame += 1;
    let period = 40 + 7 * u32::from(own.0.map_or(0, PlayerId::get));
    let right = (*frame / period).is_multiple_of(2);
    **keys = Keys { right, left: !right, shoot: frame.is_multiple_of(19) };
}

pub fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64).rewound_for(|keys| keys.shoot));
    with(app);
}

/// The same, in development.
pub fn checked_game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64).rewound_for(|keys| keys.shoot).checked());
    with(app);
}

/// What the game is, whatever the plugin says besides.
pub fn with(app: &mut App) {
    app.networked::<Cube>().networked::<Shot>().rolled_back::<Reload>().rolled_back_resource::<ShotsFired>();
    app.init_resource::<ShotsFired>();
    app.add_systems(Simulation, (join, drive, fly, shoot).chain());
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
