//! A game in the harness of the core: faults from seeds, every check, failures shrunk.

use crate::cubes::{Cube, Keys, game};
use bevy_foretell::GameWorld;
use foretell_sim::harness::{FaultMix, Scenario, SyncTest};

type World = GameWorld<Keys>;

#[test]
fn a_world_of_bevy_steps_alike_anew_after_a_load_again_and_from_adopted_rows() {
    let keys = |player: foretell::PlayerId, tick: foretell::Tick| {
        let right = (tick.get() / (9 + u32::from(player.get()))).is_multiple_of(2);
        Keys { right, left: !right, shoot: tick.get().is_multiple_of(13) }
    };
    SyncTest::new(World::rules(game), || World::of(game)).input(keys).run(600).expect("its steps are exact");
}

/// Players who press anything, under faults.
fn scenario(players: u8) -> Scenario<World> {
    let scenario = Scenario::new(World::rules(game), || World::of(game)).players(players).faults(FaultMix::default());
    scenario.bot(|_, random| Keys { right: random.chance(0.4), left: random.chance(0.3), shoot: random.chance(0.1) })
}

#[test]
fn two_and_four_players_pass_every_check_under_faults_of_many_seeds() {
    for (players, seeds) in [(2, 0..8), (4, 100..102)] {
        let found = scenario(players).seeds(seeds);
        found.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Many more of them, for who has the time: `cargo test --test apps -- --ignored`, with `SEEDS` for how many, 200 by default.
#[test]
#[ignore = "takes minutes"]
fn any_seed_of_faults_passes_every_check() {
    let seeds = std::env::var("SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    for players in [2, 4] {
        let found = scenario(players).seeds(1_000..1_000 + seeds);
        found.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// A cube that goes by a number of which the netcode knows nothing.
#[test]
fn a_component_that_is_not_registered_is_found_by_the_harness() {
    let forgetful = |app: &mut bevy_app::App| {
        use bevy_ecs::prelude::*;
        game(app);
        app.add_systems(
            bevy_foretell::Simulation,
            (|mut cubes: Query<(&mut Cube, &bevy_foretell::Driven<Keys>)>, mut count: Local<u32>| {
                *count += 1;
                if count.is_multiple_of(7) {
                    cubes.iter_mut().for_each(|(mut cube, _)| cube.x[1] += 1.0);
                }
            })
            .after(crate::cubes::shoot),
        );
    };
    let found = SyncTest::new(World::rules(forgetful), || World::of(forgetful)).run(300);
    let found = found.expect_err("a count of all steps is none of this state");
    assert_eq!(found.field.as_deref(), Some("x"), "{found}");
}
