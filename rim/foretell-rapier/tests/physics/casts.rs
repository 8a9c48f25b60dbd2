//! Shots at bodies where they were: a ray or a shape meets what stood in its way then, whatever stands there now.

use core::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, SQRT_2};
use foretell::world::{PastState, Side};
use foretell::{Entity, Owned, PlayerId, Rows, Schema, State, Step, Tick, TickRate};
use foretell_rapier::rapier3d::math::{Pose, Rotation, Vector};
use foretell_rapier::rapier3d::parry::shape::{Ball, Cuboid};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};
use foretell_rapier::{Blueprint, Body, BodyHit, Physics, Plan, Swept};

/// A crate with a lamp on top, and something around it that is felt and not hit.
#[derive(State, Clone, Copy)]
struct Crate {
    #[state(flatten)]
    body: Body,
}

impl Blueprint for Crate {
    fn plan(&self, _entity: Entity) -> Plan {
        Plan::new(RigidBodyBuilder::fixed())
            .with(ColliderBuilder::cuboid(0.5, 0.5, 0.5))
            .with(ColliderBuilder::ball(0.25).translation(Vector::new(0.0, 1.0, 0.0)))
            .with(ColliderBuilder::ball(3.0).sensor(true))
    }
}

const SHOOTER: PlayerId = PlayerId::new(1);

fn owned(nth: u16) -> Owned {
    let owner = PlayerId::new(2);
    Owned { entity: Entity::new(owner, Tick::ZERO, nth), owner }
}

