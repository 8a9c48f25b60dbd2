//! Curves between updates: shown so late that the next one has come (P2, P8, P9, D19), and beyond the newest for a while.

use super::method::{Method, Receiver, ShownPosition, Update};
use crate::clock::FRAME_S;
use foretell::motion::trajectory::{Extrapolation, catmull_rom, catmull_rom_spaced, dead_reckon, hermite, hold};
use foretell::motion::vector::{lerp, lerp_unclamped, scale};
use std::collections::VecDeque;

/// How many updates are kept: 1 s of them at the highest rate.
const KEPT: usize = 64;
/// Over how many updates the largest age counts.
const AGES: usize = 20;
/// How fast the delay follows what is needed, per second: time runs 10 % faster or slower.
const SLEW: f64 = 0.1;

/// The curve between two updates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// The first, until the second (P1).
    Hold,
    /// A straight line (P2).
    Line,
    /// A cubic with the velocities that were sent (P8).
    Hermite,
    /// A cubic with a neighbour on each side, as if all were equally far apart (P9).
    CatmullRom,
    /// The same by the distances that there are (D19).
    Spaced,
}

/// Updates, and where in them it is.
#[derive(Clone, Debug)]
pub struct Buffered {
    between: Between,
    start: [f64; 3],
    /// Ascending by frame of sending, each once.
    updates: VecDeque<Update>,
    /// The ages at arrival of the last, in seconds.
    ages: VecDeque<f64>,
    /// How late it is shown, in seconds; `None` before the first update.
    delay_s: Option<f64>,
}

impl Buffered {
    /// Nothing has come yet.
    pub fn new(between: Between, start: [f64; 3]) -> Buffered {
        Buffered { between, start, updates: VecDeque::new(), ages: VecDeque::new(), delay_s: None }
    }

    /// The delay with which the next update has come when it is needed; a Catmull-Rom curve needs the one after it too.
    fn needed_s(&self, interval_s: f64) -> f64 {
        let ahead = if matches!(self.between, Between::CatmullRom | Between::Spaced) { 2.0 } else { 1.0 };
        self.ages.iter().copied().fold(0.0, f64::max) + ahead * interval_s
    }

    /// From the update of this index to the next one, of which there is one.
    fn curve(&self, index: usize, t_s: f64) -> [f64; 3] {
        let at = |index: usize| &self.updates[index];
        let (a, b) = (at(index), at(index + 1));
        let (before, after) = (at(index.saturating_sub(1)), at((index + 2).min(self.updates.len() - 1)));
        let gap = |a: &Update, b: &Update| f64::from(b.sent - a.sent) * FRAME_S;
        let whole = gap(a, b);
        let t = (t_s - f64::from(a.sent) * FRAME_S) / whole;
        match self.between {
            Between::Hold => hold(a.position, b.position, t),
            Between::Line => lerp(a.position, b.position, t),
            Between::Hermite => hermite(a.position, b.position, scale(a.velocity, whole), scale(b.velocity, whole), t),
            Between::CatmullRom => {
                // Without a neighbour as if there were one straight on.
                let straight = |from: &Update, to: &Update| lerp_unclamped(from.position, to.position, 2.0);
                let first = if before.sent < a.sent { before.position } else { straight(b, a) };
                let last = if after.sent > b.sent { after.position } else { straight(a, b) };
                catmull_rom([first, a.position, b.position, last], t)
            }
            Between::Spaced => {
                let points = [before, a, b, after].map(|update| update.position);
                catmull_rom_spaced(points, [gap(before, a), whole, gap(b, after)], t)
            }
        }
    }
}

