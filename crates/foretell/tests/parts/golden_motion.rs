//! Golden vectors of the source articles: straight lines (P2), rotations (R15, E16, D16), smoothing (R23, R24, E17).

use core::time::Duration;

use crate::vectors::{bits, number, numbers, single};
use foretell::motion::{Correction, Decay, Pose, VisualOffset, rotation, vector};
use serde_json::Value;

const LERP: &str = include_str!("../../../../vectors/lerp.json");
const ROTATION: &str = include_str!("../../../../vectors/rotation.json");
const SMOOTHING: &str = include_str!("../../../../vectors/smoothing.json");

/// What the files that need sines and powers allow.
const TOLERANCE: f64 = 1e-12;

/// The cases of one function.
fn cases(file: &str, function: &str) -> Vec<Value> {
    crate::vectors::cases(file, "fn", &function.into())
}

fn assert_near<const N: usize>(actual: [f64; N], expected: [f64; N], case: &Value) {
    for (a, e) in actual.iter().zip(&expected) {
        assert!((a - e).abs() <= TOLERANCE, "{actual:?} is not {expected:?} in {case}");
    }
}

/// A function of two points and a number, in both precisions.
type InF64 = fn([f64; 3], [f64; 3], f64) -> [f64; 3];
type InF32 = fn([f32; 3], [f32; 3], f32) -> [f32; 3];

fn assert_exact(function: &str, parameter: &str, in_f64: InF64, in_f32: InF32) {
    for case in cases(LERP, function) {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let t = number(&case[parameter]);
        assert_eq!(in_f64(a, b, t), numbers(&case["f64"]), "{case}");
        let result = in_f32(a.map(single), b.map(single), single(t));
        assert_eq!(result.map(f32::to_bits), bits(&case["f32_bits"]), "{case}");
    }
}

#[test]
fn straight_lines_match_in_every_bit() {
    assert_exact("lerp", "t", vector::lerp, vector::lerp);
    assert_exact("lerp_unclamped", "t", vector::lerp_unclamped, vector::lerp_unclamped);
    assert_exact("move_towards", "max_delta", vector::move_towards, vector::move_towards);
}

#[test]
fn rotation_errors_match_and_ignore_the_sign() {
    for case in cases(ROTATION, "rot_error") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let error = rotation::rotation_error(a, b);
        assert_near([error], [number(&case["fixed"])], &case);
        let turn = rotation::error_rotation(a, b);
        assert_near(turn, numbers(&case["error_rotation"]), &case);
    }
}

#[test]
fn slerps_match() {
    for case in cases(ROTATION, "slerp") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let result = rotation::slerp(a, b, number(&case["t"]));
        assert_near(result, numbers(&case["f64"]), &case);
    }
}

#[test]
fn rotations_decay_as_recorded() {
    for case in cases(ROTATION, "decay_rotation") {
        let start: [f64; 4] = numbers(&case["start"]);
        let t = number(&case["t"]);
        let mut left = start;
        for expected in case["f64"].as_array().expect("a list of frames") {
            left = rotation::slerp(left, rotation::identity(), t);
            assert_near(left, numbers(expected), &case);
        }
    }
}

/// What is shown of a body that rests, frame by frame at 60 per second, after a correction that is hidden as in the article.
fn hidden(shown: Pose, frames: u64) -> impl Iterator<Item = VisualOffset> {
    let config = Correction::article();
    let (mut offset, snapped) = VisualOffset::capture(shown, Pose::IDENTITY, 0.0, &config);
    assert!(!snapped);
    let end = |frame: u64| Duration::from_nanos(frame * 1_000_000_000 / 60);
    (0..frames).map(move |frame| {
        offset = offset.decayed(end(frame + 1) - end(frame), [0.0; 3], &config);
        offset
    })
}

