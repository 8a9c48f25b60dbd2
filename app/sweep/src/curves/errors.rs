//! How well a path was shown, against the truth at two instants.

use super::session::Shown;
use foretell_plan::motions::{FASTEST_MPS, Motion};
use foretell_plan::smoothness::distance;

/// What is asked of a way to show a motion. Distances in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ShownErrors {
    /// From where the body is at the instant of the frame: the delay counts. The root of the mean square.
    pub now_rms_m: f64,
    /// 95 of 100 frames are nearer than this.
    pub now_p95_m: f64,
    /// How late it is shown, in ms, on average: by the playout cursor, or, where it is not shown there, the shift in time
    /// at which shown and true path agree best.
    pub delay_ms: f64,
    /// From where the body was at the shown instant, which is so late: what is wrong besides the delay.
    pub then_rms_m: f64,
    /// 95 of 100 frames are nearer than this.
    pub then_p95_m: f64,
    /// The largest step from a frame to the next, beyond what the fastest motion makes in that time.
    pub step_m: f64,
}

/// The shifts that are tried, in ms: first all of them by the step, then around the best one.
const SHIFTS_MS: core::ops::RangeInclusive<i32> = -100..=1500;
const STEP_MS: usize = 20;
/// Every so many frames are looked at to find the shift.
const EVERY: usize = 3;

/// Measures what was shown in some sessions.
pub fn of(motion: Motion, sessions: &[&[Shown]]) -> ShownErrors {
    let frames: Vec<Shown> = sessions.iter().copied().flatten().copied().collect();
    let late_ms = |frames: &[Shown]| {
        let late_s: Option<f64> = frames.iter().map(|shown| Some(shown.at_s - shown.cursor_s?)).sum();
        late_s.map_or_else(|| best_shift_ms(motion, frames), |sum| sum * 1000.0 / frames.len().max(1) as f64)
    };
    let delay_ms = late_ms(&frames);
    let now = errors(motion, &frames, |shown| shown.at_s);
    let then = errors(motion, &frames, |shown| shown.cursor_s.unwrap_or(shown.at_s - delay_ms / 1000.0));
    let step =
        |pair: &[Shown]| distance(pair[0].position, pair[1].position) - FASTEST_MPS * (pair[1].at_s - pair[0].at_s);
    let steps = sessions.iter().flat_map(|frames| frames.windows(2)).map(step);
    ShownErrors {
        now_rms_m: rms(&now),
        now_p95_m: p95(now),
        delay_ms,
        then_rms_m: rms(&then),
        then_p95_m: p95(then),
        step_m: steps.fold(0.0, f64::max),
    }
}

fn best_shift_ms(motion: Motion, frames: &[Shown]) -> f64 {
    let few: Vec<Shown> = frames.iter().copied().step_by(EVERY).collect();
    let apart = |late_ms: i32| rms(&errors(motion, &few, |shown| shown.at_s - f64::from(late_ms) / 1000.0));
    let best = |shifts: &mut dyn Iterator<Item = i32>| {
        let by_error = |a: &(i32, f64), b: &(i32, f64)| a.1.total_cmp(&b.1);
        shifts.map(|late_ms| (late_ms, apart(late_ms))).min_by(by_error).map_or(0, |(late_ms, _)| late_ms)
    };
    let coarse = best(&mut SHIFTS_MS.step_by(STEP_MS));
    f64::from(best(&mut (coarse - 20..=coarse + 20)))
}

/// How far each frame is from where the body was at an instant of it.
fn errors(motion: Motion, frames: &[Shown], instant_s: impl Fn(&Shown) -> f64) -> Vec<f64> {
    frames.iter().map(|shown| distance(shown.position, motion.at(instant_s(shown)).position)).collect()
}

fn rms(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

fn p95(mut errors: Vec<f64>) -> f64 {
    errors.sort_unstable_by(f64::total_cmp);
    errors.get(errors.len() * 95 / 100).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(shown: impl Fn(f64) -> [f64; 3]) -> Vec<Shown> {
        let frame = |at_s| Shown { at_s, cursor_s: None, position: shown(at_s) };
        (0..3600).map(|nth| frame(f64::from(nth) / 60.0)).collect()
    }

    #[test]
    fn who_is_shown_late_but_as_they_moved_is_wrong_now_and_right_then() {
        for motion in Motion::ALL {
            let errors = of(motion, &[&frames(|at_s| motion.at(at_s - 0.137).position)]);
            assert_eq!(errors.delay_ms, 137.0, "{motion:?}");
            assert!(errors.then_rms_m < 1e-9 && errors.then_p95_m < 1e-9 && errors.step_m < 1e-9);
            assert!(errors.now_rms_m > 0.2 && errors.now_p95_m > errors.now_rms_m - 1e-9, "{errors:?}");
        }
    }

    #[test]
    fn a_jump_is_measured_beyond_the_motion_and_an_error_beside_the_path_in_both() {
        let beside = |at_s: f64| {
            let [x, _, z] = Motion::Circular.at(at_s).position;
            [x, if at_s < 30.0 { 0.3 } else { -0.3 }, z]
        };
        let errors = of(Motion::Circular, &[&frames(beside)]);
        assert_eq!(errors.delay_ms, 0.0);
        for error in [errors.now_rms_m, errors.now_p95_m, errors.then_rms_m, errors.then_p95_m] {
            assert!((error - 0.3).abs() < 1e-9, "{errors:?}");
        }
        let cursor = |shown: &Shown| Shown { cursor_s: Some(shown.at_s - 0.05), ..*shown };
        let known: Vec<Shown> = frames(beside).iter().map(cursor).collect();
        let by_cursor = of(Motion::Circular, &[&known]);
        assert!((by_cursor.delay_ms - 50.0).abs() < 1e-6 && by_cursor.then_rms_m > 0.3, "{by_cursor:?}");
        let jump = 0.6_f64.hypot(5.0 / 60.0) - 5.0 / 60.0;
        assert!((errors.step_m - jump).abs() < 1e-3, "{errors:?}");
    }
}