impl Method for Buffered {
    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        let place = self.updates.partition_point(|kept| kept.sent < update.sent);
        if self.updates.get(place).is_some_and(|kept| kept.sent == update.sent) {
            return;
        }
        self.updates.insert(place, *update);
        self.ages.push_back(receiver.age_s(update));
        if self.updates.len() > KEPT {
            self.updates.pop_front();
        }
        if self.ages.len() > AGES {
            self.ages.pop_front();
        }
    }

    fn show(&mut self, receiver: &Receiver) -> ShownPosition {
        let Some(newest) = self.updates.back() else { return ShownPosition::at(self.start) };
        let needed = self.needed_s(receiver.interval_s);
        let delay =
            self.delay_s.map_or(needed, |delay| delay + (needed - delay).clamp(-SLEW * FRAME_S, SLEW * FRAME_S));
        self.delay_s = Some(delay);
        let at_s = receiver.now_s - delay;
        let beyond_s = at_s - f64::from(newest.sent) * FRAME_S;
        if beyond_s >= 0.0 {
            let way = if self.between == Between::Hold { 0.0 } else { Extrapolation::default().way(beyond_s) };
            return ShownPosition {
                position: dead_reckon(newest.position, newest.velocity, way),
                beyond_ms: beyond_s * 1000.0,
            };
        }
        let next = self.updates.partition_point(|update| f64::from(update.sent) * FRAME_S <= at_s);
        ShownPosition::at(match next.checked_sub(1) {
            Some(index) => self.curve(index, at_s),
            None => self.updates[0].position,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::styles::pun_options::{PunExtrapolation, PunOptions};

    const INTERVAL_S: f64 = 0.1;

    fn known(frame: u32) -> Receiver {
        let pun = PunOptions { extrapolation: PunExtrapolation::Disabled, speed: 1.0, teleport_m: 3.0 };
        Receiver { now_s: f64::from(frame) * FRAME_S, interval_s: INTERVAL_S, ping_s: 0.0, pun }
    }

    /// Along x at 3 m/s.
    fn update(sent: u32) -> Update {
        let x = f64::from(sent) * FRAME_S * 3.0;
        Update { sent, position: [x, 0.0, 0.0], velocity: [3.0, 0.0, 0.0], way: [0.0; 3] }
    }

    #[test]
    fn steady_motion_is_shown_as_it_is_by_every_curve_whatever_the_order_of_arrival() {
        for between in [Between::Line, Between::Hermite, Between::CatmullRom, Between::Spaced] {
            let mut buffered = Buffered::new(between, [0.0; 3]);
            // Each pair comes the wrong way round, and twice.
            for sent in [6, 0, 18, 12, 6, 30, 24, 24] {
                buffered.receive(&update(sent), &known(30));
            }
            buffered.delay_s = Some(0.2);
            for frame in 18..36 {
                let at = known(frame);
                let (seen, delay_s) = (buffered.show(&at), buffered.delay_s.expect("some"));
                let expected = (at.now_s - delay_s) * 3.0;
                assert!((seen.position[0] - expected).abs() < 1e-9, "{between:?} in frame {frame}: {seen:?}");
            }
        }
    }

    #[test]
    fn beyond_the_newest_it_goes_on_for_a_while_and_stops() {
        let mut buffered = Buffered::new(Between::Hermite, [0.0; 3]);
        buffered.receive(&update(0), &known(0));
        let ways: Vec<_> = (0..90).map(|frame| buffered.show(&known(frame))).collect();
        assert!(ways[40].beyond_ms > 300.0 && ways[40].position == ways[89].position, "{:?}", ways[40]);
        assert!((0.4..0.6).contains(&ways[89].position[0]), "100 ms at 3 m/s, and 75 ms worth of stopping");
    }

    #[test]
    fn the_delay_grows_with_the_age_of_what_comes_and_never_by_a_jump() {
        let mut buffered = Buffered::new(Between::Line, [0.0; 3]);
        let mut before = None;
        for frame in 0..600 {
            let late = if frame < 120 { 3 } else { 15 };
            if frame % 6 == 0 && frame >= late {
                buffered.receive(&update(frame - late), &known(frame));
            }
            buffered.show(&known(frame));
            let now = buffered.delay_s;
            if let (Some(before), Some(now)) = (before, now) {
                let by: f64 = now - before;
                assert!(by.abs() <= SLEW * FRAME_S + 1e-12, "by {by} s in frame {frame}");
            }
            before = now;
        }
        assert!((before.expect("some") - 0.35).abs() < 1e-9);
    }
}
