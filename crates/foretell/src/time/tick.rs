//! The tick: the number of one fixed step, and the rate at which ticks follow each other.

use core::fmt;
use core::ops::Add;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// The number of one fixed step of the simulation. State `n` and the inputs of tick `n` make state `n + 1` (R7).
///
/// A total order that never wraps: 2^32 ticks at 64 Hz are two years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Tick(u32);

impl Tick {
    /// The first tick.
    pub const ZERO: Tick = Tick(0);

    /// The tick with this number.
    pub const fn new(number: u32) -> Tick {
        Tick(number)
    }

    /// Its number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The tick after this one.
    pub const fn next(self) -> Tick {
        Tick(self.0.saturating_add(1))
    }

    /// The tick `ticks` before this one, or `None` before tick 0.
    pub const fn back(self, ticks: u32) -> Option<Tick> {
        match self.0.checked_sub(ticks) {
            Some(number) => Some(Tick(number)),
            None => None,
        }
    }

    /// How many ticks this one lies after `earlier`; 0 when it does not.
    pub const fn since(self, earlier: Tick) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// The ticks from this one up to, but without, `end`.
    pub fn until(self, end: Tick) -> impl DoubleEndedIterator<Item = Tick> + use<> {
        (self.0..end.0).map(Tick)
    }

    /// The low 16 bits, as session headers carry them (D12).
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
    pub const fn low16(self) -> u16 {
        self.0 as u16
    }

    /// The tick nearest to `anchor` whose low `bits` bits are `low`; a tie goes to the future, and a tick before
    /// tick 0 does not exist (D12). `bits` is 1 to 31.
    pub const fn widen(low: u32, bits: u32, anchor: Tick) -> Tick {
        let span = 1_i64 << bits;
        let base = anchor.0 as i64 - (anchor.0 as i64 % span) + (low as i64 % span);
        let mut nearest = base;
        if base - anchor.0 as i64 > span / 2 {
            nearest = base - span;
        } else if anchor.0 as i64 - base >= span / 2 {
            nearest = base + span;
        }
        if nearest < 0 {
            nearest += span;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 <= nearest <= anchor + 2^31; beyond 2^32 the session is two years old"
        )]
        Tick(nearest as u32)
    }
}

impl fmt::Debug for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Add<u32> for Tick {
    type Output = Tick;
    fn add(self, ticks: u32) -> Tick {
        Tick(self.0.saturating_add(ticks))
    }
}

/// Ticks per second, 1 to 1000. 64 Hz is the default: the rate of the article that the reference runs follow (R5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16")]
pub struct TickRate(u16);

impl TryFrom<u16> for TickRate {
    type Error = &'static str;

    fn try_from(hz: u16) -> Result<TickRate, &'static str> {
        if (1..=1000).contains(&hz) { Ok(TickRate(hz)) } else { Err("a tick rate is 1 to 1000 Hz") }
    }
}

impl TickRate {
    /// A rate in Hz.
    ///
    /// # Panics
    /// When `hz` is not in 1 to 1000.
    pub const fn hz(hz: u16) -> TickRate {
        assert!(hz >= 1 && hz <= 1000, "a tick rate is 1 to 1000 Hz");
        TickRate(hz)
    }

    /// Ticks per second.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The length of a tick in seconds.
    pub fn seconds(self) -> f64 {
        1.0 / f64::from(self.0)
    }

    /// How many whole ticks fit into `time`.
    pub fn ticks_in(self, time: Duration) -> u32 {
        let ticks = time.as_micros() * u128::from(self.0) / 1_000_000;
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }
}

impl Default for TickRate {
    fn default() -> TickRate {
        TickRate(64)
    }
}
