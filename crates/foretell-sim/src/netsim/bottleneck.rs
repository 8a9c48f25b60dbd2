//! What a bottleneck is: how much may leave it when, by a rate or by a recording, and how much may wait for that.

use alloc::sync::Arc;
use core::ops::RangeInclusive;
use core::time::Duration;

use super::conditions::{ConditionsError, count_in_range};
use super::flight::IN_FLIGHT_MAX;
use super::trace::{OPPORTUNITY_BYTES, Trace};
use foretell::time::Instant;

/// Millionths of a byte: what a rate of one byte per second moves in a microsecond, so that nothing is rounded.
pub(super) const PER_BYTE: u64 = 1_000_000;

/// The slowest and the fastest rate, in bytes per second.
const BYTES_PER_S: RangeInclusive<u32> = 1_000..=1_000_000_000;

/// The shortest and the longest queue, in bytes: from one datagram up.
const QUEUE_BYTES: RangeInclusive<u32> = 1_500..=16_777_216;

/// The same in datagrams.
#[expect(clippy::cast_possible_truncation, reason = "4096")]
const QUEUE_DATAGRAMS: RangeInclusive<u32> = 1..=IN_FLIGHT_MAX as u32;

/// A bottleneck: datagrams leave it one after the other, as its capacity lets them, and wait in a queue that drops what
/// does not fit (drop-tail). Counted are the bytes given to `send`, no headers.
///
/// ```
/// use core::time::Duration;
/// use foretell::Instant;
/// use foretell_sim::netsim::{Bottleneck, Conditions, Fate, Link};
///
/// // 12 kB/s: a datagram of 600 bytes takes 50 ms, and the one behind it waits for that; then the queue is full.
/// let conditions = Conditions { bottleneck: Some(Bottleneck::rate(12_000, 1_500)), ..Conditions::default() };
/// let mut link = Link::new(1, 4);
/// let fates = [(); 3].map(|()| link.send(Instant::ZERO, &[0; 600], &conditions));
/// let arrives = |ms: u64| Fate::Arrives(Instant::from_micros(ms * 1_000));
/// assert_eq!(fates, [arrives(50), arrives(100), Fate::Dropped]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bottleneck {
    /// How much may leave it when.
    pub capacity: Capacity,
    /// How much may wait for that.
    pub queue: QueueLimit,
}

/// How much may leave a bottleneck when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// Always as much. The longest time in the queue is `queue.bytes / bytes_per_s`; for bufferbloat make that large, for
    /// a policer small.
    Rate {
        /// Bytes per second, 1,000 to 1,000,000,000.
        bytes_per_s: u32,
    },
    /// As a link was recorded: [`OPPORTUNITY_BYTES`] at each of the trace's opportunities, of as many datagrams as that
    /// is, and a datagram that is larger than what is left of one goes on with the next. What nothing waits for is
    /// gone. What is sent at the very moment of an opportunity waits for the next one.
    Trace {
        /// The opportunities. They repeat.
        trace: Arc<Trace>,
        /// Where in the trace the link's time 0 is: 0 to the trace's length. Links that share a trace and begin at
        /// different places of it do not have their outages at the same moment. Beginning with 0 is what Mahimahi does.
        start: Duration,
    },
}

/// How much may wait at a bottleneck, the datagram that is just leaving included. What exceeds either limit is dropped.
/// Default: as much as there can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLimit {
    /// How many bytes: 1,500 (one datagram) to 16 MiB, which is the default.
    pub bytes: u32,
    /// How many datagrams: 1 to 4096, which is the default and as many as can be in flight.
    pub datagrams: u32,
}

impl Default for QueueLimit {
    fn default() -> QueueLimit {
        QueueLimit { bytes: *QUEUE_BYTES.end(), datagrams: *QUEUE_DATAGRAMS.end() }
    }
}

impl QueueLimit {
    /// So many bytes in as many datagrams as they may be.
    pub fn of_bytes(bytes: u32) -> QueueLimit {
        QueueLimit { bytes, ..QueueLimit::default() }
    }
}

impl Bottleneck {
    /// So many bytes per second, and a queue of so many bytes.
    pub const fn rate(bytes_per_s: u32, queue_bytes: u32) -> Bottleneck {
        let queue = QueueLimit { bytes: queue_bytes, datagrams: *QUEUE_DATAGRAMS.end() };
        Bottleneck { capacity: Capacity::Rate { bytes_per_s }, queue }
    }

    /// A recorded link from its beginning, and a queue of so many bytes.
    pub fn trace(trace: Arc<Trace>, queue_bytes: u32) -> Bottleneck {
        let capacity = Capacity::Trace { trace, start: Duration::ZERO };
        Bottleneck { capacity, queue: QueueLimit::of_bytes(queue_bytes) }
    }

    pub(super) fn validate(&self) -> Result<(), ConditionsError> {
        match &self.capacity {
            Capacity::Rate { bytes_per_s } => count_in_range("bottleneck.rate.bytes_per_s", *bytes_per_s, BYTES_PER_S)?,
            Capacity::Trace { trace, start } if *start > trace.length() => {
                return Err(ConditionsError::TooLong { field: "bottleneck.trace.start", max: trace.length() });
            }
            Capacity::Trace { .. } => {}
        }
        count_in_range("bottleneck.queue.bytes", self.queue.bytes, QUEUE_BYTES)?;
        count_in_range("bottleneck.queue.datagrams", self.queue.datagrams, QUEUE_DATAGRAMS)
    }
}

impl Capacity {
    /// How much may leave after `from` and not after `until`, in millionths of a byte; 0 if that is the past.
    pub(super) fn between(&self, from: Instant, until: Instant) -> u64 {
        match self {
            Capacity::Rate { bytes_per_s } => {
                let micros = until.micros().saturating_sub(from.micros());
                micros.saturating_mul(u64::from(*bytes_per_s))
            }
            Capacity::Trace { trace, start } => {
                let passed = |at| trace.passed(micros_in_trace(at, *start) / 1_000);
                passed(until).saturating_sub(passed(from)).saturating_mul(u64::from(OPPORTUNITY_BYTES) * PER_BYTE)
            }
        }
    }

    /// How long it takes from `now` until so much has left, in millionths of a byte; rounded up to a microsecond.
    pub(super) fn time_for(&self, backlog: u64, now: Instant) -> Duration {
        match self {
            Capacity::Rate { bytes_per_s } => Duration::from_micros(backlog.div_ceil(u64::from(*bytes_per_s))),
            Capacity::Trace { trace, start } => {
                let opportunities = backlog.div_ceil(u64::from(OPPORTUNITY_BYTES) * PER_BYTE);
                let Some(before) = opportunities.checked_sub(1) else { return Duration::ZERO };
                let now = micros_in_trace(now, *start);
                let last_ms = trace.opportunity_ms(trace.passed(now / 1_000).saturating_add(before));
                Duration::from_micros(last_ms.saturating_mul(1_000).saturating_sub(now))
            }
        }
    }
}

/// How long a trace has been played at an instant, in microseconds, with its repeats.
fn micros_in_trace(at: Instant, start: Duration) -> u64 {
    let start = u64::try_from(start.as_micros()).expect("it is no later than the trace's end");
    at.micros().saturating_add(start)
}
