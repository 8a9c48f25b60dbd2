//! When other entities are shown: one cursor per connection, behind the newest information by a measured delay.

use super::snapshots::{Snapshot, Snapshots};
use crate::time::{Instant, Tick, TickClock, TickRate, TickTime};

/// How many arrivals the delay is measured by.
const ARRIVALS_KEPT: usize = 64;
const GAPS_KEPT: usize = 8;
/// A stall is not jitter: arrivals later than this do not make the delay longer, in seconds.
const JITTER_MAX_S: f64 = 0.25;
const JUMP_TICKS: f64 = 10.0;
const GAIN: f64 = 0.1;

/// The playout cursor and what it is steered by.
#[derive(Clone, Debug)]
pub(crate) struct Playout {
    rate: TickRate,
    cursor: Option<TickClock>,
    /// For each of the last snapshots: when it came minus when it was sent, on the tick axis. Only differences count,
    /// as the two clocks have different origins.
    transits: Vec<TickTime>,
    next: usize,
    newest: Option<Tick>,
    /// The distances between the last snapshots, in ticks; 0 for none yet.
    gaps: [u32; GAPS_KEPT],
    next_gap: usize,
}

impl Playout {
    pub(crate) fn new(rate: TickRate) -> Playout {
        Playout {
            rate,
            cursor: None,
            transits: Vec::with_capacity(ARRIVALS_KEPT),
            next: 0,
            newest: None,
            gaps: [0; GAPS_KEPT],
            next_gap: 0,
        }
    }

    pub(crate) fn note_arrival(&mut self, snapshot: &Snapshot) {
        let transit = self.local(snapshot.came) - snapshot.sent;
        if self.transits.len() < ARRIVALS_KEPT {
            self.transits.push(transit);
        } else {
            self.transits[self.next] = transit;
            self.next = (self.next + 1) % ARRIVALS_KEPT;
        }
        if let Some(newest) = self.newest.filter(|newest| *newest < snapshot.tick) {
            self.gaps[self.next_gap] = snapshot.tick.since(newest);
            self.next_gap = (self.next_gap + 1) % GAPS_KEPT;
        }
        self.newest = self.newest.max(Some(snapshot.tick));
    }

    /// Moves the cursor to `now`, slewing it towards its delay.
    pub(crate) fn advance(&mut self, now: Instant) {
        let Some(fastest) = self.transits.iter().min().copied() else { return };
        let newest_possible = self.local(now) - fastest;
        let target = newest_possible - TickTime::ticks(self.delay_ticks());
        let rate = self.rate;
        let cursor = self.cursor.get_or_insert_with(|| TickClock::new(rate, target, now));
        cursor.advance(now);
        let error = (target - cursor.at()).as_ticks();
        if error.abs() > JUMP_TICKS {
            cursor.jump(target);
        }
        cursor.set_speed((1.0 + GAIN * error).clamp(0.85, 1.1));
    }

    /// Where the cursor stands; `None` before the first snapshot.
    pub(crate) fn at_instant(&self, now: Instant) -> Option<TickTime> {
        self.cursor.as_ref().map(|cursor| cursor.at_instant(now))
    }

    /// How far behind the newest possible information the cursor is to be: one and a half intervals, so that there is
    /// mostly one state on each side of it, and the jitter of the last arrivals.
    pub(crate) fn delay_ticks(&self) -> f64 {
        let slowest = self.transits.iter().max().copied().unwrap_or_default();
        let fastest = self.transits.iter().min().copied().unwrap_or_default();
        let longest = f64::from(self.rate.get()) * JITTER_MAX_S;
        1.5 * f64::from(self.interval_ticks()) + (slowest - fastest).as_ticks().min(longest)
    }

    /// Ticks between snapshots: the shortest of the last distances, as a lost snapshot makes one longer.
    pub(crate) fn interval_ticks(&self) -> u32 {
        self.gaps.iter().copied().filter(|gap| *gap > 0).min().unwrap_or(1)
    }

    /// The snapshots around a point: the newest not after it, and the oldest after it.
    pub(crate) fn around(snapshots: &Snapshots, at: TickTime) -> (Option<&Snapshot>, Option<&Snapshot>) {
        let mut before = None;
        for snapshot in snapshots.complete() {
            if TickTime::start_of(snapshot.tick) > at {
                return (before, Some(snapshot));
            }
            before = Some(snapshot);
        }
        (before, None)
    }

    fn local(&self, now: Instant) -> TickTime {
        let micros = i64::try_from(now.micros()).unwrap_or(i64::MAX);
        TickTime::from_millionths(micros.saturating_mul(i64::from(self.rate.get())))
    }
}
