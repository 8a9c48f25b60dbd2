//! The laws of curves, tried on random arguments: they meet their samples, fit to each other without a break, and don't run
//! away.

use core::time::Duration;
use foretell::motion::trajectory::{
    Extrapolation, Follower, Following, Stop, catmull_rom, catmull_rom_spaced, dead_reckon, hermite,
    hermite_derivative, hold, owner_velocity, rotation_curve, tangent,
};
use foretell::motion::{rotation, vector};
use proptest::prelude::*;

/// What rounding may do to lengths below a few hundred.
const TOLERANCE: f64 = 1e-10;
/// A step by which derivatives are measured, and how far they may be off.
const STEP: f64 = 1e-6;
const ROUGHLY: f64 = 1e-3;

fn near<const N: usize>(a: [f64; N], b: [f64; N], tolerance: f64) -> bool {
    vector::length(vector::sub(a, b)) <= tolerance
}

fn point() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-20.0..20.0_f64)
}

fn quarter() -> impl Strategy<Value = f64> {
    0.02..0.5_f64
}

/// Any rotation; short vectors have no direction to normalise.
fn any_turn() -> impl Strategy<Value = [f64; 4]> {
    prop::array::uniform4(-1.0..1.0_f64)
        .prop_filter("long enough to normalise", |q| vector::length(*q) > 0.1)
        .prop_map(rotation::normalise)
}

/// Longer than anything here.
const LONG: Extrapolation = Extrapolation { full: Duration::from_secs(1_000), stop: Stop::Within(Duration::ZERO) };

fn extrapolation() -> impl Strategy<Value = Extrapolation> {
    let time = || quarter().prop_map(Duration::from_secs_f64);
    let stop = prop_oneof![time().prop_map(Stop::Within), time().prop_map(Stop::Fading)];
    (0.0..0.4_f64, stop).prop_map(|(full, stop)| Extrapolation { full: Duration::from_secs_f64(full), stop })
}

fn following() -> impl Strategy<Value = Following> {
    prop_oneof![Just(Following::Combined), Just(Following::VelocityBlending)]
}

/// The velocity by small steps to both sides.
fn slope<const N: usize>(at: impl Fn(f64) -> [f64; N], t: f64) -> [f64; N] {
    vector::scale(vector::sub(at(t + STEP), at(t - STEP)), 0.5 / STEP)
}

/// The angular velocity by small steps to both sides.
fn spin(at: impl Fn(f64) -> [f64; 4], t: f64) -> [f64; 3] {
    rotation_curve::owner_velocity(at(t - STEP), at(t + STEP), 2.0 * STEP)
}

/// What a follower was told and when, as distances in time, positions off the line and velocities.
fn updates() -> impl Strategy<Value = Vec<(f64, [f64; 3], [f64; 3])>> {
    let small = || prop::array::uniform3(-0.5..0.5_f64);
    prop::collection::vec((0.01..0.4_f64, small(), small()), 1..12)
}

