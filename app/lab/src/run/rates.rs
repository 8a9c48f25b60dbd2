//! What happened in the last second, from counters that only grow.

use std::collections::VecDeque;

/// Counters of a frame, from the public statistics of both ends.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Bytes that the client has sent.
    pub up: u64,
    /// Bytes that the client has received.
    pub down: u64,
    /// Inputs that the server had in time.
    pub applied: u64,
    /// Inputs that it did not.
    pub missed: u64,
}

/// What the last second amounts to.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Rates {
    pub up_bytes_per_s: u64,
    pub down_bytes_per_s: u64,
    /// 0 to 1.
    pub input_miss_rate: f64,
}

/// The counters of the last second's frames.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Oldest first, at most one more than there are frames in a second.
    kept: VecDeque<Counters>,
}

/// Frames in a second.
const FRAMES: usize = 60;

impl Meter {
    /// Takes in the counters of a frame. In the first second the rates are those of the time so far.
    #[expect(clippy::cast_precision_loss, reason = "a second's inputs are few")]
    pub fn note(&mut self, now: Counters) -> Rates {
        self.kept.push_back(now);
        if self.kept.len() > FRAMES + 1 {
            self.kept.pop_front();
        }
        let Some(then) = self.kept.front() else { return Rates::default() };
        let frames = (self.kept.len() - 1).max(1) as u64;
        let per_second = |now: u64, then: u64| now.saturating_sub(then) * FRAMES as u64 / frames;
        let missed = now.missed.saturating_sub(then.missed) as f64;
        let inputs = missed + now.applied.saturating_sub(then.applied) as f64;
        Rates {
            up_bytes_per_s: per_second(now.up, then.up),
            down_bytes_per_s: per_second(now.down, then.down),
            input_miss_rate: if inputs > 0.0 { missed / inputs } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second_alone() {
        let mut meter = Meter::default();
        let mut counters = Counters::default();
        for frame in 0..600 {
            counters.up += if frame < 300 { 1000 } else { 10 };
            counters.applied += 3;
            counters.missed += 1;
            let rates = meter.note(counters);
            if frame > 0 {
                assert_eq!(rates.input_miss_rate, 0.25);
            }
            if frame == 599 {
                assert_eq!((rates.up_bytes_per_s, rates.down_bytes_per_s), (600, 0));
            }
        }
    }
}
