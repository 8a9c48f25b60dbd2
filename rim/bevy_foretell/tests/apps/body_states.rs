//! Components and their bodies, whatever is done to either: in sessions that are exact and in others, checked, alone and with a host.

use crate::sessions::link;
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Bodies, Corrected, Driven, ForetellApp, ForetellPlugin, GameWorld, Input, LocalPlayer, NetEntity, Networked, Play,
    PlayerId, Pressed, ReadInput, Simulation, Start, State, StepCommands, move_bodies, prepare_bodies,
};
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use foretell::world::Side;
use foretell::{Owned, Rows, Simulate, Step, Tick, TickRate, World as _};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};
use foretell_sim::harness::{FaultMix, Scenario, SyncTest};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Act {
    push: i8,
    hold: bool,
    strip: bool,
    give: bool,
}

#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
#[require(Transform)]
enum Thing {
    Loose {
        #[state(flatten)]
        body: Body,
    },
    Held {
        since: u32,
    },
}

impl Default for Thing {
    fn default() -> Thing {
        Thing::Held { since: 0 }
    }
}

impl Blueprint for Thing {
    fn plan(&self, _: foretell::Entity) -> Plan {
        Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::cuboid(0.4, 0.4, 0.4).density(1.0))
    }
}

/// What an entity has besides.
#[derive(Component, State, Clone, Copy, PartialEq, Debug, Default)]
struct Tag {
    bare_until: u32,
    waits: u32,
}

fn ground() -> Physics {
    Physics::new([0.0, -9.81, 0.0], [ColliderBuilder::cuboid(60.0, 0.5, 60.0).translation(Vector::new(0.0, -0.5, 0.0))])
}

fn loose(x: f32) -> Thing {
    Thing::Loose { body: Body::at([x, 0.5, 0.0]) }
}

fn join(mut step: StepCommands, things: Query<(Entity, &Networked), With<Tag>>) {
    step.despawn_left(&things);
    for newcomer in step.joined() {
        let x = f32::from(newcomer.player.get());
        for nth in 0..3_u8 {
            step.spawn(newcomer.player, (loose(x * 3.0 + f32::from(nth)), Tag::default()));
        }
    }
}

type Acting = (Entity, &'static Networked, &'static mut Tag, Option<&'static mut Thing>, &'static Driven<Act>);

fn act(mut step: StepCommands, mut all: Query<Acting>, mut commands: Commands) {
    let tick = step.tick().get();
    for (nth, (id, of, mut tag, thing, act)) in all.iter_mut().sort::<&Networked>().enumerate() {
        if tag.waits > 0 {
            tag.waits -= 1;
        }
        match thing {
            None if tag.bare_until <= tick => _ = commands.entity(id).insert(loose(nth as f32)),
            None => {}
            Some(_) if act.strip && tag.waits == 0 => {
                commands.entity(id).remove::<Thing>();
                (tag.bare_until, tag.waits) = (tick + 9, 30);
            }
            Some(mut thing) if act.hold && tag.waits == 0 => {
                *thing = match *thing {
                    Thing::Loose { .. } => Thing::Held { since: tick },
                    Thing::Held { .. } => loose(nth as f32 * 1.1),
                };
                tag.waits = 12;
            }
            Some(_) => {}
        }
        if act.give && tag.waits == 0 && nth % 3 == 0 {
            step.set_owner(id, PlayerId::new(if of.owner().get() == 1 { 2 } else { 1 }));
            tag.waits = 20;
        }
    }
}

fn push(mut bodies: ResMut<Bodies<Thing>>, things: Query<(&Networked, &Driven<Act>), With<Thing>>) {
    for (of, act) in things.iter().sort::<&Networked>() {
        let Some(mut body) = bodies.body_mut(of.name()) else { continue };
        if act.push != 0 {
            body.apply_impulse(Vector::new(f32::from(act.push) * 0.05, 0.0, 0.02), true);
        }
    }
}

