//! One direction of a link: datagrams go in, and come out late, twice, in another order or not at all.
//!
//! Everything that happens is a function of two seeds and of what was sent when under which [`Conditions`]. What is
//! lost and what is delayed are drawn from two streams, so that a change of the jitter leaves the losses as they are.
//!
//! The draws, exactly, so that a second implementation agrees (D31). Per datagram sent:
//! 1. from the loss stream, always, one [`SplitMix64::chance`]; for bursts it depends on what became of the one before;
//! 2. if it is neither lost nor dropped at the bottleneck, from the delay stream:
//!    its jitter `next_u64() % (jitter in microseconds + 1)`, only if the jitter is not 0;
//!    whether it has a copy, `chance(duplicates)`, only if that is not 0; the copy's jitter, likewise;
//!    whether it is held back, `chance(reordering.rate)`, only if that is not 0.
//!
//! Invariant, a test holds it: `sent + duplicated = lost + dropped_by_queue + dropped_in_flight + delivered + in flight`.

use core::time::Duration;

use super::flight::{Flight, Passage};
use super::queue::DropTailQueue;
use super::{Conditions, Ordering, SplitMix64};
use foretell::time::Instant;

/// One direction of a link. The time is an argument and never runs backwards.
///
/// The conditions are given with each datagram and hold for it alone, so that they can change at any moment: one that
/// is in flight keeps its due time.
#[derive(Clone, Debug)]
pub struct Link {
    loss: SplitMix64,
    delay: SplitMix64,
    /// Whether the last datagram was lost; `None` before the first.
    lost_before: Option<bool>,
    queue: DropTailQueue,
    flight: Flight,
    /// The latest due time so far.
    latest_due: Instant,
    /// The largest number delivered so far.
    newest_delivered: Option<u64>,
    stats: LinkStats,
}

/// A datagram that has arrived. It borrows the link's memory until it has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery<'link> {
    /// What was sent, unchanged.
    pub bytes: &'link [u8],
    /// Its place in the order of sending on this link, from 0; what was lost has a number too, and a copy has that of its
    /// original.
    pub number: u64,
    /// When it was sent.
    pub sent: Instant,
    /// When it arrived: `sent <= due <=` the `now` of the call that received it.
    pub due: Instant,
}

/// What becomes of a datagram: settled when it is sent. For who looks on; the receiver learns it by waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It vanishes on the way.
    Lost,
    /// There is no room for it: in the queue of the bottleneck, or on the way.
    Dropped,
    /// It arrives then; where it has a copy, the earlier of the two.
    Arrives(Instant),
}

/// What a link has done so far. All are counts of datagrams unless their name says bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkStats {
    /// Given to [`Link::send`].
    pub sent: u64,
    /// Vanished by [`super::Loss`].
    pub lost: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Held back by [`super::Reordering`], whether or not another overtook it.
    pub held_back: u64,
    /// Delivered after one that was sent later, for whatever reason; copies count too.
    pub reordered: u64,
    /// Dropped because the queue of the bottleneck was full.
    pub dropped_by_queue: u64,
    /// Dropped because [`super::IN_FLIGHT_MAX`] were in flight; copies count too.
    pub dropped_in_flight: u64,
    /// Returned by [`Link::receive`], copies included.
    pub delivered: u64,
    /// Bytes given to [`Link::send`].
    pub bytes_sent: u64,
    /// Bytes returned by [`Link::receive`].
    pub bytes_delivered: u64,
}

impl Link {
    /// An empty link, with a seed for what is lost and one for what is delayed, doubled and held back. Give the two
    /// directions of a connection different seeds.
    pub fn new(loss_seed: u64, delay_seed: u64) -> Link {
        Link {
            loss: SplitMix64::new(loss_seed),
            delay: SplitMix64::new(delay_seed),
            lost_before: None,
            queue: DropTailQueue::default(),
            flight: Flight::default(),
            latest_due: Instant::ZERO,
            newest_delivered: None,
            stats: LinkStats::default(),
        }
    }

