//! Traces of mobile networks that nobody recorded: rates that wander, and short outages, from a seed.
//!
//! The model is the one by which Sprout reckons with such links (Winstein, Sivaraman and Balakrishnan, "Stochastic
//! Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013): opportunities come at random at a
//! rate that wanders, and now and then there are none for a while. Here the rate is drawn back to its mean, so that a
//! trace has one; and it never leaves `[0, peak]`.
//!
//! Numbers are made with the four operations alone, each rounded as IEEE 754 says, so that a seed gives the same trace on
//! every platform.

use alloc::vec::Vec;
use core::time::Duration;

use super::SplitMix64;
use super::trace::{OPPORTUNITY_BYTES, Trace};

/// How often the rate changes, in ms.
const STEP_MS: u32 = 20;

/// The share of a second's wandering that is due to one step: the square root of 20 ms / 1 s.
const STEP_WANDER: f64 = 0.141_421_356_237_309_5;

/// How often per millisecond there may be an opportunity.
const SLOTS_PER_MS: u32 = 4;

/// The fastest link: an opportunity in each slot.
const KBPS_MAX: u32 = SLOTS_PER_MS * KBPS_PER_SLOT;

/// What one opportunity per ms is, in kbit/s.
const KBPS_PER_SLOT: u32 = OPPORTUNITY_BYTES * 8;

/// One direction of a mobile network as a moving user has it: **synthetic**, no recording.
///
/// The constants imitate what Mahimahi's recordings from moving cars show when they are looked at second by second and
/// for gaps of 200 ms and more. The two directions of a link are two traces that know nothing of each other; of the
/// recordings' outages a fifth to a half are in both directions at once. There is no structure beyond that: nothing of
/// schedulers, retransmissions, handovers, or dead zones of ten seconds to a minute, which some recordings have. For that
/// take a recording, and [parse](Trace::parse) it.
///
/// | imitates | recording | mean, Mbit/s | 5 to 95 % of its seconds | a gap of 200 ms and more every |
/// |---|---|---:|---:|---:|
/// | [`LTE_DOWN`](Cellular::LTE_DOWN) | `ATT-LTE-driving.down` | 5.2 | 0.7 to 9.6 | 11 s, 650 ms long |
/// | [`LTE_UP`](Cellular::LTE_UP) | `ATT-LTE-driving-2016.up` | 1.9 | 0.0 to 5.0 | 6 s, 815 ms long |
/// | [`UMTS_DOWN`](Cellular::UMTS_DOWN) | `TMobile-UMTS-driving.down` | 2.0 | 0.0 to 5.4 | 6 s, 734 ms long |
/// | [`UMTS_UP`](Cellular::UMTS_UP) | `TMobile-UMTS-driving.up` | 0.9 | 0.1 to 1.4 | 8 s, 812 ms long |
/// | [`EVDO_DOWN`](Cellular::EVDO_DOWN) | `Verizon-EVDO-driving.down` | 0.5 | 0.0 to 1.5 | 2 s, 486 ms long |
/// | [`EVDO_UP`](Cellular::EVDO_UP) | `Verizon-EVDO-driving.up` | 0.8 | 0.1 to 1.3 | 5 s, 586 ms long |
///
/// ```
/// use core::time::Duration;
/// use foretell_sim::netsim::Cellular;
///
/// let minute = Duration::from_secs(60);
/// let trace = Cellular::LTE_DOWN.trace(7, minute);
/// assert_eq!((trace.length(), &trace), (minute, &Cellular::LTE_DOWN.trace(7, minute)));
/// // As a file for `mm-link`: trace.to_string()
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cellular {
    /// What the rate is drawn back to, in kbit/s: 0 to `peak_kbps`. What it is on average is a little more where it often
    /// touches 0, and less by the outages.
    pub mean_kbps: u32,
    /// The most that it ever is, in kbit/s: 1 to 48,000.
    pub peak_kbps: u32,
    /// How far it wanders within a second, as a standard deviation in kbit/s: 0 to 48,000.
    pub wander_kbps: u32,
    /// How long it takes until it has forgotten most (1 - 1/e) of how far it was from the mean: 20 ms to an hour.
    pub memory: Duration,
    /// How long there is no outage on average, drawn anew each time, with most of them shorter (geometrically
    /// distributed): 1 ms to a day.
    pub outage_every: Duration,
    /// How long an outage is on average, likewise; in whole milliseconds, and 0 for no outages.
    pub outage: Duration,
}

