//! A game in the harness of the core: faults from seeds, every check, failures shrunk.

use crate::cubes::{Cube, Keys, game};
use bevy_foretell::GameWorld;
use foretell_sim::harness::{FaultMix, Scenario, sync_test};

type World = GameWorld<Keys>;

#[test]
fn a_world_of_bevy_steps_alike_anew_after_a_load_again_and_from_adopted_rows() {
    let keys = |player: foretell::PlayerId, tick: foretell::Tick| {
        let right = (tick.get() / (9 + u32::from(player.get()))).is_multiple_of(2);
        Keys { right, left: !right, shoot: tick.get().is_multiple_of(13) }
    };
    sync_test(&World::rules(game), || World::of(game), keys, 600).expect("its steps are exact");
}

#[test]
fn two_and_four_players_pass_every_check_under_faults_of_many_seeds() {
    for (players, seeds) in [(2, 0..8), (4, 100..102)] {
        let scenario = Scenario::new(World::rules(game), || World::of(game));
        let scenario = scenario.players(players).faults(FaultMix::default());
        let scenario = scenario.bot(|_, random| Keys {
            right: random.chance(0.4),
            left: random.chance(0.3),
            shoot: random.chance(0.1),
        });
        let found = scenario.seeds(seeds);
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
    let found = sync_test(&World::rules(forgetful), || World::of(forgetful), |_, _| Keys::default(), 300);
    let found = found.expect_err("a count of all steps is none of this state");
    assert_eq!(found.field.as_deref(), Some("x"), "{found}");
}
