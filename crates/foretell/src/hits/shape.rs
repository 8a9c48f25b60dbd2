//! Shapes that can be hit.

use crate::motion::{Pose, rotation};

/// A shape around the position of a pose, turned as the pose is; in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// A ball.
    Sphere {
        /// Its radius, not below 0.
        radius: f64,
    },
    /// All that is not farther than the radius from a line along the pose's own y axis.
    Capsule {
        /// How far the line goes to either side, not below 0.
        half_height: f64,
        /// The radius, not below 0.
        radius: f64,
    },
    /// A box along the pose's own axes.
    Box {
        /// How far it goes to either side along each, not below 0.
        half: [f64; 3],
    },
}

impl Shape {
    /// The half axes that it is spanned by; those that it has not are zero.
    pub(super) fn axes(&self, pose: &Pose) -> [[f64; 3]; 3] {
        let turned = |axis: [f64; 3]| rotation::rotate(pose.rotation, axis);
        match *self {
            Shape::Sphere { .. } => [[0.0; 3]; 3],
            Shape::Capsule { half_height, .. } => [turned([0.0, half_height, 0.0]), [0.0; 3], [0.0; 3]],
            Shape::Box { half: [x, y, z] } => [turned([x, 0.0, 0.0]), turned([0.0, y, 0.0]), turned([0.0, 0.0, z])],
        }
    }

    /// How far it goes beyond what its axes span.
    pub(super) fn radius(&self) -> f64 {
        match *self {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => radius,
            Shape::Box { .. } => 0.0,
        }
    }
}
