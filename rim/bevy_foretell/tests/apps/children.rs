//! Whose child an entity is, told to others and rolled back: hats that are put on cubes.

use crate::cubes::{self, Cube, Keys};
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Driven, ForetellApp, ForetellPlugin, GameWorld, NetEntity, Networked, PlayerId, Simulated, Simulation, State,
    StepCommands,
};
use bevy_transform::components::Transform;
use foretell::Interest;
use foretell_sim::harness::{FaultMix, Scenario, SyncTest};
use std::collections::BTreeMap;

/// On somebody's cube, or on the ground.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
pub struct Hat {
    #[state(position)]
    x: [f32; 3],
    worn: u32,
}

/// Who shoots puts the own hat on or off; every cube comes with one on it.
fn wear(
    mut step: StepCommands,
    cubes: Query<(Entity, &Networked, &Driven<Keys>), With<Cube>>,
    bare: Query<&Networked, (With<Cube>, Added<Cube>)>,
    mut hats: Query<(Entity, &Networked, &mut Hat, Option<&ChildOf>), With<Simulated>>,
    mut commands: Commands,
) {
    for of in bare.iter().sort::<&Networked>() {
        if step.is_authority() && hats.iter().all(|(_, hat, ..)| hat.owner() != of.owner()) {
            step.spawn(of.owner(), Hat::default());
        }
    }
    for (cube, of, keys) in cubes {
        let own = hats.iter_mut().filter(|(_, hat, ..)| hat.owner() == of.owner() && keys.shoot);
        for (id, _, mut hat, child_of) in own {
            hat.worn += 1;
            match child_of {
                Some(_) => _ = commands.entity(id).remove::<ChildOf>(),
                None => _ = commands.entity(id).insert(ChildOf(cube)),
            }
        }
    }
}

fn game(app: &mut App) {
    add(app, ForetellPlugin::hz(64));
}

fn checked_game(app: &mut App) {
    add(app, ForetellPlugin::hz(64).checked());
}

fn add(app: &mut App, plugin: ForetellPlugin<Keys>) {
    app.add_plugins(plugin);
    cubes::with(app);
    app.networked::<Hat>().networked_children();
    app.add_systems(Simulation, wear.after(cubes::shoot));
}

/// Each hat, and on whose cube it is.
fn hats(app: &mut App) -> BTreeMap<NetEntity, (PlayerId, u32, Option<NetEntity>)> {
    let world = app.world_mut();
    let mut query = world.query::<(&Networked, &Hat, Option<&ChildOf>)>();
    let parent = |of: Option<&ChildOf>| of.map(|of| world.get::<Networked>(of.parent()).expect("a cube").name());
    query.iter(world).map(|(of, hat, child)| (of.name(), (of.owner(), hat.worn, parent(child)))).collect()
}

#[test]
fn whose_child_an_entity_is_others_are_told_and_the_own_client_foresees() {
    for game in [game, checked_game] {
        let mut rig = Rig::new(game, 2, 4, link(50, 0.05));
        rig.run(300);
        let mut seen = [0, 0];
        for _ in 0..300 {
            rig.frame();
            for (nth, seen) in seen.iter_mut().enumerate() {
                let hats = hats(rig.player(nth));
                assert_eq!(hats.len(), 2);
                *seen |= hats.values().fold(0, |seen, (_, _, of)| seen | if of.is_some() { 1 } else { 2 });
            }
        }
        assert_eq!(seen, [3, 3], "on and off");
        // Nobody shoots from now on: a press in each 19th frame is not reached before all has come.
        let truth = hats(rig.server());
        let told = |rig: &mut Rig, nth| hats(rig.player(nth)).into_iter().map(|(name, (owner, ..))| (name, owner));
        let owners: Vec<_> = truth.iter().map(|(name, (owner, ..))| (*name, *owner)).collect();
        assert!((0..2).all(|nth| told(&mut rig, nth).eq(owners.iter().copied())));
        for (_, (owner, worn, of)) in truth {
            assert_eq!(of.is_some(), worn % 2 == 1);
            let cubes = cubes::cubes(rig.server());
            let own = cubes.iter().find(|(_, of, _)| *of == owner).map(|(name, ..)| *name);
            assert!(of.is_none() || of == own, "on the own cube");
        }
    }
}

