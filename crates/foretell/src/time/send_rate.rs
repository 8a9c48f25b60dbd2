//! How often something is sent that is made in ticks.

use super::TickRate;

/// How often something is sent that is made in ticks: snapshots, inputs.
///
/// A rate becomes a distance in whole ticks, the nearest one, so that what is sent is evenly apart: at 60 ticks per second
/// 20 Hz is one in 3 ticks, and 25 Hz, 2.4 ticks apart, one in 2, so 30 Hz. Halves are rounded to the longer distance. Where
/// others are shown, they are so by a distance from snapshot to snapshot later than what is known; a distance of now 2, now 3
/// ticks would make that 3, and nobody would see more for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum SendRate {
    /// In every tick. The default.
    #[default]
    EveryTick,
    /// So many times per second, at most once per tick: from two thirds of the tick rate on it is every tick. 0 counts as 1.
    Hz(u16),
}

impl SendRate {
    /// How many ticks one is after the other where there are `ticks` per second; at least 1.
    ///
    /// ```
    /// use foretell::{SendRate, TickRate};
    ///
    /// assert_eq!(SendRate::Hz(20).interval_ticks(TickRate::hz(60)), 3);
    /// ```
    pub const fn interval_ticks(self, ticks: TickRate) -> u32 {
        let rate = match self {
            SendRate::EveryTick => return 1,
            SendRate::Hz(0) => 1,
            SendRate::Hz(rate) => rate as u32,
        };
        let nearest = (2 * ticks.get() as u32 + rate) / (2 * rate);
        if nearest == 0 { 1 } else { nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(rate: u16, ticks: u16) -> u32 {
        SendRate::Hz(rate).interval_ticks(TickRate::hz(ticks))
    }

    #[test]
    fn a_rate_that_divides_the_tick_rate_is_met() {
        for ticks in 1..=1000 {
            for rate in (1..=ticks).filter(|rate| ticks % rate == 0) {
                assert_eq!(interval(rate, ticks), u32::from(ticks / rate), "{rate} of {ticks}");
            }
        }
    }

    #[test]
    fn one_that_does_not_divide_it_is_the_nearest_number_of_whole_ticks_apart() {
        assert_eq!(interval(25, 60), 2, "2.4");
        assert_eq!(interval(24, 60), 3, "2.5: halves are rounded up");
        assert_eq!(interval(23, 60), 3, "2.6");
        assert_eq!(interval(50, 60), 1, "1.2");
    }

    #[test]
    fn one_above_the_tick_rate_is_every_tick_and_none_is_one_in_a_second() {
        assert_eq!(interval(u16::MAX, 1), 1);
        assert_eq!(interval(128, 64), 1);
        assert_eq!((interval(0, 64), interval(1, 64)), (64, 64));
        assert_eq!(SendRate::default().interval_ticks(TickRate::hz(1000)), 1);
    }
}
