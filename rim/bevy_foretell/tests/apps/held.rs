//! Shared mode: a player's app carries what is the server's, by frame; the others see it, and the server has the last word.

use crate::cubes::Keys;
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    AuthorityChange, AuthorityChanged, Claim, ForetellApp, ForetellPlugin, Held, InterestRules, Leave, NetEntity,
    Networked, PlayerId, ReadInput, ReleaseAuthority, RequestAuthority, Simulated, Simulation, State, StepCommands,
};
use bevy_transform::components::Transform;
use foretell::Visibility;

/// Its holder says where it is; what it is worth only the server does.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
pub struct Crate {
    #[state(position, writer = owner)]
    pub x: [f32; 3],
    #[state(velocity, writer = owner)]
    v: [f32; 3],
    worth: u32,
}

/// Another thing that can be held; here nobody does.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Barrel {
    #[state(position, writer = owner)]
    x: [f32; 3],
}

/// What may be held, but is not said to the plugin.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Keg {
    #[state(position, writer = owner)]
    x: [f32; 3],
}

/// What nobody sees, but who owns it.
#[derive(Resource)]
struct Fog(NetEntity);

impl InterestRules for Fog {
    fn visibility(&self, _: PlayerId, entity: NetEntity) -> Visibility {
        if entity == self.0 { Visibility::Hidden } else { Visibility::SHOWN }
    }
}

/// How fast who carries a crate walks, in m/s.
const CARRIED_MPS: f32 = 2.0;
const FRAME_S: f32 = 1.0 / 64.0;

/// What this player's app was told.
#[derive(Resource, Default)]
struct Told(Vec<AuthorityChange>);

fn lay_out(mut step: StepCommands, crates: Query<(), With<Crate>>) {
    if step.is_authority() && crates.is_empty() {
        step.spawn(PlayerId::SERVER, Crate { worth: 7, ..Crate::default() });
        step.spawn(PlayerId::SERVER, Barrel::default());
        step.spawn(PlayerId::SERVER, Keg::default());
    }
}

fn slide(mut crates: Query<&mut Crate, With<Simulated>>, step: StepCommands) {
    for mut it in crates.iter_mut().filter(|it| it.v != [0.0; 3]) {
        it.v[0] = if it.v[0] < 0.01 { 0.0 } else { 0.95 * it.v[0] };
        it.x[0] += it.v[0] * step.seconds();
    }
}

/// Who has this carries nothing on.
#[derive(Resource)]
struct Stands;

fn carry(mut held: Query<&mut Held<Crate>>, stands: Option<Res<Stands>>) {
    for mut it in held.iter_mut().filter(|_| stands.is_none()) {
        it.v[0] = CARRIED_MPS;
        it.x[0] += CARRIED_MPS * FRAME_S;
        // Nobody asks what the holder says of it.
        it.worth += 1;
    }
}

pub fn game(app: &mut App) {
    // Frames are those of 64 Hz: they end between ticks.
    let plugin = ForetellPlugin::<Keys>::hz(60).held::<Barrel>().held::<Crate>().interest::<Fog>();
    app.add_plugins(plugin.configured(|config| {
        let schema = core::mem::take(&mut config.rules.schema);
        config.rules.schema = schema.with_speed_max::<Crate>(5.0);
    }));
    app.networked::<Crate>().networked::<Barrel>().networked::<Keg>();
    app.add_systems(Simulation, (lay_out, slide).chain());
    app.add_systems(ReadInput, carry);
    app.init_resource::<Told>();
    app.add_observer(|of: On<AuthorityChanged>, held: Query<&Held<Crate>>, mut told: ResMut<Told>| {
        let is_held = held.contains(of.event().entity);
        let is_over = matches!(of.event().what, AuthorityChange::Lost(_) | AuthorityChange::Returned);
        assert!(is_held || of.event().what != AuthorityChange::Began, "it is there when that is told");
        assert!(!is_held || !is_over, "and gone when it is over");
        told.0.push(of.event().what);
    });
}

