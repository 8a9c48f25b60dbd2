//! How long datagrams take to the server and back.

use crate::time::Instant;
use alloc::vec::Vec;
use core::time::Duration;

/// The shortest round trip is that of the last second: a route that has become longer is known by then.
const QUARTERS_KEPT: usize = 4;
const QUARTER_MICROS: u64 = 250_000;
/// The newest round trips are those of the last 16 datagrams, of which the server may seldom name one,
const NEWEST_OF: u16 = 16;
/// but three at least.
const NEWEST_LEAST: usize = 3;

#[derive(Clone, Debug)]
pub(crate) struct RoundTrips {
    smoothed: Duration,
    /// The shortest of each of the last quarters of a second with any, by number of the quarter.
    shortest: [(u64, Duration); QUARTERS_KEPT],
    /// The quarter of the newest.
    quarter: u64,
    /// The newest, each with the number of its datagram, the last one first.
    newest: Vec<(u16, Duration)>,
}

impl RoundTrips {
    pub(super) fn new() -> RoundTrips {
        RoundTrips {
            smoothed: Duration::ZERO,
            shortest: [(0, Duration::MAX); QUARTERS_KEPT],
            quarter: 0,
            newest: Vec::with_capacity(usize::from(NEWEST_OF) + 1),
        }
    }

    /// What a handshake has measured.
    pub(crate) fn start_with(&mut self, now: Instant, round_trip: Duration) {
        self.smoothed = round_trip;
        self.note_shortest(now, round_trip);
    }

    /// That of the datagram of this number.
    pub(super) fn note(&mut self, now: Instant, sequence: u16, round_trip: Duration) {
        self.newest.insert(0, (sequence, round_trip));
        self.newest.truncate(usize::from(NEWEST_OF));
        let before = if self.smoothed.is_zero() { round_trip } else { self.smoothed };
        self.smoothed = (before * 7 + round_trip) / 8;
        self.note_shortest(now, round_trip);
    }

    fn note_shortest(&mut self, now: Instant, round_trip: Duration) {
        self.quarter = self.quarter.max(now.micros() / QUARTER_MICROS);
        #[expect(clippy::cast_possible_truncation, reason = "below the number of those that are kept")]
        let kept = &mut self.shortest[(self.quarter % QUARTERS_KEPT as u64) as usize];
        *kept = (self.quarter, if kept.0 == self.quarter { kept.1.min(round_trip) } else { round_trip });
    }

    /// Zero until one is measured.
    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// The shortest of the last second in which there were any; zero until one is measured.
    pub(crate) fn shortest(&self) -> Duration {
        let is_kept = |(quarter, _): &&(u64, Duration)| self.quarter - quarter < QUARTERS_KEPT as u64;
        let shortest = self.shortest.iter().filter(is_kept).map(|(_, shortest)| *shortest).min();
        shortest.filter(|shortest| *shortest < Duration::MAX).unwrap_or(self.smoothed)
    }

    /// The shortest of the newest: what it takes now, also where it took less a moment ago.
    pub(super) fn shortest_of_newest(&self) -> Duration {
        let last = self.newest.first().map_or(0, |(sequence, _)| *sequence);
        let is_new = |sequence: u16| last.wrapping_sub(sequence) < NEWEST_OF;
        let each = self.newest.iter().enumerate();
        let new = each.filter(|(nth, (sequence, _))| *nth < NEWEST_LEAST || is_new(*sequence));
        new.map(|(_, (_, round_trip))| *round_trip).min().unwrap_or(self.smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    #[test]
    fn what_a_handshake_has_measured_counts_until_there_is_more() {
        let mut round_trips = RoundTrips::new();
        assert!(round_trips.shortest().is_zero());
        round_trips.start_with(at(0), 50 * MS);
        assert_eq!(
            (round_trips.smoothed(), round_trips.shortest(), round_trips.shortest_of_newest()),
            (50 * MS, 50 * MS, 50 * MS)
        );
        round_trips.note(at(16), 0, 90 * MS);
        assert_eq!(
            (round_trips.smoothed(), round_trips.shortest(), round_trips.shortest_of_newest()),
            (55 * MS, 50 * MS, 90 * MS)
        );
    }

    #[test]
    fn the_shortest_is_forgotten_after_a_second() {
        let mut round_trips = RoundTrips::new();
        round_trips.note(at(0), 0, 20 * MS);
        round_trips.note(at(999), 60, 70 * MS);
        assert_eq!(round_trips.shortest(), 20 * MS);
        round_trips.note(at(1000), 61, 80 * MS);
        assert_eq!(round_trips.shortest(), 70 * MS);
    }

    #[test]
    fn three_count_as_new_however_rarely_datagrams_are_named_and_others_for_sixteen() {
        let mut round_trips = RoundTrips::new();
        for (nth, ms) in [10, 20, 30, 40].into_iter().enumerate() {
            round_trips.note(at(0), 40_000 * u16::try_from(nth % 2).unwrap() + 100, ms * MS);
        }
        assert_eq!(round_trips.shortest_of_newest(), 20 * MS);
        for (nth, ms) in (0..17).zip([10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 90, 90, 90, 90, 90, 90, 90]) {
            round_trips.note(at(0), nth, ms * MS);
        }
        assert_eq!(round_trips.shortest_of_newest(), 15 * MS);
    }
}
