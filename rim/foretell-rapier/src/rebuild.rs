//! Canonicalisation: a world that is a function of its bodies alone.

use crate::Physics;
use crate::physics::Pipeline;
use rapier3d::dynamics::{RigidBody, RigidBodyActivation, RigidBodyAdditionalMassProps, RigidBodyBuilder};

impl Physics {
    /// Throws away all that Rapier has derived (impulses to start from, contacts, islands, its trees) and builds it anew
    /// from the bodies, in the order of their entities: what follows depends on nothing else any more. Two ends that do
    /// this in the same tick with bodies of equal bits go on with equal bits, whatever their histories.
    ///
    /// Names of entities, joints and what touches survive it; Rapier's handles don't. The next step is slower.
    pub fn rebuild(&mut self) {
        let old = core::mem::take(&mut self.rapier);
        self.pipeline = Pipeline::default();
        let new = &mut self.rapier;
        self.anchor = new.bodies.insert(RigidBodyBuilder::fixed());
        for handle in &mut self.scenery {
            *handle = new.colliders.insert(old.colliders[*handle].clone());
        }
        for slot in &mut self.slots {
            let body = &old.bodies[slot.handle];
            let colliders = body.colliders().iter().map(|handle| old.colliders[*handle].clone());
            slot.handle = new.insert(renewed(body), colliders);
        }
        for joint in &mut self.joints {
            joint.settle(&old.impulse_joints);
            joint.handle = None;
        }
        (0..self.joints.len()).for_each(|at| self.attach(at, false));
        self.collide();
        self.fresh = true;
    }

    /// Finds contacts and fills the trees without time passing, so that queries work before the next step.
    fn collide(&mut self) {
        let dt = core::mem::replace(&mut self.parameters.dt, 0.0);
        self.run_pipeline();
        self.parameters.dt = dt;
    }

    /// For how long each body has been still that is awake, in the order of entities.
    pub(crate) fn idle_times(&self) -> Vec<Option<f32>> {
        let activations = self.slots.iter().map(|slot| self.rapier.bodies[slot.handle].activation());
        activations.map(|activation| (!activation.sleeping).then_some(activation.time_since_can_sleep)).collect()
    }

    /// Rapier remembers where a body was one step ago, in a place that nobody can write, and takes it to have moved far in
    /// the first step of its life: what was still before and is still now goes on being so.
    pub(crate) fn put_idle_times(&mut self, before: &[Option<f32>]) {
        for (slot, before) in self.slots.iter().zip(before).filter_map(|(slot, before)| Some((slot, (*before)?))) {
            let body = &self.rapier.bodies[slot.handle];
            let activation = body.activation();
            let still = 0.5 * body.linvel().length() < activation.normalized_linear_threshold
                && body.angvel().length() < activation.angular_threshold;
            if still && !body.is_sleeping() && body.is_dynamic() && activation.time_since_can_sleep == 0.0 {
                let idle = before + self.parameters.dt;
                self.rapier.bodies[slot.handle].activation_mut().time_since_can_sleep = idle;
            }
        }
    }
}

/// A body with the settings and the state of another, and nothing of what Rapier has derived for it.
fn renewed(body: &RigidBody) -> RigidBody {
    let mut new = RigidBodyBuilder::new(body.body_type())
        .pose(*body.position())
        .linvel(body.linvel())
        .angvel(body.angvel())
        .user_data(body.user_data)
        .gravity_scale(body.gravity_scale())
        .linear_damping(body.linear_damping())
        .angular_damping(body.angular_damping())
        .dominance_group(body.dominance_group())
        .locked_axes(body.locked_axes())
        .additional_solver_iterations(body.additional_solver_iterations())
        .additional_pgs_iterations(body.additional_pgs_iterations())
        .ccd_enabled(body.is_ccd_enabled())
        .soft_ccd_prediction(body.soft_ccd_prediction())
        .allow_fast_rotation(body.is_fast_rotation_allowed())
        .gyroscopic_forces_enabled(body.gyroscopic_forces_enabled())
        .enabled(body.is_enabled())
        .build();
    match body.mass_properties().additional_local_mprops.as_deref() {
        Some(RigidBodyAdditionalMassProps::Mass(mass)) => new.set_additional_mass(*mass, false),
        Some(RigidBodyAdditionalMassProps::MassProps(properties)) => {
            new.set_additional_mass_properties(*properties, false);
        }
        None => {}
    }
    let old = body.activation();
    let mut activation = RigidBodyActivation::active();
    activation.normalized_linear_threshold = old.normalized_linear_threshold;
    activation.angular_threshold = old.angular_threshold;
    activation.time_until_sleep = old.time_until_sleep;
    activation.time_since_can_sleep = old.time_since_can_sleep;
    activation.sleeping = old.sleeping;
    *new.activation_mut() = activation;
    new.add_force(body.user_force(), false);
    new.add_torque(body.user_torque(), false);
    new
}
