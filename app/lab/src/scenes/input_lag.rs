//! How long after a key a cube answers, measured on its screen alone.

use foretell::motion::vector::{length, squared_distance, sub};
use std::collections::VecDeque;

/// A change of the shown step by less than this, in metres per frame, is no answer.
const CHANGE_M: f64 = 0.02;
/// How many frames are compared, and the longest delay that is looked for.
const COMPARED: usize = 120;
const DELAY_MAX: usize = 60;

/// How long after a key a cube answers, seen on its screen alone: the delay at which its steps fit those of local best. It
/// is told anew whenever the cube changes its step.
#[derive(Clone, Debug, Default)]
pub struct InputLag {
    /// Where local and the shown cube were.
    before: Option<[[f64; 3]; 2]>,
    /// Their steps, newest first; `len <= COMPARED + DELAY_MAX`.
    local: VecDeque<[f64; 3]>,
    shown: VecDeque<[f64; 3]>,
    frames: Option<u32>,
}

impl InputLag {
    /// The next frame.
    pub fn note(&mut self, local: [f64; 3], shown: [f64; 3]) {
        let Some([local_before, shown_before]) = self.before.replace([local, shown]) else { return };
        self.local.push_front(sub(local, local_before));
        self.shown.push_front(sub(shown, shown_before));
        self.local.truncate(COMPARED + DELAY_MAX);
        self.shown.truncate(COMPARED + DELAY_MAX);
        if self.shown.len() > 1 && length(sub(self.shown[0], self.shown[1])) > CHANGE_M {
            let delays = (0..=DELAY_MAX).map(|delay| (self.misfit(delay), delay));
            let best = delays.fold((f64::INFINITY, 0), |best, next| if next.0 < best.0 { next } else { best });
            self.frames = u32::try_from(best.1).ok();
        }
    }

    /// Before the first frame both stood.
    fn misfit(&self, delay: usize) -> f64 {
        let local = |frame: usize| self.local.get(frame + delay).copied().unwrap_or_default();
        let shown = self.shown.iter().take(COMPARED).enumerate();
        shown.map(|(frame, shown)| squared_distance(*shown, local(frame))).sum()
    }

    /// One of them was set to another place: that is no step.
    pub fn begin_anew(&mut self) {
        self.before = None;
    }

    /// In ms; not a number before the first answer.
    pub fn ms(&self) -> f64 {
        self.frames.map_or(f64::NAN, |frames| f64::from(frames) * 1000.0 / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_as_late_as_the_shown_cube_turns_after_local() {
        let mut lag = InputLag::default();
        let x = |frame: u32| f64::from(frame.min(30)) / 12.0;
        for frame in 0..60 {
            lag.note([x(frame), 0.0, 0.0], [x(frame.saturating_sub(9)), 0.0, 0.0]);
        }
        assert!((lag.ms() - 150.0).abs() < 1e-9, "{}", lag.ms());
        let mut at_once = InputLag::default();
        for frame in 0..60 {
            at_once.note([x(frame), 0.0, 0.0], [x(frame), 0.0, 3.0]);
        }
        assert!(at_once.ms().abs() < 1e-9);
    }
}