#[test]
fn a_parent_that_goes_takes_its_children_with_it_on_every_end() {
    let mut rig = Rig::new(game, 2, 4, link(30, 0.0));
    rig.run(300);
    while hats(rig.server()).values().any(|(.., of)| of.is_none()) {
        rig.frame();
    }
    rig.server().add_systems(
        Simulation,
        (|mut step: StepCommands, cubes: Query<Entity, With<Cube>>| cubes.iter().for_each(|id| step.despawn(id)))
            .after(wear),
    );
    rig.run(60);
    assert!(hats(rig.server()).is_empty());
    assert!((0..2).all(|nth| hats(rig.player(nth)).is_empty() && cubes::cubes(rig.player(nth)).is_empty()));
    rig.run(300);
    let world = rig.player(0).world_mut();
    let mut all = world.query_filtered::<Entity, (With<Networked>, bevy_ecs::query::Allow<bevy_foretell::Gone>)>();
    assert_eq!(all.iter(world).count(), 0, "nothing is kept of what can't come back");
}

/// The server's tank, far away, with its turret, of which only its place on the tank is known.
fn station(mut step: StepCommands, hats: Query<(), With<Hat>>) {
    if step.is_authority() && hats.is_empty() {
        let tank = step.spawn(PlayerId::SERVER, Cube { x: [200.0, 0.0, 0.0], ..Cube::default() });
        step.spawn(PlayerId::SERVER, (Hat { x: [0.0, 1.0, 0.0], worn: 0 }, ChildOf(tank)));
    }
}

fn stationed(app: &mut App) {
    let interest = Interest::Within { radius_m: 20.0, leaves_at_m: 22.0 };
    let plugin = ForetellPlugin::<Keys>::hz(64);
    app.add_plugins(plugin.configured(move |config| config.server.interest = interest));
    app.networked::<Cube>().networked::<Hat>().networked_children();
    app.add_systems(Simulation, (cubes::join, station, cubes::drive).chain());
}

#[test]
fn a_turret_is_seen_with_its_tank_and_not_where_its_place_on_it_would_be_in_the_world() {
    let mut rig = Rig::new(stationed, 1, 4, link(50, 0.0));
    let tank = |app: &mut App| cubes::cubes(app).into_iter().find(|(_, of, _)| *of == PlayerId::SERVER);
    let mut seen = Vec::new();
    for x in [200.0, 10.0, 300.0] {
        rig.run(150);
        let world = rig.server().world_mut();
        let mut all = world.query::<(&Networked, &mut Cube)>();
        for (_, mut tank) in all.iter_mut(world).filter(|(of, _)| of.owner() == PlayerId::SERVER) {
            tank.x[0] = x;
        }
        rig.run(150);
        let turrets: Vec<_> = hats(rig.player(0)).into_values().map(|(.., on)| on).collect();
        let told = tank(rig.player(0)).map(|(name, ..)| name);
        assert_eq!(turrets, told.map(Some).into_iter().collect::<Vec<_>>(), "both or none, at {x} m");
        seen.push(told.is_some());
    }
    assert_eq!(seen, [false, true, false]);
    assert_eq!(hats(rig.server()).len(), 1, "there all the time");
}

#[test]
fn children_step_alike_anew_and_pass_every_check_under_faults() {
    let keys = |_, tick: foretell::Tick| Keys { shoot: tick.get().is_multiple_of(13), ..Keys::default() };
    let (rules, world) = (|| GameWorld::<Keys>::rules(game), || GameWorld::<Keys>::of(game));
    SyncTest::new(rules(), world).input(keys).run(300).expect("its steps are exact");
    let scenario = Scenario::new(rules(), world).players(2).faults(FaultMix::default());
    let scenario = scenario.bot(|_, random| Keys { shoot: random.chance(0.1), right: random.chance(0.5), left: false });
    scenario.seeds(0..4).unwrap_or_else(|failure| panic!("{failure}"));
}
