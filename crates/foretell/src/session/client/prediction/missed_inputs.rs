//! What became of the own inputs: those that the server substituted, and when they may come late because of the own clock.

use crate::session::datagram::NAMED_TICKS_BACK;
use crate::session::snapshot_header::SubstitutedRange;
use crate::time::Tick;
use alloc::collections::VecDeque;
use core::ops::Range;

/// The shortest time, in ticks, for which inputs may be late because the own clock was set or stood still.
const OFF_CLOCK_TICKS_MIN: u32 = 32;
/// So many substituted ticks are remembered: as many as one snapshot can name.
const NAMED_MAX: usize = NAMED_TICKS_BACK as usize;

/// Own inputs that the server did not have in time, as far as what they explain has not been compared.
pub(crate) struct MissedInputs {
    /// Own ticks that the server substituted, ascending; none older than the last comparison, and of too many the newest.
    substituted: VecDeque<Tick>,
    /// The newest of them so far, or the last tick before those that this client plays.
    newest_substituted: Option<Tick>,
    /// From which tick on inputs may be late because the own clock was set or stood still, and up to which one that came in
    /// time; the last time.
    off_clock: Option<(Tick, Option<Tick>)>,
}

impl MissedInputs {
    pub(crate) fn new() -> MissedInputs {
        MissedInputs { substituted: VecDeque::with_capacity(64), newest_substituted: None, off_clock: None }
    }

    /// The client plays from `first` on: who had the place before has missed what is older.
    pub(crate) fn begin(&mut self, first: Tick) {
        self.newest_substituted = first.back(1);
    }

    pub(crate) fn kept(&self) -> usize {
        self.substituted.len()
    }

    /// Remembers what the header of the snapshot of `tick` says was substituted. Returns what was not known yet: the
    /// newest tick and how many.
    pub(crate) fn note_substituted(&mut self, tick: Tick, ranges: &[SubstitutedRange]) -> Option<(Tick, u32)> {
        let mut news = 0;
        // From the oldest to the newest.
        for range in ranges.iter().rev() {
            for back in (range.back..range.back + range.ticks).rev() {
                let Some(missed) = tick.back(back) else { continue };
                if self.newest_substituted.is_none_or(|newest| newest < missed) {
                    self.newest_substituted = Some(missed);
                    if self.substituted.len() == NAMED_MAX {
                        self.substituted.pop_front();
                    }
                    self.substituted.push_back(missed);
                    news += 1;
                }
            }
        }
        self.newest_substituted.filter(|_| news > 0).map(|newest| (newest, news))
    }

    /// Something of the own input's was in the step of `tick`, and not in the one that it was meant for.
    pub(crate) fn note_put_off(&mut self, tick: Tick) {
        let at = self.substituted.partition_point(|missed| *missed < tick);
        if self.substituted.get(at) != Some(&tick) && self.substituted.len() < NAMED_MAX {
            self.substituted.insert(at, tick);
        }
    }

    /// The own clock was set or stood still: inputs from `tick` on may be late. The state of `compared` has been compared.
    pub(crate) fn note_off_clock(&mut self, tick: Tick, compared: Tick) {
        // What is not compared yet may follow from the time before.
        let before = self.off_clock.filter(|(_, until)| until.is_none_or(|until| until > compared));
        self.off_clock = Some((before.map_or(tick, |(from, _)| from.min(tick)), None));
    }

    /// The input of `tick` came in time. Right after the clock was set this says little: those after it may still be late.
    pub(crate) fn note_in_time(&mut self, tick: Tick) {
        if let Some((from, until @ None)) = &mut self.off_clock
            && tick.since(*from) >= OFF_CLOCK_TICKS_MIN
        {
            *until = Some(tick);
        }
    }

    /// Whether the own clock was off in a tick.
    fn is_off_clock(&self, tick: Tick) -> bool {
        self.off_clock.is_some_and(|(from, until)| from <= tick && until.is_none_or(|until| tick < until))
    }

    /// Whether it was off at any time of these ticks.
    pub(crate) fn was_off_clock(&self, window: Range<Tick>) -> bool {
        self.off_clock.is_some_and(|(from, until)| from <= window.end && until.is_none_or(|until| until > window.start))
    }

    /// Whether any of these ticks were substituted, and any of those while the clock was off.
    pub(crate) fn in_window(&self, window: &Range<Tick>) -> (bool, bool) {
        let mut substituted = self.substituted.iter().filter(|missed| window.contains(missed)).peekable();
        (substituted.peek().is_some(), substituted.any(|missed| self.is_off_clock(*missed)))
    }

    pub(crate) fn forget_before(&mut self, tick: Tick) {
        while self.substituted.front().is_some_and(|missed| *missed < tick) {
            self.substituted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_whatever_many_ticks_a_server_calls_substituted_the_newest_are_remembered() {
        let mut missed = MissedInputs::new();
        for tick in 2..10_000 {
            missed.note_substituted(Tick::new(tick), &[SubstitutedRange { back: 1, ticks: 1, how: 0 }]);
        }
        assert_eq!(missed.kept(), NAMED_MAX);
        assert!(missed.in_window(&(Tick::new(9_998)..Tick::new(9_999))).0);
    }
}
