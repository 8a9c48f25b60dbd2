//! What is the server's, changed by a player's step ahead of it: coins that are taken, and gone then.

use crate::cubes::{self, Cube, Keys};
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    ChangeConfirmed, ChangeRefused, Corrected, Driven, ForetellApp, ForetellPlugin, GameWorld, Networked, PlayerId,
    Simulated, Simulation, State, StepCommands,
};
use foretell_sim::harness::{FaultMix, Scenario};

/// Lies there again from a tick on.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Coin {
    #[state(position)]
    x: [f32; 3],
    back: u32,
}

/// Gone when somebody has it.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Gem {
    #[state(position)]
    x: [f32; 3],
}

#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Purse {
    coins: u32,
    gems: u32,
}

/// Who has just come.
type Penniless = (With<Cube>, With<Simulated>, Without<Purse>);

fn lay_out(
    mut step: StepCommands,
    coins: Query<(), With<Coin>>,
    cubes: Query<Entity, Penniless>,
    mut commands: Commands,
) {
    if step.is_authority() && coins.is_empty() {
        for place in -20_i16..20 {
            let x = [f32::from(place) * 0.5, 0.0, 0.0];
            step.spawn(PlayerId::SERVER, Coin { x, back: 0 });
            step.spawn(PlayerId::SERVER, Gem { x: [x[0] + 0.25, 0.0, 0.0] });
        }
    }
    cubes.iter().for_each(|id| _ = commands.entity(id).insert(Purse::default()));
}

fn take(
    mut step: StepCommands,
    mut cubes: Query<(&Networked, &Cube, &mut Purse), With<Driven<Keys>>>,
    mut coins: Query<(&Networked, &mut Coin)>,
    gems: Query<(Entity, &Networked, &Gem)>,
) {
    let tick = step.tick().get();
    for (by, cube, mut purse) in cubes.iter_mut().sort::<&Networked>() {
        let is_near = |x: [f32; 3]| (x[0] - cube.x[0]).abs() < 0.2;
        for (of, mut coin) in &mut coins {
            if coin.back <= tick && is_near(coin.x) && step.change(by, of) {
                coin.back = tick + 300;
                purse.coins += 1;
            }
        }
        for (id, of, gem) in &gems {
            if is_near(gem.x) && step.change(by, of) {
                step.despawn(id);
                purse.gems += 1;
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
    app.networked::<Coin>().networked::<Gem>().networked::<Purse>();
    app.add_systems(Simulation, (lay_out, take).chain().after(cubes::shoot));
    app.init_resource::<Told>();
    app.add_observer(|_: On<ChangeConfirmed>, mut told: ResMut<Told>| told.confirmed += 1);
    app.add_observer(|_: On<ChangeRefused>, mut told: ResMut<Told>| told.refused += 1);
    app.add_observer(|of: On<Corrected>, mut told: ResMut<Told>| {
        told.corrected += usize::from(of.correction.misprediction_m > 0.0);
    });
}

#[derive(Resource, Default, Debug)]
struct Told {
    confirmed: usize,
    refused: usize,
    corrected: usize,
}

fn purses(app: &mut App) -> Vec<(PlayerId, Purse)> {
    let world = app.world_mut();
    let mut query = world.query::<(&Networked, &Purse)>();
    let mut all: Vec<_> = query.iter(world).map(|(of, purse)| (of.owner(), *purse)).collect();
    all.sort_by_key(|(player, _)| *player);
    all
}

#[test]
fn who_takes_what_is_the_servers_has_it_at_once_and_is_told_whether_it_was_theirs() {
    for game in [game, checked_game] {
        let mut rig = Rig::new(game, 2, 6, link(60, 0.0));
        rig.run(900);
        let taken: Vec<_> = purses(rig.server());
        let (coins, gems) = taken.iter().fold((0, 0), |(coins, gems), (_, one)| (coins + one.coins, gems + one.gems));
        assert!(coins > 8 && gems > 4, "{taken:?}");
        let told: Vec<_> =
            (0..2).map(|nth| rig.player(nth).world_mut().remove_resource::<Told>().expect("it is there")).collect();
        let confirmed: usize = told.iter().map(|told| told.confirmed).sum();
        assert!(confirmed + 4 >= (coins + gems) as usize, "{told:?} of {taken:?}");
        assert!(told.iter().any(|told| told.refused > 0), "both start in one place: {told:?}");
        assert!(told.iter().all(|told| told.corrected == 0), "nothing that moves goes by what is taken: {told:?}");
    }
}

#[test]
fn changes_pass_every_check_under_faults() {
    let scenario = Scenario::new(GameWorld::<Keys>::rules(game), || GameWorld::<Keys>::of(game)).players(2);
    let scenario = scenario.faults(FaultMix::default()).without("calm");
    let scenario = scenario.bot(|_, random| Keys { right: random.chance(0.5), left: random.chance(0.4), shoot: false });
    scenario.seeds(0..4).unwrap_or_else(|failure| panic!("{failure}"));
}
