//! When the inputs of one player come: what a client steers its lead by.

use crate::session::snapshot_header::{ARRIVALS_MAX, InputArrival};
use crate::time::{Tick, TickTime};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The datagrams with new inputs since the last snapshot.
#[derive(Clone, Debug)]
pub(crate) struct InputArrivals {
    /// The newest input of the newest datagram.
    newest: Option<Tick>,
    /// Oldest first, `len <= ARRIVALS_MAX`.
    waiting: VecDeque<InputArrival>,
}

impl InputArrivals {
    pub(crate) fn new() -> InputArrivals {
        InputArrivals { newest: None, waiting: VecDeque::with_capacity(ARRIVALS_MAX) }
    }

    /// What came before a silence says nothing of the time after it.
    pub(crate) fn forget(&mut self) {
        self.waiting.clear();
        self.newest = None;
    }

    /// A newer datagram than those before brought inputs up to `newest`, so long before the deadline of that one (negative
    /// for late). What is new in it and came not earlier counts as having come with it, whether it is in it or not.
    pub(crate) fn note(&mut self, newest: Tick, margin: TickTime) {
        let before = self.newest.replace(newest);
        if before == Some(newest) {
            return;
        }
        if before.is_some_and(|before| newest < before) {
            // It has set its clock back, and will send other inputs for ticks that it has sent.
            self.waiting.clear();
        }
        let count = before.map_or(1, |before| newest.since(before).max(1));
        if self.waiting.len() == ARRIVALS_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(InputArrival { count, margin: margin_bits(margin) });
    }

    /// Hands over the arrivals since the last call, newest first, and the newest input of the newest. They are told once:
    /// of those in a snapshot that is lost, others say as much.
    pub(crate) fn tell(&mut self, into: &mut Vec<InputArrival>) -> Tick {
        into.clear();
        into.extend(self.waiting.drain(..).rev());
        self.newest.unwrap_or(Tick::ZERO)
    }
}

/// A margin in 1/64 tick, limited to what 16 bits hold.
fn margin_bits(margin: TickTime) -> u16 {
    let units = (margin.millionths() * 64 / 1_000_000).clamp(i64::from(i16::MIN), i64::from(i16::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
    let units = units as i16;
    units.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_counts_the_ticks_since_the_one_before_and_is_told_once() {
        let mut arrivals = InputArrivals::new();
        let half = TickTime::from_millionths(500_000);
        for newest in [5, 5, 8] {
            arrivals.note(Tick::new(newest), half);
        }
        let mut told = Vec::new();
        assert_eq!(arrivals.tell(&mut told), Tick::new(8));
        let arrival = |count| InputArrival { count, margin: 32 };
        assert_eq!(told, [arrival(3), arrival(1)]);
        assert_eq!(arrivals.tell(&mut told), Tick::new(8));
        assert!(told.is_empty());
        arrivals.note(Tick::new(9), half);
        arrivals.note(Tick::new(6), TickTime::default() - half);
        arrivals.tell(&mut told);
        let late = InputArrival { count: 1, margin: (-32_i16).cast_unsigned() };
        assert_eq!(told, [late], "the clock was set back");
    }
}
