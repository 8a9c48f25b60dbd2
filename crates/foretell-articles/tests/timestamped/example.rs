//! The example runs.

#[path = "../../examples/timestamped.rs"]
mod timestamped;

#[test]
fn the_example_of_timestamped_mode_ends_where_it_says() {
    timestamped::main();
}
