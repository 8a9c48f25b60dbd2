//! What one direction of a link does to datagrams, as plain data.
//!
//! [`Conditions::default`] is the perfect link; each field adds one fault, and none hides another. Durations are one
//! way and count in whole microseconds (less is cut off). Probabilities are per datagram and in `[0, 1]`.

use core::fmt;
use core::ops::RangeInclusive;
use core::time::Duration;

use super::Bottleneck;

/// The longest latency, jitter or hold: 10 s, beyond every timeout of a session.
pub const DELAY_MAX: Duration = Duration::from_secs(10);

/// The longest mean burst of losses, in datagrams: at 64 per second more than two minutes of silence.
const BURST_LENGTH_MAX: f64 = 10_000.0;

/// What one direction of a link does to datagrams. Default: nothing, a perfect link without delay.
///
/// A datagram that is neither lost nor dropped arrives after
/// `time in the bottleneck + latency + jitter + hold`, or later on a [`Ordering::Fifo`] link.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Conditions {
    /// The shortest delay, one way, 0 to [`DELAY_MAX`]. Default 0.
    pub latency: Duration,
    /// The largest extra delay, 0 to [`DELAY_MAX`]: each datagram's is drawn uniformly from `[0, jitter]`, so that on an
    /// independent link the mean delay is `latency + jitter / 2` and its standard deviation `jitter / sqrt(12)`.
    /// Default 0.
    pub jitter: Duration,
    /// Whether datagrams may overtake each other. Default: they may.
    pub ordering: Ordering,
    /// Which datagrams vanish. Default: none.
    pub loss: Loss,
    /// The probability that a datagram arrives twice, the copy with a jitter of its own. Default 0. The copy is made
    /// behind the bottleneck: it takes nothing of its capacity.
    pub duplicates: f64,
    /// Which datagrams are held back so that later ones overtake them. Default: none.
    pub reordering: Reordering,
    /// The bottleneck that datagrams pass first. Default: none.
    pub bottleneck: Option<Bottleneck>,
}

/// Whether datagrams may overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ordering {
    /// Each datagram has its own delay: those that are sent closer together than the jitter may change places. The
    /// default, because a session must stand it; the reference runs have it as well (D31).
    #[default]
    Independent,
    /// A datagram arrives no earlier than any one sent before it, as through a single queue; of the copies too.
    ///
    /// What would overtake waits instead, so the mean delay is *more* than `latency + jitter / 2` where datagrams are
    /// sent closer together than the jitter, and a datagram that is held back stops those behind it.
    Fifo,
}

/// Which datagrams vanish on the way. A lost one takes nothing of the bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// Each with this probability, whatever became of the others; 0 to 1. Default 0.
    Uniform(f64),
    /// In bursts, as radio and full queues lose them: a Gilbert-Elliott channel that loses everything in its bad state
    /// and nothing in its good one. A burst is a run of datagrams lost one after the other.
    ///
    /// It leaves the bad state with the probability `1 / mean_length` and the good one with
    /// `rate / (1 - rate) / mean_length`; from the first datagram on the shares are the stationary ones.
    Bursts {
        /// The share of datagrams lost in the long run, 0 to `mean_length / (mean_length + 1)`: between two bursts at
        /// least one datagram survives. For everything, say `Uniform(1.0)`.
        rate: f64,
        /// The mean number of datagrams in a burst, 1 to 10,000. Losses that are independent have `1 / (1 - rate)`.
        mean_length: f64,
    },
}

impl Default for Loss {
    fn default() -> Loss {
        Loss::Uniform(0.0)
    }
}

/// Which datagrams are held back, and for how long.
///
/// A datagram that is held back is out of order if another is sent less than `hold` (and the differences in jitter)
/// after it. Its copy, if it has one, is not held back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// The probability that a datagram is held back, 0 to 1. Default 0.
    pub rate: f64,
    /// The additional delay, 0 to [`DELAY_MAX`]. Default 70 ms: longer than the 62.5 ms between two snapshots at 16 Hz,
    /// so that one held back is overtaken in every stream of a session.
    pub hold: Duration,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { rate: 0.0, hold: Duration::from_millis(70) }
    }
}

/// Which field of [`Conditions`] is outside of its range, and what would be accepted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ConditionsError {
    /// A duration longer than `max`; shorter ones are all accepted.
    TooLong {
        /// Path of the field within [`Conditions`].
        field: &'static str,
        /// The longest that is accepted.
        max: Duration,
    },
    /// A probability or mean that is not in `min..=max`, or not a number.
    NotInRange {
        /// Path of the field within [`Conditions`].
        field: &'static str,
        /// The least that is accepted.
        min: f64,
        /// The most that is accepted.
        max: f64,
    },
    /// A number of bytes, bytes per second or datagrams that is not in `min..=max`.
    CountNotInRange {
        /// Path of the field within [`Conditions`].
        field: &'static str,
        /// The least that is accepted.
        min: u32,
        /// The most that is accepted.
        max: u32,
    },
}

impl Conditions {
    /// Whether every field is in its range.
    ///
    /// # Errors
    /// The first field that is not, in the order of declaration.
    pub fn validate(&self) -> Result<(), ConditionsError> {
        at_most_delay_max("latency", self.latency)?;
        at_most_delay_max("jitter", self.jitter)?;
        self.loss.validate()?;
        in_range("duplicates", self.duplicates, 0.0..=1.0)?;
        in_range("reordering.rate", self.reordering.rate, 0.0..=1.0)?;
        at_most_delay_max("reordering.hold", self.reordering.hold)?;
        self.bottleneck.as_ref().map_or(Ok(()), Bottleneck::validate)
    }
}

