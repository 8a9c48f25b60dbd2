//! The examples run.

#[path = "../examples/arena.rs"]
mod arena;

#[test]
fn the_arena_example_plays_five_seconds() {
    arena::main();
}
