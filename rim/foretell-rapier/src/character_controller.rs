//! The kinematic character controller, by entity.

use crate::Physics;
use foretell::Entity;
use rapier3d::control::{EffectiveCharacterMovement, KinematicCharacterController};
use rapier3d::math::Vector;
use rapier3d::pipeline::{QueryFilter, QueryPipeline};

impl Physics {
    /// Rapier's queries on the bodies as they are: rays, shapes, points.
    pub fn queries<'a>(&'a self, filter: QueryFilter<'a>) -> QueryPipeline<'a> {
        let dispatcher = self.rapier.narrow_phase.query_dispatcher();
        self.rapier.broad_phase.as_query_pipeline(dispatcher, &self.rapier.bodies, &self.rapier.colliders, filter)
    }

    /// How far a character gets that wants to move by `desired` metres in `seconds`: its first collider, held up by all
    /// others but sensors. It moves nothing: give the result to
    /// [`set_next_kinematic_translation`](rapier3d::dynamics::RigidBody::set_next_kinematic_translation). `None` where the
    /// entity has no body or no collider.
    pub fn walk(
        &self,
        entity: Entity,
        controller: &KinematicCharacterController,
        desired: [f32; 3],
        seconds: f64,
    ) -> Option<EffectiveCharacterMovement> {
        let handle = self.handle(entity)?;
        let collider = self.colliders(entity).next()?;
        let queries = self.queries(QueryFilter::default().exclude_rigid_body(handle).exclude_sensors());
        let desired = Vector::from_array(desired);
        #[expect(clippy::cast_possible_truncation, reason = "Rapier counts in f32")]
        let dt = seconds as f32;
        Some(controller.move_shape(dt, &queries, collider.shape(), collider.position(), desired, |_| {}))
    }
}
