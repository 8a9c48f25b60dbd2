//! The example `cube`, as it stands.

#[path = "../../examples/cube.rs"]
#[expect(dead_code, reason = "its `main` plays for ever")]
mod cube;

use crate::sessions::link;
use bevy_foretell::rig::Rig;

#[test]
fn the_example_is_a_page_and_two_players_of_it_see_each_other_drive() {
    assert!(include_str!("../../examples/cube.rs").lines().count() <= 60);
    let mut rig = Rig::new(cube::game, 2, 1, link(50, 0.0));
    rig.run(400);
    for nth in 0..2 {
        let world = rig.player(nth).world_mut();
        let mut cubes = world.query::<&cube::Cube>();
        assert_eq!(cubes.iter(world).filter(|cube| cube.x[0] > 5.0).count(), 2);
    }
}
