//! The scene of shared mode: an owner that moves by frame and is captured by tick, once for each strategy (F5 to F8, E25,
//! E26, D28).
//!
//! A function of seed, options, network and keys by frame. All owners have the same frames and the same keys.

mod owner;

use super::engine::SceneEngine;
use super::remote_screen::cube;
use crate::clock::instant;
use crate::controls::{Key, Settings};
use crate::frame::lane::{Figure, Lane, Lanes, Question};
use core::time::Duration;
use foretell::motion::AntiAliasing;
use foretell::motion::vector::{length, sub};
use foretell::{Instant, TickRate};
use foretell_articles::timestamped::Direction;
use foretell_sim::netsim::{Conditions, SplitMix64};
use owner::{FrameOwner, Measures, per_second};

/// How long the owner's frames are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frames {
    /// So many per second, all alike.
    Even(u16),
    /// From 4 to 30 ms each.
    Jittery,
}

/// What can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Options {
    frames: Frames,
    /// Captures per second.
    rate: TickRate,
}

/// What its charts ask.
const QUESTIONS: [Question; 3] = [
    Question { question: "How far from tick to tick?", unit: "cm", digits: 1 },
    Question { question: "How fast do others see it?", unit: "m/s", digits: 1 },
    Question { question: "How far off is your view?", unit: "cm", digits: 1 },
];

/// A way to move by frame and be captured by tick.
struct Strategy {
    anti_aliasing: AntiAliasing,
    name: &'static str,
    explain: &'static str,
}

const STRATEGIES: [Strategy; 4] = [
    Strategy {
        anti_aliasing: AntiAliasing::Ignore,
        name: "moves in frames",
        explain: "Strategy 1, nothing is done: a tick captures where the last frame has left it (F6, F7).",
    },
    Strategy {
        anti_aliasing: AntiAliasing::Ticks,
        name: "moves in ticks",
        explain: "Strategy 2: moves in ticks alone, and shows the way between the last two (F7).",
    },
    Strategy {
        anti_aliasing: AntiAliasing::Article,
        name: "article's hybrid",
        explain: "Strategy 3 as the article writes it: in frames and in ticks, a frame late (F8, E25).",
    },
    Strategy {
        anti_aliasing: AntiAliasing::Exact,
        name: "exact hybrid",
        explain: "Strategy 3, each capture at its tick's own time: even, and shown at once (D28).",
    },
];

/// The owners' frames since they are as long as they are.
struct FrameSchedule {
    frames: Frames,
    since: Instant,
    count: u64,
}

/// The number of the person among the players; the other one is 1.
const PERSON: u8 = 0;
/// How long the other player drives into one direction.
const SIDE_FRAMES: u32 = 50;

/// The scene.
pub struct SharedMode {
    seed: u64,
    /// `None` before the first frame.
    rate: Option<TickRate>,
    owners: Vec<FrameOwner>,
    /// The end of the owners' last frame.
    until: Instant,
    schedule: FrameSchedule,
    realign: bool,
    /// Which player holds the cube: the person or the other one.
    holder: u8,
    hand_over: bool,
}

impl SharedMode {
    pub fn new(seed: u64) -> SharedMode {
        SharedMode {
            seed,
            rate: None,
            owners: Vec::new(),
            until: Instant::ZERO,
            schedule: FrameSchedule { frames: Frames::Jittery, since: Instant::ZERO, count: 0 },
            realign: false,
            holder: PERSON,
            hand_over: false,
        }
    }

