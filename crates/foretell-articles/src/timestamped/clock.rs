//! The clocks by which inputs are stamped: whole microseconds, and, to show what they cost, seconds that are added up.

use core::fmt::Debug;
use core::time::Duration;
use foretell::time::Instant;
use foretell::wire::{Malformed, Stream};

mod sealed {
    pub trait Sealed {}
    impl Sealed for foretell::time::Instant {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
}

/// A client's own time since its start. Sealed: [`Instant`], whole microseconds, is the one to use. `f64` and `f32` are
/// seconds to which each frame adds its length, as in the article; in f32 that takes an honest client for a cheat (E3).
pub trait Time: sealed::Sealed + Copy + PartialOrd + Default + Debug {
    /// The length of a frame: a [`Duration`], or seconds.
    type Span: Copy + Debug;

    /// This time and a frame.
    #[must_use]
    fn after(self, frame: Self::Span) -> Self;
    /// The length of a frame in seconds.
    fn span_seconds(frame: Self::Span) -> f64;
    /// Seconds since `earlier`; negative when that is later.
    fn seconds_since(self, earlier: Self) -> f64;
    /// This time and `by`.
    #[must_use]
    fn later(self, by: Duration) -> Self;

    /// Writes it, or replaces it by what is read.
    ///
    /// # Errors
    /// As [`Stream::bits`], and [`Malformed::OutOfRange`] when it is not finite.
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed>;

    /// The same for a time that lies shortly before `end`.
    ///
    /// # Errors
    /// As [`stream`](Time::stream).
    fn stream_before(&mut self, stream: &mut impl Stream, end: Self) -> Result<(), Malformed>;

    /// How long after `earlier` it is; zero when that is later.
    fn duration_since(self, earlier: Self) -> Duration {
        Duration::try_from_secs_f64(self.seconds_since(earlier)).unwrap_or(Duration::ZERO)
    }
}

impl Time for Instant {
    type Span = Duration;

    fn after(self, frame: Duration) -> Instant {
        self + frame
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µs: 285 years")]
    fn span_seconds(frame: Duration) -> f64 {
        frame.as_micros() as f64 / 1e6
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µs: 285 years")]
    fn seconds_since(self, earlier: Instant) -> f64 {
        (self - earlier).micros() as f64 / 1e6
    }

    fn later(self, by: Duration) -> Instant {
        self + by
    }

    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut micros = self.micros();
        stream.bits(&mut micros, 64)?;
        *self = Instant::from_micros(micros);
        Ok(())
    }

    fn stream_before(&mut self, stream: &mut impl Stream, end: Instant) -> Result<(), Malformed> {
        let before = end.micros().saturating_sub(self.micros());
        let mut before = u32::try_from(before).unwrap_or(u32::MAX);
        stream.small(&mut before)?;
        let micros = end.micros().checked_sub(u64::from(before)).ok_or(Malformed::OutOfRange("time"))?;
        *self = Instant::from_micros(micros);
        Ok(())
    }
}

macro_rules! seconds {
    ($real:ident, $bits:ident, $width:literal, $nearest:path) => {
        impl Time for $real {
            type Span = $real;

            fn after(self, frame: $real) -> $real {
                self + frame
            }

            fn span_seconds(frame: $real) -> f64 {
                f64::from(frame)
            }

            fn seconds_since(self, earlier: $real) -> f64 {
                f64::from(self - earlier)
            }

            fn later(self, by: Duration) -> $real {
                self + $nearest(by.as_secs_f64())
            }

            fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
                let mut bits = u64::from(self.to_bits());
                stream.bits(&mut bits, $width)?;
                let bits = $bits::try_from(bits).map_err(|_| Malformed::OutOfRange("time"))?;
                *self = $real::from_bits(bits);
                if self.is_finite() { Ok(()) } else { Err(Malformed::OutOfRange("time")) }
            }

            fn stream_before(&mut self, stream: &mut impl Stream, _: $real) -> Result<(), Malformed> {
                self.stream(stream)
            }
        }
    };
}

seconds!(f64, u64, 64, core::convert::identity);
seconds!(f32, u32, 32, nearest_f32);

#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is asked for")]
fn nearest_f32(value: f64) -> f32 {
    value as f32
}
