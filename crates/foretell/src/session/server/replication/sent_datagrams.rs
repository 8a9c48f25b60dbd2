//! Which datagrams of states one client was sent, and what stood in each: until it is known whether they have come.

use super::slot_set::{ChunkRun, ChunkSlots};
use crate::session::ack_bits::AckBits;
use crate::session::congestion_window::Fates;
use crate::session::windowed_extreme::WindowedExtreme;
use crate::time::{Instant, Tick};
use crate::world::RowKey;
use alloc::collections::{VecDeque, vec_deque};
use core::time::Duration;

/// How many datagrams may be unacknowledged; beyond that no more rows are told.
const SENT_MAX: usize = 4096;
/// One of which nothing is heard for so long is taken to be lost, though no later one has come.
const SILENT: Duration = Duration::from_secs(16);
/// Before anything has come, one is waited for so long.
const WAITS_FIRST: Duration = Duration::from_secs(1);
/// Where nothing was heard for longer than this, and than it takes twice, what is heard then may have come long ago.
const PAUSE: Duration = Duration::from_millis(100);
/// The slowest way counts for so long.
const OF_LATE: Duration = Duration::from_secs(2);
/// How many mostly are under way, and how many runs of rows stand in them altogether.
const SENT_USUAL: usize = 64;
const RUNS_USUAL: usize = 512;

/// What a datagram told of what the client shows.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u16,
    /// The state that it told of.
    tick: Tick,
    at: Instant,
    /// How many runs of rows it told.
    runs: usize,
    /// And of how many that they are gone.
    gone: usize,
    /// In which state the rows were told last of which it said that they have stopped.
    stopped: Option<Tick>,
    bytes: usize,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    UnderWay,
    Come,
    /// Or late.
    Lost,
}

/// One of which it is known whether it has come.
pub(super) struct SettledDatagram<'a> {
    pub tick: Tick,
    pub has_come: bool,
    /// The numbers of the rows that it told.
    pub runs: vec_deque::Iter<'a, ChunkRun>,
    pub gone: vec_deque::Iter<'a, RowKey>,
    /// In which state the rows were told last of which it said that they have stopped.
    pub stopped: Option<Tick>,
}

/// Those whose fate is not known. Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct SentDatagrams {
    /// In the order in which they were sent.
    sent: VecDeque<Sent>,
    /// What stands in them, in the same order.
    runs: VecDeque<ChunkRun>,
    gone: VecDeque<RowKey>,
    next: u16,
    /// How many bytes are under way.
    under_way: u64,
    /// How long it takes at most to hear of one that comes.
    slowest: WindowedExtreme<Duration>,
    /// When the client has told last what has come, and for how long it had not before.
    heard: Option<(Instant, Duration)>,
}

impl SentDatagrams {
    /// Room for what is under way on an ordinary connection.
    pub(super) fn new() -> SentDatagrams {
        SentDatagrams {
            sent: VecDeque::with_capacity(SENT_USUAL),
            runs: VecDeque::with_capacity(RUNS_USUAL),
            gone: VecDeque::with_capacity(SENT_USUAL),
            next: 0,
            under_way: 0,
            slowest: WindowedExtreme::new(OF_LATE / 2, Duration::max),
            heard: None,
        }
    }

    /// The number of the next datagram.
    pub(super) fn next_number(&mut self) -> u16 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Whether as many are unacknowledged as may be.
    pub(super) fn is_full(&self) -> bool {
        self.sent.len() >= SENT_MAX
    }

    /// How many bytes are under way.
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    /// A datagram is being written: what is noted from now on stands in it. Not where it [is full](SentDatagrams::is_full).
    pub(super) fn begin(&mut self, number: u16, tick: Tick) {
        let at = Instant::ZERO;
        let fate = Fate::UnderWay;
        self.sent.push_back(Sent { number, tick, at, runs: 0, gone: 0, stopped: None, bytes: 0, fate });
    }

    /// The one with this number is sent, and takes this many bytes.
    pub(super) fn note_sent(&mut self, number: u16, bytes: usize, now: Instant) {
        if let Some(sent) = self.sent.back_mut().filter(|sent| sent.number == number) {
            (sent.bytes, sent.at) = (bytes, now);
            self.under_way += bytes as u64;
        }
    }

    /// The last ones, `count` of them, are not sent after all; they held no rows.
    pub(super) fn take_back(&mut self, count: u8) {
        let count = u16::from(count);
        self.next = self.next.wrapping_sub(count);
        while let Some(last) = self.sent.pop_back_if(|last| last.number.wrapping_sub(self.next) < count) {
            self.under_way -= last.bytes as u64;
        }
    }

    /// It tells these rows, too.
    #[inline]
    pub(super) fn note_told(&mut self, those: ChunkSlots) {
        let sent = self.sent.back_mut().expect("one is being written");
        let last = self.runs.back_mut().filter(|_| sent.runs > 0);
        if !last.is_some_and(|last| last.extend(those)) {
            self.runs.push_back(ChunkRun::of(those));
            sent.runs += 1;
        }
    }