/// What is asked of a world whose two crates stand far away and upright now, and were like this.
fn cast<T>(were: [Body; 2], ask: impl Fn(&Physics, &foretell::Rewound<'_>) -> T) -> T {
    let schema = Schema::of::<Crate>();
    let (mut physics, mut rows) = (Physics::new([0.0, -9.81, 0.0], []), Rows::new(&schema));
    for (nth, body) in (0..2).zip(were) {
        physics.insert(owned(nth), &Crate { body: Body::at([100.0 + 10.0 * f32::from(nth), 0.0, 0.0]) });
        rows.set(owned(nth), &Crate { body });
    }
    let past = PastState::new(&rows, &schema);
    let step = Step::<()>::new(Tick::new(9), TickRate::hz(60), Side::Server, &[]).with_past(&past);
    ask(&physics, &step.rewound(SHOOTER))
}

#[test]
fn a_ray_and_a_ball_hit_the_nearest_body_where_it_was() {
    let ray = |from: [f32; 3]| {
        let were = [Body::at([6.0, 0.0, 0.0]), Body::at([4.0, 0.0, 0.0])];
        cast(were, |physics, past| physics.cast_ray(past, from, [2.0, 0.0, 0.0], 20.0))
    };
    let hit = |nth, collider, distance, normal| Some(BodyHit { of: owned(nth), collider, distance, normal });
    assert_eq!(ray([0.0; 3]), hit(1, 0, 3.5, [-1.0, 0.0, 0.0]));
    assert_eq!(ray([5.0, 0.0, 0.0]), hit(0, 0, 0.5, [-1.0, 0.0, 0.0]), "from between them");
    assert_eq!(ray([0.0, 1.0, 0.0]), hit(1, 1, 3.75, [-1.0, 0.0, 0.0]), "the lamp");
    assert_eq!(ray([0.0, 2.0, 0.0]), None, "what is only felt is in nobody's way");
    assert_eq!(ray([90.0, 0.0, 0.0]), None, "where they are now nobody was");
    let swept = |up: f32| {
        let ball = Ball::new(0.5);
        let from = Pose { translation: Vector::new(0.0, up, 0.0), ..Pose::IDENTITY };
        let swept = Swept { shape: &ball, from, direction: [1.0, 0.0, 0.0], length: 20.0 };
        cast([Body::at([6.0, 0.0, 0.0]), Body::at([4.0, 0.0, 0.0])], |physics, past| physics.cast_shape(past, &swept))
    };
    let found = swept(0.0).expect("it is in the way");
    assert!(found.of == owned(1) && (found.distance - 3.0).abs() < 1e-3 && found.normal[0] < -0.99, "{found:?}");
    assert_eq!(swept(2.0), None);
}

#[test]
fn a_cast_that_begins_in_a_body_hits_it_at_once_and_against_its_direction() {
    let were = [Body::at([6.0, 0.0, 0.0]), Body::at([4.0, 0.0, 0.0])];
    let hit = |collider, normal| Some(BodyHit { of: owned(1), collider, distance: 0.0, normal });
    let ray = |from: [f32; 3], along| cast(were, |physics, past| physics.cast_ray(past, from, along, 20.0));
    assert_eq!(ray([4.0, 0.2, 0.0], [2.0, 0.0, 0.0]), hit(0, [-1.0, 0.0, 0.0]), "a box");
    assert_eq!(ray([4.0, 1.0, 0.1], [0.0, 0.0, 2.0]), hit(1, [0.0, 0.0, -1.0]), "a ball");
    let ball = Ball::new(0.5);
    let from = Pose { translation: Vector::new(3.8, 0.2, 0.0), ..Pose::IDENTITY };
    let swept = Swept { shape: &ball, from, direction: [0.0, 0.0, 2.0], length: 20.0 };
    let found = cast(were, |physics, past| physics.cast_shape(past, &swept));
    assert_eq!(found, hit(0, [0.0, 0.0, -1.0]), "what is swept");
}

/// A crate 4 m away that was turned about one of the axes, and another far from everything.
fn turned(about: Vector) -> [Body; 2] {
    let rotation = Rotation::from_scaled_axis(about).to_array();
    [Body { rotation, ..Body::at([4.0, 0.0, 0.0]) }, Body::at([50.0, 0.0, 0.0])]
}

fn is_hit(found: Option<BodyHit>, collider: usize, distance: f32, normal: [f32; 3]) {
    let found = found.expect("it is in the way");
    let is_near = |found: f32, expected: f32| (found - expected).abs() < 1e-3;
    let faces = found.normal.iter().zip(normal).all(|(found, expected)| is_near(*found, expected));
    assert!(found.of == owned(0) && found.collider == collider && faces, "{found:?}");
    assert!(is_near(found.distance, distance), "{found:?}");
}

#[test]
fn what_was_turned_is_hit_as_it_lay() {
    let ray = |about, from| cast(turned(about), |physics, past| physics.cast_ray(past, from, [1.0, 0.0, 0.0], 20.0));
    let eighth = Vector::new(0.0, FRAC_PI_4, 0.0);
    // An edge is foremost then, and 0.3 m beside it the face goes back by as much.
    let far = 4.0 - SQRT_2 / 2.0 + 0.3;
    is_hit(ray(eighth, [0.0, 0.0, 0.3]), 0, far, [-FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2]);
    is_hit(ray(eighth, [0.0, 0.0, -0.3]), 0, far, [-FRAC_1_SQRT_2, 0.0, -FRAC_1_SQRT_2]);
    // It has fallen over, and its lamp lies beside it.
    let fallen = Vector::new(FRAC_PI_2, 0.0, 0.0);
    is_hit(ray(fallen, [0.0, 0.0, 1.0]), 1, 3.75, [-1.0, 0.0, 0.0]);
    assert_eq!(ray(fallen, [0.0, 0.0, -1.0]), None);
    // A board that is swept with its flat side, 0.1 m from its middle, along the face.
    let board = Cuboid::new(Vector::new(0.1, 0.2, 0.3));
    let from = Pose::new(Vector::new(0.0, 0.0, 0.3), eighth);
    let swept = Swept { shape: &board, from, direction: [1.0, 0.0, 0.0], length: 20.0 };
    let found = cast(turned(eighth), |physics, past| physics.cast_shape(past, &swept));
    is_hit(found, 0, far - 0.1 * SQRT_2, [-FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2]);
}
