//! What is shot: a ray, a sphere or a capsule along a line.

use super::Shape;
use super::minkowski_sum::{Line, MinkowskiSum};
use crate::motion::Pose;
use crate::motion::vector::{add, length, scale};

/// A ray, or a sphere or capsule that is swept along one without turning.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cast {
    line: Line,
    /// Half the line inside of a capsule; zero for a ray and a sphere.
    axis: [f64; 3],
    radius: f64,
}

/// Where a cast meets a shape.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contact {
    /// How far the cast has come, in metres; 0 where it begins in the shape.
    pub distance: f64,
    /// Where its middle is then.
    pub at: [f64; 3],
    /// Which way the shape's surface faces there, towards the cast, of length 1; against the cast's direction where it begins in
    /// the shape.
    pub normal: [f64; 3],
}

/// The first of several that a cast meets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CastHit<T> {
    /// Which one.
    pub of: T,
    /// Where.
    pub contact: Contact,
}

impl Cast {
    /// A ray of this length in metres from a point. The direction may have any length; one of length 0 goes nowhere, and meets only
    /// what is there where it begins.
    pub fn ray(from: [f64; 3], direction: [f64; 3], length_m: f64) -> Cast {
        let size = length(direction);
        let along = if size > 0.0 { scale(direction, 1.0 / size) } else { [0.0; 3] };
        Cast { line: Line { from, along, length: length_m.max(0.0) }, axis: [0.0; 3], radius: 0.0 }
    }

    /// The same with a sphere around its middle of this radius in metres.
    #[must_use]
    pub fn sphere(self, radius: f64) -> Cast {
        Cast { axis: [0.0; 3], radius: radius.max(0.0), ..self }
    }

    /// The same with a capsule around its middle: all within this radius of a line that goes so far to either side, both in metres.
    #[must_use]
    pub fn capsule(self, half_axis: [f64; 3], radius: f64) -> Cast {
        Cast { axis: half_axis, radius: radius.max(0.0), ..self }
    }

    /// Where it first meets a shape; `None` where it passes it.
    pub fn hit(&self, shape: &Shape, pose: &Pose) -> Option<Contact> {
        let [x, y, z] = shape.axes(pose);
        // Where its middle may be so that both touch: the shape, and around it what is cast.
        let around = MinkowskiSum::new(pose.position, [x, y, z, self.axis], shape.radius() + self.radius);
        let (distance, normal) = around.entered_by(&self.line)?;
        Some(Contact { distance, at: add(self.line.from, scale(self.line.along, distance)), normal })
    }

    /// The one that it meets first; of those that it meets at once the first that is named.
    pub fn first<T>(&self, of: impl IntoIterator<Item = (T, Shape, Pose)>) -> Option<CastHit<T>> {
        let mut found: Option<CastHit<T>> = None;
        for (of, shape, pose) in of {
            let is_nearer =
                |contact: &Contact| found.as_ref().is_none_or(|found| contact.distance < found.contact.distance);
            if let Some(contact) = self.hit(&shape, &pose).filter(is_nearer) {
                found = Some(CastHit { of, contact });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
