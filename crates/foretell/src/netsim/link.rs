//! One direction of a link: datagrams in, the same ones out later, or never, or twice.

use super::{Conditions, Loss, Ordering, SplitMix64};
use crate::time::Instant;
use core::time::Duration;

/// How many datagrams may be on their way; more are dropped, as by a router without memory left.
const IN_FLIGHT_MAX: usize = 65_536;

/// What a link has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkStats {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Of these, lost by the conditions' [`Loss`].
    pub lost: u64,
    /// Of these, dropped because the queue of the rate limit was full.
    pub dropped: u64,
    /// Copies that were made.
    pub duplicated: u64,
    /// Datagrams that were held back.
    pub held_back: u64,
    /// Datagrams that were delivered, with the copies.
    pub delivered: u64,
    /// Of these, delivered after one that was sent later.
    pub reordered: u64,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// A datagram on its way.
#[derive(Debug)]
struct Flying {
    due: Instant,
    /// Its number among all sent; a copy has that of its original.
    number: u64,
    bytes: Vec<u8>,
}

/// One direction of a link.
///
/// Draws, for reference runs: one number of the loss stream per datagram, always; of the delay stream, for one that is
/// not lost, its jitter (`u64 % (jitter in µs + 1)`) if there is any, then whether it is duplicated if duplicates are
/// asked for, and on a hit the copy's jitter, then whether it is held back if reordering is asked for.
#[derive(Debug)]
pub struct Link {
    losses: SplitMix64,
    delays: SplitMix64,
    in_burst: bool,
    /// Descending by (due, number): the next one is last.
    flying: Vec<Flying>,
    spare: Vec<Vec<u8>>,
    delivering: Vec<u8>,
    newest_due: Instant,
    /// When the last byte that was accepted will have left the rate limit.
    clear_at: Instant,
    newest_delivered: Option<u64>,
    stats: LinkStats,
}

impl Link {
    /// A link whose losses and delays are functions of these seeds.
    pub fn new(loss_seed: u64, delay_seed: u64) -> Link {
        Link {
            losses: SplitMix64::new(loss_seed),
            delays: SplitMix64::new(delay_seed),
            in_burst: false,
            flying: Vec::new(),
            spare: Vec::new(),
            delivering: Vec::new(),
            newest_due: Instant::ZERO,
            clear_at: Instant::ZERO,
            newest_delivered: None,
            stats: LinkStats::default(),
        }
    }

    /// Sends a datagram at `now` under these conditions, which may differ from one to the next.
    pub fn send(&mut self, now: Instant, datagram: &[u8], conditions: &Conditions) {
        let number = self.stats.sent;
        self.stats.sent += 1;
        self.stats.bytes += datagram.len() as u64;
        if self.is_lost(conditions.loss) {
            self.stats.lost += 1;
            return;
        }
        let Some(queueing) = self.pass_rate_limit(now, datagram.len(), conditions) else {
            self.stats.dropped += 1;
            return;
        };
        let leaves = now + queueing + conditions.latency;
        let due = leaves + self.jitter(conditions);
        let copy = conditions.duplicates > 0.0 && self.delays.chance(conditions.duplicates);
        let copy_due = if copy { Some(leaves + self.jitter(conditions)) } else { None };
        let held = conditions.reordering > 0.0 && self.delays.chance(conditions.reordering);
        self.stats.held_back += u64::from(held);
        // One that is held back is out of the order that the others keep.
        let due = if held { due + conditions.held_back } else { self.in_order(due, conditions.ordering) };
        self.fly(due, number, datagram);
        if let Some(due) = copy_due {
            self.stats.duplicated += 1;
            let due = self.in_order(due, conditions.ordering);
            self.fly(due, number, datagram);
        }
    }

    /// The next datagram that has arrived by `now`, with the instant of its arrival; in the order of arrival, those of
    /// one instant in the order of sending.
    pub fn receive(&mut self, now: Instant) -> Option<(Instant, &[u8])> {
        if self.flying.last()?.due > now {
            return None;
        }
        let Flying { due, number, bytes } = self.flying.pop()?;
        self.stats.delivered += 1;
        self.stats.reordered += u64::from(self.newest_delivered.is_some_and(|newest| number < newest));
        self.newest_delivered = self.newest_delivered.max(Some(number));
        self.spare.push(core::mem::replace(&mut self.delivering, bytes));
        Some((due, &self.delivering))
    }

    /// When the next datagram arrives; `None` when none is on its way.
    pub fn next_due(&self) -> Option<Instant> {
        self.flying.last().map(|flying| flying.due)
    }

    /// What it has done so far.
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    fn is_lost(&mut self, loss: Loss) -> bool {
        match loss {
            Loss::Uniform(rate) => self.losses.chance(rate),
            Loss::Bursts { rate, mean_length } => {
                // The state changes before each datagram. Leaving the bad state with 1/length makes bursts of that mean;
                // entering it with rate / (length (1 - rate)) makes the stationary share of the bad state the rate.
                let change = if self.in_burst { 1.0 / mean_length } else { rate / (mean_length * (1.0 - rate)) };
                self.in_burst ^= self.losses.chance(change);
                self.in_burst
            }
        }
    }

    /// How long the datagram waits for the ones before it and for its own bytes; `None` when the queue is full.
    fn pass_rate_limit(&mut self, now: Instant, len: usize, conditions: &Conditions) -> Option<Duration> {
        let Some(rate) = conditions.rate else { return Some(Duration::ZERO) };
        let time_of = |bytes: u64| Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / u64::from(rate.max(1)));
        let waiting = self.clear_at.since(now);
        if waiting > time_of(u64::from(conditions.queue)) {
            return None;
        }
        let queueing = waiting + time_of(len as u64);
        self.clear_at = now + queueing;
        Some(queueing)
    }

    fn jitter(&mut self, conditions: &Conditions) -> Duration {
        let most = u64::try_from(conditions.jitter.as_micros()).unwrap_or(u64::MAX - 1);
        if most == 0 { Duration::ZERO } else { Duration::from_micros(self.delays.next_u64() % (most + 1)) }
    }

    fn in_order(&mut self, due: Instant, ordering: Ordering) -> Instant {
        let due = if ordering == Ordering::Fifo { due.max(self.newest_due) } else { due };
        self.newest_due = self.newest_due.max(due);
        due
    }

    fn fly(&mut self, due: Instant, number: u64, datagram: &[u8]) {
        if self.flying.len() >= IN_FLIGHT_MAX {
            self.stats.dropped += 1;
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(datagram);
        let at = self.flying.partition_point(|other| (other.due, other.number) > (due, number));
        self.flying.insert(at, Flying { due, number, bytes });
    }
}
