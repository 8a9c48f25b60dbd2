//! The two games of the guide from plain Rapier to many players.

#[path = "../../examples/plain.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod plain;
#[path = "../../examples/ported.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod ported;

use foretell::world::{InputStatus, PlayerInput, Side};
use foretell::{Newcomer, PlayerId, Simulate, Step, Tick, TickRate};
use foretell_sim::harness::SyncTest;

const TICKS: u32 = 600;

/// What the only player of the ported game has scored by then.
fn points_of_ported() -> u32 {
    let player = PlayerId::new(1);
    let mut game = ported::Game::new();
    for tick in Tick::ZERO.until(Tick::new(TICKS)) {
        let input = ported::Keys::at(tick.get());
        let inputs = [PlayerInput { player, input, status: InputStatus::Received, presented: None }];
        let joined = [Newcomer::new(player)];
        let joined = if tick == Tick::ZERO { &joined[..] } else { &[] };
        game.step(&mut Step::new(tick, TickRate::hz(60), Side::Server, &inputs).with_players(joined, &[]));
    }
    let driver = game.all(ported::Thing::is_driver)[0];
    let Some(ported::Thing::Driver { points, .. }) = game.get(driver) else { panic!("it is a driver") };
    *points
}

#[test]
fn the_ported_game_scores_what_the_plain_one_does_and_can_be_predicted() {
    let mut plain = plain::Game::new();
    (0..TICKS).for_each(|tick| plain.step(plain::Keys::at(tick)));
    assert!(plain.points > 0);
    assert_eq!(points_of_ported(), plain.points);
    let keys = |_, tick: Tick| ported::Keys::at(tick.get());
    assert_eq!(SyncTest::new(ported::Game::new().rules(), ported::Game::new).input(keys).run(200), Ok(()));
}
