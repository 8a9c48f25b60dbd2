//! Casts against brute force: they stop where they touch, and not before.

use super::*;
use crate::motion::rotation;
use crate::motion::vector::{dot, sub};
use alloc::vec::Vec;
use proptest::prelude::*;

/// How far a point is from a shape, by its own geometry; 0 in it.
fn distance_to(shape: &Shape, pose: &Pose, point: [f64; 3]) -> f64 {
    let [x, y, z] = rotation::rotate(rotation::inverse(pose.rotation), sub(point, pose.position));
    match *shape {
        Shape::Sphere { radius } => (length([x, y, z]) - radius).max(0.0),
        Shape::Capsule { half_height, radius } => {
            (length([x, y - y.clamp(-half_height, half_height), z]) - radius).max(0.0)
        }
        Shape::Box { half } => {
            let outside = |at: f64, half: f64| (at.abs() - half).max(0.0);
            length([outside(x, half[0]), outside(y, half[1]), outside(z, half[2])])
        }
    }
}

/// How far what is cast is from a shape when its middle is at a point: the distance to the line inside of it has one minimum.
fn gap(cast: &Cast, shape: &Shape, pose: &Pose, at: [f64; 3]) -> f64 {
    let along = |s: f64| distance_to(shape, pose, add(at, scale(cast.axis, s)));
    let (mut from, mut to) = (-1.0, 1.0);
    for _ in 0..80 {
        let (one, other) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        if along(one) < along(other) { to = other } else { from = one }
    }
    along(f64::midpoint(from, to)) - cast.radius
}

fn shapes() -> impl Strategy<Value = Shape> {
    let size = 0.05..1.5_f64;
    prop_oneof![
        size.clone().prop_map(|radius| Shape::Sphere { radius }),
        (size.clone(), size.clone()).prop_map(|(half_height, radius)| Shape::Capsule { half_height, radius }),
        prop::array::uniform3(size).prop_map(|half| Shape::Box { half }),
    ]
}

fn points(within: f64) -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-within..within)
}

fn poses() -> impl Strategy<Value = Pose> {
    (points(2.0), points(3.0)).prop_map(|(position, turn)| Pose { position, rotation: rotation::from_vector(turn) })
}

