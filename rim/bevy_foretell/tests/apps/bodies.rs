//! Rigid bodies that push each other: a session in which all of them are predicted, bit by bit.

use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Bodies, Driven, ForetellApp, ForetellPlugin, GameWorld, Input, LocalPlayer, NetEntity, Networked, PlayerId,
    Pressed, ReadInput, Simulation, State, StepCommands, move_bodies, prepare_bodies,
};
use bevy_transform::components::Transform;
use foretell::world::Side;
use foretell::{Rows, Simulate, Step, Tick, TickRate, World as _};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};
use foretell_sim::harness::{FaultMix, Scenario, SyncTest};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Push {
    x: i8,
    z: i8,
    jump: bool,
}

/// A cube that its player pushes, or that lies around.
#[derive(Component, State, Clone, Copy, PartialEq, Debug, Default)]
#[require(Transform)]
struct Crate {
    #[state(flatten)]
    body: Body,
}

impl Blueprint for Crate {
    fn plan(&self, _: foretell::Entity) -> Plan {
        Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::cuboid(0.4, 0.4, 0.4).density(1.0))
    }
}

fn ground() -> Physics {
    Physics::new([0.0, -9.81, 0.0], [ColliderBuilder::cuboid(30.0, 0.5, 30.0).translation(Vector::new(0.0, -0.5, 0.0))])
}

/// All crates come with the first player; each player has one.
fn join(mut step: StepCommands, crates: Query<(Entity, &Networked), With<Crate>>) {
    step.despawn_left(&crates);
    if step.is_authority() && crates.is_empty() {
        for nth in 0..6_u8 {
            let at = [f32::from(nth % 3) - 1.0, 0.5 + f32::from(nth / 3) * 0.9, 0.0];
            step.spawn(PlayerId::SERVER, Crate { body: Body::at(at) });
        }
    }
    for newcomer in step.joined() {
        let at = [f32::from(newcomer.player.get()) * 1.5 - 2.0, 0.5, 2.0];
        step.spawn(newcomer.player, Crate { body: Body::at(at) });
    }
}

fn push(mut bodies: ResMut<Bodies<Crate>>, crates: Query<(&Networked, &Driven<Push>), With<Crate>>) {
    for (of, push) in crates.iter().sort::<&Networked>() {
        let Some(mut body) = bodies.body_mut(of.name()) else { continue };
        let up = if push.jump { 1.0 } else { 0.0 };
        let impulse = Vector::new(f32::from(push.x.signum()) * 0.05, up, f32::from(push.z.signum()) * 0.05);
        if impulse != Vector::ZERO {
            body.apply_impulse(impulse, true);
        }
    }
}

fn game(app: &mut App) {
    add(app, ForetellPlugin::hz(64));
}

fn checked_game(app: &mut App) {
    add(app, ForetellPlugin::hz(64).checked());
}

fn add(app: &mut App, plugin: ForetellPlugin<Push>) {
    app.add_plugins(plugin.configured(|config| config.rules.exact = true)).bodies::<Crate>(ground);
    app.add_systems(Simulation, (join, prepare_bodies::<Crate>, push, move_bodies::<Crate>).chain());
    app.add_systems(ReadInput, |mut push: ResMut<Pressed<Push>>, own: Res<LocalPlayer>, mut frame: Local<i32>| {
        *frame += 1;
        let turn = *frame / 50 + own.0.map_or(0, |own| i32::from(own.get()));
        let pushes = *frame < 500;
        **push = if !pushes {
            Push::default()
        } else {
            Push { x: (turn % 3 - 1) as i8, z: -((turn / 2 % 2) as i8), jump: *frame % 90 == 0 }
        };
    });
}

fn crates(app: &mut App) -> Vec<(NetEntity, Body)> {
    let world = app.world_mut();
    let mut query = world.query::<(&Networked, &Crate)>();
    let mut all: Vec<_> = query.iter(world).map(|(of, one)| (of.name(), one.body)).collect();
    all.sort_by_key(|(name, _)| *name);
    all
}

#[test]
fn bodies_that_push_each_other_come_to_the_same_bits_on_every_end() {
    for game in [game, checked_game] {
        let mut rig = Rig::new(game, 2, 3, link(40, 0.02));
        rig.run(400);
        let world = rig.player(0).world_mut();
        for (one, shown) in world.query::<(&Crate, &Transform)>().iter(world) {
            assert!((shown.translation.x - one.body.position[0]).abs() < 1.0, "{one:?} {shown:?}");
        }
        // Nobody pushes any more, and all of them lie still.
        rig.run(800);
        let bodies = crates(rig.server());
        assert_eq!(bodies.len(), 8);
        assert!(bodies.iter().any(|(_, body)| body.position[0].abs() > 2.0), "they were pushed: {bodies:?}");
        assert!((0..2).all(|nth| crates(rig.player(nth)) == bodies));
    }
}

/// Where nothing moves that is not pushed.
fn weightless() -> Physics {
    Physics::new([0.0; 3], [ColliderBuilder::cuboid(30.0, 0.5, 30.0).translation(Vector::new(0.0, -5.0, 0.0))])
}

#[test]
fn a_body_that_is_made_in_the_tick_after_its_component_is_made_there_after_each_load() {
    let game = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Push>::hz(64)).bodies::<Crate>(weightless);
        app.add_systems(Simulation, (prepare_bodies::<Crate>, move_bodies::<Crate>, join).chain());
    };
    let mut world = GameWorld::<Push>::of(game);
    let mut rows = Rows::new(&GameWorld::<Push>::rules(game).schema);
    let mut bodies_after = |world: &mut GameWorld<Push>, tick: u32| {
        world.step(&mut Step::new(Tick::new(tick), TickRate::hz(64), Side::Server, &[]));
        world.publish(&mut rows);
        world.world().resource::<Bodies<Crate>>().entities().count()
    };
    assert_eq!(bodies_after(&mut world, 0), 0);
    let mut saved = Default::default();
    world.save(&mut saved);
    assert_eq!(bodies_after(&mut world, 1), 6);
    world.load(&saved);
    assert_eq!(bodies_after(&mut world, 1), 6);
}

fn world() -> GameWorld<Push> {
    GameWorld::of(game)
}

#[test]
fn a_world_of_bodies_steps_alike_anew_and_passes_every_check_under_faults() {
    let rules = || GameWorld::<Push>::rules(game);
    let push = |player: PlayerId, tick: foretell::Tick| {
        let turn = tick.get() / 40 + u32::from(player.get());
        Push { x: (turn % 3) as i8 - 1, z: -1, jump: tick.get().is_multiple_of(70) }
    };
    SyncTest::new(rules(), world).input(push).run(400).expect("its steps are exact");
    let scenario = Scenario::new(rules(), world).players(2).faults(FaultMix::default());
    // Whatever others press is relayed, and corrects who had guessed otherwise.
    let scenario = scenario.without("calm");
    let scenario = scenario.bot(|_, random| Push {
        x: random.next_u64() as i8 % 2,
        z: random.next_u64() as i8 % 2,
        jump: random.chance(0.02),
    });
    scenario.seeds(0..2).unwrap_or_else(|failure| panic!("{failure}"));
}
