//! Where a body is and how it is turned.

/// A position in metres and a rotation as a unit quaternion in the order x, y, z, w.
///
/// Always `f64`: a pose is what is shown, wherever the world is; a game in `f32` widens it without loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pose {
    /// The position, in metres.
    pub position: [f64; 3],
    /// The rotation, a unit quaternion in the order x, y, z, w.
    pub rotation: [f64; 4],
}

impl Pose {
    /// At the origin, not turned.
    pub const IDENTITY: Pose = Pose::at([0.0; 3]);

    /// At `position` (metres), not turned.
    pub const fn at(position: [f64; 3]) -> Pose {
        Pose { position, rotation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Default for Pose {
    fn default() -> Pose {
        Pose::IDENTITY
    }
}
