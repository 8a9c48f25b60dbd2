//! How much memory a saved world takes.

use foretell::{Entity, Owned, PlayerId, Rows, Schema, State, Tick};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};

#[derive(State, Clone, Copy)]
struct Small {
    #[state(flatten)]
    body: Body,
}

impl Blueprint for Small {
    fn plan(&self, _entity: Entity) -> Plan {
        Plan::new(RigidBodyBuilder::dynamic()).with(ColliderBuilder::cuboid(0.2, 0.2, 0.2))
    }
}

/// A field of cubes in towers of three, that has run for a second.
fn field(cubes: u16) -> Physics {
    let floor = ColliderBuilder::cuboid(50.0, 0.5, 50.0).translation(Vector::new(0.0, -0.5, 0.0));
    let mut physics = Physics::new([0.0, -9.81, 0.0], [floor]);
    for nth in 0..cubes {
        let (tower, level) = (nth / 3, f32::from(nth % 3));
        let position = [f32::from(tower % 18) * 0.45, 0.2 + 0.41 * level, f32::from(tower / 18) * 0.45];
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
        physics.insert(Owned { entity, owner: PlayerId::SERVER }, &Small { body: Body::at(position) });
    }
    let rate = foretell::Rules::new(Schema::of::<Small>()).tick_rate;
    for tick in 0..64 {
        let step = foretell::Step::<()>::new(Tick::new(tick), rate, foretell::world::Side::Server, &[]);
        physics.prepare(&step);
        physics.advance(&step);
    }
    physics
}

#[test]
fn a_saved_world_takes_a_few_kilobytes_for_each_body() {
    for (cubes, most) in [(100, 7_000), (901, 7_000)] {
        let physics = field(cubes);
        let mut saved = Physics::default();
        let counted = allocation_counter::measure(|| saved.clone_from(&physics));
        let bytes = counted.bytes_current;
        println!("{cubes} cubes: {bytes} bytes, {} for each", bytes / i64::from(cubes));
        assert!((1000..most).contains(&(bytes / i64::from(cubes))), "{cubes} cubes: {bytes} bytes");
        let again = allocation_counter::measure(|| saved.clone_from(&physics));
        assert!(again.bytes_current < 10_000, "saved over and over it does not grow: {}", again.bytes_current);
        let mut rows = Rows::new(&Schema::of::<Small>());
        physics.publish(&mut rows, |_, body| Small { body });
        assert_eq!(rows.len(), usize::from(cubes));
    }
}
