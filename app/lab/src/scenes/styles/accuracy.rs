//! How well a lane shows the owner: against where the owner is now, and against where the owner was as long ago as fits
//! the lane best.
//!
//! Everything is of the last 5 s. The delay is measured, by the same rule for every method, and not what a method says of
//! itself: `delay = argmin over d of mean |shown(t) - truth(t - d)|^2`, `0 <= d <= 1 s`.

use crate::clock::FRAME_S;
use crate::frame::lane::Figure;
use foretell::motion::vector::{length, lerp, squared_distance, sub};
use std::collections::VecDeque;

/// 5 s of frames.
const WINDOW: usize = 300;
/// The longest delay that is looked for: 1 s.
const DELAY_MAX: usize = 60;
/// Over so many frames a point of a chart is averaged, so that it can be read among others.
const CHART: usize = 30;
/// So often the figures are made anew: what changes faster can't be read.
const FIGURES_EVERY: u32 = 6;
const DELAY_EVERY: u32 = 30;
/// Who moves less in the window has no delay, in metres.
const MOVED_M: f64 = 1.0;

/// Positions of the last frames, the newest first.
#[derive(Clone, Debug, Default)]
pub struct Track(VecDeque<[f64; 3]>);

impl Track {
    /// The owner's: as far back as a lane may be late.
    pub fn note_truth(&mut self, position: [f64; 3]) {
        self.note(position, WINDOW + DELAY_MAX + 1);
    }

    fn note(&mut self, position: [f64; 3], most: usize) {
        self.0.push_front(position);
        self.0.truncate(most);
    }

    /// Between two frames, so many ago; the oldest where it is longer.
    fn ago(&self, frames: f64) -> [f64; 3] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 60")]
        let whole = frames as usize;
        let at = |index: usize| self.0.get(index).or(self.0.back()).copied().unwrap_or_default();
        lerp(at(whole), at(whole + 1), frames.fract())
    }

    /// The newest step, in metres.
    pub fn newest_step(&self) -> f64 {
        self.largest_step(1)
    }

    /// The largest step in the first so many frames.
    fn largest_step(&self, frames: usize) -> f64 {
        let steps = self.0.iter().zip(self.0.iter().skip(1)).take(frames);
        steps.map(|(now, before)| length(sub(*now, *before))).fold(0.0, f64::max)
    }
}

/// What is measured of a frame, in cm.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    /// From where the owner is now.
    off_now: f64,
    /// From where the owner was, the lane's delay ago; `None` without a delay.
    off_then: Option<f64>,
    /// How far from where it was shown in the frame before.
    step: f64,
    /// By how much that step differs from the one before it.
    unsteady: f64,
}

/// Of one lane.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    shown: Track,
    points: VecDeque<Point>,
    /// In frames.
    delay: Option<f64>,
    figures: Vec<Figure>,
    frames: u32,
}

impl Accuracy {
    /// Takes in a frame: where the lane shows the owner, whose track has this frame already. Returns the length of its
    /// step in cm.
    pub fn note(&mut self, truth: &Track, shown: [f64; 3]) -> f64 {
        self.shown.note(shown, WINDOW);
        if self.frames % DELAY_EVERY == DELAY_EVERY - 1 {
            self.delay = self.fitting_delay(truth);
        }
        let point = self.point(truth, shown);
        self.points.push_front(point);
        self.points.truncate(WINDOW);
        if self.frames.is_multiple_of(FIGURES_EVERY) {
            self.figures = self.measured(truth);
        }
        self.frames += 1;
        point.step
    }

    /// The newest points of the charts: root mean squares of the last half second, in cm.
    pub fn chart(&self) -> Vec<Option<f64>> {
        let of = |value: fn(&Point) -> Option<f64>| {
            let values: Vec<f64> = self.points.iter().take(CHART).filter_map(value).collect();
            (!values.is_empty()).then(|| rms(&values))
        };
        vec![of(|point| Some(point.off_now)), of(|point| point.off_then), of(|point| Some(point.unsteady))]
    }

    /// The numbers under the picture.
    pub fn figures(&self) -> Vec<Figure> {
        self.figures.clone()
    }

    fn point(&self, truth: &Track, shown: [f64; 3]) -> Point {
        let cm = |from: [f64; 3]| length(sub(shown, from)) * 100.0;
        let step = |index: usize| match (self.shown.0.get(index), self.shown.0.get(index + 1)) {
            (Some(now), Some(before)) => Some(sub(*now, *before)),
            _ => None,
        };
        let length_cm = step(0).map_or(0.0, |step| length(step) * 100.0);
        let unsteady = step(0).zip(step(1)).map_or(0.0, |(now, before)| length(sub(now, before)) * 100.0);
        let off_then = self.delay.map(|delay| cm(truth.ago(delay)));
        Point { off_now: cm(truth.ago(0.0)), off_then, step: length_cm, unsteady }
    }

