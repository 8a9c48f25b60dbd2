//! Children that come and go, that change parents and that are taken: as each end and each re-simulated step sees them.

use crate::cubes::{self, Cube, Keys, cubes};
use crate::sessions::link;
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Corrected, ForetellApp, ForetellPlugin, GameWorld, Gone, NetEntity, Networked, Play, PlayerId, Simulated,
    Simulation, State, StepCommands,
};
use bevy_time::{Real, Time};
use bevy_transform::components::Transform;
use foretell::world::{ComponentId, Side};
use foretell::{Interest, Owned, Rows, Simulate, Start, Step, Tick, TickRate, World as _};
use std::collections::BTreeMap;

#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
struct Hat {
    #[state(position)]
    x: [f32; 3],
    ticks_left: u32,
}

#[derive(Resource, Default)]
struct Count(u32);

fn count_all(app: &mut App) {
    app.init_resource::<Count>();
    app.add_observer(|_: On<Corrected>, mut count: ResMut<Count>| count.0 += 1);
}

/// A cube without children gets one; it lives for 5 ticks.
fn crown(
    mut step: StepCommands,
    cubes: Query<(Entity, &Networked, Option<&Children>), (With<Cube>, With<Simulated>)>,
    mut hats: Query<(Entity, &mut Hat), With<Simulated>>,
) {
    for (id, mut hat) in &mut hats {
        hat.ticks_left -= 1;
        if hat.ticks_left == 0 {
            step.despawn(id);
        }
    }
    for (cube, of, children) in cubes.iter().sort::<&Networked>() {
        if children.is_none_or(|children| children.is_empty()) {
            step.spawn(of.owner(), (Hat { ticks_left: 5, ..Hat::default() }, ChildOf(cube)));
        }
    }
}

fn crowned(app: &mut App) {
    add_crown(app, ForetellPlugin::hz(64));
}

fn checked_crowned(app: &mut App) {
    add_crown(app, ForetellPlugin::hz(64).checked());
}

fn add_crown(app: &mut App, plugin: ForetellPlugin<Keys>) {
    app.add_plugins(plugin);
    cubes::with(app);
    app.networked::<Hat>().networked_children();
    app.add_systems(Simulation, crown.after(cubes::shoot));
    count_all(app);
}

#[test]
fn children_without_what_is_gone_need_no_correction_on_a_perfect_link() {
    let mut rig = Rig::new(crowned, 1, 1, link(50, 0.0));
    rig.run(200);
    rig.player(0).insert_resource(Count(0));
    let (mut here, mut there) = (0, 0);
    let count = |app: &mut App| {
        let world = app.world_mut();
        world.query::<&Hat>().iter(world).count()
    };
    for _ in 0..200 {
        rig.frame();
        here += count(rig.player(0));
        there += count(rig.server());
    }
    let corrections = rig.player(0).world().resource::<Count>().0;
    assert!(
        corrections == 0,
        "{corrections} corrections; frames with a hat: {here} on the client, {there} on the server"
    );
}

#[test]
fn children_are_no_reason_for_checked_to_complain() {
    let mut rig = Rig::new(checked_crowned, 1, 1, link(50, 0.0));
    rig.run(200);
}

const ME: PlayerId = PlayerId::new(1);
const OTHER: PlayerId = PlayerId::new(2);

fn nth(counter: u16) -> NetEntity {
    NetEntity::new(PlayerId::SERVER, Tick::ZERO, counter)
}

fn of(entity: NetEntity) -> Owned {
    Owned { entity, owner: OTHER }
}

fn hatted(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    cubes::with(app);
    app.networked::<Hat>().networked_children();
}

fn rows() -> Rows {
    Rows::new(&GameWorld::<Keys>::rules(hatted).schema)
}

/// Says in rows whose child it is.
fn set_parent(rows: &mut Rows, child: NetEntity, parent: NetEntity) {
    let schema = GameWorld::<Keys>::rules(hatted).schema;
    let component: ComponentId = schema.ids().last().expect("it is registered last");
    let bits = parent.bits();
    let words = [bits as u32, (bits >> 32) as u32];
    let len = schema.components()[usize::from(component.0)].words();
    assert_eq!(len, 2);
    rows.set_words(foretell::world::Row { component, entity: child, owner: OTHER, words: &words });
}

