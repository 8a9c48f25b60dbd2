//! What is measured of a player's screen of the pile over the last seconds.

use crate::frame::lane::Figure;
use foretell::session::client::{ClientStats, Corrected};
use std::collections::VecDeque;

/// Over how many frames is measured.
const WINDOW: usize = 300;
/// And what is received, so that it can be read as it changes.
const RECEIVED: usize = 60;

/// What counts up, by frame.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    corrected: u64,
    down: u64,
    asked: u64,
    agreed: u64,
    compared: u64,
    resimulated: u64,
    cpu_us: u64,
}

/// What is measured of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameMeasures {
    /// How far the own cube is from where it is simulated, or has jumped, in metres.
    pub off_m: f64,
    /// How many bodies were corrected.
    pub bodies: usize,
    /// How many ticks were simulated again.
    pub resimulated: u32,
}

/// Counters of the last seconds.
#[derive(Debug, Default)]
pub struct ScreenMeasures {
    /// Whether the session is exact.
    exact: bool,
    cpu_us: u64,
    corrections: u64,
    /// Oldest first.
    counted: VecDeque<Counters>,
    /// How far the own cube was corrected, by frame of the screen.
    own_corrections: VecDeque<(u64, f64)>,
    frames: u64,
}

impl ScreenMeasures {
    /// Of a session that is exact, or not.
    pub fn new(exact: bool) -> ScreenMeasures {
        ScreenMeasures { exact, ..ScreenMeasures::default() }
    }

    /// How many frames were counted.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// An update of the client has corrected so many bodies, and spent this on what was not new ticks.
    pub fn note_update(&mut self, corrections: usize, cpu_us: u64) {
        self.corrections += corrections as u64;
        self.cpu_us += cpu_us;
    }

    /// The own cube was corrected.
    pub fn note_own(&mut self, correction: &Corrected) {
        self.own_corrections.push_back((self.frames, correction.misprediction_m));
    }

    /// A frame is over.
    pub fn note_frame(&mut self, stats: &ClientStats) {
        let outcomes = stats.prediction.outcomes;
        self.counted.push_back(Counters {
            corrected: self.corrections,
            down: stats.network.bytes_received,
            asked: outcomes.asked,
            agreed: outcomes.agreed,
            compared: outcomes.agreed + outcomes.asked + outcomes.corrected,
            resimulated: stats.prediction.resimulated,
            cpu_us: self.cpu_us,
        });
        if self.counted.len() > WINDOW + 1 {
            self.counted.pop_front();
        }
        self.frames += 1;
        self.own_corrections.retain(|(frame, _)| frame + WINDOW as u64 * 4 > self.frames);
    }

    /// The newest points of the charts.
    pub fn chart(&self, now: &FrameMeasures) -> Vec<Option<f64>> {
        let points = [now.off_m * 100.0, as_f64(now.bodies as u64), f64::from(now.resimulated), self.received()];
        points.map(Some).into()
    }

    /// In kB/s.
    fn received(&self) -> f64 {
        self.per_second(RECEIVED, |counters| counters.down) / 1000.0
    }

    /// The numbers under the picture.
    pub fn figures(&self) -> Vec<Figure> {
        let figure = |label, value, unit, digits| Figure { label, value, unit, digits };
        let over = |of: fn(&Counters) -> u64| self.per_second(WINDOW, of);
        let share = over(|counters| counters.agreed) / over(|counters| counters.compared);
        vec![
            figure("correction p99", self.own_correction_p99_m() * 100.0, "cm", 1),
            figure("bodies corrected", over(|counters| counters.corrected), "/s", 0),
            figure(if self.exact { "digests agreed" } else { "states agreed" }, share * 100.0, "%", 1),
            figure("states asked for", over(|counters| counters.asked), "/s", 1),
            figure("down", self.received(), "kB/s", 1),
            figure("simulated again", over(|counters| counters.resimulated), "ticks/s", 0),
            figure("its CPU time", over(|counters| counters.cpu_us) / 1000.0, "ms/s", 1),
        ]
    }

    /// How fast a counter went up in the last so many frames.
    fn per_second(&self, frames: usize, of: impl Fn(&Counters) -> u64) -> f64 {
        let Some(newest) = self.counted.back() else { return 0.0 };
        let passed = frames.min(self.counted.len() - 1);
        let oldest = &self.counted[self.counted.len() - 1 - passed];
        as_f64(of(newest).saturating_sub(of(oldest))) * 60.0 / as_f64(passed.max(1) as u64)
    }

    fn own_correction_p99_m(&self) -> f64 {
        let mut sizes: Vec<f64> = self.own_corrections.iter().map(|(_, metres)| *metres).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.get((sizes.len() * 99 / 100).min(sizes.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counters of a session")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