    /// The delay in frames that explains best what was shown; `None` when the owner has hardly moved.
    fn fitting_delay(&self, truth: &Track) -> Option<f64> {
        let moved: f64 = truth.0.iter().zip(truth.0.iter().skip(1)).map(|(a, b)| length(sub(*a, *b))).sum();
        if moved < MOVED_M {
            return None;
        }
        // In the beginning there is not much to compare with.
        let longest = (truth.0.len() / 2).min(DELAY_MAX);
        let error = |delay: usize| {
            let pairs = self.shown.0.iter().zip(truth.0.iter().skip(delay)).step_by(2);
            mean(pairs.map(|(shown, true_then)| squared_distance(*shown, *true_then)))
        };
        let errors: Vec<f64> = (0..=longest).map(error).collect();
        let best = (0..errors.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
        Some(best as f64 + vertex(&errors, best))
    }

    /// How far each frame was off where the owner was by the delay that fits now, in cm.
    fn off_then(&self, truth: &Track) -> Vec<f64> {
        let Some(delay) = self.delay else { return Vec::new() };
        let whole = delay.trunc();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 60")]
        let (newer, older) = (truth.0.iter().skip(whole as usize), truth.0.iter().skip(whole as usize + 1));
        let then = newer.zip(older).map(|(newer, older)| lerp(*newer, *older, delay - whole));
        self.shown.0.iter().zip(then).map(|(shown, then)| length(sub(*shown, then)) * 100.0).collect()
    }

    fn measured(&self, truth: &Track) -> Vec<Figure> {
        let now: Vec<f64> = self.points.iter().map(|point| point.off_now).collect();
        let unsteady: Vec<f64> = self.points.iter().map(|point| point.unsteady).collect();
        let then = self.off_then(truth);
        let beyond = self.shown.largest_step(WINDOW) - truth.largest_step(WINDOW + DELAY_MAX);
        let cm = |label, value, digits| Figure { label, value, unit: "cm", digits };
        vec![
            cm("RMS now", rms(&now), 0),
            Figure {
                label: "delay",
                value: self.delay.map_or(f64::NAN, |d| d * FRAME_S * 1000.0),
                unit: "ms",
                digits: 0,
            },
            cm("RMS then", rms(&then), 1),
            cm("p95 now", p95(now), 0),
            cm("extra step", beyond.max(0.0) * 100.0, 1),
            cm("unsteady", rms(&unsteady), 2),
        ]
    }
}

/// How far beside the smallest of three neighbours the parabola through them is smallest, -0.5 to 0.5.
fn vertex(errors: &[f64], best: usize) -> f64 {
    let (Some(before), Some(after)) = (best.checked_sub(1).map(|at| errors[at]), errors.get(best + 1)) else {
        return 0.0;
    };
    let bend = before - 2.0 * errors[best] + after;
    if bend > 0.0 { ((before - after) / (2.0 * bend)).clamp(-0.5, 0.5) } else { 0.0 }
}

/// Not a number where there is none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Root mean square; not a number where there is none.
fn rms(values: &[f64]) -> f64 {
    mean(values.iter().map(|value| value * value)).sqrt()
}

/// What 95 % of the values are not beyond; not a number where there is none.
fn p95(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * 95).div_ceil(100).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Along x at 3 m/s, with a bend.
    fn truth_at(frame: usize) -> [f64; 3] {
        let t = frame as f64 * FRAME_S;
        [3.0 * t, 0.0, 0.5 * t * t]
    }

    fn figure(measure: &Accuracy, label: &str) -> f64 {
        measure.figures().iter().find(|figure| figure.label == label).expect(label).value
    }

    #[test]
    fn what_shows_the_truth_later_has_that_delay_and_no_other_error() {
        for late in [0, 1, 9, 30] {
            let (mut truth, mut measure) = (Track::default(), Accuracy::default());
            // The owner was there before the lane began.
            (0..100).for_each(|frame| truth.note_truth(truth_at(frame)));
            for frame in 100..700 {
                truth.note_truth(truth_at(frame));
                measure.note(&truth, truth_at(frame - late));
            }
            assert!((figure(&measure, "delay") - late as f64 * FRAME_S * 1000.0).abs() < 0.5, "{late}");
            assert!(figure(&measure, "RMS then") < 0.5, "{late}: {}", figure(&measure, "RMS then"));
            assert!(figure(&measure, "extra step") < 1e-9 && figure(&measure, "unsteady") < 0.03);
            let off = figure(&measure, "RMS now");
            assert!(if late == 0 { off < 1e-9 } else { off > late as f64 * 4.9 }, "{late}: {off}");
            assert!(figure(&measure, "p95 now") >= off);
        }
    }

    #[test]
    fn one_that_stands_has_no_delay_and_a_jump_is_an_extra_step() {
        let (mut truth, mut measure) = (Track::default(), Accuracy::default());
        for frame in 0..400 {
            truth.note_truth([0.0; 3]);
            measure.note(&truth, [if frame == 390 { 0.3 } else { 0.0 }, 0.0, 0.0]);
        }
        assert!(figure(&measure, "delay").is_nan() && figure(&measure, "RMS then").is_nan());
        assert!((figure(&measure, "extra step") - 30.0).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_of_the_values_themselves() {
        assert_eq!(p95((1..=100).map(f64::from).collect()), 95.0);
        assert_eq!(p95(vec![7.0]), 7.0);
        assert!(p95(Vec::new()).is_nan() && rms(&[]).is_nan());
        assert_eq!(rms(&[3.0, 4.0, 0.0, 0.0]), 2.5);
    }
}
