//! Shots at bodies where a player saw them: rays and shapes against the shapes of Rapier's colliders, placed in the past.

use crate::Physics;
use foretell::motion::Pose as Placed;
use foretell::{Entity, Owned, Rewound};
use rapier3d::geometry::Collider;
use rapier3d::math::{Pose, Rotation, Vector};
use rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher, Ray, ShapeCastOptions};
use rapier3d::parry::shape::Shape;

/// What a cast has met first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BodyHit {
    /// Whose body it is.
    pub of: Owned,
    /// Which of its colliders, in the order of its plan.
    pub collider: usize,
    /// How far the cast has come, in metres; 0 where it begins in the body.
    pub distance: f32,
    /// Which way the collider's surface faces there, of length 1; against the cast's direction where it begins in the body.
    pub normal: [f32; 3],
}

/// A shape that is swept along a line without turning.
#[derive(Clone, Copy)]
pub struct Swept<'a> {
    /// What is swept.
    pub shape: &'a dyn Shape,
    /// Where it begins.
    pub from: Pose,
    /// Where to, of any length but 0.
    pub direction: [f32; 3],
    /// How far, in metres.
    pub length: f32,
}

impl Physics {
    /// The first body that a ray of `length` metres from `from` along `direction` (of any length but 0) meets, each where `past` has
    /// it, by the shapes that its colliders have now; sensors are not in the way, nor is the scenery, which is where it always was
    /// ([`queries`](Physics::queries)). `None` where there is none.
    pub fn cast_ray(&self, past: &Rewound<'_>, from: [f32; 3], direction: [f32; 3], length: f32) -> Option<BodyHit> {
        let along = Vector::from_array(direction).try_normalize()?;
        let ray = Ray::new(Vector::from_array(from), along);
        self.first(past, along, |collider, place| {
            let hit = collider.shape().cast_ray_and_get_normal(place, &ray, length, true)?;
            Some((hit.time_of_impact, hit.normal))
        })
    }

    /// The same for a shape that is swept.
    pub fn cast_shape(&self, past: &Rewound<'_>, swept: &Swept<'_>) -> Option<BodyHit> {
        let Swept { shape, from, direction, length } = *swept;
        let along = Vector::from_array(direction).try_normalize()?;
        let options = ShapeCastOptions { max_time_of_impact: length, ..ShapeCastOptions::default() };
        self.first(past, along, |collider, place| {
            // In the frame of what is cast, as Rapier's own queries do it.
            let placed = from.inv_mul(place);
            let moves = from.rotation.inverse() * -along;
            let hit = DefaultQueryDispatcher.cast_shapes(&placed, moves, shape, collider.shape(), options).ok()??;
            // The second shape's, in its own frame.
            Some((hit.time_of_impact, place.rotation * hit.normal2))
        })
    }

    /// The nearest that `cast`, which goes `along`, meets of all bodies in the past.
    fn first(
        &self,
        past: &Rewound<'_>,
        along: Vector,
        mut cast: impl FnMut(&Collider, &Pose) -> Option<(f32, Vector)>,
    ) -> Option<BodyHit> {
        let mut nearest: Option<BodyHit> = None;
        for (of, pose) in past.poses() {
            for (nth, (collider, place)) in self.placed(of.entity, &pose).enumerate() {
                let hit = if collider.is_sensor() { None } else { cast(collider, &place) };
                let Some((distance, normal)) = hit else { continue };
                // In a body there is no surface: by its shape the normal is zero there, or points inwards.
                let normal = if distance > 0.0 { normal } else { -along };
                if nearest.is_none_or(|nearest| distance < nearest.distance) {
                    nearest = Some(BodyHit { of, collider: nth, distance, normal: normal.to_array() });
                }
            }
        }
        nearest
    }

    /// An entity's colliders, placed on its body as if that were at a pose.
    fn placed(&self, entity: Entity, pose: &Placed) -> impl Iterator<Item = (&Collider, Pose)> {
        #[expect(clippy::cast_possible_truncation, reason = "Rapier counts in f32")]
        let narrow = |value: f64| value as f32;
        let rotation = Rotation::from_array(pose.rotation.map(narrow));
        let body = Pose { rotation, translation: Vector::from_array(pose.position.map(narrow)), ..Pose::IDENTITY };
        self.colliders(entity).map(move |collider| {
            let on_body = collider.position_wrt_parent().copied().unwrap_or(Pose::IDENTITY);
            (collider, body * on_body)
        })
    }
}