#[test]
fn at_60_frames_per_second_the_articles_correction_keeps_nine_tenths_of_distance_and_turn_per_frame() {
    let mut compared = 0;
    for case in cases(SMOOTHING, "decay_frame").into_iter().filter(|case| number(&case["keep"]) == 0.9) {
        let start: [f64; 3] = numbers(&case["start"]);
        // Within the 2 m from which it would snap.
        let scale = 1.5 / vector::length(start);
        let expected = case["f64"].as_array().expect("a list of frames");
        let shown = Pose::at(vector::scale(start, scale));
        for (offset, expected) in hidden(shown, expected.len() as u64).zip(expected) {
            let expected = vector::scale(numbers(expected), scale);
            let apart = vector::length(vector::sub(offset.position(), expected));
            assert!(apart < 1e-7, "{:?} and {expected:?}", offset.position());
            compared += 1;
        }
    }
    for case in cases(ROTATION, "decay_rotation").into_iter().filter(|case| number(&case["t"]) == 0.1) {
        let shown = Pose { rotation: rotation::normalise(numbers(&case["start"])), ..Pose::IDENTITY };
        let expected = case["f64"].as_array().expect("a list of frames");
        for (offset, expected) in hidden(shown, expected.len() as u64).zip(expected) {
            let apart = rotation::rotation_error(offset.rotation(), rotation::normalise(numbers(expected)));
            assert!(apart < 1e-7, "{:?} and {expected:?}", offset.rotation());
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn a_decay_per_frame_matches_in_every_bit() {
    for case in cases(SMOOTHING, "decay_frame") {
        let keep = number(&case["keep"]);
        let mut in_f64: [f64; 3] = numbers(&case["start"]);
        let mut in_f32 = in_f64.map(single);
        let frames = case["f64"].as_array().expect("a list of frames");
        let patterns = case["f32_bits"].as_array().expect("a list of frames");
        for (expected, pattern) in frames.iter().zip(patterns) {
            in_f64 = vector::scale(in_f64, keep);
            in_f32 = vector::scale(in_f32, single(keep));
            assert_eq!(in_f64, numbers(expected));
            assert_eq!(in_f32.map(f32::to_bits), bits(pattern));
        }
    }
}

/// An offset of 1 m after a second of frames at this rate. Frames end on nanoseconds and add up to the second.
fn residual(decay: Decay, frames_per_second: u64) -> f64 {
    let config = Correction { decay, ..Correction::article() };
    let (shown, simulated) = (Pose::at([1.0, 0.0, 0.0]), Pose::IDENTITY);
    let (mut offset, _) = VisualOffset::capture(shown, simulated, 0.0, &config);
    let end = |frame: u64| Duration::from_nanos(frame * 1_000_000_000 / frames_per_second);
    for frame in 0..frames_per_second {
        offset = offset.decayed(end(frame + 1) - end(frame), [3.0, 0.0, 4.0], &config);
    }
    offset.distance()
}

#[test]
fn what_is_left_after_a_second_matches_at_every_frame_rate() {
    for case in cases(SMOOTHING, "one_second_residual") {
        let fps = case["fps"].as_str().expect("a quoted number");
        let fps = fps.parse().expect("a whole frame rate");
        let of_the_article = residual(Decay::keep(0.9, number(&case["fps"])), fps);
        assert_near([of_the_article], [number(&case["per_frame_0_9"])], &case);
        let corrected = residual(Decay::keep(0.9, 60.0), fps);
        assert_near([corrected], [number(&case["dt_corrected_ref60"])], &case);
    }
}

#[test]
fn corrections_are_captured_and_snap_as_in_the_article() {
    for case in cases(SMOOTHING, "on_correction") {
        let shown = Pose::at(vector::add(numbers(&case["prev_pos"]), numbers(&case["err"])));
        let simulated = Pose::at(numbers(&case["new_pos"]));
        let (offset, snapped) = VisualOffset::capture(shown, simulated, 30.0, &Correction::article());
        assert_eq!(offset.position(), numbers(&case["new_err"]), "{case}");
        assert_eq!(Some(snapped), case["snapped"].as_bool(), "{case}");
    }
}
