//! About which tick a snapshot is that comes now: its 16 bits are widened to the nearest.

use crate::time::{Instant, Tick, TickRate};
use core::time::Duration;

/// A snapshot is of no later tick than the server can have come to by the last one that was compared; with room for
/// clocks that differ.
const AHEAD_MAX: u32 = 1024;
/// But when so many in a row say that the server is further ahead, over so long, it is: what came all at once may be
/// copies of one mistake. Not while the server is asked for the place again: one whose clock stood still for more than half of all
/// short ticks seems to be ahead as well.
const STRAYS_BELIEVED: u32 = 4;
const STRAYS_SPAN: Duration = Duration::from_millis(100);
/// As long as each is of a tick at most so much newer than the one before.
const STRAYS_APART_MAX: u32 = 256;

/// A tick that is certain, and when it was. Not simply that of the newest snapshot: one that nobody sent, of a far tick,
/// would make every true one look old.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickUnwrap {
    tick: Tick,
    at: Instant,
    /// The last tick that was too far ahead, how many in a row, and when the first of them came.
    stray: Option<(Tick, u32, Instant)>,
    /// Whether the server is asked, and what is too far ahead is not believed before it answers.
    is_asked: bool,
}

impl TickUnwrap {
    pub(crate) fn new(tick: Tick, at: Instant) -> TickUnwrap {
        TickUnwrap { tick, at, stray: None, is_asked: false }
    }

    /// Whether the server may have come to `tick` by now.
    fn allows(&self, now: Instant, tick: Tick, rate: TickRate) -> bool {
        tick.since(self.expected(now, rate)) <= AHEAD_MAX
    }

    fn expected(&self, now: Instant, rate: TickRate) -> Tick {
        self.tick + rate.ticks_in(now.since(self.at))
    }

    /// The snapshot of `tick`, which came at `at`, was compared or adopted; or a welcome has told the whole tick.
    pub(crate) fn note(&mut self, tick: Tick, at: Instant) {
        *self = TickUnwrap::new(tick, at);
    }

    /// The server is asked for the place again: its welcome tells the whole tick.
    pub(crate) fn note_asked(&mut self) {
        self.is_asked = true;
    }

    /// The tick of a snapshot that comes now; `None` where it can't be true. However long the server was silent, its clock
    /// went on.
    pub(crate) fn widen(&mut self, now: Instant, low16: u16, rate: TickRate) -> Option<Tick> {
        let tick = Tick::widen(u32::from(low16), 16, self.expected(now, rate));
        if self.allows(now, tick, rate) {
            return Some(tick);
        }
        let follows = |last: Tick| last < tick && tick.since(last) <= STRAYS_APART_MAX;
        let (so_far, first) =
            self.stray.filter(|(last, ..)| follows(*last)).map_or((0, now), |(_, count, first)| (count, first));
        self.stray = Some((tick, so_far + 1, first));
        if self.is_asked || so_far + 1 < STRAYS_BELIEVED || now.since(first) < STRAYS_SPAN {
            return None;
        }
        self.note(tick, now);
        Some(tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// What an anchor at tick 100 says of snapshots that come so many ms later, each of a tick newer by one.
    fn widened(at_ms: &[u64]) -> Vec<bool> {
        let mut tick_unwrap = TickUnwrap::new(Tick::new(100), Instant::ZERO);
        let coming = at_ms.iter().map(|ms| Instant::from_micros(ms * 1000)).zip(20_000..);
        coming.map(|(at, tick)| tick_unwrap.widen(at, tick, TickRate::default()).is_some()).collect()
    }

    #[test]
    fn far_ticks_are_believed_when_they_go_on_and_not_when_they_came_at_once() {
        assert_eq!(widened(&[10; 40]), [false; 40]);
        assert_eq!(widened(&[10, 43, 77, 110]), [false, false, false, true]);
        assert_eq!(widened(&[10, 10, 10, 10, 60, 110]), [false, false, false, false, false, true]);
    }

    #[test]
    fn what_goes_back_begins_a_new_row() {
        let mut tick_unwrap = TickUnwrap::new(Tick::new(100), Instant::ZERO);
        let at = |ms: u64| Instant::from_micros(ms * 1000);
        for (tick, ms) in [(20_000, 0), (20_001, 50), (20_002, 100), (19_000, 150), (19_001, 200)] {
            assert_eq!(tick_unwrap.widen(at(ms), tick, TickRate::default()), None);
        }
        assert_eq!(tick_unwrap.widen(at(250), 300, TickRate::default()), Some(Tick::new(300)));
    }
}
