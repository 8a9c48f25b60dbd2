//! Our own instant: microseconds of a clock that the caller reads.

use core::ops::{Add, Neg, Sub};
use core::time::Duration;

/// A point on the caller's own monotone clock, in microseconds from an origin that the caller chooses.
///
/// Each endpoint has its own; two endpoints' instants are never compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

/// A signed difference between two instants of one clock, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Offset(i64);

impl Instant {
    /// The clock's origin.
    pub const ZERO: Instant = Instant(0);

    /// An instant from microseconds since the clock's origin.
    pub const fn from_micros(micros: u64) -> Instant {
        Instant(micros)
    }

    /// Microseconds since the clock's origin.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this instant; zero when `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
    }
}

impl Add<Offset> for Instant {
    type Output = Instant;
    fn add(self, offset: Offset) -> Instant {
        Instant(self.0.saturating_add_signed(offset.0))
    }
}

impl Sub for Instant {
    type Output = Offset;
    fn sub(self, other: Instant) -> Offset {
        Offset(self.0.cast_signed().wrapping_sub(other.0.cast_signed()))
    }
}

impl Offset {
    /// An offset in microseconds.
    pub const fn from_micros(micros: i64) -> Offset {
        Offset(micros)
    }

    /// Microseconds, negative for "earlier".
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Milliseconds, for display.
    #[expect(clippy::cast_precision_loss, reason = "for display; exact below 285 years")]
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl Neg for Offset {
    type Output = Offset;
    fn neg(self) -> Offset {
        Offset(-self.0)
    }
}