proptest! {
    #[test]
    fn hermite_meets_its_ends_with_its_tangents(p1 in point(), p2 in point(), v1 in point(), v2 in point()) {
        prop_assert_eq!(hermite(p1, p2, v1, v2, 0.0), p1);
        prop_assert!(near(hermite(p1, p2, v1, v2, 1.0), p2, TOLERANCE));
        prop_assert_eq!(hermite_derivative(p1, p2, v1, v2, 0.0), v1);
        prop_assert!(near(hermite_derivative(p1, p2, v1, v2, 1.0), v2, TOLERANCE));
    }

    #[test]
    fn the_derivative_is_the_slope(p1 in point(), p2 in point(), v1 in point(), v2 in point(), t in -0.5..1.5_f64) {
        let slope = slope(|t| hermite(p1, p2, v1, v2, t), t);
        prop_assert!(near(hermite_derivative(p1, p2, v1, v2, t), slope, ROUGHLY));
    }

    #[test]
    fn a_curve_backwards_is_the_curve(p1 in point(), p2 in point(), v1 in point(), v2 in point(), t in 0.0..1.0_f64) {
        let back = hermite(p2, p1, v2.map(|v| -v), v1.map(|v| -v), 1.0 - t);
        prop_assert!(near(hermite(p1, p2, v1, v2, t), back, TOLERANCE));
        prop_assert!(near(catmull_rom([p1, p2, v1, v2], t), catmull_rom([v2, v1, p2, p1], 1.0 - t), TOLERANCE));
    }

    #[test]
    fn curves_are_the_same_in_every_frame_of_reference(
        points in prop::array::uniform4(point()), q in any_turn(), by in point(), size in 0.1..3.0_f64, t in 0.0..1.0_f64,
    ) {
        let turned = |p: [f64; 3]| {
            let [x, y, z] = p;
            let [x, y, z, _] = rotation::multiply(rotation::multiply(q, [x, y, z, 0.0]), rotation::inverse(q));
            vector::scale([x, y, z], size)
        };
        let moved = |p| vector::add(turned(p), by);
        let [p1, p2, v1, v2] = points;
        let there = hermite(moved(p1), moved(p2), turned(v1), turned(v2), t);
        prop_assert!(near(there, moved(hermite(p1, p2, v1, v2, t)), TOLERANCE));
        prop_assert!(near(catmull_rom(points.map(moved), t), moved(catmull_rom(points, t)), TOLERANCE));
        let gaps = [0.1, 0.2, 0.05];
        let there = catmull_rom_spaced(points.map(moved), gaps, t);
        prop_assert!(near(there, moved(catmull_rom_spaced(points, gaps, t)), TOLERANCE));
    }

    #[test]
    fn hermite_leaves_the_line_by_no_more_than_its_tangents_allow(
        p1 in point(), p2 in point(), v1 in point(), v2 in point(), t in 0.0..1.0_f64,
    ) {
        let middle = vector::lerp(p1, p2, t * t * (3.0 - 2.0 * t));
        let most = 4.0 / 27.0 * (vector::length(v1) + vector::length(v2));
        prop_assert!(vector::length(vector::sub(hermite(p1, p2, v1, v2, t), middle)) <= most + TOLERANCE);
    }

    #[test]
    fn catmull_rom_is_hermite_with_half_the_way_between_the_neighbours(
        points in prop::array::uniform4(point()), gap in quarter(), t in 0.0..1.0_f64,
    ) {
        let [p0, p1, p2, p3] = points;
        let tangent = |from, to| vector::scale(vector::sub(to, from), 0.5);
        let same = hermite(p1, p2, tangent(p0, p2), tangent(p1, p3), t);
        prop_assert!(near(catmull_rom(points, t), same, TOLERANCE));
        prop_assert!(near(catmull_rom_spaced(points, [gap; 3], t), same, TOLERANCE));
    }

    #[test]
    fn unequal_spacing_is_exact_on_a_parabola_and_meets_the_samples(
        start in point(), speed in point(), bend in point(), gaps in prop::array::uniform3(quarter()), t in 0.0..1.0_f64,
    ) {
        let at = |s: f64| vector::add(dead_reckon(start, speed, s), vector::scale(bend, s * s));
        let times = [0.0, gaps[0], gaps[0] + gaps[1], gaps[0] + gaps[1] + gaps[2]];
        let curve = |t| catmull_rom_spaced(times.map(at), gaps, t);
        prop_assert!(near(curve(t), at(times[1] + t * gaps[1]), TOLERANCE));
        prop_assert!(near(curve(0.0), at(times[1]), 0.0) && near(curve(1.0), at(times[2]), TOLERANCE));
        let now = tangent([at(times[0]), at(times[1]), at(times[2])], [gaps[0], gaps[1]]);
        prop_assert!(near(now, dead_reckon(speed, bend, 2.0 * times[1]), 1e-8));
    }

    #[test]
    fn two_pieces_of_catmull_rom_fit_without_a_break(
        points in prop::array::uniform5(point()), gaps in prop::array::uniform4(quarter()),
    ) {
        let [p0, p1, p2, p3, p4] = points;
        let first = |t| catmull_rom_spaced([p0, p1, p2, p3], [gaps[0], gaps[1], gaps[2]], t);
        let second = |t| catmull_rom_spaced([p1, p2, p3, p4], [gaps[1], gaps[2], gaps[3]], t);
        prop_assert!(near(first(1.0), second(0.0), TOLERANCE));
        let before = vector::scale(slope(first, 1.0), 1.0 / gaps[1]);
        let after = vector::scale(slope(second, 0.0), 1.0 / gaps[2]);
        prop_assert!(near(before, after, ROUGHLY), "{before:?} {after:?}");
    }

    #[test]
    fn a_side_without_a_distance_says_nothing(p in prop::array::uniform3(point()), gap in quarter()) {
        let [p0, p1, p2] = p;
        prop_assert_eq!(tangent(p, [gap, 0.0]), tangent([p0, p1, p2], [gap, -1.0]));
        prop_assert!(near(tangent(p, [gap, 0.0]), owner_velocity(p0, p1, gap), TOLERANCE));
        prop_assert!(near(tangent(p, [0.0, gap]), owner_velocity(p1, p2, gap), TOLERANCE));
        prop_assert_eq!(tangent(p, [0.0, 0.0]), [0.0; 3]);
        prop_assert_eq!(owner_velocity(p0, p1, 0.0), [0.0; 3]);
    }

    #[test]
    fn rotations_meet_their_ends_with_their_angular_velocities(
        q in any_turn(), by in prop::array::uniform3(-0.8..0.8_f64), w in prop::array::uniform2(prop::array::uniform3(-1.0..1.0_f64)),
    ) {
        let [w1, w2] = w;
        let to = rotation::multiply(rotation::from_vector(by), q);
        let curve = |t| rotation_curve::hermite(q, to, w1, w2, t);
        prop_assert!(rotation::angle(curve(0.0), q) < TOLERANCE && rotation::angle(curve(1.0), to) < TOLERANCE);
        // From one side, as the ends are not passed.
        let spin_near = |t: f64| spin(curve, t);
        prop_assert!(near(spin_near(2.0 * STEP), w1, ROUGHLY) && near(spin_near(1.0 - 2.0 * STEP), w2, ROUGHLY));
    }

    #[test]
    fn a_rotation_and_its_negative_give_the_same_curve(
        q1 in any_turn(), q2 in any_turn(), w in prop::array::uniform3(-1.0..1.0_f64), t in 0.0..1.0_f64,
    ) {
        prop_assume!(rotation::angle(q1, q2) < 2.0);
        let one = rotation_curve::hermite(q1, q2, w, w, t);
        let other = rotation_curve::hermite(q1.map(|c| -c), q2, w, w, t);
        prop_assert!(rotation::angle(one, other) < 1e-6);
    }

    #[test]
    fn a_constant_spin_is_shown_as_it_is(q in any_turn(), w in prop::array::uniform3(-1.5..1.5_f64), t in 0.0..1.0_f64) {
        let at = |s| rotation_curve::dead_reckon(q, w, s);
        prop_assert!(rotation::angle(rotation_curve::hermite(q, at(1.0), w, w, t), at(t)) < 1e-7);
        prop_assert!(near(rotation_curve::owner_velocity(q, at(0.5), 0.5), w, 1e-7));
        prop_assert!(near(rotation_curve::tangent([q, at(0.3), at(1.0)], [0.3, 0.7]), w, 1e-7));
        prop_assert!(near(rotation::to_vector(rotation::from_vector(w)), w, TOLERANCE));
    }

    #[test]
    fn extrapolation_slows_down_without_a_jump_and_ends(law in extrapolation(), s in 0.0..1.0_f64) {
        let way = |s| [law.way(s)];
        prop_assert!((slope(way, s + 0.01)[0] - law.speed(s + 0.01)).abs() < ROUGHLY);
        prop_assert!(law.speed(s + 0.01) <= law.speed(s) && (0.0..=1.0).contains(&law.speed(s)));
        prop_assert!(law.way(s) <= s && law.way(-s) == 0.0);
        let end = match law.stop {
            Stop::Within(time) => law.full.as_secs_f64() + time.as_secs_f64() / 2.0,
            Stop::Fading(time) => (law.full + time).as_secs_f64(),
        };
        prop_assert!(law.way(s) <= end + TOLERANCE);
    }

    /// E22: neither the position nor the velocity jumps, at whatever moment whatever comes.
    #[test]
    fn a_follower_never_jumps_in_position_or_velocity(following in following(), updates in updates(), lag in 0.0..0.3_f64) {
        let mut follower = Follower::new(following, [0.0; 3]);
        follower.receive(0, [0.0; 3], [1.0, 0.0, 0.0], lag);
        for (nth, (after, off, velocity)) in (1..).zip(updates) {
            follower.update(after);
            let before = follower.after(0.0);
            // Not so far that it warps, and not so near that it doesn't care.
            let place = dead_reckon(vector::add(before.0, vector::add(off, [0.1, 0.6, 0.0])), velocity, -lag);
            prop_assert!(follower.receive(nth, place, velocity, lag));
            let now = follower.after(0.0);
            prop_assert!(near(before.0, now.0, TOLERANCE) && near(before.1, now.1, TOLERANCE), "{before:?} {now:?}");
            for step in 1..40 {
                let at = f64::from(step) * 0.025;
                let shown = slope(|s| follower.after(s).0, at);
                prop_assert!(near(shown, follower.after(at).1, 0.02), "{at} {shown:?} {:?}", follower.after(at).1);
            }
        }
    }

    #[test]
    fn a_follower_shows_steady_motion_as_it_is(following in following(), speed in point(), every in 0.02..0.3_f64, lag in 0.0..0.2_f64) {
        let truth = |s: f64| vector::scale(speed, s);
        let mut follower = Follower::new(following, [0.0; 3]);
        follower.extrapolation = LONG;
        let mut now = 0.0;
        for nth in 0..400 {
            follower.receive(nth, truth(now - lag), speed, lag);
            follower.update(every);
            now += every;
        }
        let late = if following == Following::Combined { follower.period_s() } else { 0.0 };
        let shown = follower.after(0.0);
        prop_assert!(near(shown.0, truth(now - late), 1e-3), "{shown:?} {:?}", truth(now - late));
        prop_assert!(near(shown.1, speed, 1e-3));
        prop_assert!((follower.period_s() - every.max(0.05)).abs() < 1e-6);
    }

    /// P10 by hand: a cubic to the dead-reckoned target, from what was shown and by the velocities of both ends, and then
    /// straight on.
    #[test]
    fn a_combined_follower_goes_on_a_cubic_to_where_dead_reckoning_says_and_then_straight_on(
        first in (point(), point()), told in (point(), point()), lag in 0.0..0.2_f64, wait in 0.02..0.3_f64,
        parts in prop::collection::vec(0.0..2.0_f64, 1..8),
    ) {
        let mut follower = Follower::new(Following::Combined, first.0);
        follower.extrapolation = LONG;
        follower.thresholds.far_m = f64::INFINITY;
        follower.receive(1, first.0, first.1, 0.0);
        follower.update(wait);
        let (from, speed) = follower.after(0.0);
        follower.receive(2, told.0, told.1, lag);
        let period = follower.period_s();
        let target = vector::add(told.0, vector::scale(told.1, lag));
        for part in parts {
            let t = part.min(1.0);
            let (a, b) = ((1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t), t * t * (3.0 - 2.0 * t));
            let (c, d) = (t * (1.0 - t) * (1.0 - t) * period, t * t * (t - 1.0) * period + (part - t) * period);
            let ends = vector::add(vector::scale(from, a), vector::scale(target, b));
            let expected = vector::add(ends, vector::add(vector::scale(speed, c), vector::scale(told.1, d)));
            let shown = follower.after(part * period).0;
            prop_assert!(near(shown, expected, 1e-6), "{shown:?} {expected:?} at {part} of the period");
        }
    }

    #[test]
    fn a_follower_that_hears_no_more_stops_where_its_extrapolation_ends(
        following in following(), speed in point(), lag in 0.0..0.3_f64, after in 0.0..5.0_f64,
    ) {
        let mut follower = Follower::new(following, [0.0; 3]);
        follower.receive(7, [0.0; 3], speed, lag);
        let gone = vector::length(follower.update(after));
        prop_assert!(gone <= vector::length(speed) * 0.35 + TOLERANCE, "{gone}");
        prop_assert!(vector::length(follower.after(3.0).1) < 1e-6);
    }
}