impl Loss {
    fn validate(&self) -> Result<(), ConditionsError> {
        match *self {
            Loss::Uniform(rate) => in_range("loss", rate, 0.0..=1.0),
            Loss::Bursts { rate, mean_length } => {
                in_range("loss.mean_length", mean_length, 1.0..=BURST_LENGTH_MAX)?;
                in_range("loss.rate", rate, 0.0..=mean_length / (mean_length + 1.0))
            }
        }
    }

    /// The probability that the next datagram is lost, in `[0, 1]`, given whether the one before it was; `None` for the
    /// first.
    pub(super) fn probability(&self, before: Option<bool>) -> f64 {
        match *self {
            Loss::Uniform(rate) => rate,
            Loss::Bursts { rate, mean_length } => match before {
                None => rate,
                Some(true) => 1.0 - 1.0 / mean_length,
                Some(false) => rate / (1.0 - rate) / mean_length,
            },
        }
    }
}

fn at_most_delay_max(field: &'static str, value: Duration) -> Result<(), ConditionsError> {
    if value <= DELAY_MAX { Ok(()) } else { Err(ConditionsError::TooLong { field, max: DELAY_MAX }) }
}

fn in_range(field: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), ConditionsError> {
    let (min, max) = (*range.start(), *range.end());
    if range.contains(&value) { Ok(()) } else { Err(ConditionsError::NotInRange { field, min, max }) }
}

pub(super) fn count_in_range(
    field: &'static str,
    value: u32,
    range: RangeInclusive<u32>,
) -> Result<(), ConditionsError> {
    let (min, max) = (*range.start(), *range.end());
    if range.contains(&value) { Ok(()) } else { Err(ConditionsError::CountNotInRange { field, min, max }) }
}

impl fmt::Display for ConditionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionsError::TooLong { field, max } => write!(f, "{field} must be at most {} s", max.as_secs_f64()),
            ConditionsError::NotInRange { field, min, max } => write!(f, "{field} must be from {min} to {max}"),
            ConditionsError::CountNotInRange { field, min, max } => write!(f, "{field} must be from {min} to {max}"),
        }
    }
}

impl core::error::Error for ConditionsError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netsim::{Capacity, Trace};
    use alloc::string::String;
    use alloc::string::ToString;
    use alloc::sync::Arc;

    /// What a change to perfect conditions makes of them, as text.
    fn complaint(change: impl FnOnce(&mut Conditions)) -> String {
        let mut conditions = Conditions::default();
        change(&mut conditions);
        conditions.validate().expect_err("a field is out of range").to_string()
    }

    #[test]
    fn the_perfect_link_is_valid() {
        assert_eq!(Conditions::default().validate(), Ok(()));
    }

    #[test]
    fn the_ends_of_every_range_are_valid() {
        for p in [0.0, 1.0] {
            let delay = DELAY_MAX.mul_f64(p);
            let conditions = Conditions {
                latency: delay,
                jitter: delay,
                ordering: Ordering::Fifo,
                loss: Loss::Uniform(p),
                duplicates: p,
                reordering: Reordering { rate: p, hold: delay },
                bottleneck: Some(Bottleneck::rate(1_000, 1_500)),
            };
            assert_eq!(conditions.validate(), Ok(()));
        }
        let every_other = Loss::Bursts { rate: 0.5, mean_length: 1.0 };
        assert_eq!(Conditions { loss: every_other, ..Conditions::default() }.validate(), Ok(()));
    }

    #[test]
    fn a_complaint_names_the_field_and_what_is_accepted() {
        let too_long = DELAY_MAX + Duration::from_nanos(1);
        assert_eq!(complaint(|c| c.latency = too_long), "latency must be at most 10 s");
        assert_eq!(complaint(|c| c.jitter = too_long), "jitter must be at most 10 s");
        assert_eq!(complaint(|c| c.reordering.hold = too_long), "reordering.hold must be at most 10 s");
        assert_eq!(complaint(|c| c.loss = Loss::Uniform(1.01)), "loss must be from 0 to 1");
        assert_eq!(complaint(|c| c.duplicates = -0.01), "duplicates must be from 0 to 1");
        assert_eq!(complaint(|c| c.reordering.rate = f64::NAN), "reordering.rate must be from 0 to 1");
        assert_eq!(
            complaint(|c| c.loss = Loss::Bursts { rate: 0.1, mean_length: 0.5 }),
            "loss.mean_length must be from 1 to 10000"
        );
        assert_eq!(
            complaint(|c| c.loss = Loss::Bursts { rate: 0.8, mean_length: 3.0 }),
            "loss.rate must be from 0 to 0.75"
        );
        let rate = |bytes_per_s, queue_bytes| Some(Bottleneck::rate(bytes_per_s, queue_bytes));
        let rates = "bottleneck.rate.bytes_per_s must be from 1000 to 1000000000";
        assert_eq!(complaint(|c| c.bottleneck = rate(0, 0)), rates);
        let bytes = "bottleneck.queue.bytes must be from 1500 to 16777216";
        assert_eq!(complaint(|c| c.bottleneck = rate(1_000, 0)), bytes);
        let trace = Arc::new(Trace::parse(b"3000").expect("well-formed"));
        let mut recorded = Bottleneck::trace(trace.clone(), 1_500);
        recorded.queue.datagrams = 0;
        let datagrams = "bottleneck.queue.datagrams must be from 1 to 4096";
        assert_eq!(complaint(|c| c.bottleneck = Some(recorded.clone())), datagrams);
        recorded.capacity = Capacity::Trace { trace, start: Duration::from_millis(3_001) };
        assert_eq!(complaint(|c| c.bottleneck = Some(recorded)), "bottleneck.trace.start must be at most 3 s");
    }
}