    /// Runs the next frame.
    fn play(&mut self, frame: u32, keys: u8, options: &Options, conditions: &Conditions) -> Lanes {
        let (before, now) = (instant(frame), instant(frame + 1));
        if self.rate != Some(options.rate) {
            self.begin(options.rate, before);
        }
        if core::mem::take(&mut self.hand_over) {
            self.holder ^= 1;
            self.owners.iter_mut().for_each(FrameOwner::hand_over);
        }
        let keys = if self.holder == PERSON { keys } else { round(frame) };
        let bit = |n: u8| f64::from(keys >> n & 1);
        let direction = Direction::of_axes(bit(3) - bit(2), bit(0) - bit(1)).vector;
        let realign = core::mem::take(&mut self.realign);
        for owner in &mut self.owners {
            owner.begin();
            if realign {
                owner.realign();
            }
        }
        while let Some(until) = self.next_until(options.frames).filter(|until| *until <= now) {
            for owner in &mut self.owners {
                owner.frame(direction, self.until, until, conditions);
            }
            self.until = until;
            self.schedule.count += 1;
        }
        let length = now.since(before);
        self.owners.iter_mut().for_each(|owner| owner.show_to_other(now, length, conditions));
        let lanes =
            self.owners.iter().zip(&STRATEGIES).map(|(owner, strategy)| report(owner, strategy, length)).collect();
        Lanes { lanes, holder: Some(self.holder), ..Lanes::default() }
    }

    fn begin(&mut self, rate: TickRate, at: Instant) {
        let place = self.owners.first().map(|owner| owner.local).unwrap_or_default();
        // The same losses in every lane: they have one network.
        let owner = |strategy: &Strategy| FrameOwner::new(strategy.anti_aliasing, rate, place, at, self.seed);
        self.owners = STRATEGIES.iter().map(owner).collect();
        (self.rate, self.until) = (Some(rate), at);
        self.schedule.since = at;
        self.schedule.count = 0;
    }

    /// When the owners' next frame ends. A random length is drawn once for each.
    fn next_until(&mut self, frames: Frames) -> Option<Instant> {
        if self.schedule.frames != frames {
            self.schedule = FrameSchedule { frames, since: self.until, count: 0 };
        }
        let FrameSchedule { since, count, .. } = self.schedule;
        match frames {
            Frames::Even(hz) => Some(since + Duration::from_micros(((count + 1) * 1_000_000).div_ceil(u64::from(hz)))),
            Frames::Jittery => {
                // A function of seed and number, so that to ask twice is to be told the same.
                let mut draw = SplitMix64::new(self.seed ^ self.until.micros());
                Some(self.until + Duration::from_micros(4_000 + draw.next_u64() % 26_000))
            }
        }
    }
}

impl SceneEngine for SharedMode {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, name: &str) -> bool {
        match name {
            "realign" => self.realign = true,
            "hand_over" => self.hand_over ^= true,
            _ => return false,
        }
        true
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let frames = [Frames::Even(60), Frames::Even(30), Frames::Even(144), Frames::Jittery];
        let options =
            Options { frames: frames[usize::from(settings.code(Key::OwnerFrames))], rate: settings.tick_rate() };
        self.play(frame, keys, &options, &settings.conditions())
    }
}

/// The keys of the other player, who drives around a square.
fn round(frame: u32) -> u8 {
    const SIDES: [u8; 4] = [8, 1, 4, 2];
    SIDES[(frame / SIDE_FRAMES) as usize % SIDES.len()]
}

fn report(owner: &FrameOwner, &Strategy { name, explain, .. }: &Strategy, passed: Duration) -> Lane {
    let mut cubes = vec![cube("local", owner.local, "predicted"), cube("client", owner.shown(), "predicted")];
    cubes.extend(owner.other.map(|other| cube("other", other, "interpolated")));
    let Measures { mean_step_m, deviation_m, error_m, delay_ms } = owner.measures();
    let figure = |label, value, unit| Figure { label, value, unit, digits: 1 };
    let seen = owner.seen_m.map(|metres| per_second(metres, passed));
    let off = length(sub(owner.shown(), owner.local));
    Lane {
        name,
        explain,
        cubes,
        figures: vec![
            figure("mean step", mean_step_m * 100.0, "cm"),
            figure("uneven by", deviation_m * 100.0, "cm"),
            figure("own view off", error_m * 100.0, "cm"),
            figure("input delay", delay_ms, "ms"),
        ],
        chart: vec![owner.step_m.map(|step| step * 100.0), seen, Some(off * 100.0)],
        ..Lane::default()
    }
}

#[cfg(test)]
mod tests;
