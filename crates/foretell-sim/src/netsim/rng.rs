//! The two random number generators of simulations: [`SplitMix64`] for links, [`Pcg32`] for bots.
//!
//! Both are a few lines of integer arithmetic with published constants, so that a second implementation reproduces a
//! run from its seed, and both are seeded by an argument: equal seeds give equal draws on every platform. They are for
//! simulation alone; whoever sees a few draws can predict the rest.
//!
//! Sources: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014); O'Neill, "PCG: a family of
//! simple fast space-efficient statistically good algorithms for random number generation" (2014).

/// SplitMix64: a counter that is hashed. Period 2^64; every seed is as good as any other, 0 too.
///
/// ```
/// use foretell_sim::netsim::SplitMix64;
///
/// let mut random = SplitMix64::new(1);
/// assert_eq!(random.next_u64(), 10_451_216_379_200_822_465);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose draws are a function of `seed` alone.
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The next 64 bits, uniform.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number, uniform in `[0, 1)` in steps of 2^-53: the upper 53 bits of one [`SplitMix64::next_u64`].
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub const fn next_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// True with the probability `p`: never for `p <= 0`, always for `p >= 1`.
    ///
    /// Takes exactly one draw, for `p = 0` too, so that turning a probability up and down moves no later draw.
    pub const fn chance(&mut self, p: f64) -> bool {
        self.next_f64() < p
    }
}

/// PCG32 (XSH-RR 64/32): 2^63 streams of period 2^64, so that each bot has its own.
///
/// Give all bots of a run the run's seed as `initstate` and each its own number as `initseq`: adding a bot then changes
/// none of the others' draws.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pcg32 {
    state: u64,
    /// Odd; which stream it is.
    increment: u64,
}

impl Pcg32 {
    /// The stream `initseq`, of which the lower 63 bits count, started at `initstate`. The names are the reference
    /// implementation's.
    pub const fn new(initstate: u64, initseq: u64) -> Pcg32 {
        let mut random = Pcg32 { state: 0, increment: (initseq << 1) | 1 };
        random.advance();
        random.state = random.state.wrapping_add(initstate);
        random.advance();
        random
    }

    /// The next 32 bits, uniform.
    #[expect(clippy::cast_possible_truncation, reason = "the output function keeps 32 bits and a rotation of 5 bits")]
    pub const fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.advance();
        let folded = (((old >> 18) ^ old) >> 27) as u32;
        folded.rotate_right((old >> 59) as u32)
    }

    const fn advance(&mut self) {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.increment);
    }
}
