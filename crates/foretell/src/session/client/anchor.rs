//! About which tick a snapshot is that comes now: its 16 bits are widened to the nearest.

use crate::time::{Instant, Tick, TickRate};

/// A snapshot is of no later tick than the server can have come to by the last one that was compared; with room for
/// clocks that differ.
const AHEAD_MAX: u32 = 1024;
/// But when so many in a row say that the server is further ahead, it is.
const STRAYS_BELIEVED: u32 = 4;
/// As long as each is of a tick at most so much newer than the one before.
const STRAYS_APART_MAX: u32 = 256;

/// A tick that is certain, and when it was. Not simply that of the newest snapshot: one that nobody sent, of a far tick,
/// would make every true one look old.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    tick: Tick,
    at: Instant,
    /// The last tick that was too far ahead, and how many in a row.
    stray: Option<(Tick, u32)>,
}

impl Anchor {
    pub(super) fn new(tick: Tick, at: Instant) -> Anchor {
        Anchor { tick, at, stray: None }
    }

    /// When its tick was.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// Whether the server may have come to `tick` by now.
    fn allows(&self, now: Instant, tick: Tick, rate: TickRate) -> bool {
        tick.since(self.expected(now, rate)) <= AHEAD_MAX
    }

    fn expected(&self, now: Instant, rate: TickRate) -> Tick {
        self.tick + rate.ticks_in(now.since(self.at))
    }

    /// The snapshot of `tick`, which came at `at`, was compared or adopted.
    pub(super) fn note(&mut self, tick: Tick, at: Instant) {
        (self.tick, self.at, self.stray) = (tick, at, None);
    }

    /// The tick of a snapshot that comes now; `None` where it can't be true. However long the server was silent, its clock
    /// went on.
    pub(super) fn widen(&mut self, now: Instant, low16: u16, rate: TickRate) -> Option<Tick> {
        let tick = Tick::widen(u32::from(low16), 16, self.expected(now, rate));
        if self.allows(now, tick, rate) {
            return Some(tick);
        }
        let follows = |last: Tick| last < tick && tick.since(last) <= STRAYS_APART_MAX;
        let so_far = self.stray.filter(|(last, _)| follows(*last)).map_or(0, |(_, count)| count);
        self.stray = Some((tick, so_far + 1));
        if so_far + 1 < STRAYS_BELIEVED {
            return None;
        }
        self.note(tick, now);
        Some(tick)
    }
}
