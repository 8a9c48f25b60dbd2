//! The laws of motion's pure functions, tried on random arguments.

use core::time::Duration;

use foretell::motion::{BySize, Correction, Decay, Pose, VisualOffset, rotation, vector};
use proptest::prelude::*;

/// What rounding may do to lengths below 20 and to components of unit quaternions.
const TOLERANCE: f64 = 1e-12;

fn near<const N: usize>(a: [f64; N], b: [f64; N]) -> bool {
    a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= TOLERANCE)
}

fn point(limit: f64) -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-limit..limit)
}

/// Any rotation; short vectors have no direction to normalise.
fn turn() -> impl Strategy<Value = [f64; 4]> {
    prop::array::uniform4(-1.0..1.0_f64)
        .prop_filter("long enough to normalise", |q| vector::length(*q) > 0.1)
        .prop_map(rotation::normalise)
}

fn time() -> impl Strategy<Value = Duration> {
    (0..800_000_u64).prop_map(Duration::from_micros)
}

/// Nothing ends and nothing snaps, so that the laws show bare.
fn bare(decay: Decay) -> Correction {
    Correction { decay, ..Correction::article() }
}

/// Laws by size of every shape: steep, flat, stepped, from size 0 on, with and without the motion.
fn law_by_size() -> impl Strategy<Value = Decay> {
    let sizes = (0.0..0.5_f64, prop::bool::ANY, 0.0..1.0_f64, prop::bool::ANY);
    let rates = (0.0..12.0_f64, 0.0..12.0_f64, 1.0..4.0_f64);
    (sizes, rates).prop_map(|((near, from_zero, width, step), (slow, faster, along))| {
        let near_m = if from_zero { 0.0 } else { near };
        Decay::BySize(BySize {
            slow_per_s: slow,
            near_m,
            fast_per_s: slow + faster,
            far_m: if step { near_m } else { near_m + width },
            along_motion: along,
            ..BySize::default()
        })
    })
}

fn config() -> impl Strategy<Value = Correction> {
    let constant = (0.0..12.0_f64).prop_map(Decay::Constant);
    prop_oneof![Just(Decay::default()), constant, law_by_size()].prop_map(bare)
}

/// An offset below the article's 2 m.
fn offset() -> impl Strategy<Value = VisualOffset> {
    (point(1.15), turn()).prop_map(|(position, rotation)| {
        let shown = Pose { position, rotation };
        let (offset, snapped) = VisualOffset::capture(shown, Pose::IDENTITY, 0.0, &Correction::article());
        assert!(!snapped, "{position:?} is below 2 m");
        offset
    })
}

fn same(a: VisualOffset, b: VisualOffset) -> bool {
    near(a.position(), b.position()) && near(a.rotation(), b.rotation())
}