impl Cellular {
    /// LTE, to the user.
    pub const LTE_DOWN: Cellular = Cellular {
        mean_kbps: 5_500,
        peak_kbps: 16_000,
        wander_kbps: 1_700,
        memory: Duration::from_secs(6),
        outage_every: Duration::from_secs(7),
        outage: Duration::from_millis(400),
    };
    /// LTE, from the user.
    pub const LTE_UP: Cellular = Cellular {
        mean_kbps: 1_750,
        peak_kbps: 12_000,
        wander_kbps: 1_500,
        memory: Duration::from_secs(4),
        outage_every: Duration::from_secs(6),
        outage: Duration::from_millis(700),
    };
    /// UMTS (HSPA), to the user.
    pub const UMTS_DOWN: Cellular = Cellular {
        mean_kbps: 2_000,
        peak_kbps: 7_000,
        wander_kbps: 800,
        memory: Duration::from_secs(10),
        outage_every: Duration::from_secs(5),
        outage: Duration::from_millis(600),
    };
    /// UMTS (HSPA), from the user.
    pub const UMTS_UP: Cellular = Cellular {
        mean_kbps: 1_150,
        peak_kbps: 1_480,
        wander_kbps: 300,
        memory: Duration::from_secs(6),
        outage_every: Duration::from_secs(7),
        outage: Duration::from_millis(700),
    };
    /// CDMA2000 1xEV-DO while driving, to the user.
    pub const EVDO_DOWN: Cellular = Cellular {
        mean_kbps: 450,
        peak_kbps: 3_000,
        wander_kbps: 300,
        memory: Duration::from_secs(6),
        outage_every: Duration::from_secs(3),
        outage: Duration::from_millis(400),
    };
    /// CDMA2000 1xEV-DO while driving, from the user.
    pub const EVDO_UP: Cellular = Cellular {
        mean_kbps: 930,
        peak_kbps: 1_700,
        wander_kbps: 260,
        memory: Duration::from_secs(4),
        outage_every: Duration::from_secs(4),
        outage: Duration::from_millis(400),
    };

    /// The trace of a seed, so long in whole milliseconds. The last opportunity is at its end, as the format has no other
    /// way to tell its length.
    ///
    /// # Panics
    /// When a field is not in its range, or the length not from 1 ms to an hour.
    pub fn trace(&self, seed: u64, length: Duration) -> Trace {
        let length_ms = whole_ms(length);
        assert!((1..=3_600_000).contains(&length_ms), "a synthetic trace is 1 ms to an hour long, and not {length:?}");
        self.check();
        let mut random = SplitMix64::new(seed);
        let mut link = Radio { kbps: f64::from(self.mean_kbps), is_out: false };
        let mut opportunities = Vec::new();
        for ms in 0..length_ms {
            if ms % STEP_MS == 0 {
                link.wander(self, &mut random);
            }
            link.go_out_or_come_back(self, &mut random);
            for _ in 0..link.opportunities(&mut random) {
                opportunities.push(ms);
            }
        }
        opportunities.push(length_ms);
        Trace::of(opportunities)
    }

    fn check(&self) {
        let Cellular { mean_kbps, peak_kbps, wander_kbps, memory, outage_every, .. } = *self;
        assert!((1..=KBPS_MAX).contains(&peak_kbps), "the peak is 1 to {KBPS_MAX} kbit/s, and not {peak_kbps}");
        assert!(mean_kbps <= peak_kbps, "the mean of {mean_kbps} kbit/s is at most the peak of {peak_kbps}");
        assert!(wander_kbps <= KBPS_MAX, "the rate wanders by at most {KBPS_MAX} kbit/s, and not {wander_kbps}");
        assert!((20..=3_600_000).contains(&whole_ms(memory)), "the memory is 20 ms to an hour, and not {memory:?}");
        assert!((1..=86_400_000).contains(&whole_ms(outage_every)), "outages are 1 ms to a day apart");
    }
}

/// A link while its trace is made.
struct Radio {
    kbps: f64,
    is_out: bool,
}

impl Radio {
    /// A step of an Ornstein-Uhlenbeck process between 0 and the peak.
    fn wander(&mut self, like: &Cellular, random: &mut SplitMix64) {
        // Three uniform draws are near enough to a normal one: 0 on average, with a standard deviation of 1.
        let normal = 2.0 * (random.next_f64() + random.next_f64() + random.next_f64()) - 3.0;
        let back = (f64::from(like.mean_kbps) - self.kbps) * f64::from(STEP_MS) / f64::from(whole_ms(like.memory));
        let moved = self.kbps + back + normal * f64::from(like.wander_kbps) * STEP_WANDER;
        self.kbps = moved.clamp(0.0, f64::from(like.peak_kbps));
    }

    fn go_out_or_come_back(&mut self, like: &Cellular, random: &mut SplitMix64) {
        let (mean_outage, mean_between) = (whole_ms(like.outage), whole_ms(like.outage_every));
        let mean_ms = if self.is_out { mean_outage } else { mean_between };
        if random.chance(1.0 / f64::from(mean_ms.max(1))) {
            self.is_out = !self.is_out && mean_outage > 0;
        }
    }

    /// How many opportunities there are in a millisecond: one in each slot, by chance. One draw, of 16 bits for each.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the rate is from 0 to the fastest")]
    fn opportunities(&self, random: &mut SplitMix64) -> u32 {
        let per_slot = (self.kbps * 65_536.0 / f64::from(KBPS_MAX)) as u64;
        let drawn = random.next_u64();
        let slots = (0..SLOTS_PER_MS).filter(|slot| (drawn >> (16 * slot)) & 0xFFFF < per_slot);
        if self.is_out { 0 } else { slots.count() as u32 }
    }
}

fn whole_ms(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}