fn with(app: &mut App, plugin: ForetellPlugin<Act>) {
    app.add_plugins(plugin).bodies::<Thing>(ground).networked::<Tag>();
    app.add_systems(Simulation, (join, act, prepare_bodies::<Thing>, push, move_bodies::<Thing>).chain());
    app.add_systems(ReadInput, |mut act: ResMut<Pressed<Act>>, own: Res<LocalPlayer>, mut frame: Local<i32>| {
        *frame += 1;
        let turn = *frame / 13 + own.0.map_or(0, |own| i32::from(own.get())) * 3;
        **act = if *frame > 500 {
            Act::default()
        } else {
            Act { push: (turn % 3 - 1) as i8, hold: turn % 5 == 0, strip: turn % 7 == 1, give: turn % 11 == 3 }
        };
    });
}

fn exact(app: &mut App) {
    with(app, ForetellPlugin::hz(64).configured(|config| config.rules.exact = true));
}

fn checked_exact(app: &mut App) {
    with(app, ForetellPlugin::hz(64).configured(|config| config.rules.exact = true).checked());
}

fn shown(app: &mut App) {
    with(app, ForetellPlugin::hz(64));
}

fn things(app: &mut App) -> Vec<(NetEntity, PlayerId, Option<Thing>)> {
    let world = app.world_mut();
    let mut query = world.query::<(&Networked, Option<&Thing>)>();
    let mut all: Vec<_> = query.iter(world).map(|(of, one)| (of.name(), of.owner(), one.copied())).collect();
    all.sort_by_key(|(name, ..)| *name);
    all
}

/// The bodies are those of the components, by state and owner.
fn is_right(app: &mut App) -> Result<(), String> {
    let all = things(app);
    let bodies = app.world().resource::<Bodies<Thing>>();
    for (name, owner, thing) in &all {
        let of_component = match thing {
            Some(Thing::Loose { body }) => Some(*body),
            _ => None,
        };
        match (of_component, bodies.state(*name)) {
            (Some(one), Some(other)) if one.same_bits(&other) => {}
            (None, None) => continue,
            (one, other) => return Err(format!("{name:?}: {one:?}, body {other:?}")),
        }
        if bodies.owner(*name) != Some(*owner) {
            return Err(format!("{name:?} is of {owner:?}, its body of {:?}", bodies.owner(*name)));
        }
    }
    let extra = bodies.entities().find(|name| !all.iter().any(|(known, ..)| known == name));
    extra.map_or(Ok(()), |name| Err(format!("{name:?} is no entity's body")))
}

fn play(game: fn(&mut App), seed: u64, loss: f64) {
    let mut rig = Rig::new(game, 2, seed, link(40, loss));
    for frame in 0..1200 {
        rig.frame();
        if frame > 50 {
            is_right(rig.server()).unwrap_or_else(|why| panic!("server, frame {frame}: {why}"));
            for nth in 0..2 {
                is_right(rig.player(nth)).unwrap_or_else(|why| panic!("client {nth}, frame {frame}: {why}"));
            }
        }
    }
    let truth = things(rig.server());
    assert!(truth.len() == 6);
    let is_exact = GameWorld::<Act>::rules(game).exact;
    for nth in 0..2 {
        let told = things(rig.player(nth));
        if is_exact {
            assert_eq!(told, truth, "client {nth}");
            continue;
        }
        for (one, other) in told.iter().zip(&truth) {
            assert_eq!((one.0, one.1), (other.0, other.1), "client {nth}");
            match (one.2, other.2) {
                (Some(Thing::Loose { body: a }), Some(Thing::Loose { body: b })) => {
                    let far = (0..3).any(|at| (a.position[at] - b.position[at]).abs() > 0.02);
                    assert!(!far, "client {nth}: {one:?} {other:?}");
                }
                (a, b) => assert_eq!(a, b, "client {nth}"),
            }
        }
    }
}

/// At rest, where nobody presses anything: how often clients are corrected, and bodies wake.
#[test]
fn bodies_at_rest_in_a_session_that_is_not_exact_are_not_corrected_for_ever() {
    let mut rig = Rig::new(shown, 2, 1, link(40, 0.0));
    rig.run(1000);
    for nth in 0..2 {
        let app = rig.player(nth);
        app.init_resource::<Count>();
        app.add_observer(|_: On<Corrected>, mut count: ResMut<Count>| count.0 += 1);
    }
    let mut awake = [0; 3];
    for _ in 0..600 {
        rig.frame();
        for (nth, awake) in awake.iter_mut().enumerate() {
            let app = if nth == 2 { rig.server() } else { rig.player(nth) };
            let all = things(app);
            *awake +=
                all.iter().filter(|(.., one)| matches!(one, Some(Thing::Loose { body }) if !body.sleeping)).count();
        }
    }
    let counts = [0, 1].map(|nth| rig.player(nth).world().resource::<Count>().0);
    assert_eq!(
        (counts, awake),
        ([0, 0], [0, 0, 0]),
        "corrections, and frames of bodies awake (client, client, server)"
    );
}