proptest! {
    #[test]
    fn two_decays_equal_one_of_the_sum(
        (offset, config) in (offset(), config()), a in time(), b in time(), velocity in point(3.0),
    ) {
        let at_once = offset.decayed(a + b, velocity, &config);
        let in_two = offset.decayed(a, velocity, &config).decayed(b, velocity, &config);
        prop_assert!(same(at_once, in_two), "{at_once:?} {in_two:?}");
    }

    #[test]
    fn frame_rates_do_not_show(
        (offset, config) in (offset(), config()), frames in 1..200_u32, velocity in point(3.0),
    ) {
        let frame = Duration::from_micros(4_167);
        let by_frames = (0..frames).fold(offset, |o, _| o.decayed(frame, velocity, &config));
        let at_once = offset.decayed(frame * frames, velocity, &config);
        prop_assert!(same(at_once, by_frames), "{at_once:?} {by_frames:?}");
    }

    #[test]
    fn offsets_only_shrink_and_never_overshoot(
        (offset, config) in (offset(), config()), by in time(), velocity in point(3.0),
    ) {
        let later = offset.decayed(by, velocity, &config);
        prop_assert!(later.distance() <= offset.distance() + TOLERANCE);
        prop_assert!(later.degrees() <= offset.degrees() + TOLERANCE);
        prop_assert!(vector::dot(later.position(), offset.position()) >= 0.0);
        prop_assert!(vector::dot(later.rotation(), offset.rotation()) > 0.0);
    }

    #[test]
    fn a_default_offset_is_smaller_after_every_millisecond(offset in offset(), velocity in point(3.0)) {
        let millisecond = Duration::from_millis(1);
        let later = offset.decayed(millisecond, velocity, &Correction::default());
        prop_assert!(later.distance() < offset.distance());
        prop_assert!(later.degrees() < offset.degrees());
    }

    #[test]
    fn motion_eats_its_own_direction_faster_and_leaves_the_rest(
        offset in offset(), by in time(), velocity in point(3.0),
    ) {
        prop_assume!(vector::length(velocity) > 1e-3);
        let config = bare(Decay::default());
        let at_rest = offset.decayed(by, [0.0; 3], &config);
        let moving = offset.decayed(by, velocity, &config);
        let direction = vector::scale(velocity, 1.0 / vector::length(velocity));
        let along = |o: VisualOffset| vector::dot(o.position(), direction);
        let across = |o: VisualOffset| vector::sub(o.position(), vector::scale(direction, along(o)));
        prop_assert!(along(moving).abs() <= along(at_rest).abs() + TOLERANCE);
        prop_assert!(near(across(moving), across(at_rest)));
        prop_assert_eq!(moving.rotation(), at_rest.rotation());
    }

    #[test]
    fn a_constant_rate_ignores_the_motion(offset in offset(), by in time(), velocity in point(3.0)) {
        let config = Correction::article();
        let at_rest = offset.decayed(by, [0.0; 3], &config);
        prop_assert!(same(offset.decayed(by, velocity, &config), at_rest));
    }

    #[test]
    fn the_closed_form_agrees_with_small_steps(size in 0.01..3.0_f64, millis in 1..1500_u64) {
        let law = BySize::default();
        let rate = |e: f64| {
            let t = ((e - law.near_m) / (law.far_m - law.near_m)).clamp(0.0, 1.0);
            law.slow_per_s + (law.fast_per_s - law.slow_per_s) * t
        };
        let steps = 400_u32;
        let time = Duration::from_millis(millis);
        let step = time.as_secs_f64() / f64::from(steps);
        let stepped = (0..steps).fold(size, |e, _| {
            let middle = e - rate(e) * e * step / 2.0;
            e - rate(middle) * middle * step
        });
        let solved = size * Decay::BySize(law).fraction_left(size, time);
        prop_assert!((stepped - solved).abs() < 2e-5 * size, "{} {}", stepped, solved);
    }

    #[test]
    fn a_captured_offset_shows_what_was_shown(
        shown in point(5.0), away in point(1.15), from in turn(), to in turn(),
    ) {
        let before = Pose { position: shown, rotation: from };
        let after = Pose { position: vector::add(shown, away), rotation: to };
        let (offset, snapped) = VisualOffset::capture(before, after, 0.0, &Correction::article());
        prop_assert!(!snapped);
        prop_assert!(near(offset.shown(after).position, before.position));
        prop_assert!(rotation::angle(offset.shown(after).rotation, before.rotation) < TOLERANCE);
    }

    #[test]
    fn slerp_meets_its_ends_and_keeps_its_pace(a in turn(), b in turn(), t in 0.0..1.0_f64) {
        let whole = rotation::angle(a, b);
        prop_assume!(whole < 3.1);
        prop_assert!(near(rotation::slerp(a, b, 0.0), a));
        prop_assert!(rotation::angle(rotation::slerp(a, b, 1.0), b) < TOLERANCE);
        let part = rotation::angle(a, rotation::slerp(a, b, t));
        prop_assert!((part - whole * t).abs() < 1e-5, "{} of {}", part, whole);
    }

    #[test]
    fn a_quaternion_and_its_negative_are_the_same(a in turn(), b in turn(), t in 0.0..1.0_f64) {
        let minus = b.map(|component| -component);
        prop_assert_eq!(rotation::rotation_error(a, b), rotation::rotation_error(a, minus));
        prop_assert_eq!(rotation::angle(a, b), rotation::angle(a, minus));
        prop_assert_eq!(rotation::slerp(a, b, t), rotation::slerp(a, minus, t));
        let shown = Pose { rotation: a, ..Pose::IDENTITY };
        let capture = |rotation| {
            let after = Pose { rotation, ..Pose::IDENTITY };
            VisualOffset::capture(shown, after, 0.0, &Correction::default())
        };
        prop_assert_eq!(capture(b), capture(minus));
    }

    #[test]
    fn an_inverse_undoes_and_a_product_is_associative(a in turn(), b in turn(), c in turn()) {
        let left = rotation::multiply(rotation::multiply(a, b), c);
        let right = rotation::multiply(a, rotation::multiply(b, c));
        prop_assert!(near(left, right));
        prop_assert!(near(rotation::multiply(rotation::inverse(a), a), rotation::identity()));
        prop_assert!(near(rotation::multiply(b, rotation::error_rotation(a, b)), a));
    }

    #[test]
    fn a_step_towards_never_passes_its_goal(a in point(9.0), b in point(9.0), step in -5.0..5.0_f64) {
        let distance = vector::squared_distance(a, b).sqrt();
        let left = vector::squared_distance(vector::move_towards(a, b, step), b).sqrt();
        prop_assert!((left - (distance - step).max(0.0)).abs() < TOLERANCE);
    }

    #[test]
    fn a_line_stays_between_its_ends(a in point(9.0), b in point(9.0), t in -2.0..3.0_f64) {
        let on_line = vector::lerp(a, b, t);
        let from_a = vector::squared_distance(a, on_line).sqrt();
        let length = vector::squared_distance(a, b).sqrt();
        prop_assert!((from_a - length * t.clamp(0.0, 1.0)).abs() < TOLERANCE);
    }
}
