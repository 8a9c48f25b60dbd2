//! Canonicalisation: a world that is a function of its bodies alone.

use crate::sets::Pipeline;
use crate::{Body, Physics};
use rapier3d::dynamics::{RigidBody, RigidBodyActivation, RigidBodyAdditionalMassProps, RigidBodyBuilder};

impl Physics {
    /// Throws away all that Rapier has derived (impulses to start from, contacts, islands, its trees) and builds it anew
    /// from the bodies, in the order of their entities: what follows depends on nothing else any more. Two ends that do
    /// this in the same tick with bodies of equal bits go on with equal bits, whatever their histories.
    /// [`prepare`](Physics::prepare) does it in canonical ticks.
    ///
    /// Bodies stay as they are, in every bit (but a sleeping one that is found to touch one that is awake wakes); names of
    /// entities, joints and what touches survive, Rapier's handles don't. It costs two to six steps in which all is awake.
    pub fn rebuild(&mut self) {
        let states: Vec<_> = self.slots.iter().map(|slot| Body::of(&self.rapier.bodies[slot.handle])).collect();
        self.renew();
        // Contacts that begin wake what they hold, and at first all of them do: no time passes while they begin.
        let dt = core::mem::replace(&mut self.parameters.dt, 0.0);
        self.run_pipeline();
        self.parameters.dt = dt;
        self.put_back(&states);
        // Rapier's islands fall asleep in a step, before anything moves. It does not count: what is awake is put back.
        if states.iter().any(|state| state.sleeping) {
            self.run_pipeline();
            self.put_back(&states);
            self.wake_stranded();
        }
        self.slots.iter_mut().for_each(|slot| slot.drowsy = false);
        self.fresh = true;
    }

    /// The same bodies, colliders and joints in sets that know nothing else.
    fn renew(&mut self) {
        let old = core::mem::take(&mut self.rapier);
        self.pipeline = Pipeline::default();
        self.anchor = self.rapier.bodies.insert(RigidBodyBuilder::fixed());
        for handle in &mut self.scenery {
            *handle = self.rapier.colliders.insert(old.colliders[*handle].clone());
        }
        self.run_pipeline();
        for slot in &mut self.slots {
            let body = &old.bodies[slot.handle];
            let colliders = body.colliders().iter().map(|handle| old.colliders[*handle].clone());
            slot.handle = self.rapier.insert(renewed(body), colliders);
        }
        self.joints.detach_all(&old.impulse_joints);
        self.attach_joints();
    }

    fn put_back(&mut self, states: &[Body]) {
        for (at, state) in states.iter().enumerate() {
            self.put(at, state);
        }
    }

    /// Wakes what is flagged as sleeping and is not asleep, as not all that it touches is: it would move in its sleep, and
    /// stay in the air.
    fn wake_stranded(&mut self) {
        let active: Vec<_> = self.rapier.islands.active_bodies().collect();
        for handle in active {
            if self.rapier.bodies[handle].is_sleeping() {
                self.rapier.bodies[handle].wake_up(true);
            }
        }
    }

    /// For how long each body has been still that is awake, in the order of entities.
    pub(crate) fn idle_times(&self) -> Vec<Option<f32>> {
        let activations = self.slots.iter().map(|slot| self.rapier.bodies[slot.handle].activation());
        activations.map(|activation| (!activation.sleeping).then_some(activation.time_since_can_sleep)).collect()
    }

    /// After the first step of rebuilt bodies. Rapier begins to count anew for what has been put somewhere, and remembers
    /// where a body was a step before in a place that nobody can write: what was still before and is still now goes on
    /// being so.
    pub(crate) fn put_idle_times(&mut self, before: &[Option<f32>]) {
        for (slot, before) in self.slots.iter().zip(before).filter_map(|(slot, before)| Some((slot, (*before)?))) {
            let body = &self.rapier.bodies[slot.handle];
            let activation = body.activation();
            let still = 0.5 * body.linvel().length() < activation.normalized_linear_threshold
                && body.angvel().length() < activation.angular_threshold;
            let idle = before + self.parameters.dt;
            if still && body.is_dynamic() && !activation.sleeping && activation.time_since_can_sleep < idle {
                self.rapier.bodies[slot.handle].activation_mut().time_since_can_sleep = idle;
            }
        }
    }
}

/// A body with the settings, the pose and the velocities of another, awake, and nothing of what Rapier has derived for it.
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
    *new.activation_mut() = activation;
    new.add_force(body.user_force(), false);
    new.add_torque(body.user_torque(), false);
    new
}
