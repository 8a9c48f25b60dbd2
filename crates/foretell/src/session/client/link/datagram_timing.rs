//! The datagrams of one session: their numbers, and the round trip.

use crate::time::Instant;
use alloc::vec::Vec;
use core::time::Duration;

const SENT_KEPT: usize = 256;
/// The shortest round trip is that of the last second: a route that has become longer is known by then.
const QUARTERS_KEPT: usize = 4;
const QUARTER_MICROS: u64 = 250_000;
/// The last round trips are those of the last 16 datagrams, of which the server may seldom name one,
const SAMPLES_OF: u16 = 16;
/// but three at least.
const SAMPLES_LEAST: usize = 3;
/// By more than this the round trip does not grow from one datagram to the next.
const GROWS_AT_ONCE: Duration = Duration::from_secs(2);

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
    /// The newest of our datagrams that the server has named.
    heard: Option<u16>,
    /// The first datagram since the clock was set back, if it was of late. Ticks before it are not those of now.
    anew: Option<u16>,
    rtt: Duration,
    /// The shortest round trip of each of the last quarters of a second with any, by number of the quarter.
    shortest: [(u64, Duration); QUARTERS_KEPT],
    /// The quarter of the newest round trip.
    quarter: u64,
    /// The first datagram since updates stood still or the clock was set, if that was recently. How long those before it took nobody
    /// knows.
    measured: Option<u16>,
    /// The last round trips, each with the number of its datagram, the newest first.
    samples: Vec<(u16, Duration)>,
    last_snapshot: Instant,
}

impl DatagramTiming {
    pub(crate) fn new(epoch: u8, ticket: u8, now: Instant) -> DatagramTiming {
        DatagramTiming {
            epoch,
            ticket,
            offered: None,
            sequence: 0,
            sent: vec![Instant::ZERO; SENT_KEPT],
            heard: None,
            anew: None,
            rtt: Duration::ZERO,
            shortest: [(0, Duration::MAX); QUARTERS_KEPT],
            quarter: 0,
            measured: None,
            samples: Vec::with_capacity(usize::from(SAMPLES_OF) + 1),
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
        self.sent[usize::from(sequence) % SENT_KEPT] = now;
        self.sequence = sequence.wrapping_add(1);
        sequence
    }

    /// The clock was set back: inputs are sent for ticks that others were sent for.
    pub(crate) fn begin_anew(&mut self) {
        self.anew = Some(self.sequence);
    }

    /// Whether a server that has heard our datagram `sequence` speaks of ticks as they are now.
    pub(crate) fn is_of_now(&mut self, sequence: Option<u16>) -> bool {
        self.anew.is_none() || sequence.is_some_and(|sequence| is_since(&mut self.anew, sequence))
    }

    /// Updates have stood still, or the clock was set.
    pub(crate) fn note_stood_still(&mut self) {
        self.measured = Some(self.sequence);
    }

    /// When one of the last datagrams was sent.
    pub(crate) fn sent_at(&self, sequence: u16) -> Option<Instant> {
        let age = usize::from(self.sequence.wrapping_sub(sequence));
        (1..=SENT_KEPT).contains(&age).then(|| self.sent[usize::from(sequence) % SENT_KEPT])
    }

    /// The server has named one of our datagrams, and how long it held the answer. Whether it has named none as new before.
    pub(crate) fn note_heard(&mut self, now: Instant, sequence: u16, held: Duration) -> bool {
        let age = self.sequence.wrapping_sub(sequence);
        let newer = self.heard.is_none_or(|heard| sequence.wrapping_sub(heard).cast_signed() > 0);
        if !newer || age == 0 || usize::from(age) > SENT_KEPT {
            return false;
        }
        self.heard = Some(sequence);
        if !is_since(&mut self.measured, sequence) {
            return true;
        }
        let sample = now.since(self.sent[usize::from(sequence) % SENT_KEPT]).saturating_sub(held);
        // A clock that was set a little, or one that stood still, makes a round trip that never was.
        let sample = if self.rtt.is_zero() { sample } else { sample.min(self.rtt_min() + GROWS_AT_ONCE) };
        if self.rtt.is_zero() {
            self.rtt = sample;
        }
        self.samples.insert(0, (sequence, sample));
        self.samples.truncate(usize::from(SAMPLES_OF));
        self.rtt = (self.rtt * 7 + sample) / 8;
        self.note_shortest(now, sample);
        true
    }

    fn note_shortest(&mut self, now: Instant, sample: Duration) {
        self.quarter = self.quarter.max(now.micros() / QUARTER_MICROS);
        #[expect(clippy::cast_possible_truncation, reason = "below the number of those that are kept")]
        let kept = &mut self.shortest[(self.quarter % QUARTERS_KEPT as u64) as usize];
        *kept = (self.quarter, if kept.0 == self.quarter { kept.1.min(sample) } else { sample });
    }

    /// The smoothed round trip; zero until it is measured.
    pub(crate) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The shortest of the last round trips.
    pub(crate) fn rtt_of_late(&self) -> Duration {
        let newest = self.samples.first().map_or(0, |(sequence, _)| *sequence);
        let is_of_late = |sequence: u16| newest.wrapping_sub(sequence) < SAMPLES_OF;
        let each = self.samples.iter().enumerate();
        let of_late = each.filter(|(nth, (sequence, _))| *nth < SAMPLES_LEAST || is_of_late(*sequence));
        of_late.map(|(_, (_, sample))| *sample).min().unwrap_or(self.rtt)
    }

    /// The shortest round trip of the last second in which there were any; zero until it is measured.
    pub(crate) fn rtt_min(&self) -> Duration {
        let of_late = |(quarter, _): &&(u64, Duration)| self.quarter - quarter < QUARTERS_KEPT as u64;
        let shortest = self.shortest.iter().filter(of_late).map(|(_, shortest)| *shortest).min();
        shortest.filter(|shortest| *shortest < Duration::MAX).unwrap_or(self.rtt)
    }

    pub(crate) fn start_with_rtt(&mut self, now: Instant, rtt: Duration) {
        self.rtt = rtt;
        self.note_shortest(now, rtt);
    }

    pub(crate) fn note_snapshot(&mut self, now: Instant) {
        self.last_snapshot = self.last_snapshot.max(now);
    }

    /// When the last snapshot came; the start of the session before the first.
    pub(crate) fn last_snapshot(&self) -> Instant {
        self.last_snapshot
    }
}

/// Whether a datagram was sent since that one, which is forgotten when it is long ago.
fn is_since(first: &mut Option<u16>, sequence: u16) -> bool {
    let since = first.map_or(0, |first| sequence.wrapping_sub(first).cast_signed());
    if since > 1024 {
        *first = None;
    }
    since >= 0
}
