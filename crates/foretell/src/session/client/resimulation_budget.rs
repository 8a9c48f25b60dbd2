//! How many ticks a frame may simulate again, by the time that it may take.

use core::time::Duration;

/// The weight of the newest frame in what a tick is known to cost.
const NEWEST: f64 = 0.125;

/// From milliseconds to ticks: the [`resimulation_budget`](crate::session::client::ClientConfig::resimulation_budget) of the next update,
/// by what ticks have cost so far. The caller measures; the core reads no clock.
///
/// ```
/// # use core::time::Duration;
/// # use foretell::session::client::ResimulationBudget;
/// let mut budget = ResimulationBudget::new(Duration::from_millis(4));
/// assert_eq!(budget.ticks(), 128, "nothing is known yet");
/// for _ in 0..100 {
///     // An update with 1 new tick and 7 simulated again took 4 ms.
///     budget.note(8, Duration::from_millis(4));
/// }
/// assert_eq!(budget.ticks(), 8);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResimulationBudget {
    most: Duration,
    /// Seconds.
    per_tick: Option<f64>,
}

impl ResimulationBudget {
    /// At most so long for the ticks of an update.
    pub fn new(most: Duration) -> ResimulationBudget {
        ResimulationBudget { most, per_tick: None }
    }

    /// An update ran this many ticks, new ones and others ([`Frame::ticks`](crate::session::client::Frame::ticks),
    /// [`Frame::resimulated`](crate::session::client::Frame::resimulated)), and took so long.
    pub fn note(&mut self, ticks: u32, took: Duration) {
        if ticks > 0 {
            let now = took.as_secs_f64() / f64::from(ticks);
            let before = self.per_tick.unwrap_or(now);
            self.per_tick = Some(before + (now - before) * NEWEST);
        }
    }

    /// How many ticks fit, from 1 to 128.
    pub fn ticks(&self) -> u32 {
        let fit = self.per_tick.map_or(f64::INFINITY, |per_tick| self.most.as_secs_f64() / per_tick);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
        let ticks = (fit + 1e-6).clamp(1.0, 128.0) as u32;
        ticks
    }
}
