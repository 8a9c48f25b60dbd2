//! Two small generators of random numbers, each a function of its seed: the same on every platform.

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, one number per step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with this seed; every seed is good.
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number as one in `[0, 1)`, with 53 bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub const fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// True with this probability. Draws exactly one number, also for 0 and 1.
    pub const fn chance(&mut self, probability: f64) -> bool {
        self.next_f64() < probability
    }
}

/// PCG32 XSH-RR (O'Neill 2014): 2^63 independent streams of one seed, so that each of many bots has its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pcg32 {
    state: u64,
    increment: u64,
}

const PCG_MULTIPLIER: u64 = 6_364_136_223_846_793_005;

impl Pcg32 {
    /// The generator of this seed and stream.
    pub const fn new(seed: u64, stream: u64) -> Pcg32 {
        let mut pcg = Pcg32 { state: 0, increment: stream << 1 | 1 };
        pcg.next_u32();
        pcg.state = pcg.state.wrapping_add(seed);
        pcg.next_u32();
        pcg
    }

    /// The next number.
    #[expect(clippy::cast_possible_truncation, reason = "the output is the low half of a mixed state")]
    pub const fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(PCG_MULTIPLIER).wrapping_add(self.increment);
        let mixed = (((old >> 18) ^ old) >> 27) as u32;
        mixed.rotate_right((old >> 59) as u32)
    }
}