fn step(game: &mut GameWorld<Keys>, tick: u32) {
    game.step(&mut Step::new(Tick::new(tick), TickRate::hz(64), Side::Client(ME), &[]));
    let mut into = rows();
    game.publish(&mut into);
}

fn one(game: &mut GameWorld<Keys>, name: NetEntity) -> (bool, bool, bool) {
    let world = game.world();
    let mut query = world.query::<(&Networked, Has<Cube>, Has<Hat>, Has<ChildOf>)>();
    let found = query.iter(world).find(|(of, ..)| of.name() == name);
    found.map(|(_, cube, hat, child)| (cube, hat, child)).expect("it is there")
}

#[test]
fn what_rows_bring_back_has_no_component_that_they_do_not_name() {
    let mut game = GameWorld::<Keys>::of(hatted);
    let mut into = rows();
    game.publish(&mut into);
    let mut nothing = Default::default();
    game.save(&mut nothing);
    let mut first = rows();
    first.set(of(nth(1)), &Cube::default());
    first.set(of(nth(0)), &Cube::default());
    let mut second = first.clone();
    second.set(of(nth(1)), &Hat::default());
    set_parent(&mut second, nth(1), nth(0));
    game.adopt(&first);
    assert_eq!(one(&mut game, nth(1)), (true, false, false));
    game.adopt(&second);
    assert_eq!(one(&mut game, nth(1)), (true, true, true));
    // Back, and again as it was first.
    game.load(&nothing);
    game.adopt(&first);
    assert_eq!(one(&mut game, nth(1)), (true, false, false), "(cube, hat, child)");
}

/// How often a cube has come, as observers see it.
#[derive(Resource, Default)]
struct Came(u32);

/// What a cube looks like.
#[derive(Component)]
struct Barrel;

fn with_barrels(app: &mut App) {
    hatted(app);
    app.init_resource::<Came>();
    app.add_observer(|cube: On<Add<Cube>>, mut came: ResMut<Came>, mut commands: Commands| {
        came.0 += 1;
        commands.entity(cube.entity).with_child(Barrel);
    });
}

#[test]
fn another_that_comes_back_has_come_once_and_has_each_child_once() {
    let mut game = GameWorld::<Keys>::of(with_barrels);
    let mut into = rows();
    game.publish(&mut into);
    let mut nothing = Default::default();
    game.save(&mut nothing);
    let mut told = rows();
    told.set(of(nth(1)), &Cube::default());
    told.set(of(nth(1)), &Hat::default());
    let seen = |game: &mut GameWorld<Keys>, x: Option<f32>| {
        let world = game.world();
        let cubes: Vec<_> = world.query::<&Cube>().iter(world).map(|cube| cube.x[0]).collect();
        let hats = world.query::<&Hat>().iter(world).count();
        let barrels = world.query::<(&Barrel, &ChildOf)>().iter(world).count();
        assert_eq!(cubes, x.into_iter().collect::<Vec<_>>());
        assert_eq!((hats, barrels), (cubes.len(), cubes.len()));
        assert_eq!(world.resource::<Came>().0, 1);
    };
    game.adopt(&told);
    seen(&mut game, Some(0.0));
    // A correction goes back to where it was not seen yet.
    game.load(&nothing);
    seen(&mut game, None);
    told.set(of(nth(1)), &Cube { x: [1.0; 3], ..Cube::default() });
    game.adopt(&told);
    seen(&mut game, Some(1.0));
    // It is hidden, and appears.
    let mut hidden = told.clone();
    hidden.settle();
    hidden.remove_entity(nth(1));
    game.adopt(&hidden);
    seen(&mut game, None);
    game.adopt(&told);
    seen(&mut game, Some(1.0));
}