pub fn of<C: Component + Copy>(app: &mut App) -> (Entity, C) {
    let world = app.world_mut();
    let mut all = world.query_filtered::<(Entity, &C), With<Networked>>();
    all.iter(world).map(|(entity, it)| (entity, *it)).next().expect("there is one")
}

pub fn take(app: &mut App, claim: Claim) {
    let (entity, _) = of::<Crate>(app);
    app.world_mut().trigger(RequestAuthority { entity, claim });
}

fn holds(app: &mut App) -> bool {
    let world = app.world_mut();
    world.query::<&Held<Crate>>().iter(world).count() > 0
}

fn told(rig: &mut Rig, nth: usize) -> Vec<AuthorityChange> {
    core::mem::take(&mut rig.player(nth).world_mut().resource_mut::<Told>().0)
}

fn shown_at(app: &mut App) -> f32 {
    let (entity, _) = of::<Crate>(app);
    app.world().get::<Transform>(entity).expect("it is drawn").translation.x
}

#[test]
fn who_takes_a_crate_moves_it_at_once_and_the_others_see_it_go_evenly() {
    let mut rig = Rig::new(game, 2, 3, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(2);
    let began = shown_at(rig.player(0));
    assert!(holds(rig.player(0)) && told(&mut rig, 0) == [AuthorityChange::Began], "without waiting for the answer");
    rig.run(64);
    let carried = shown_at(rig.player(0));
    assert!((carried - began - CARRIED_MPS).abs() < 0.05, "a second of it: {began} to {carried}");
    assert_eq!(told(&mut rig, 0), [AuthorityChange::Granted(Claim::Ownership)]);
    let mut ways = Vec::new();
    for _ in 0..64 {
        let before = shown_at(rig.player(1));
        rig.frame();
        ways.push(shown_at(rig.player(1)) - before);
    }
    let way = CARRIED_MPS * FRAME_S;
    assert!(ways.iter().all(|it| (0.7 * way..1.3 * way).contains(it)), "{ways:?}");
    let (_, on_server) = of::<Crate>(rig.server());
    assert!(on_server.worth == 7 && (3.0..4.3).contains(&on_server.x[0]), "{on_server:?}");
    assert!(!holds(rig.player(1)) && told(&mut rig, 1).is_empty());
}

#[test]
fn what_is_let_go_is_the_servers_again_who_moves_it_on() {
    let mut rig = Rig::new(game, 1, 4, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(64);
    let (entity, _) = of::<Crate>(rig.player(0));
    rig.player(0).world_mut().trigger(ReleaseAuthority { entity });
    rig.run(1);
    let left_at = shown_at(rig.player(0));
    rig.run(200);
    assert!(!holds(rig.player(0)));
    let told = told(&mut rig, 0);
    assert_eq!(told.last(), Some(&AuthorityChange::Returned), "{told:?}");
    let (_, on_server) = of::<Crate>(rig.server());
    let slid = on_server.x[0] - left_at;
    assert!(slid > 0.1 && on_server.v == [0.0; 3], "it slides and rests: {left_at} to {on_server:?}");
    assert!((shown_at(rig.player(0)) - on_server.x[0]).abs() < 0.01, "and is seen there");
}

#[test]
fn what_is_thrown_in_the_frame_in_which_it_is_let_go_flies_as_it_was_thrown() {
    let mut rig = Rig::new(game, 1, 11, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.player(0).insert_resource(Stands);
    rig.run(60);
    let (entity, _) = of::<Crate>(rig.player(0));
    let world = rig.player(0).world_mut();
    world.get_mut::<Held<Crate>>(entity).expect("it is held").v[0] = 4.0;
    world.trigger(ReleaseAuthority { entity });
    rig.run(200);
    let (_, on_server) = of::<Crate>(rig.server());
    // 4 m/s, and a twentieth less in each of 60 ticks per second.
    assert!((1.1..1.4).contains(&on_server.x[0]), "{on_server:?}");
}

#[test]
fn who_asks_for_what_another_owns_moves_it_until_the_server_refuses() {
    let mut rig = Rig::new(game, 2, 5, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(30);
    take(rig.player(1), Claim::Ownership);
    rig.run(3);
    assert!(holds(rig.player(1)), "without waiting for the answer");
    rig.run(60);
    assert!(holds(rig.player(0)) && !holds(rig.player(1)));
    let told = told(&mut rig, 1);
    assert!(matches!(told[..], [AuthorityChange::Began, AuthorityChange::Refused(_)]), "{told:?}");
}

#[test]
fn who_leaves_holds_nothing_any_more() {
    let mut rig = Rig::new(game, 1, 6, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(30);
    assert!(holds(rig.player(0)));
    rig.player(0).insert_resource(Leave);
    rig.run(1);
    assert!(!holds(rig.player(0)));
}

#[test]
fn what_was_only_touched_is_the_servers_again_when_it_rests() {
    let mut rig = Rig::new(game, 1, 7, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Authority);
    rig.run(30);
    rig.player(0).insert_resource(Stands);
    rig.run(150);
    let told = told(&mut rig, 0);
    let expected = [AuthorityChange::Began, AuthorityChange::Granted(Claim::Authority), AuthorityChange::Returned];
    assert!(told == expected && !holds(rig.player(0)), "{told:?}");
}

#[test]
fn what_is_hidden_while_it_is_held_is_held_again_where_it_is_seen_again() {
    let mut rig = Rig::new(game, 1, 8, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(60);
    let (own, _) = of::<Crate>(rig.player(0));
    let (entity, _) = of::<Crate>(rig.server());
    let name = rig.server().world().get::<Networked>(entity).expect("it has one").name();
    rig.server().insert_resource(Fog(name));
    rig.run(60);
    let is_held = rig.player(0).world().get::<Held<Crate>>(own).is_some();
    assert!(!is_held && !holds(rig.player(0)), "nobody writes what nobody sees");
    rig.server().world_mut().remove_resource::<Fog>();
    rig.run(60);
    let (entity, _) = of::<Crate>(rig.player(0));
    assert!(holds(rig.player(0)));
    let before = shown_at(rig.player(0));
    rig.run(32);
    let way = shown_at(rig.player(0)) - before;
    assert!((way - 0.5 * CARRIED_MPS).abs() < 0.05, "it is carried on: {way}");
    rig.player(0).world_mut().trigger(ReleaseAuthority { entity });
    rig.run(60);
    assert_eq!(told(&mut rig, 0).last(), Some(&AuthorityChange::Returned));
}

#[test]
fn who_takes_held_from_what_they_move_gets_it_again_and_who_despawns_that_too() {
    let mut rig = Rig::new(game, 1, 9, link(60, 0.0));
    rig.run(120);
    take(rig.player(0), Claim::Ownership);
    rig.run(30);
    let (entity, _) = of::<Crate>(rig.player(0));
    rig.player(0).world_mut().entity_mut(entity).remove::<Held<Crate>>();
    rig.run(2);
    assert!(holds(rig.player(0)));
    rig.player(0).world_mut().despawn(entity);
    rig.run(60);
    assert!(holds(rig.player(0)), "it is the server's, and there again");
}

#[test]
fn nobody_asks_for_what_can_not_be_held_nor_where_there_is_no_client() {
    let mut rig = Rig::new(game, 1, 10, link(60, 0.0));
    rig.run(120);
    let (entity, _) = of::<Keg>(rig.player(0));
    rig.player(0).world_mut().trigger(RequestAuthority { entity, claim: Claim::Ownership });
    take(rig.server(), Claim::Ownership);
    rig.run(60);
    assert!(told(&mut rig, 0).is_empty() && !holds(rig.server()));
}
