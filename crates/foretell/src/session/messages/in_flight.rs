//! Datagrams of messages of which it is not known whether they have come, and what stood in each.

use super::fragment::FragmentName;
use crate::session::ack_bits::AckBits;
use crate::session::congestion_window::Fates;
use crate::session::windowed_extreme::WindowedExtreme;
use crate::time::Instant;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// Before anything has come, one is waited for so long.
const WAITS_FIRST: Duration = Duration::from_millis(500);
/// The slowest way counts for so long.
const OF_LATE: Duration = Duration::from_secs(2);
/// The other end may tell a little later than it has mostly done that something has come.
const GRACE: Duration = Duration::from_millis(20);
/// Where nothing is heard the wait doubles each time, at most this often.
const DOUBLED_MAX: u32 = 4;
/// How many datagrams may be under way.
const SENT_MAX: usize = 1024;

/// A datagram under way.
struct Sent {
    number: u16,
    at: Instant,
    bytes: usize,
    fragments: Vec<FragmentName>,
}

/// Those of which nothing is known yet, in the order in which they were sent.
pub(super) struct InFlight {
    sent: VecDeque<Sent>,
    under_way: u64,
    /// How long it takes at most to hear of one.
    slowest: WindowedExtreme<Duration>,
    /// When it was heard last that one has come.
    heard: Instant,
    /// How often in a row nothing was heard in time.
    unheard: u32,
    /// When the newest of all datagrams was sent, messages or not, that the other end is known to have.
    reached: Instant,
}

impl InFlight {
    pub(super) fn new() -> InFlight {
        let slowest = WindowedExtreme::new(OF_LATE / 2, Duration::max);
        let (heard, reached) = (Instant::ZERO, Instant::ZERO);
        InFlight { sent: VecDeque::new(), under_way: 0, slowest, heard, unheard: 0, reached }
    }

    /// The other end has a datagram that was sent then, of whatever kind.
    pub(super) fn note_reached(&mut self, sent: Instant) {
        self.reached = self.reached.max(sent);
    }

    /// How many bytes are under way.
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    /// How many datagrams are under way.
    pub(super) fn kept(&self) -> usize {
        self.sent.len()
    }

    /// Whether as many are under way as may be.
    pub(super) fn is_full(&self) -> bool {
        self.sent.len() >= SENT_MAX
    }

    /// One is sent.
    pub(super) fn note_sent(&mut self, number: u16, bytes: usize, at: Instant, fragments: Vec<FragmentName>) {
        self.under_way += bytes as u64;
        self.sent.push_back(Sent { number, at, bytes, fragments });
    }

    /// The other end has told which have come. Calls `settle` with each fragment of which it is known by now whether it has come.
    pub(super) fn settle(
        &mut self,
        received: AckBits,
        now: Instant,
        mut settle: impl FnMut(FragmentName, bool),
    ) -> Fates {
        let (mut fates, waits) = (Fates::default(), self.waits());
        let InFlight { sent, under_way, slowest, heard, unheard, .. } = self;
        sent.retain(|sent| {
            let took = now.since(sent.at);
            let has_come = received.has(sent.number);
            let is_lost = took > waits && received.is_newer_than(sent.number);
            if !has_come && !is_lost {
                return true;
            }
            if has_come {
                slowest.note(took, now);
                (*heard, *unheard) = (now, 0);
                (fates.come, fates.bytes) = (fates.come + 1, fates.bytes + sent.bytes as u64);
                fates.newest_sent = fates.newest_sent.max(Some(sent.at));
            }
            fates.lost += u32::from(!has_come);
            *under_way -= sent.bytes as u64;
            sent.fragments.iter().for_each(|fragment| settle(*fragment, has_come));
            false
        });
        fates
    }

    /// Calls `lost` with each fragment of what is taken to be lost. That is what was sent before something that the other end has, if it
    /// should have said so by now; and all, if nothing was heard for so long: where other messages come, the next word says of it too,
    /// though one may be lost itself. Returns how many the link has lost, as far as that is known.
    pub(super) fn expire(&mut self, now: Instant, mut lost: impl FnMut(FragmentName)) -> Fates {
        let mut fates = Fates::default();
        let (reached, waits) = (self.reached, self.waits().min(WAITS_FIRST));
        let is_overtaken = |sent: &mut Sent| sent.at + GRACE < reached && now.since(sent.at) > waits;
        while let Some(sent) = self.sent.pop_front_if(is_overtaken) {
            (self.unheard, fates.lost) = (0, fates.lost + 1);
            self.give_up(sent, &mut lost);
        }
        // It may take much longer than it did, for good: then what was learned says nothing.
        let waits = if self.unheard < DOUBLED_MAX { self.waits() } else { self.waits().max(WAITS_FIRST) };
        let timeout = waits * (1 << self.unheard.min(DOUBLED_MAX));
        if self.sent.front().is_none_or(|first| now.since(first.at.max(self.heard)) <= timeout) {
            return fates;
        }
        self.unheard += 1;
        while let Some(sent) = self.sent.pop_front_if(|sent| now.since(sent.at) > timeout) {
            self.give_up(sent, &mut lost);
        }
        fates
    }

