//! What is measured of a lane over the last ten seconds.

use super::system::{Counters, FrameView};
use crate::frame::lane::Figure;
use std::collections::VecDeque;

/// Over how many frames is measured.
const WINDOW: usize = 600;
/// A correction of less than this nobody sees, in metres.
const SEEN_M: f64 = 0.001;
/// For how many frames what was last seen of a tick stands in the chart: not every frame has one.
const HELD_FRAMES: u32 = 6;

/// One frame of the window.
#[derive(Clone, Debug)]
struct Measured {
    counters: Counters,
    /// Those that can be seen, in metres.
    corrections: Vec<f64>,
    off_m: Vec<f64>,
    apart_ms: Option<f64>,
    /// How long the server has not stepped by now, in frames.
    waits: u32,
}

/// The last frames of a lane, oldest first; `len <= WINDOW + 1`.
#[derive(Clone, Debug)]
pub struct Measures {
    tick_ms: f64,
    frames: VecDeque<Measured>,
    /// The newest tick that was judged: how far it was off, and how many frames ago.
    off: Option<(f64, u32)>,
}

impl Measures {
    /// Of ticks that are so long.
    pub fn new(tick_ms: f64) -> Measures {
        Measures { tick_ms, frames: VecDeque::with_capacity(WINDOW + 2), off: None }
    }

    /// The next frame.
    pub fn note(&mut self, view: &FrameView) {
        let last = self.frames.back();
        let has_stepped = last.is_none_or(|last| last.counters.steps < view.counters.steps);
        let waits = if has_stepped { 0 } else { last.map_or(0, |last| last.waits) + 1 };
        self.off = match view.off_m.last() {
            Some(off) => Some((*off, 0)),
            None => self.off.map(|(off, age)| (off, age + 1)).filter(|(_, age)| *age <= HELD_FRAMES),
        };
        let seen = view.corrections.iter().map(|correction| correction.moved_m);
        self.frames.push_back(Measured {
            counters: view.counters,
            corrections: seen.filter(|metres| *metres >= SEEN_M).collect(),
            off_m: view.off_m.clone(),
            // Who stands still is overtaken: nothing is late then.
            apart_ms: view.apart_ticks.map(|ticks| (ticks * self.tick_ms).max(0.0)),
            waits,
        });
        if self.frames.len() > WINDOW + 1 {
            self.frames.pop_front();
        }
    }

    /// The newest points of the charts.
    pub fn chart(&self) -> Vec<Option<f64>> {
        let newest = self.frames.back();
        let corrected = newest.map(|newest| largest(newest.corrections.iter().copied()) * 100.0);
        let before = self.frames.iter().rev().nth(1);
        let steps = newest.zip(before).map(|(newest, before)| newest.counters.steps - before.counters.steps);
        vec![
            self.off.map(|(off, _)| off * 100.0),
            corrected,
            newest.and_then(|newest| newest.apart_ms),
            steps.map(as_f64),
        ]
    }

    /// The numbers under the picture: those of these labels.
    pub fn figures(&self, labels: &[&str]) -> Vec<Figure> {
        let figure = |label, value, unit, digits| Figure { label, value, unit, digits };
        let corrections = || self.frames.iter().flat_map(|frame| frame.corrections.iter().copied());
        let apart: Vec<f64> = self.frames.iter().filter_map(|frame| frame.apart_ms).collect();
        let count = as_f64(corrections().count() as u64);
        let waits = self.frames.iter().map(|frame| frame.waits).max().unwrap_or(0);
        let (missed, ticks) = (self.grown(|counters| counters.missed), self.grown(|counters| counters.ticks));
        let all = [
            figure("corrections", count * self.per_second() * 60.0, "/min", 0),
            figure("largest", largest(corrections()) * 100.0, "cm", 0),
            figure("wrong by", self.off_p95() * 100.0, "cm", 1),
            figure("waits", f64::from(waits) * 1000.0 / 60.0, "ms", 0),
            figure("apart", apart.iter().sum::<f64>() / as_f64(apart.len() as u64), "ms", 0),
            figure("missing", 100.0 * missed / ticks.max(1.0), "%", 1),
            figure("run again", self.grown(|counters| counters.resimulated) * self.per_second(), "ticks/s", 0),
            figure("up", self.grown(|counters| counters.up) * self.per_second() / 1000.0, "kB/s", 1),
            figure("down", self.grown(|counters| counters.down) * self.per_second() / 1000.0, "kB/s", 1),
        ];
        all.into_iter().filter(|figure| labels.contains(&figure.label)).collect()
    }

    /// By what a sum over the window becomes one per second.
    fn per_second(&self) -> f64 {
        60.0 / as_f64(self.frames.len().saturating_sub(1).max(1) as u64)
    }

    /// How much a counter has grown in the window.
    fn grown(&self, of: impl Fn(&Counters) -> u64) -> f64 {
        let ends = self.frames.front().zip(self.frames.back());
        ends.map_or(0.0, |(oldest, newest)| as_f64(of(&newest.counters).saturating_sub(of(&oldest.counters))))
    }

    /// What 95 % of the ticks were off at most; not a number of none.
    fn off_p95(&self) -> f64 {
        let mut all: Vec<f64> = self.frames.iter().flat_map(|frame| frame.off_m.iter().copied()).collect();
        all.sort_unstable_by(f64::total_cmp);
        let nth = (all.len() * 95 / 100).min(all.len().saturating_sub(1));
        all.get(nth).copied().unwrap_or(f64::NAN)
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

#[expect(clippy::cast_precision_loss, reason = "counters of a session")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
