//! A screen that shows somebody by the positions that come over a link: between two of them, a little late.

use crate::clock::seconds;
use crate::frame::cube::ShownCube;
use core::time::Duration;
use foretell::Instant;
use foretell::motion::vector;
use foretell_sim::netsim::{Conditions, Link};
use std::collections::VecDeque;

/// How many positions are kept.
const KEPT: usize = 128;
/// How much slower or faster it runs where its delay is to change.
const SPEED_CHANGE: f64 = 0.15;
/// From so many seconds on it jumps instead.
const JUMP_S: f64 = 1.0;

/// A link with positions on it, and who looks at them.
#[derive(Debug)]
pub struct RemoteScreen {
    link: Link,
    /// Of which instant, and where; ascending.
    samples: VecDeque<(Instant, [f64; 3])>,
    /// What is shown, in seconds on the axis of the samples.
    cursor: Option<f64>,
}

impl RemoteScreen {
    pub fn new(seed: u64) -> RemoteScreen {
        RemoteScreen { link: Link::new(seed, !seed), samples: VecDeque::new(), cursor: None }
    }

    /// Sends where somebody was at `at`.
    pub fn send(&mut self, now: Instant, at: Instant, position: [f64; 3], conditions: &Conditions) {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend(at.micros().to_le_bytes());
        position.iter().for_each(|lane| bytes.extend(lane.to_le_bytes()));
        self.link.send(now, &bytes, conditions);
    }

    /// Takes in what has come.
    pub fn receive(&mut self, now: Instant) {
        while let Some(delivery) = self.link.receive(now) {
            let (words, _) = delivery.bytes.as_chunks::<8>();
            let [at, x, y, z] = [0, 1, 2, 3].map(|nth: usize| words[nth]);
            let sample = (Instant::from_micros(u64::from_le_bytes(at)), [x, y, z].map(f64::from_le_bytes));
            let index = self.samples.partition_point(|(known, _)| *known < sample.0);
            if self.samples.get(index).is_none_or(|(known, _)| *known != sample.0) {
                self.samples.insert(index, sample);
            }
            if self.samples.len() > KEPT {
                self.samples.pop_front();
            }
        }
    }

    /// What is shown in the frame that ends at `now` and is so long, this much behind; `None` before there is anything.
    pub fn show(&mut self, now: Instant, length: Duration, delay: Duration) -> Option<[f64; 3]> {
        let target = seconds(now) - delay.as_secs_f64();
        let before = self.cursor.unwrap_or(target - length.as_secs_f64());
        let off = target - length.as_secs_f64() - before;
        let speed = 1.0 + off.clamp(-SPEED_CHANGE, SPEED_CHANGE);
        let cursor = if off.abs() > JUMP_S { target } else { before + length.as_secs_f64() * speed };
        self.cursor = Some(cursor);
        self.at(cursor)
    }

    /// Between the samples around an instant; at the first or the last where it is outside.
    fn at(&self, cursor: f64) -> Option<[f64; 3]> {
        let next = self.samples.partition_point(|(at, _)| seconds(*at) <= cursor);
        let (newer, older) = (self.samples.get(next), next.checked_sub(1).map(|index| self.samples[index]));
        match (older, newer) {
            (Some((from, a)), Some((to, b))) => {
                let part = (cursor - seconds(from)) / (seconds(*to) - seconds(from));
                Some(vector::lerp(a, *b, part))
            }
            (Some((_, held)), None) => Some(held),
            (None, first) => first.map(|(_, position)| *position),
        }
    }
}

/// A cube of the one player of a lane.
pub fn cube(role: &'static str, position: [f64; 3], source: &'static str) -> ShownCube {
    ShownCube::at(role, 1, position, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::timer::Timer;

    fn instant(frame: u64) -> Instant {
        Instant::from_micros(frame * 1_000_000 / 60)
    }

    #[test]
    fn who_walks_evenly_is_shown_evenly_and_as_late_as_was_asked_for() {
        let mut screen = RemoteScreen::new(1);
        let conditions = Conditions { latency: Duration::from_millis(80), ..Conditions::default() };
        let (mut sends, mut before) = (Timer::default(), None::<f64>);
        for frame in 0..600 {
            let now = instant(frame);
            if sends.is_due(now, Duration::from_millis(50)) {
                screen.send(now, now, [seconds(now), 0.0, 0.0], &conditions);
            }
            screen.receive(now);
            let shown = screen.show(now, instant(1).since(Instant::ZERO), Duration::from_millis(160));
            if let (Some(before), Some([x, _, _])) = (before, shown)
                && frame > 120
            {
                assert!((x - (seconds(now) - 0.16)).abs() < 1e-3, "{x} at {}", seconds(now));
                assert!((x - before - 1.0 / 60.0).abs() < 1e-4);
            }
            before = shown.map(|[x, _, _]| x);
        }
    }
}