#[test]
fn variants_without_bodies_removed_components_and_new_owners_in_an_exact_session() {
    play(exact, 1, 0.0);
    play(exact, 2, 0.05);
}

#[test]
fn the_same_checked() {
    play(checked_exact, 1, 0.02);
}

#[test]
fn the_same_where_others_are_shown() {
    play(shown, 1, 0.0);
    play(shown, 2, 0.05);
}

#[test]
fn the_same_by_the_harness() {
    let rules = || GameWorld::<Act>::rules(exact);
    let world = || GameWorld::<Act>::of(exact);
    let act = |player: PlayerId, tick: Tick| {
        let turn = tick.get() / 13 + u32::from(player.get()) * 3;
        Act { push: (turn % 3) as i8 - 1, hold: turn.is_multiple_of(5), strip: turn % 7 == 1, give: turn % 11 == 3 }
    };
    SyncTest::new(rules(), world).input(act).run(400).expect("its steps are exact");
    let scenario = Scenario::new(rules(), world).players(2).faults(FaultMix::default()).without("calm");
    let scenario = scenario.bot(|_, random| Act {
        push: random.next_u64() as i8 % 2,
        hold: random.chance(0.03),
        strip: random.chance(0.03),
        give: random.chance(0.02),
    });
    scenario.seeds(0..2).unwrap_or_else(|failure| panic!("{failure}"));
}

/// What is written into the body of a component does nothing: the same on both ends afterwards.
#[test]
fn what_is_written_into_the_body_of_a_component_does_nothing() {
    let game = |app: &mut App| {
        let plugin = ForetellPlugin::<Act>::hz(64).configured(|config| config.rules.exact = true);
        app.add_plugins(plugin).bodies::<Thing>(ground).networked::<Tag>();
        let write = |step: StepCommands, mut things: Query<&mut Thing>| {
            if step.tick().get() == 500 {
                for mut thing in &mut things {
                    if let Thing::Loose { body } = &mut *thing {
                        body.position[1] = 9.0;
                    }
                }
            }
        };
        app.add_systems(Simulation, (join, write, prepare_bodies::<Thing>, move_bodies::<Thing>).chain());
    };
    let mut rig = Rig::new(game, 1, 1, link(20, 0.0));
    rig.run(480);
    assert!(things(rig.server()).iter().all(|(.., one)| matches!(one, Some(Thing::Loose { body }) if body.sleeping)));
    rig.run(400);
    let seen = (is_right(rig.server()), is_right(rig.player(0)), things(rig.server()) == things(rig.player(0)));
    assert_eq!(seen, (Ok(()), Ok(()), true));
}

/// What is not touched outside of steps either: the game puts a component somewhere else.
#[test]
fn a_component_that_is_replaced_has_the_state_of_its_body_again() {
    let mut world = GameWorld::<Act>::of(|app| {
        app.add_plugins(ForetellPlugin::<Act>::hz(64)).bodies::<Thing>(ground).networked::<Tag>();
        app.add_systems(Simulation, (prepare_bodies::<Thing>, move_bodies::<Thing>).chain());
    });
    let name = NetEntity::new(PlayerId::SERVER, Tick::ZERO, 0);
    let mut rows = Rows::new(&GameWorld::<Act>::rules(exact).schema);
    rows.set(Owned { entity: name, owner: PlayerId::SERVER }, &loose(0.0));
    world.adopt(&rows);
    let mut tick = 0;
    let mut step = |world: &mut GameWorld<Act>, count: u32| {
        for _ in 0..count {
            world.step(&mut Step::new(Tick::new(tick), TickRate::hz(64), Side::Server, &[]));
            tick += 1;
        }
    };
    step(&mut world, 200);
    let ecs = world.world();
    *ecs.query::<&mut Thing>().single_mut(ecs).expect("one") = loose(7.0);
    step(&mut world, 200);
    let ecs = world.world();
    let Thing::Loose { body } = *ecs.query::<&Thing>().single(ecs).expect("one") else { panic!("loose") };
    assert_eq!(Some(body), ecs.resource::<Bodies<Thing>>().state(name));
}

