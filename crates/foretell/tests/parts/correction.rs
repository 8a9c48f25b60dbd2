//! Which corrections snap, which are too small to be one, and how an offset ends (D15).

use core::time::Duration;

use foretell::math;
use foretell::motion::{BySize, Correction, Decay, Pose, VisualOffset};

fn capture(shown: Pose, speed: f64) -> (VisualOffset, bool) {
    VisualOffset::capture(shown, Pose::IDENTITY, speed, &Correction::default())
}

fn turned(degrees: f64) -> Pose {
    let half = degrees.to_radians() / 2.0;
    Pose { rotation: [0.0, math::f64::sin(half), 0.0, math::f64::cos(half)], ..Pose::IDENTITY }
}

#[test]
fn the_distance_that_snaps_grows_with_the_speed() {
    let shown = Pose::at([3.0, 0.0, 0.0]);
    assert_eq!(capture(shown, 0.0), (VisualOffset::NONE, true));
    assert!(capture(shown, 4.9).1);
    assert!(!capture(shown, 5.1).1);
}

#[test]
fn a_quarter_turn_snaps_in_either_sense() {
    assert!(!capture(turned(89.9), 0.0).1);
    assert_eq!(capture(turned(90.1), 0.0), (VisualOffset::NONE, true));
    assert!(capture(turned(-90.1), 0.0).1);
}

#[test]
fn what_is_not_finite_snaps() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let moved = Pose::at([0.0, bad, 0.0]);
        assert_eq!(capture(moved, 1.0), (VisualOffset::NONE, true));
        let turned = Pose { rotation: [0.0, 0.0, bad, 1.0], ..Pose::IDENTITY };
        assert_eq!(capture(turned, 1.0), (VisualOffset::NONE, true));
    }
}

#[test]
fn what_nobody_sees_is_no_offset_from_the_start() {
    let none = (VisualOffset::NONE, false);
    assert_eq!(capture(Pose::at([0.0009, 0.0, 0.0]), 0.0), none);
    assert_eq!(capture(turned(0.09), 0.0), none);
    assert_ne!(capture(Pose::at([0.0011, 0.0, 0.0]), 0.0), none);
    assert_ne!(capture(turned(0.11), 0.0), none);
}

#[test]
fn the_largest_offset_ends_within_three_seconds() {
    let config = Correction::default();
    let shown = Pose { position: [1.99, 0.0, 0.0], ..turned(89.0) };
    let (mut offset, snapped) = capture(shown, 0.0);
    assert!(!snapped);
    let frame = Duration::from_millis(16);
    for _ in 0..3000 / 16 {
        offset = offset.decayed(frame, [0.0; 3], &config);
    }
    assert!(offset.is_none(), "{offset:?}");
    let simulated = Pose::at([1.0, 2.0, 3.0]);
    assert_eq!(offset.shown(simulated), simulated);
}

/// Along the motion at twice the rate.
fn twice_along() -> Correction {
    let decay = Decay::BySize(BySize { along_motion: 2.0, ..BySize::default() });
    Correction { decay, ..Correction::default() }
}

#[test]
fn a_position_that_ends_does_not_change_how_the_rotation_goes_on() {
    let config = Correction { smallest_m: 0.3, ..twice_along() };
    let shown = Pose { position: [0.9, 0.0, 0.0], ..turned(80.0) };
    let velocity = [9.0, 0.0, 0.0];
    let (offset, _) = VisualOffset::capture(shown, Pose::IDENTITY, 0.0, &config);
    let half = Duration::from_millis(100);
    let midway = offset.decayed(half, velocity, &config);
    assert_eq!(midway.position(), [0.0; 3]);
    let in_two = midway.decayed(half, velocity, &config);
    let at_once = offset.decayed(half * 2, velocity, &config);
    assert!((in_two.degrees() - at_once.degrees()).abs() < 1e-12);
    assert!(in_two.degrees() > 10.0);
}

#[test]
fn no_time_changes_nothing() {
    for x in [0.1, 0.25, 0.5, 1.0, 1.5] {
        let (offset, _) = capture(Pose::at([x, 0.0, 0.0]), 0.0);
        let same = offset.decayed(Duration::ZERO, [3.0, 1.0, 0.0], &Correction::default());
        assert_eq!(same, offset);
    }
}

#[test]
fn a_velocity_that_is_not_finite_counts_as_rest() {
    let config = Correction::default();
    let (offset, _) = capture(Pose::at([0.5, 0.0, 0.0]), 0.0);
    let frame = Duration::from_millis(16);
    let at_rest = offset.decayed(frame, [0.0; 3], &config);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        assert_eq!(offset.decayed(frame, [bad, 0.0, 0.0], &config), at_rest);
    }
}

#[test]
fn along_a_run_an_offset_decays_at_the_stated_multiple_of_the_rate() {
    let config = twice_along();
    let (offset, _) = capture(Pose::at([0.2, 0.0, 0.1]), 0.0);
    let left = |velocity| offset.decayed(Duration::from_millis(100), velocity, &config);
    let plain = math::f64::exp(-0.33);
    let [x, _, z] = left([5.0, 0.0, 0.0]).position();
    assert!((x - 0.2 * plain * plain).abs() < 1e-12);
    assert!((z - 0.1 * plain).abs() < 1e-12);
    let [strolling, ..] = left([0.5, 0.0, 0.0]).position();
    assert!(x < strolling && strolling < 0.2 * plain);
}

#[test]
fn large_offsets_decay_at_the_fast_rate_and_small_ones_at_the_slow() {
    let time = Duration::from_millis(50);
    let left = |size| Decay::default().fraction_left(size, time);
    assert_eq!(left(0.25), math::f64::exp(-3.3 * 0.05));
    assert_eq!(left(0.0), left(0.25));
    assert_eq!(left(3.0), math::f64::exp(-10.0 * 0.05));
    assert!(left(3.0) < left(0.6) && left(0.6) < left(0.25));
}

#[test]
fn an_offset_that_never_ends_below_near_slows_down_before_it() {
    let law = Decay::BySize(BySize { slow_per_s: 0.0, ..BySize::default() });
    let after = |size: f64, seconds| size * law.fraction_left(size, Duration::from_secs(seconds));
    assert!((after(2.0, 1000) - 0.25).abs() < 1e-12);
    for centimetres in 26..100_u32 {
        let size = f64::from(centimetres) / 100.0;
        let left = (after(size, 1) - 0.25) / (size - 0.25);
        assert!((0.005..0.05).contains(&left), "{left} of {size} m is left");
    }
}

#[test]
fn a_rate_in_proportion_to_the_size_decays_by_its_own_formula() {
    let law = Decay::BySize(BySize { slow_per_s: 2.5, ..BySize::default() });
    let left = law.fraction_left(0.5, Duration::from_millis(100));
    assert!((left - 1.0 / 1.5).abs() < 1e-12, "{left}");
    let to_near_and_on = law.fraction_left(0.5, Duration::from_millis(200 + 100));
    assert!((to_near_and_on - 0.5 * math::f64::exp(-0.25)).abs() < 1e-12);
}

#[test]
fn the_rates_of_the_article_are_those_of_the_requirements() {
    for (frames, expected) in [(60.0, 6.3216), (64.0, 6.7431)] {
        let Decay::Constant(rate) = Decay::keep(0.9, frames) else { panic!("keep gives a constant rate") };
        assert!((rate - expected).abs() < 5e-5, "{rate}");
    }
}

#[test]
#[should_panic(expected = "must be in (0, 1]")]
fn keeping_nothing_is_refused() {
    let _ = Decay::keep(0.0, 60.0);
}
