//! Rapier's own sets, and what is done to several of them at once.

use foretell::Entity;
use rapier3d::dynamics::{
    CCDSolver, ImpulseJointSet, IntegrationParameters, IslandManager, MultibodyJointSet, RigidBody, RigidBodyHandle,
    RigidBodySet, SoftBodySet,
};
use rapier3d::geometry::{BroadPhaseBvh, Collider, ColliderSet, NarrowPhase};
use rapier3d::math::Vector;
use rapier3d::pipeline::{ActiveEvents, PhysicsPipeline};

/// Rapier's own sets, all of them: each is read by the next step.
#[derive(Clone, Default)]
pub(crate) struct Rapier {
    pub islands: IslandManager,
    pub broad_phase: BroadPhaseBvh,
    pub narrow_phase: NarrowPhase,
    pub bodies: RigidBodySet,
    pub colliders: ColliderSet,
    pub impulse_joints: ImpulseJointSet,
    /// Empty: how a multibody is bent does not follow from the rows of its bodies.
    pub multibody_joints: MultibodyJointSet,
    /// Empty.
    pub soft_bodies: SoftBodySet,
    pub ccd_solver: CCDSolver,
}

/// Rapier's working memory. What it keeps from step to step is true of one history of the sets alone: a copy starts
/// without.
#[derive(Default)]
pub(crate) struct Pipeline(pub Option<Box<PhysicsPipeline>>);

impl Clone for Pipeline {
    fn clone(&self) -> Pipeline {
        Pipeline(None)
    }
}

impl Rapier {
    /// Puts a body and its colliders into the sets. What they weigh counts right away: for impulses before the next step.
    pub fn insert(&mut self, body: RigidBody, colliders: impl Iterator<Item = Collider>) -> RigidBodyHandle {
        let handle = self.bodies.insert(body);
        for collider in colliders {
            self.colliders.insert_with_parent(collider, handle, &mut self.bodies);
        }
        self.bodies[handle].recompute_mass_properties_from_colliders(&self.colliders);
        handle
    }

    /// Takes a body with its colliders and joints out of the sets, and wakes what it touched.
    pub fn remove(&mut self, body: RigidBodyHandle) {
        let Rapier { islands, bodies, colliders, impulse_joints, multibody_joints, soft_bodies, .. } = self;
        bodies.remove(body, islands, colliders, impulse_joints, multibody_joints, soft_bodies, true);
    }

    /// Whether one of the colliders of a body reports touches.
    pub fn listens(&self, body: RigidBodyHandle) -> bool {
        let mut colliders = self.bodies[body].colliders().iter().map(|handle| &self.colliders[*handle]);
        colliders.any(|collider| collider.active_events().contains(ActiveEvents::COLLISION_EVENTS))
    }

    /// Brings the colliders of a body that was made or put somewhere with it, for queries before the next step.
    pub fn place_colliders(&mut self, body: RigidBodyHandle, parameters: &IntegrationParameters) {
        let pose = *self.bodies[body].position();
        for handle in self.bodies[body].colliders() {
            let Some(collider) = self.colliders.get_mut(*handle) else { continue };
            if let Some(offset) = collider.position_wrt_parent().copied() {
                collider.set_position(pose * offset);
            }
            let aabb = collider.compute_broad_phase_aabb(parameters, &self.bodies);
            self.broad_phase.set_aabb(parameters, *handle, aabb);
        }
    }

    /// Rapier's step.
    pub fn step(&mut self, pipeline: &mut Pipeline, gravity: Vector, parameters: &IntegrationParameters) {
        let pipeline = pipeline.0.get_or_insert_default();
        pipeline.step(
            gravity,
            parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd_solver,
            &(),
            &(),
        );
    }
}

/// The entity of a body's `user_data`: the inverse of [`Entity::bits`].
#[expect(clippy::cast_possible_truncation, reason = "they are 64 bits")]
pub(crate) fn named(bits: u128) -> Entity {
    Entity::from_bits(bits as u64)
}