#[test]
fn host_alone_and_a_second_session_have_bodies() {
    let mut rig = Rig::hosted(exact, 1, 3, link(40, 0.0));
    rig.run(700);
    is_right(rig.server()).expect("host");
    is_right(rig.player(0)).expect("guest");
    rig.run(500);
    assert_eq!(things(rig.server()), things(rig.player(0)));
    rig.server().insert_resource(Play::Alone);
    rig.run(100);
    is_right(rig.server()).expect("alone");
    assert_eq!(things(rig.server()).len(), 3);
    rig.player(0).insert_resource(Play::Alone);
    rig.run(100);
    is_right(rig.player(0)).expect("alone");
    let mut rig = Rig::new(exact, 2, 3, link(40, 0.0));
    rig.run(200);
    rig.player(0).insert_resource(Play::ByHand(Start::Client { nonce: 77 }));
    rig.run(400);
    is_right(rig.player(0)).expect("again");
    is_right(rig.server()).expect("again");
}

/// A system that draws or counts bodies, outside of steps.
#[test]
fn who_looks_at_bodies_before_a_session_does_not_panic() {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    exact(&mut app);
    app.add_systems(Update, |bodies: Res<Bodies<Thing>>| _ = bodies.entities().count());
    app.update();
}

/// What is known of a body is on an entity that is given away in the step that pushes it.
#[derive(Resource, Default)]
struct Count(usize);

#[test]
fn a_calm_exact_session_needs_no_correction() {
    let mut rig = Rig::new(exact, 1, 1, link(40, 0.0));
    rig.run(200);
    let app = rig.player(0);
    app.init_resource::<Count>();
    app.add_observer(|_: On<Corrected>, mut count: ResMut<Count>| count.0 += 1);
    rig.run(600);
    assert_eq!(rig.player(0).world().resource::<Count>().0, 0);
}

thread_local! {
    static TOLERANT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static APART: std::cell::Cell<f32> = const { std::cell::Cell::new(0.0) };
}

/// Two bodies of two players lie beside each other, and nobody presses anything, in a session that is not exact.
#[test]
fn two_bodies_that_touch_and_rest_are_not_corrected_for_ever() {
    let game = |app: &mut App| {
        let plugin = ForetellPlugin::<Act>::hz(64).configured(|config| {
            if TOLERANT.with(std::cell::Cell::get) {
                config.client.tolerance = foretell::Tolerance::of_contacts();
            }
        });
        app.add_plugins(plugin).bodies::<Thing>(ground).networked::<Tag>();
        let join = |mut step: StepCommands| {
            for newcomer in step.joined() {
                step.spawn(newcomer.player, loose(f32::from(newcomer.player.get()) * APART.with(std::cell::Cell::get)));
            }
        };
        app.add_systems(Simulation, (join, prepare_bodies::<Thing>, move_bodies::<Thing>).chain());
    };
    let mut found = Vec::new();
    for (apart, tolerant) in [(2.0, false), (0.83, false), (0.81, false), (0.81, true), (0.8, true)] {
        TOLERANT.with(|one| one.set(tolerant));
        APART.with(|one| one.set(apart));
        let mut rig = Rig::new(game, 2, 1, link(40, 0.0));
        rig.run(600);
        let app = rig.player(0);
        app.init_resource::<Count>();
        app.add_observer(|_: On<Corrected>, mut count: ResMut<Count>| count.0 += 1);
        rig.run(300);
        let asleep = |app: &mut App| {
            things(app).iter().filter(|(.., one)| matches!(one, Some(Thing::Loose { body }) if body.sleeping)).count()
        };
        let (here, there) = (asleep(rig.player(0)), asleep(rig.server()));
        found.push(((apart, tolerant), rig.player(0).world().resource::<Count>().0, here, there));
    }
    assert!(
        found.iter().all(|(_, corrections, here, there)| (*corrections, *here, *there) == (0, 2, 2)),
        "(m apart, corrections in 300 frames, asleep on the client, on the server): {found:?}"
    );
}
