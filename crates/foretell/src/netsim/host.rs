//! The clock of one machine: wrong by an offset, running a little fast or slow, and sometimes not looked at.

use crate::time::Instant;
use core::time::Duration;

/// Maps virtual time to what one machine's clock shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostClock {
    offset: Duration,
    skew_ppm: i32,
    /// `[start, end)` on virtual time, ascending.
    stalls: Vec<(Instant, Instant)>,
}

impl HostClock {
    /// A clock that shows `offset` at virtual time 0 and runs fast by so many millionths (10,000 is 1%; negative is
    /// slow). Clamped to half or double speed.
    pub fn new(offset: Duration, skew_ppm: i32) -> HostClock {
        HostClock { offset, skew_ppm: skew_ppm.clamp(-500_000, 1_000_000), stalls: Vec::new() }
    }

    /// What it shows at a virtual instant. It goes on during a stall, as real ones do.
    pub fn local(&self, now: Instant) -> Instant {
        let skew = i128::from(now.micros()) * i128::from(self.skew_ppm) / 1_000_000;
        let local = i128::from(now.micros()) + skew;
        Instant::from_micros(u64::try_from(local).unwrap_or(u64::MAX)) + self.offset
    }

    /// The machine runs nothing from `start` on, for so long.
    pub fn stall(&mut self, start: Instant, length: Duration) {
        self.stalls.push((start, start + length));
    }

    /// Whether the machine runs nothing at a virtual instant.
    pub fn is_stalled(&self, now: Instant) -> bool {
        self.stalls.iter().any(|(start, end)| *start <= now && now < *end)
    }
}