/// A ray, a sphere or a capsule, mostly towards the middle.
fn casts() -> impl Strategy<Value = Cast> {
    let sizes = prop_oneof![Just((0.0, 0.0)), (0.01..0.8).prop_map(|radius| (radius, 0.0)), (0.01..0.8, 0.1..1.0)];
    (points(6.0), points(2.0), points(1.0), sizes).prop_map(|(from, to, axis, (radius, half))| {
        let ray = Cast::ray(from, sub(to, from), 12.0);
        let axis = scale(axis, half / length(axis).max(0.01));
        if radius > 0.0 { ray.capsule(axis, radius) } else { ray }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_cast_stops_where_it_touches_and_not_before_and_passes_what_it_never_touches(
        cast in casts(), shape in shapes(), pose in poses(),
    ) {
        let at = |distance: f64| add(cast.line.from, scale(cast.line.along, distance));
        let contact = cast.hit(&shape, &pose);
        let until = contact.map_or(12.0, |contact| contact.distance);
        for nth in 0..if until > 0.0 { 200 } else { 0 } {
            let distance = until * f64::from(nth) / 200.0;
            prop_assert!(gap(&cast, &shape, &pose, at(distance)) > -1e-6, "it was in it after {distance} of {until} m");
        }
        if let Some(Contact { distance, at: stops, normal }) = contact {
            let gap_there = gap(&cast, &shape, &pose, stops);
            prop_assert!(if distance > 0.0 { gap_there.abs() < 1e-6 } else { gap_there < 1e-6 }, "{gap_there} m apart");
            prop_assert!((length(normal) - 1.0).abs() < 1e-6 && dot(normal, cast.line.along) <= 1e-6);
            if distance > 0.0 {
                // Away from the surface it is free, and into it it is not.
                let [out, into] = [1e-4, -1e-4].map(|by| gap(&cast, &shape, &pose, add(stops, scale(normal, by))));
                prop_assert!(out > 0.5e-4 && into < 1e-6, "{out} {into}");
            }
        }
    }
}

#[test]
fn of_several_the_nearest_is_hit_and_nothing_behind_the_end() {
    let ball = |x: f64| (x, Shape::Sphere { radius: 0.5 }, Pose::at([x, 0.0, 0.0]));
    let ray = Cast::ray([0.0; 3], [2.0, 0.0, 0.0], 10.0);
    let hit = ray.first([ball(7.0), ball(4.0), ball(-2.0), ball(5.0)]).expect("it is in the way");
    assert_eq!((hit.of, hit.contact.distance, hit.contact.normal), (4.0, 3.5, [-1.0, 0.0, 0.0]));
    assert_eq!(ray.first([ball(10.6), ball(-0.6)]), None);
    let begins_in = ray.first([ball(0.2)]).expect("it begins there");
    assert_eq!((begins_in.contact.distance, begins_in.contact.normal), (0.0, [-1.0, 0.0, 0.0]));
    assert!(ray.sphere(0.2).first([ball(10.6)]).is_some());
    assert_eq!(Cast::ray([0.0; 3], [0.0; 3], 10.0).first([ball(4.0)]), None, "it goes nowhere");
}

#[test]
fn axes_that_are_parallel_or_nothing_and_numbers_that_are_none_are_no_trouble() {
    let upright = Shape::Capsule { half_height: 1.0, radius: 0.25 };
    let cast = Cast::ray([5.0, 1.9, 0.0], [-1.0, 0.0, 0.0], 9.0).capsule([0.0, 0.5, 0.0], 0.25);
    // Ends beside ends: 1.0 + 0.5 high, and two radii in which the rest of 0.4 m fits.
    let across = crate::math::f64::sqrt(0.5 * 0.5 - 0.4 * 0.4);
    let hit = cast.hit(&upright, &Pose::IDENTITY).expect("they touch");
    assert!((hit.distance - (5.0 - across)).abs() < 1e-9, "{hit:?}");
    let flat = Shape::Box { half: [1.0, 0.0, 1.0] };
    let down = Cast::ray([0.0, 3.0, 0.0], [0.0, -1.0, 0.0], 9.0).sphere(0.5);
    assert_eq!(down.hit(&flat, &Pose::IDENTITY).map(|hit| hit.distance), Some(2.5));
    let down = Cast::ray([0.5, 3.0, -0.5], [0.0, -1.0, 0.0], 9.0);
    let turned = Pose { rotation: [0.0, 0.0, 1.0, 0.0], ..Pose::IDENTITY };
    assert_eq!(
        [down.hit(&flat, &Pose::IDENTITY), down.hit(&flat, &turned)].map(|hit| hit.map(|hit| hit.distance)),
        [Some(3.0); 2]
    );
    assert_eq!(Cast::ray([1.5, 3.0, 0.0], [0.0, -1.0, 0.0], 9.0).hit(&flat, &Pose::IDENTITY), None);
    let casts = [f64::NAN, f64::INFINITY].map(|odd| Cast::ray([odd, 0.0, 0.0], [1.0, 0.0, odd], odd));
    let found: Vec<_> = casts.iter().map(|cast| cast.hit(&upright, &Pose::at([f64::NAN; 3]))).collect();
    assert_eq!(found, [None, None]);
}

#[test]
fn a_capsule_hits_a_flat_box_where_it_touches_it_and_passes_beside_it() {
    let pose = Pose { position: [3.0, -1.0, 2.0], rotation: rotation::from_vector([0.3, 0.5, 0.2]) };
    let turned = |vector: [f64; 3]| rotation::rotate(pose.rotation, vector);
    let hit = |half: [f64; 3], from: [f64; 3], along: [f64; 3], (axis, radius): ([f64; 3], f64)| {
        let shape = Shape::Box { half };
        let upright = Cast::ray(from, along, 9.0).capsule(axis, radius).hit(&shape, &Pose::IDENTITY);
        // The same seen from elsewhere, where no number is round. What is flat itself misses all by rounding there.
        if radius > 0.0 {
            let from = add(pose.position, turned(from));
            let odd = Cast::ray(from, turned(along), 9.0).capsule(turned(axis), radius).hit(&shape, &pose);
            let distances = [upright, odd].map(|contact| contact.map_or(f64::MAX, |contact| contact.distance));
            assert!((distances[0] - distances[1]).abs() < 1e-9, "{distances:?}");
        }
        upright.map(|contact| contact.distance)
    };
    let is_about = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-9);
    // A pane, and somebody upright.
    let (pane, upright) = ([0.5, 1.0, 0.0], ([0.0, 0.6, 0.0], 0.3));
    assert_eq!(hit(pane, [1.2, 0.0, 5.0], [0.0, 0.0, -1.0], upright), None, "0.4 m beside it");
    let across = crate::math::f64::sqrt(0.3 * 0.3 - 0.2 * 0.2);
    assert!(is_about(hit(pane, [0.7, 0.0, 5.0], [0.0, 0.0, -1.0], upright), 5.0 - across));
    assert!(is_about(hit(pane, [0.1, 1.5, 5.0], [0.0, 0.0, -1.0], upright), 4.7));
    // A game in two dimensions: all in one plane. A capsule of no radius is a line.
    let (chest, right) = ([1.0, 0.5, 0.0], [1.0, 0.0, 0.0]);
    for radius in [0.25, 0.0] {
        let lying = ([0.5, 0.0, 0.0], radius);
        assert_eq!(hit(chest, [-5.0, 0.55 + radius, 0.0], right, lying), None, "above it");
        assert!(is_about(hit(chest, [-5.0, 0.1, 0.0], right, lying), 3.5 - radius), "{radius}");
        let aslant = ([0.5, 0.5, 0.0], radius);
        assert_eq!(hit(chest, [-5.0, -1.1 - 1.5 * radius, 0.0], right, aslant), None, "below it");
        assert!(is_about(hit(chest, [-5.0, -0.5, 0.0], right, aslant), 3.5 - radius), "{radius}");
    }
}