    fn give_up(&mut self, sent: Sent, lost: &mut impl FnMut(FragmentName)) {
        self.under_way -= sent.bytes as u64;
        sent.fragments.into_iter().for_each(lost);
    }

    fn waits(&self) -> Duration {
        self.slowest.get().map_or(WAITS_FIRST, |slowest| slowest * 9 / 8 + GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_others_come_a_late_word_is_waited_for_and_where_nothing_comes_the_last_is_sent_again() {
        let at = |ms: u64| Instant::from_micros(1000 * ms);
        let (mut flight, mut received) = (InFlight::new(), AckBits::first(0));
        let mut expired = Vec::new();
        for (number, ms) in (0_u16..).zip((0..1000).step_by(20)) {
            flight.note_sent(number, 1000, at(ms), Vec::new());
            let Some(come) = number.checked_sub(8) else { continue };
            received = received.with(come);
            // Every fifth word comes: they are 100 ms apart.
            if come.is_multiple_of(5) {
                flight.settle(received, at(ms), |_, has_come| assert!(has_come));
            }
            let before = flight.under_way();
            flight.expire(at(ms), |_| {});
            expired.push(before - flight.under_way());
        }
        assert_eq!(expired.iter().sum::<u64>(), 0, "all have come");
        let last = (1000..2000).find(|ms| {
            flight.expire(at(*ms), |_| {});
            flight.under_way() == 0
        });
        let last = last.expect("what nothing is heard of is taken to be lost");
        assert!((1150..1700).contains(&last), "{last} ms");
    }

    #[test]
    fn where_it_takes_much_longer_than_before_for_good_something_comes_again() {
        let at = |ms: u64| Instant::from_micros(1000 * ms);
        let number = |count: usize| u16::try_from(count).expect("a few");
        let mut flight = InFlight::new();
        flight.note_sent(0, 1000, at(0), Vec::new());
        flight.settle(AckBits::first(0), at(50), |_, _| {});
        // From now on it takes three seconds. What is taken to be lost is sent again, as another datagram.
        let mut sent = Vec::new();
        let heard = (60..30_000).step_by(20).find(|ms| {
            flight.expire(at(*ms), |_| {});
            if flight.under_way() == 0 {
                sent.push(*ms);
                flight.note_sent(number(sent.len()), 1000, at(*ms), Vec::new());
            }
            let come = number(sent.iter().filter(|sent| **sent + 3000 <= *ms).count());
            let received = (1..=come).fold(AckBits::first(0), AckBits::with);
            flight.settle(received, at(*ms), |_, _| {}).come > 0
        });
        assert!(heard.is_some(), "sent {} times, and heard of none", sent.len());
    }

    #[test]
    fn after_an_outage_the_last_message_goes_again_as_soon_as_anything_else_comes() {
        let at = |ms: u64| Instant::from_micros(1000 * ms);
        let mut flight = InFlight::new();
        flight.note_sent(0, 1000, at(0), Vec::new());
        flight.settle(AckBits::first(0), at(50), |_, _| {});
        // Nothing gets through until 1,400 ms; what is taken to be lost is sent again.
        let (mut number, mut sent, mut lost) = (1, Vec::new(), 0);
        for ms in 100..1500 {
            if ms > 1450 {
                flight.note_reached(at(ms - 50));
            }
            lost += flight.expire(at(ms), |_| {}).lost;
            if flight.under_way() == 0 {
                flight.note_sent(number, 1000, at(ms), Vec::new());
                (number, sent) = (number + 1, [sent, alloc::vec![ms]].concat());
            }
        }
        assert!(sent.last().is_some_and(|last| (1400..1460).contains(last)), "{sent:?}");
        assert_eq!(lost, 1, "what is silent is no loss of the link's, and what is overtaken is");
        // It is under way, as other things are that were sent since and have not come.
        assert_eq!(flight.kept(), 1);
    }
}