#[test]
fn a_follower_is_not_pulled_back_by_what_is_older() {
    for following in [Following::Combined, Following::VelocityBlending] {
        let mut follower = Follower::new(following, [0.0; 2]);
        assert!(follower.receive(u32::MAX, [0.0, 0.0], [5.0, 0.0], 0.1));
        follower.update(0.05);
        let before = follower;
        assert!(!follower.receive(u32::MAX, [9.0, 0.0], [0.0, 0.0], 0.1), "as old");
        assert!(!follower.receive(u32::MAX - 3, [-1.0, 0.0], [5.0, 0.0], 0.2), "older");
        assert_eq!(follower, before);
        assert!(follower.receive(2, [0.3, 0.0], [5.0, 0.0], 0.1), "newer, over the wrap");
    }
}

#[test]
fn a_follower_warps_where_a_slide_would_be_worse_and_skips_what_nobody_sees() {
    for following in [Following::Combined, Following::VelocityBlending] {
        let mut follower = Follower::new(following, [0.0; 3]);
        follower.receive(0, [0.0; 3], [0.0; 3], 0.0);
        follower.update(0.1);
        follower.receive(1, [1.9, 0.0, 0.0], [0.0; 3], 0.0);
        assert_eq!(follower.after(0.0).0, [0.0; 3], "slides");
        follower.update(1.0);
        follower.receive(2, [4.0, 0.0, 0.0], [0.0; 3], 0.0);
        assert_eq!(follower.after(0.0).0, [4.0, 0.0, 0.0], "warps");
        follower.update(0.1);
        follower.receive(3, [4.0005, 0.0, 0.0], [0.0; 3], 0.0);
        assert_eq!(follower.after(0.0).0, [4.0005, 0.0, 0.0], "is there");
        follower.receive(4, [f64::NAN, 0.0, 0.0], [0.0; 3], 0.0);
        follower.receive(5, [1.0, 0.0, 0.0], [0.0; 3], 0.0);
        assert_eq!(follower.after(0.0).0, [1.0, 0.0, 0.0], "comes back from what is no number");
    }
}

#[test]
fn what_cannot_be_blended_is_held() {
    assert_eq!((hold("a", "b", 0.999), hold("a", "b", 1.0)), ("a", "b"));
}
