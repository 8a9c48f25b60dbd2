//! What a player was shown at which tick, held against where the server has them at that tick.

use foretell::Tick;
use foretell::motion::vector::{length, sub};
use std::collections::VecDeque;

/// More ticks than a client is ever ahead.
const KEPT: usize = 1024;

/// What was shown at ticks that the server has not come to.
#[derive(Clone, Debug, Default)]
pub struct ShownTicks {
    /// Ascending by tick; `len <= KEPT`.
    shown: VecDeque<(Tick, [f64; 3])>,
}

impl ShownTicks {
    /// At the start of `tick` they were shown here.
    pub fn note(&mut self, tick: Tick, position: [f64; 3]) {
        if self.shown.back().is_none_or(|(last, _)| *last < tick) {
            self.shown.push_back((tick, position));
        }
        if self.shown.len() > KEPT {
            self.shown.pop_front();
        }
    }

    /// At the start of `tick` the server has them here: how far off that is from what was shown, in metres.
    pub fn judge(&mut self, tick: Tick, truth: [f64; 3]) -> Option<f64> {
        while self.shown.front().is_some_and(|(shown, _)| *shown < tick) {
            self.shown.pop_front();
        }
        let (_, shown) = self.shown.pop_front_if(|(shown, _)| *shown == tick)?;
        Some(length(sub(shown, truth)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tick_is_judged_by_what_was_shown_at_it_and_those_that_were_not_shown_by_none() {
        let mut shown = ShownTicks::default();
        [3, 4, 6].into_iter().for_each(|tick| shown.note(Tick::new(tick), [f64::from(tick), 0.0, 0.0]));
        let judged = [2, 4, 5, 6, 7].map(|tick| shown.judge(Tick::new(tick), [4.0, 0.0, 0.0]));
        assert_eq!(judged, [None, Some(0.0), None, Some(2.0), None]);
    }
}