/// The same in a session: another's cube gets a component late; a re-simulation must not see it earlier.
#[test]
fn and_after_a_step_it_is_as_the_rows_say_too() {
    let mut game = GameWorld::<Keys>::of(hatted);
    let mut into = rows();
    game.publish(&mut into);
    let mut nothing = Default::default();
    game.save(&mut nothing);
    let mut first = rows();
    first.set(of(nth(1)), &Cube::default());
    let mut second = first.clone();
    second.set(of(nth(1)), &Hat::default());
    game.adopt(&second);
    step(&mut game, 1);
    game.load(&nothing);
    game.adopt(&first);
    step(&mut game, 1);
    let mut now = rows();
    game.publish(&mut now);
    let is_told = now.state::<Hat>(nth(1)).is_some();
    assert_eq!(one(&mut game, nth(1)).1, is_told, "Bevy's world and what is published differ");
}

#[test]
fn rows_that_make_a_cycle_and_go_do_not_hang() {
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut game = GameWorld::<Keys>::of(hatted);
        let mut both = rows();
        both.set(of(nth(0)), &Cube::default());
        both.set(of(nth(1)), &Cube::default());
        set_parent(&mut both, nth(0), nth(1));
        set_parent(&mut both, nth(1), nth(0));
        both.settle();
        game.adopt(&both);
        let cycle = one(&mut game, nth(0)).2 && one(&mut game, nth(1)).2;
        eprintln!("a cycle in Bevy's world: {cycle}");
        both.remove_entity(nth(0));
        both.remove_entity(nth(1));
        game.adopt(&both);
        eprintln!("removed");
        let steps = if std::env::var("HANG").is_ok() { 400 } else { 100 };
        (1..steps).for_each(|tick| step(&mut game, tick));
        eprintln!("stepped {steps}");
        // What the purge does after two seconds, sooner.
        let world = game.world();
        let count =
            world.query_filtered::<Entity, (With<Networked>, bevy_ecs::query::Allow<Gone>)>().iter(world).count();
        done.send((cycle, count)).expect("somebody waits");
    });
    let found = is_done.recv_timeout(std::time::Duration::from_secs(10));
    let Ok((cycle, count)) = found else {
        eprintln!("HANGS");
        std::process::exit(99);
    };
    assert!(!cycle, "two are each other's child; {count} left");
}

/// Two of the server's: the one is the other's child, and then the other way round.
fn swap(
    mut step: StepCommands,
    hats: Query<(Entity, &Networked, Option<&ChildOf>), With<Hat>>,
    mut commands: Commands,
) {
    if !step.is_authority() {
        return;
    }
    let all: Vec<_> = hats.iter().sort::<&Networked>().collect();
    if all.is_empty() {
        (0..2).for_each(|_| _ = step.spawn(PlayerId::SERVER, Hat::default()));
    }
    if let [(one, ..), (other, ..)] = all[..]
        && step.tick().get().is_multiple_of(10)
    {
        let (child, parent) = if step.tick().get().is_multiple_of(20) { (one, other) } else { (other, one) };
        commands.entity(parent).remove::<ChildOf>();
        commands.entity(child).insert(ChildOf(parent));
    }
}

#[test]
fn two_that_change_places_are_never_each_others_child_on_a_client() {
    let swapping = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Hat>().networked_children();
        app.add_systems(Simulation, swap.after(cubes::shoot));
    };
    let mut cycles = 0;
    for seed in 0..6 {
        let mut rig = Rig::new(swapping, 1, seed, link(60, 0.2));
        rig.run(150);
        for _ in 0..400 {
            rig.frame();
            let world = rig.player(0).world_mut();
            let mut query = world.query_filtered::<&ChildOf, With<Hat>>();
            cycles += u32::from(query.iter(world).count() > 1);
        }
    }
    assert_eq!(cycles, 0, "frames in which each is the other's child");
}

