//! The datagrams of one session: their numbers, when each was sent, and how long they take to the server and back.

use super::round_trips::RoundTrips;
use crate::time::Instant;
use alloc::vec::Vec;
use core::time::Duration;

const SENT_KEPT: u16 = 256;
/// A datagram that the server held for longer than it was away, by more than this, was under way while the client's clock stood still:
/// clocks that run unalike differ by less.
const HELD_LONGER: Duration = Duration::from_millis(100);

/// Lives as long as the place that the server gave.
#[derive(Clone, Debug)]
pub(crate) struct DatagramTiming {
    /// The server's: another one has started anew.
    pub epoch: u8,
    /// Stands in every datagram of the place.
    pub ticket: u8,
    /// The one that it was offered, and takes when the server uses it.
    offered: Option<u8>,
    /// The number of the next datagram.
    sequence: u16,
    /// When each of the last datagrams was sent, by the low bits of its number.
    sent: Vec<Instant>,
    /// The newest of the last datagrams that the server has named.
    heard: Option<u16>,
    /// The first since the clock was set back. Ticks of those before it are not those of now.
    anew: Since,
    /// The first since updates stood still or the clock was set. How long those before it took nobody knows.
    measured: Since,
    pub round_trips: RoundTrips,
    last_snapshot: Instant,
}

impl DatagramTiming {
    pub(crate) fn new(epoch: u8, ticket: u8, now: Instant) -> DatagramTiming {
        DatagramTiming {
            epoch,
            ticket,
            offered: None,
            sequence: 0,
            sent: vec![Instant::ZERO; usize::from(SENT_KEPT)],
            heard: None,
            anew: Since::default(),
            measured: Since::default(),
            round_trips: RoundTrips::new(),
            last_snapshot: now,
        }
    }

    /// The server may use this ticket from now on. An offer stays though the present ticket is told again: the hello that
    /// takes it may be under way.
    pub(crate) fn note_offer(&mut self, ticket: u8) {
        if self.ticket != ticket {
            self.offered = Some(ticket);
        }
    }

    /// Whether a datagram with this ticket is of this place.
    pub(crate) fn accepts(&mut self, ticket: u8) -> bool {
        if self.offered == Some(ticket) {
            (self.ticket, self.offered) = (ticket, None);
        }
        self.ticket == ticket
    }

    /// The number of a datagram that is sent now.
    pub(crate) fn next_sequence(&mut self, now: Instant) -> u16 {
        let sequence = self.sequence;
        self.sent[usize::from(sequence % SENT_KEPT)] = now;
        self.sequence = sequence.wrapping_add(1);
        self.heard = self.heard.filter(|heard| self.age(*heard) <= SENT_KEPT);
        self.anew.forget_old(self.sequence);
        self.measured.forget_old(self.sequence);
        sequence
    }

    /// How many datagrams ago that was sent, from 1; 0 or a large number where it never was.
    fn age(&self, sequence: u16) -> u16 {
        self.sequence.wrapping_sub(sequence)
    }

    /// The clock was set back: inputs are sent for ticks that others were sent for.
    pub(crate) fn begin_anew(&mut self) {
        self.anew = Since(Some(self.sequence));
    }

    /// Whether a server that has heard our datagram `sequence` speaks of ticks as they are now.
    pub(crate) fn is_of_now(&self, sequence: Option<u16>) -> bool {
        sequence.map_or(self.anew.0.is_none(), |sequence| self.anew.has(sequence))
    }

    /// Updates have stood still, or the clock was set.
    pub(crate) fn note_stood_still(&mut self) {
        self.measured = Since(Some(self.sequence));
    }

    /// The server has named one of our datagrams, and how long it held the answer; `None` for longer than it can say. Where it is
    /// named for the first time, and it is known how long it took, returns when it was sent.
    pub(crate) fn note_heard(&mut self, now: Instant, sequence: u16, held: Option<Duration>) -> Option<Instant> {
        let age = self.age(sequence);
        let is_newer = self.heard.is_none_or(|heard| age < self.age(heard));
        if !is_newer || !(1..=SENT_KEPT).contains(&age) {
            return None;
        }
        self.heard = Some(sequence);
        let sent = self.sent[usize::from(sequence % SENT_KEPT)];
        let (away, held) = (now.since(sent), held?);
        if !self.measured.has(sequence) || held > away + HELD_LONGER {
            return None;
        }
        self.round_trips.note(now, sequence, away.saturating_sub(held));
        Some(sent)
    }

    pub(crate) fn note_snapshot(&mut self, now: Instant) {
        self.last_snapshot = self.last_snapshot.max(now);
    }

    /// When the last snapshot came; the start of the session before the first.
    pub(crate) fn last_snapshot(&self) -> Instant {
        self.last_snapshot
    }
}

/// The datagrams from that number on; all of them where it is long ago.
#[derive(Clone, Copy, Default, Debug)]
struct Since(Option<u16>);

impl Since {
    fn has(self, sequence: u16) -> bool {
        self.0.is_none_or(|first| sequence.wrapping_sub(first).cast_signed() >= 0)
    }

    /// Numbers are used again: the number of the next datagram is `next`.
    fn forget_old(&mut self, next: u16) {
        self.0 = self.0.filter(|first| next.wrapping_sub(*first) <= 1024);
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
    fn what_was_under_way_while_the_machine_slept_and_its_clock_with_it_is_not_measured() {
        for held in [Some(4000 * MS), None] {
            let mut timing = DatagramTiming::new(0, 0, at(0));
            let sent = timing.next_sequence(at(0));
            assert_eq!(timing.note_heard(at(50), sent, Some(10 * MS)), Some(at(0)));
            let sent = timing.next_sequence(at(60));
            assert_eq!(timing.note_heard(at(100), sent, held), None);
            let sent = timing.next_sequence(at(110));
            assert_eq!(timing.note_heard(at(150), sent, Some(Duration::ZERO)), Some(at(110)));
            assert_eq!(timing.round_trips.shortest(), 40 * MS);
        }
    }

    #[test]
    fn a_clock_that_runs_a_tenth_slower_measures_also_what_was_held_for_long() {
        let mut timing = DatagramTiming::new(0, 0, at(0));
        let sent = timing.next_sequence(at(0));
        assert_eq!(timing.note_heard(at(900), sent, Some(1000 * MS)), Some(at(0)));
    }

    #[test]
    fn a_server_that_was_silent_until_numbers_were_used_again_is_heard_at_once() {
        let mut timing = DatagramTiming::new(0, 0, at(0));
        let sent = timing.next_sequence(at(0));
        assert!(timing.note_heard(at(40), sent, Some(Duration::ZERO)).is_some());
        timing.begin_anew();
        timing.note_stood_still();
        assert!(!timing.is_of_now(Some(sent)));
        let last = (0..40_000).map(|_| timing.next_sequence(at(60))).last().unwrap();
        assert!(timing.is_of_now(Some(last)));
        assert_eq!(timing.note_heard(at(100), last, Some(Duration::ZERO)), Some(at(60)));
    }
}