    /// Sends a datagram under these conditions. What it returns is for onlookers alone.
    ///
    /// # Panics
    /// When [`Conditions::validate`] fails; ask it first where a person chooses them.
    pub fn send(&mut self, now: Instant, bytes: &[u8], conditions: &Conditions) -> Fate {
        if let Err(error) = conditions.validate() {
            panic!("the conditions of a link must be valid: {error}");
        }
        let original = Passage { due: now, number: self.stats.sent, copy: false, sent: now };
        self.stats.sent += 1;
        self.stats.bytes_sent += bytes.len() as u64;
        if self.loses_next(conditions) {
            self.stats.lost += 1;
            return Fate::Lost;
        }
        let Some(wait) = self.queue.admit(now, bytes.len(), conditions.bottleneck.as_ref()) else {
            self.stats.dropped_by_queue += 1;
            return Fate::Dropped;
        };
        let earliest = now + wait + conditions.latency;
        let jitter = self.draw_jitter(conditions.jitter);
        let copy_jitter = self.draw_chance(conditions.duplicates).then(|| self.draw_jitter(conditions.jitter));
        let hold = self.draw_hold(conditions);
        let due = self.depart(Passage { due: earliest + jitter + hold, ..original }, bytes, conditions.ordering);
        let copy_due = copy_jitter.and_then(|jitter| {
            self.stats.duplicated += 1;
            self.depart(Passage { due: earliest + jitter, copy: true, ..original }, bytes, conditions.ordering)
        });
        due.into_iter().chain(copy_due).min().map_or(Fate::Dropped, Fate::Arrives)
    }

    /// The next datagram that has arrived by `now`, in the order of arrival (and, of those that arrive in the same
    /// microsecond, of sending). Call it until there is none.
    pub fn receive(&mut self, now: Instant) -> Option<Delivery<'_>> {
        let (passage, bytes) = self.flight.pop(now)?;
        self.stats.delivered += 1;
        self.stats.bytes_delivered += bytes.len() as u64;
        if self.newest_delivered > Some(passage.number) {
            self.stats.reordered += 1;
        }
        self.newest_delivered = self.newest_delivered.max(Some(passage.number));
        Some(Delivery { bytes, number: passage.number, sent: passage.sent, due: passage.due })
    }

    /// When the next datagram arrives, so that virtual time can jump there; `None` if none is in flight.
    pub fn next_due(&self) -> Option<Instant> {
        self.flight.next_due()
    }

    /// How many datagrams are in flight, copies included; at most [`super::IN_FLIGHT_MAX`].
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// What it has done so far.
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    fn loses_next(&mut self, conditions: &Conditions) -> bool {
        let lost = self.loss.chance(conditions.loss.probability(self.lost_before));
        self.lost_before = Some(lost);
        lost
    }

    fn draw_jitter(&mut self, jitter: Duration) -> Duration {
        match whole_micros(jitter) {
            0 => Duration::ZERO,
            micros => Duration::from_micros(self.delay.next_u64() % (micros + 1)),
        }
    }

    fn draw_hold(&mut self, conditions: &Conditions) -> Duration {
        if !self.draw_chance(conditions.reordering.rate) {
            return Duration::ZERO;
        }
        self.stats.held_back += 1;
        conditions.reordering.hold
    }

    /// A draw from the delay stream: unlike a loss, a fault that is switched off takes none.
    fn draw_chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.delay.chance(p)
    }

    /// Puts a datagram on its way. When it arrives; `None` where there is no room.
    fn depart(&mut self, mut passage: Passage, bytes: &[u8], ordering: Ordering) -> Option<Instant> {
        if ordering == Ordering::Fifo {
            passage.due = passage.due.max(self.latest_due);
        }
        if !self.flight.push(passage, bytes) {
            self.stats.dropped_in_flight += 1;
            return None;
        }
        self.latest_due = self.latest_due.max(passage.due);
        Some(passage.due)
    }
}

fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).expect("valid conditions are at most 10 s")
}