fn far(app: &mut App) {
    let interest = Interest::Within { radius_m: 20.0, leaves_at_m: 22.0 };
    app.add_plugins(ForetellPlugin::<Keys>::hz(64).configured(move |config| config.server.interest = interest));
    app.networked::<Cube>().networked::<Hat>().networked_children();
    app.add_systems(
        Simulation,
        |mut step: StepCommands, cubes: Query<(Entity, &Networked, &Cube, Option<&Children>)>| {
            for newcomer in step.joined() {
                let x = [FAR.with(|far| far.get()[usize::from(newcomer.player.get()) - 1]), 0.0, 0.0];
                step.spawn(newcomer.player, Cube { x, ..Cube::default() });
            }
            let authority = step.is_authority();
            for (id, of, ..) in cubes.iter().filter(|(.., children)| authority && children.is_none()) {
                step.spawn(of.owner(), (Hat { x: [0.0, 1.0, 0.0], ticks_left: 1 }, ChildOf(id)));
            }
        },
    );
}

thread_local! {
    static FAR: std::cell::Cell<[f32; 2]> = const { std::cell::Cell::new([0.0; 2]) };
}

/// Of each hat: its owner, whether it has a parent, and where it is drawn.
fn seen_hats(app: &mut App) -> Vec<(PlayerId, bool, [f32; 3])> {
    let world = app.world_mut();
    let mut query = world.query_filtered::<(&Networked, Has<ChildOf>, &Transform), With<Hat>>();
    query.iter(world).map(|(of, child, at)| (of.owner(), child, at.translation.to_array())).collect()
}

#[test]
fn a_child_near_the_viewer_is_seen_with_its_parent() {
    FAR.with(|far| far.set([100.0, 101.0]));
    let mut rig = Rig::new(far, 2, 1, link(20, 0.0));
    rig.run(200);
    assert_eq!(cubes(rig.player(0)).len(), 2, "both cubes are seen");
    let hats = seen_hats(rig.player(0));
    assert_eq!(hats.len(), 2, "the other's hat is on its cube, 1 m away: {hats:?}");
}

#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
#[require(Transform)]
struct Gem {
    #[state(position)]
    x: [f32; 3],
}

fn gems(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    cubes::with(app);
    app.networked::<Gem>().networked::<Hat>().networked_children();
    let lay = |mut step: StepCommands,
               gems: Query<(Entity, &Networked), (With<Gem>, Without<Children>)>,
               tick: Query<(), With<Gem>>| {
        if step.is_authority() && tick.is_empty() && step.tick().get() < 64 {
            for place in -20_i16..20 {
                step.spawn(PlayerId::SERVER, Gem { x: [f32::from(place) * 0.5 + 0.25, 0.0, 0.0] });
            }
        }
        if step.is_authority() {
            for (id, _) in gems.iter().sort::<&Networked>().map(|(id, of)| (id, *of)).collect::<Vec<_>>() {
                step.spawn(PlayerId::SERVER, (Hat { x: [0.0, 1.0, 0.0], ticks_left: 1 }, ChildOf(id)));
            }
        }
    };
    app.add_systems(Simulation, (lay, take_gem).chain().after(cubes::shoot));
}

fn take_gem(
    mut step: StepCommands,
    cubes: Query<(&Networked, &Cube), With<bevy_foretell::Driven<Keys>>>,
    gems: Query<(Entity, &Networked, &Gem)>,
) {
    for (by, cube) in cubes.iter().sort::<&Networked>() {
        for (id, of, gem) in &gems {
            if (gem.x[0] - cube.x[0]).abs() < 0.2 && step.change(by, of) {
                step.despawn(id);
            }
        }
    }
}

#[test]
fn the_child_of_what_a_client_takes_goes_with_it() {
    let mut rig = Rig::new(gems, 1, 3, link(80, 0.0));
    rig.run(150);
    let mut orphans = 0;
    let mut places = Vec::new();
    for _ in 0..400 {
        rig.frame();
        let seen = seen_hats(rig.player(0));
        orphans += seen.iter().filter(|(_, child, _)| !child).count();
        places.extend(seen.iter().filter(|(_, child, _)| !child).map(|(.., at)| *at).take(1));
        let there = seen_hats(rig.server());
        assert!(there.iter().all(|(_, child, _)| *child));
    }
    assert_eq!(orphans, 0, "(child, frame) without its gem, drawn at {:?}", places.first());
}