    /// It tells that this row is gone.
    pub(super) fn note_gone(&mut self, key: RowKey) {
        self.gone.push_back(key);
        self.sent.back_mut().expect("one is being written").gone += 1;
    }

    /// It tells that what was told last in the state of `told` has stopped.
    pub(super) fn note_stopped(&mut self, told: Tick) {
        self.sent.back_mut().expect("one is being written").stopped = Some(told);
    }

    /// Calls `settle` with each datagram of which it is known now whether it has come, as the client has told. Returns how
    /// they fared.
    pub(super) fn settle(
        &mut self,
        received: AckBits,
        now: Instant,
        mut settle: impl FnMut(SettledDatagram<'_>),
    ) -> Fates {
        let mut fates = Fates::default();
        let (mut run, mut gone) = (0, 0);
        let waits = self.waits();
        // What a stall has heaped up is heard at one instant.
        let pause = match self.heard {
            Some((heard, before)) if heard == now => before,
            heard => heard.map_or(Duration::ZERO, |(heard, _)| now.since(heard)),
        };
        self.heard = Some((now, pause));
        let pause = if pause > PAUSE.max(2 * waits) { pause } else { Duration::ZERO };
        for sent in self.sent.iter_mut() {
            let (first_run, first_gone) = (run, gone);
            (run, gone) = (run + sent.runs, gone + sent.gone);
            let took = now.since(sent.at);
            let has_come = sent.fate != Fate::Come && received.has(sent.number);
            let is_late = took > SILENT || took > waits && received.is_newer_than(sent.number);
            if has_come {
                // Not how long an outage was in which nothing could be heard: after it what was lost would be waited for as long.
                took.checked_sub(pause).into_iter().for_each(|took| self.slowest.note(took, now));
                (fates.come, fates.bytes) = (fates.come + 1, fates.bytes + sent.bytes as u64);
                fates.newest_sent = fates.newest_sent.max(Some(sent.at));
            }
            if sent.fate == Fate::UnderWay && (has_come || is_late) {
                self.under_way -= sent.bytes as u64;
                fates.lost += u32::from(!has_come);
                let (runs, gone) = (self.runs.range(first_run..run), self.gone.range(first_gone..gone));
                settle(SettledDatagram { tick: sent.tick, has_come, runs, gone, stopped: sent.stopped });
                sent.fate = Fate::Lost;
            }
            if has_come {
                sent.fate = Fate::Come;
            }
        }
        self.forget_settled(now, waits + waits / 2);
        fates
    }

    /// How long one is waited for, of those that later ones have overtaken: as long as the slowest, and an eighth.
    fn waits(&self) -> Duration {
        self.slowest.get().map_or(WAITS_FIRST, |slowest| slowest * 9 / 8)
    }

    /// What was lost is remembered for so long, as it may be late.
    fn forget_settled(&mut self, now: Instant, lost_for: Duration) {
        while let Some(first) = self.sent.front() {
            let is_done = match first.fate {
                Fate::UnderWay => false,
                Fate::Come => true,
                Fate::Lost => now.since(first.at) > lost_for || self.sent.len() > SENT_MAX / 2,
            };
            if !is_done {
                return;
            }
            self.runs.drain(..first.runs);
            self.gone.drain(..first.gone);
            self.sent.pop_front();
        }
    }

    /// Nobody is there any more who was sent these; the numbers go on.
    pub(super) fn forget(&mut self) {
        self.sent.clear();
        self.runs.clear();
        self.gone.clear();
        self.under_way = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn at(ms: u32) -> Instant {
        Instant::from_micros(u64::from(ms) * 1000)
    }

    /// Sends one at this time in milliseconds.
    fn send(sent: &mut SentDatagrams, ms: u32, slots: &[u32]) -> u16 {
        let number = sent.next_number();
        sent.begin(number, Tick::new(ms));
        slots.iter().for_each(|slot| sent.note_told(ChunkSlots::one(*slot)));
        sent.note_sent(number, 100, at(ms));
        number
    }

    proptest! {
        #[test]
        fn over_any_loss_each_datagram_has_one_fate_and_none_that_came_in_time_is_lost(
            came in prop::collection::vec(any::<bool>(), 1..200), first: u16,
        ) {
            let mut sent = SentDatagrams { next: first, ..SentDatagrams::new() };
            let (mut fates, mut received) = (BTreeMap::new(), None);
            let mut settle = |sent: &mut SentDatagrams, received: AckBits, ms: u32| {
                sent.settle(received, at(ms), |mut datagram| {
                    let told = datagram.runs.next().and_then(|run| run.chunks().next()).expect("one row");
                    let slot = told.iter().next().expect("one row");
                    assert_eq!(fates.insert(slot, datagram.has_come), None, "one fate");
                });
            };
            for (ms, has_come) in (0_u32..).zip(&came) {
                let number = send(&mut sent, ms, &[ms]);
                if *has_come {
                    received = Some(received.map_or(AckBits::first(number), |before: AckBits| before.with(number)));
                }
                received.into_iter().for_each(|received| settle(&mut sent, received, ms));
            }
            // Much later all are known.
            settle(&mut sent, received.unwrap_or(AckBits::first(first)), 20_000);
            prop_assert!(sent.sent.is_empty() && sent.under_way() == 0);
            let is_first_alone = came.iter().all(|has_come| !has_come);
            for (ms, has_come) in (0..).zip(&came) {
                prop_assert_eq!(fates[&ms], *has_come || is_first_alone && ms == 0);
            }
        }
    }

    /// Ten are sent, of which the first comes after all others, `late_ms` after it was sent; the others take 40 ms. How many
    /// are taken to be lost.
    fn lost_where_one_is_late(sent: &mut SentDatagrams, begin_ms: u32, late_ms: u32) -> u32 {
        sent.settle(AckBits::first(sent.next.wrapping_sub(1)), at(begin_ms), |_| {});
        let numbers: Vec<u16> = (0..10).map(|nth| send(sent, begin_ms, &[nth])).collect();
        let received = numbers[2..].iter().fold(AckBits::first(numbers[1]), |received, number| received.with(*number));
        // The client says the same, until the late one comes.
        let lost: u32 = (40..late_ms).map(|ms| sent.settle(received, at(begin_ms + ms), |_| {}).lost).sum();
        let fates = sent.settle(received.with(numbers[0]), at(begin_ms + late_ms), |_| {});
        assert_eq!((fates.come, fates.bytes), (1, 100), "it counts, late or not");
        lost
    }

    #[test]
    fn one_that_is_overtaken_is_lost_when_it_takes_longer_than_the_slowest_of_late() {
        let mut sent = SentDatagrams::new();
        assert_eq!(lost_where_one_is_late(&mut sent, 0, 44), 0, "nine have overtaken it, for a moment");
        assert_eq!(lost_where_one_is_late(&mut sent, 100, 60), 1, "that is late, and is learned");
        assert_eq!(lost_where_one_is_late(&mut sent, 200, 64), 0);
        // Later it is forgotten.
        assert_eq!(lost_where_one_is_late(&mut sent, 5000, 44), 0);
        assert_eq!(lost_where_one_is_late(&mut sent, 8000, 60), 1);
    }

    #[test]
    fn what_was_lost_in_an_outage_is_known_to_be_lost_as_soon_as_something_comes_again() {
        let mut sent = SentDatagrams::new();
        let mut received = AckBits::first(send(&mut sent, 0, &[0]));
        for nth in 1..60 {
            sent.settle(received, at(nth * 16), |_| {});
            received = received.with(send(&mut sent, nth * 16, &[nth]));
        }
        // That the last one has come is not heard any more.
        (60..116).for_each(|nth| _ = send(&mut sent, nth * 16, &[nth]));
        received = received.with(send(&mut sent, 116 * 16, &[116]));
        let fates = sent.settle(received, at(117 * 16), |_| {});
        assert_eq!((fates.come, fates.lost), (2, 56));
        received = received.with(send(&mut sent, 117 * 16, &[117]));
        (60..64).for_each(|slot| _ = send(&mut sent, 117 * 16, &[slot]));
        received = received.with(send(&mut sent, 118 * 16, &[118]));
        let fates = sent.settle(received, at(120 * 16), |_| {});
        assert_eq!((fates.come, fates.lost), (2, 4), "nor are those after it waited for");
    }

    #[test]
    fn what_a_stall_of_the_server_has_heaped_up_says_nothing_of_how_long_it_takes() {
        let mut sent = SentDatagrams::new();
        let mut received = AckBits::first(send(&mut sent, 0, &[0]));
        for nth in 1..60 {
            sent.settle(received, at(nth * 16), |_| {});
            received = received.with(send(&mut sent, nth * 16, &[nth]));
        }
        // Two datagrams of the client's wait until the server goes on.
        let next = send(&mut sent, 60 * 16, &[60]);
        for received in [received, received.with(next)] {
            assert_eq!(sent.settle(received, at(2_000), |_| {}).come, 1);
        }
        send(&mut sent, 2_000, &[61]);
        let received = received.with(next).with(send(&mut sent, 2_016, &[62]));
        assert_eq!(sent.settle(received, at(2_032), |_| {}).lost, 1);
    }

    #[test]
    fn it_is_full_while_nothing_is_heard_of_very_many_and_room_comes_with_what_is_heard() {
        let mut sent = SentDatagrams::new();
        while !sent.is_full() {
            send(&mut sent, 1, &[7]);
        }
        assert_eq!((sent.runs.len(), sent.under_way()), (SENT_MAX, 100 * SENT_MAX as u64));
        let mut lost = 0;
        sent.settle(AckBits::first(99), at(1500), |datagram| lost += u32::from(!datagram.has_come));
        assert_eq!((lost, sent.is_full()), (99, false), "one has come, and 99 before it have not");
        let (number, under_way) = (send(&mut sent, 1500, &[7]), sent.under_way());
        (0..3).for_each(|_| assert!(send(&mut sent, 1500, &[]) > number));
        sent.take_back(3);
        assert_eq!((sent.next, sent.under_way()), (number + 1, under_way), "they were not sent");
        sent.forget();
        assert_eq!((sent.next_number(), sent.sent.len(), sent.under_way()), (number + 1, 0, 0), "numbers go on");
    }
}
