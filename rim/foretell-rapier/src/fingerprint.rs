//! What both ends have to have in common beyond their rows: scenery, settings, and the engine itself.

use crate::blueprint::{Design, Made};
use crate::{Body, Physics, Plan};
use core::fmt::Write;
use foretell::world::Side;
use foretell::{Entity, Fingerprint, Owned, PlayerId, Step, Tick, TickRate};
use rapier3d::dynamics::RigidBodyBuilder;
use rapier3d::geometry::{ColliderBuilder, ColliderHandle};
use rapier3d::math::Vector;

/// How many ticks the engine is tried for.
const TRIED_TICKS: u32 = 40;

impl Physics {
    /// For [`Rules::fingerprints`](foretell::Rules::fingerprints), of a world before its first tick: `scenery`, the colliders that
    /// belong to no entity; `physics settings`, gravity and [parameters](Physics::parameters_mut); and `Rapier`, the bits of a short
    /// run of some bodies, which are others with another version or other features of it that change bits. A client that differs
    /// in one of them is refused, and told in which.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        let mut scenery = String::new();
        self.scenery.iter().for_each(|collider| self.describe(*collider, &mut scenery));
        // The length of a tick is told by the rules.
        let parameters = rapier3d::dynamics::IntegrationParameters { dt: 0.0, ..self.parameters };
        let settings = format!("{:?} {parameters:?}", self.gravity);
        vec![
            Fingerprint::of_bytes("scenery", scenery.as_bytes()),
            Fingerprint::of_bytes("physics settings", settings.as_bytes()),
            Fingerprint::of_bytes("Rapier", &engine_bits()),
        ]
    }

    /// As text, in which every number has enough digits to be told from all others.
    fn describe(&self, collider: ColliderHandle, into: &mut String) {
        let collider = &self.rapier.colliders[collider];
        let place =
            (collider.shape().as_typed_shape(), collider.position(), collider.is_sensor(), collider.is_enabled());
        let groups = (collider.collision_groups(), collider.solver_groups(), collider.active_collision_types());
        let surface = (collider.material(), collider.contact_skin(), collider.active_events());
        writeln!(into, "{place:?} {groups:?} {surface:?}").expect("a text takes anything");
    }
}

/// A few bodies that fall on each other, hang and roll, for less than a second.
fn engine_bits() -> Vec<u8> {
    let floor = ColliderBuilder::cuboid(5.0, 0.5, 5.0).translation(Vector::new(0.0, -0.5, 0.0));
    let mut physics = Physics::new([0.0, -9.81, 0.0], [floor]);
    let shapes =
        [ColliderBuilder::cuboid(0.3, 0.2, 0.25), ColliderBuilder::ball(0.3), ColliderBuilder::capsule_y(0.2, 0.2)];
    for (nth, shape) in (0_u16..).zip(shapes.iter().cycle().take(9)) {
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
        let height = f32::from(nth / 3);
        let body =
            Body { spin: [0.3, 1.0, height], ..Body::at([0.1 * height, 0.3 + 0.55 * height, f32::from(nth % 3)]) };
        let plan = Plan::new(RigidBodyBuilder::dynamic()).with(shape.clone().restitution(0.3));
        let of = Owned { entity, owner: PlayerId::SERVER };
        physics.put_in(of, Made { body, design: Design::default(), plan }, false);
    }
    let mut bits = Vec::new();
    for tick in Tick::ZERO.until(Tick::new(TRIED_TICKS)) {
        let step = Step::<()>::new(tick, TickRate::default(), Side::Server, &[]);
        physics.prepare(&step);
        physics.advance(&step);
    }
    for entity in physics.entities() {
        let Some(Body { position, rotation, velocity, spin, .. }) = physics.state(entity) else { continue };
        let numbers = position.into_iter().chain(rotation).chain(velocity).chain(spin);
        numbers.for_each(|number| bits.extend(number.to_le_bytes()));
    }
    bits
}