/// What is taken becomes a child of who has taken it.
fn carry(
    mut step: StepCommands,
    cubes: Query<(Entity, &Networked, &Cube), With<bevy_foretell::Driven<Keys>>>,
    gems: Query<(Entity, &Networked, &Gem), Without<ChildOf>>,
    mut commands: Commands,
) {
    for (cube, by, at) in cubes.iter().sort::<&Networked>() {
        for (id, of, gem) in &gems {
            if (gem.x[0] - at.x[0]).abs() < 0.2 && step.change(by, of) {
                commands.entity(id).insert(ChildOf(cube));
            }
        }
    }
}

#[test]
fn what_a_client_picks_up_as_its_child_stays_so_until_it_is_told() {
    let game = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Gem>().networked_children();
        let lay = |mut step: StepCommands, gems: Query<(), With<Gem>>| {
            if step.is_authority() && gems.is_empty() {
                for place in -20_i16..20 {
                    step.spawn(PlayerId::SERVER, Gem { x: [f32::from(place) * 0.5 + 0.25, 0.0, 0.0] });
                }
            }
        };
        app.add_systems(Simulation, (lay, carry).chain().after(cubes::shoot));
    };
    let mut rig = Rig::new(game, 1, 3, link(80, 0.0));
    rig.run(150);
    let carried = |app: &mut App| -> BTreeMap<NetEntity, bool> {
        let world = app.world_mut();
        let mut query = world.query_filtered::<(&Networked, Has<ChildOf>), With<Gem>>();
        query.iter(world).map(|(of, child)| (of.name(), child)).collect()
    };
    let (mut before, mut flickers) = (carried(rig.player(0)), 0);
    for _ in 0..400 {
        rig.frame();
        let now = carried(rig.player(0));
        flickers += before.iter().filter(|(name, is)| **is && now.get(name) == Some(&false)).count();
        before = now;
    }
    rig.run(5);
    let count = |all: &BTreeMap<NetEntity, bool>| all.values().filter(|is| **is).count();
    let (here, there) = (count(&carried(rig.player(0))), count(&carried(rig.server())));
    assert!(there > 3);
    assert_eq!(flickers, 0, "they were taken, and then not: {here} here, {there} on the server");
}

fn family(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    cubes::with(app);
    app.networked::<Hat>().networked_children();
    app.add_systems(
        Simulation,
        (|mut step: StepCommands, cubes: Query<(Entity, &Networked), (With<Cube>, Without<Children>)>| {
            for (id, of) in cubes.iter().filter(|_| step.is_authority()).collect::<Vec<_>>() {
                step.spawn(of.owner(), (Hat { ticks_left: 1, ..Hat::default() }, ChildOf(id)));
            }
        })
        .after(cubes::shoot),
    );
}

#[test]
fn host_alone_and_a_second_session_have_children() {
    let mut rig = Rig::hosted(family, 1, 3, link(40, 0.0));
    rig.run(300);
    for app in 0..2 {
        let app = if app == 0 { rig.server() } else { rig.player(0) };
        let hats = seen_hats(app);
        assert!(hats.len() == 2 && hats.iter().all(|(_, child, _)| *child), "{hats:?}");
    }
    rig.server().insert_resource(Play::Alone);
    rig.run(100);
    let hats = seen_hats(rig.server());
    assert!(hats.len() == 1 && hats[0].1, "{hats:?}");
    rig.player(0).insert_resource(Play::Alone);
    rig.run(100);
    let hats = seen_hats(rig.player(0));
    assert!(hats.len() == 1 && hats[0].1, "{hats:?}");
    let mut rig = Rig::new(family, 2, 3, link(40, 0.0));
    rig.run(200);
    rig.player(0).insert_resource(Play::ByHand(Start::Client { nonce: 77 }));
    rig.run(300);
    let hats = seen_hats(rig.player(0));
    assert!(hats.len() >= 2 && hats.iter().all(|(_, child, _)| *child), "{hats:?}");
}

#[derive(Resource, Default, Debug)]
struct Early {
    first: u32,
    again: u32,
    steps_again: u32,
}

