//! The row of a body: all that differs between two bodies of the same plan.

use foretell::State;
use rapier3d::dynamics::{RigidBody, RigidBodyType, RigidBodyVelocity};
use rapier3d::math::{Pose, Rotation, Vector};

/// The state of a rigid body: 57 bytes of exact bits on the wire.
///
/// A state of the game has it as a field with `#[state(flatten)]`, beside its own columns. What is put elsewhere at times, as a ball is at a
/// kickoff, says so in one of these, so that it is shown nowhere on the way; other bodies pay nothing for it:
///
/// ```
/// use foretell::{Entity, State};
/// use foretell_rapier::rapier3d::math::{Pose, Vector};
/// use foretell_rapier::{Body, Gameplay, Scene};
///
/// #[derive(State, Clone, Copy)]
/// struct Ball {
///     #[state(flatten)]
///     body: Body,
///     #[state(teleports)]
///     teleports: u8,
/// }
///
/// fn kick_off<G: Gameplay<State = Ball>>(game: &mut Scene<G>, ball: Entity) {
///     let Some(mut body) = game.body_mut(ball) else { return };
///     body.set_position(Pose::from_translation(Vector::new(0.0, 0.5, 0.0)), true);
///     body.set_vels(Default::default(), true);
///     if let Some(ball) = game.get_mut(ball) {
///         ball.teleports = ball.teleports.wrapping_add(1);
///     }
/// }
/// ```
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Body {
    /// Of the body's origin, in metres.
    #[state(position)]
    pub position: [f32; 3],
    /// A unit quaternion: x, y, z, w.
    #[state(rotation)]
    pub rotation: [f32; 4],
    /// Of the centre of mass, in m/s.
    #[state(velocity)]
    pub velocity: [f32; 3],
    /// Angular velocity in rad/s.
    #[state(angular_velocity)]
    pub spin: [f32; 3],
    /// Whether Rapier has put it to sleep.
    pub sleeping: bool,
    /// For how long it has been still, in seconds. A body sleeps when all that it touches has been still for 0.5 s.
    pub idle: f32,
}

impl Default for Body {
    /// At rest at the origin, awake.
    fn default() -> Body {
        Body {
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity: [0.0; 3],
            spin: [0.0; 3],
            sleeping: false,
            idle: 0.0,
        }
    }
}

impl Body {
    /// At rest at `position` (metres), not turned, awake.
    pub fn at(position: impl Into<Vector>) -> Body {
        Body { position: position.into().to_array(), ..Body::default() }
    }

    /// The state of one of Rapier's bodies.
    pub fn of(body: &RigidBody) -> Body {
        Body {
            position: body.translation().to_array(),
            rotation: body.rotation().to_array(),
            velocity: body.linvel().to_array(),
            spin: body.angvel().to_array(),
            sleeping: body.is_sleeping(),
            idle: body.activation().time_since_can_sleep,
        }
    }

    /// Its position and rotation.
    pub fn pose(&self) -> Pose {
        let rotation = Rotation::from_array(self.rotation);
        Pose { rotation, translation: Vector::from_array(self.position), ..Pose::IDENTITY }
    }

    pub(crate) fn velocities(&self) -> RigidBodyVelocity<f32> {
        RigidBodyVelocity { linvel: Vector::from_array(self.velocity), angvel: Vector::from_array(self.spin) }
    }

    fn pose_bits(&self) -> ([u32; 3], [u32; 4]) {
        (self.position.map(f32::to_bits), self.rotation.map(f32::to_bits))
    }

    fn velocity_bits(&self) -> ([u32; 3], [u32; 3]) {
        (self.velocity.map(f32::to_bits), self.spin.map(f32::to_bits))
    }

    /// Whether every bit is the same; 0.0 and -0.0 are not.
    pub fn same_bits(&self, other: &Body) -> bool {
        let rest = |body: &Body| (body.sleeping, body.idle.to_bits());
        self.pose_bits() == other.pose_bits()
            && self.velocity_bits() == other.velocity_bits()
            && rest(self) == rest(other)
    }

    /// Puts one of Rapier's bodies into this state, bit for bit, and touches only what differs: what is set without need
    /// wakes bodies and drops what the solver remembers. Whether it has been moved.
    pub(crate) fn put(&self, body: &mut RigidBody) -> bool {
        let now = Body::of(body);
        let moved = self.pose_bits() != now.pose_bits();
        if moved {
            // Rapier compares by value: 0.0 over -0.0 would be left out.
            let pose = self.pose();
            body.set_position(Pose::from_translation(pose.translation + Vector::ONE), false);
            body.set_position(pose, false);
        }
        if self.velocity_bits() != now.velocity_bits() {
            put_velocities(body, self.velocities());
        }
        if now.sleeping && !self.sleeping {
            body.wake_up(false);
        }
        if (now.sleeping, now.idle.to_bits()) != (self.sleeping, self.idle.to_bits()) {
            let activation = body.activation_mut();
            (activation.sleeping, activation.time_since_can_sleep) = (self.sleeping, self.idle);
        }
        moved
    }
}

/// By its setters a body that is placed by position has no velocity of its own; after a step it has one nevertheless.
fn put_velocities(body: &mut RigidBody, velocities: RigidBodyVelocity<f32>) {
    let kind = body.body_type();
    let placed = kind == RigidBodyType::KinematicPositionBased;
    if placed {
        body.set_body_type(RigidBodyType::KinematicVelocityBased, false);
    }
    // As above: first to something else.
    body.set_linvel(velocities.linvel + Vector::ONE, false);
    body.set_linvel(velocities.linvel, false);
    body.set_angvel(velocities.angvel + Vector::ONE, false);
    body.set_angvel(velocities.angvel, false);
    if placed {
        body.set_body_type(kind, false);
    }
}
