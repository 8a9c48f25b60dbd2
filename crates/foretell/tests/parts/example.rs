//! The examples run.

#[path = "../../examples/arena.rs"]
mod arena;
#[path = "../../examples/projectiles.rs"]
mod projectiles;
#[path = "../../examples/shared.rs"]
mod shared;

#[test]
fn the_arena_example_plays_five_seconds() {
    arena::main();
}

#[test]
fn the_projectiles_example_tells_shots_and_hits_and_takes_some_back() {
    projectiles::main();
}

#[test]
fn the_shared_example_hands_a_crate_to_and_fro() {
    shared::main();
}