fn look(
    step: StepCommands,
    shots: Query<(&cubes::Shot, Has<Hat>, Has<ChildOf>), Without<Simulated>>,
    mut early: ResMut<Early>,
) {
    let count = shots.iter().filter(|(shot, hat, child)| (*hat || *child) && shot.ticks_left > 26).count() as u32;
    if step.first_time() {
        early.first += count;
    } else {
        early.again += count;
        early.steps_again += 1;
    }
}

fn mark(
    shots: Query<(Entity, &cubes::Shot, &Networked), (With<Simulated>, Without<Hat>)>,
    cubes: Query<(Entity, &Networked), With<Cube>>,
    mut commands: Commands,
) {
    for (id, _, of) in shots.iter().filter(|(_, shot, _)| shot.ticks_left == 26) {
        let own = cubes.iter().find(|(_, cube)| cube.owner() == of.owner()).map(|(id, _)| id);
        let mut shot = commands.entity(id);
        shot.insert(Hat::default());
        own.into_iter().for_each(|own| _ = shot.insert(ChildOf(own)));
    }
}

#[test]
fn a_step_that_runs_again_does_not_see_what_others_get_only_later() {
    let game = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Hat>().networked_children().init_resource::<Early>();
        app.add_systems(Simulation, look.before(cubes::join));
        app.add_systems(Simulation, mark.after(cubes::shoot));
    };
    let mut rig = Rig::new(game, 2, 7, link(100, 0.2));
    rig.run(1500);
    let early = rig.player(0).world().resource::<Early>();
    assert!(early.steps_again > 100);
    assert_eq!((early.first, early.again), (0, 0), "shots with a component that they get later; {early:?}");
}

#[test]
fn who_is_put_below_what_was_despawned_in_the_same_step_does_not_go_with_it_later() {
    let mut game = GameWorld::<Keys>::of(hatted);
    let mut both = rows();
    both.set(of(nth(0)), &Cube::default());
    both.set(of(nth(1)), &Hat::default());
    game.adopt(&both);
    let id = |game: &mut GameWorld<Keys>, name| {
        let world = game.world();
        let mut query = world.query::<(Entity, &Networked)>();
        query.iter(world).find(|(_, of)| of.name() == name).map(|(id, _)| id).expect("there")
    };
    let (cube, hat) = (id(&mut game, nth(0)), id(&mut game, nth(1)));
    let mut only = both.clone();
    only.remove_entity(nth(0));
    game.adopt(&only);
    // `StepCommands::find` has it still.
    game.world().entity_mut(hat).insert(ChildOf(cube));
    (1..400).for_each(|tick| step(&mut game, tick));
    assert!(game.world().get_entity(hat).is_ok_and(|hat| !hat.contains::<Gone>()), "it is there");
}

/// A cycle of a bad link ends the program of a client: it goes through the children of each other for ever.
#[test]
fn a_cycle_that_a_bad_link_makes_does_not_hang_a_client() {
    let swapping = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Hat>().networked_children();
        let end = |mut step: StepCommands, hats: Query<(Entity, &Networked), With<Hat>>| {
            if step.is_authority() && step.tick().get() % 10 == 2 {
                hats.iter().map(|(id, _)| id).collect::<Vec<_>>().into_iter().for_each(|id| step.despawn(id));
            }
        };
        app.add_systems(Simulation, (swap, end).chain().after(cubes::shoot));
    };
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for seed in 0..60 {
            let loss = foretell_sim::netsim::Loss::Bursts { rate: 0.35, mean_length: 1.5 };
            let mut rig = Rig::new(swapping, 1, seed, foretell_sim::netsim::Conditions { loss, ..link(60, 0.0) });
            for frame in 0..800 {
                rig.frame();
                done.send((seed, frame)).expect("somebody waits");
            }
        }
    });
    let mut last = (0, 0);
    loop {
        match is_done.recv_timeout(std::time::Duration::from_secs(4)) {
            Ok(at) => last = at,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(_) => {
                eprintln!("HANGS after (seed, frame) {last:?}");
                std::process::exit(99);
            }
        }
    }
    assert_eq!(last, (59, 799));
}

fn _unused(_: Res<Time<Real>>) {
    let _ = Update;
}
