//! The examples run.

#[path = "../../examples/arena.rs"]
mod arena;
#[path = "../../examples/bolts.rs"]
mod bolts;
#[path = "../../examples/host.rs"]
mod host;
#[path = "../../examples/messages.rs"]
mod messages;
#[path = "../../examples/projectiles.rs"]
mod projectiles;
#[path = "../../examples/shared.rs"]
mod shared;
#[path = "../../examples/teams.rs"]
mod teams;

#[test]
fn the_arena_example_plays_five_seconds() {
    arena::main();
}

#[test]
fn the_host_example_plays_one_loop_however_it_is_started() {
    host::main();
}

#[test]
fn the_messages_example_brings_everybody_the_chat_the_map_and_what_they_buy() {
    messages::main();
}

#[test]
fn the_projectiles_example_tells_shots_and_hits_and_takes_some_back() {
    projectiles::main();
}

#[test]
fn the_bolts_example_hits_what_its_players_see() {
    bolts::main();
}

#[test]
fn the_teams_example_shows_each_what_is_for_them_also_after_one_has_changed_sides() {
    teams::main();
}

#[test]
fn the_shared_example_hands_a_crate_to_and_fro() {
    shared::main();
}
