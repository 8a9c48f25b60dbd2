//! [`BodyMut`]: a body to push, or to put somewhere.

use core::ops::Deref;
use rapier3d::dynamics::{RigidBody, RigidBodyVelocity};
use rapier3d::math::{Pose, Rotation, Vector};

/// One of Rapier's bodies, with those of its setters whose effect is in the [`Body`](crate::Body) that rows tell, or ends with the
/// step. It can be read like a [`RigidBody`].
///
/// What else there is of a body (type, mass, damping, gravity scale, locked axes, whether it is enabled) follows from its plan:
/// [`Blueprint::design`](crate::Blueprint::design). Set here it would wake a body on one end alone, or not come to a client that
/// hears of it late; `user_data` holds the entity.
pub struct BodyMut<'a> {
    body: &'a mut RigidBody,
    /// Whether it is said to sleep, and Rapier has not put it to sleep as it is now: its slot's.
    drowsy: &'a mut bool,
}

impl Deref for BodyMut<'_> {
    type Target = RigidBody;

    fn deref(&self) -> &RigidBody {
        self.body
    }
}

/// Each as Rapier has it; `wake_up` says whether it wakes the body.
impl<'a> BodyMut<'a> {
    pub(crate) fn new(body: &'a mut RigidBody, drowsy: &'a mut bool) -> BodyMut<'a> {
        BodyMut { body, drowsy }
    }

    /// Adds a force in N, for this step.
    pub fn add_force(&mut self, force: Vector, wake_up: bool) {
        self.body.add_force(force, wake_up);
    }

    /// Adds a force at a point of the world, for this step.
    pub fn add_force_at_point(&mut self, force: Vector, point: Vector, wake_up: bool) {
        self.body.add_force_at_point(force, point, wake_up);
    }

    /// Adds a torque in N m, for this step.
    pub fn add_torque(&mut self, torque: Vector, wake_up: bool) {
        self.body.add_torque(torque, wake_up);
    }

    /// Changes the velocity by an impulse in N s, at once.
    pub fn apply_impulse(&mut self, impulse: Vector, wake_up: bool) {
        self.body.apply_impulse(impulse, wake_up);
    }

    /// The same at a point of the world.
    pub fn apply_impulse_at_point(&mut self, impulse: Vector, point: Vector, wake_up: bool) {
        self.body.apply_impulse_at_point(impulse, point, wake_up);
    }

    /// Changes the spin by an impulse in N m s, at once.
    pub fn apply_torque_impulse(&mut self, impulse: Vector, wake_up: bool) {
        self.body.apply_torque_impulse(impulse, wake_up);
    }

    /// Sets velocity and spin.
    pub fn set_vels(&mut self, velocities: RigidBodyVelocity<f32>, wake_up: bool) {
        self.body.set_vels(velocities, wake_up);
    }

    /// Sets the velocity of the centre of mass, in m/s.
    pub fn set_linvel(&mut self, velocity: Vector, wake_up: bool) {
        self.body.set_linvel(velocity, wake_up);
    }

    /// Sets the spin, in rad/s.
    pub fn set_angvel(&mut self, spin: Vector, wake_up: bool) {
        self.body.set_angvel(spin, wake_up);
    }

    /// Puts it somewhere, in metres.
    pub fn set_translation(&mut self, place: Vector, wake_up: bool) {
        self.body.set_translation(place, wake_up);
    }

    /// Turns it.
    pub fn set_rotation(&mut self, rotation: Rotation, wake_up: bool) {
        self.body.set_rotation(rotation, wake_up);
    }

    /// Both.
    pub fn set_position(&mut self, pose: Pose, wake_up: bool) {
        self.body.set_position(pose, wake_up);
    }

    /// Where a kinematic body that is placed by position is to be after this step.
    pub fn set_next_kinematic_translation(&mut self, place: Vector) {
        self.body.set_next_kinematic_translation(place);
    }

    /// How it is to be turned after it.
    pub fn set_next_kinematic_rotation(&mut self, rotation: Rotation) {
        self.body.set_next_kinematic_rotation(rotation);
    }

    /// Both.
    pub fn set_next_kinematic_position(&mut self, pose: Pose) {
        self.body.set_next_kinematic_position(pose);
    }

    /// Wakes it; a `strong` awakening lasts until it has been still for a while.
    pub fn wake_up(&mut self, strong: bool) {
        self.body.wake_up(strong);
    }

    /// Stops it, and has it sleep as soon as it and all that it touches are still: in the air it falls first.
    pub fn sleep(&mut self) {
        *self.drowsy |= !self.body.is_sleeping();
        self.body.sleep();
    }
}
