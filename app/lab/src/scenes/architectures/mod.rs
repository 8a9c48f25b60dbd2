//! The scene of the first article: its three architectures side by side, on one input, with cheats (Q2, Q18, Q19, E3 to
//! E10).
//!
//! A function of seed, options, network, keys and events by frame. When an option changes, all begin anew where local is.

mod architecture;
mod cheats;
mod client_decides;
mod movement;
mod numbered_link;
mod options;
mod prediction;
mod server_decides;

use super::engine::SceneEngine;
use super::input_lag::InputLag;
use super::remote_screen::cube;
use super::window::Window;
use crate::clock::since_start;
use crate::controls::{Key, Settings};
use crate::frame::lane::{Figure, Lane, Lanes, Question};
use architecture::{Architecture, FrameInput, FrameView};
use cheats::Cheats;
use client_decides::ClientDecides;
use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell_articles::timestamped::Detect;
use foretell_sim::netsim::Conditions;
use movement::{Micros, Single, direction_of, walk};
use options::Options;
use prediction::{Prediction, start_of};
use server_decides::ServerDecides;

/// What its charts ask.
const QUESTIONS: [Question; 3] = [
    Question { question: "How far are you off local?", unit: "cm", digits: 1 },
    Question { question: "How far off is the server?", unit: "cm", digits: 1 },
    Question { question: "How fast do others see you?", unit: "m/s", digits: 1 },
];

const NAMES: [(&str, &str); 3] = [
    (
        "client decides",
        "A smart client and a server that only passes positions on, or checks their distances (Q2, Q5).",
    ),
    ("server decides", "A dumb client that sends keys and shows what the server sends back, interpolated (Q1, Q2)."),
    (
        "prediction",
        "Both are smart: the client moves at once, the server follows its path and has the final word (Q2, Q3).",
    ),
];

/// One architecture, and what is measured of it.
struct ArchitectureLane {
    architecture: Box<dyn Architecture>,
    /// Where the player would be without a network (Q19, D22); of each lane by itself, as each can be set to another place.
    local: [f64; 3],
    input_lag: InputLag,
    /// The way of what another player sees, of each frame of the last second.
    way: Window,
    other: Option<[f64; 3]>,
    client: [f64; 3],
}

/// The scene.
pub struct Architectures {
    seed: u64,
    /// `None` before the first frame.
    options: Option<Options>,
    /// The frame in which they began.
    began: u32,
    lanes: Vec<ArchitectureLane>,
    cheats: Cheats,
    realign: bool,
}

impl Architectures {
    pub fn new(seed: u64) -> Architectures {
        Architectures { seed, options: None, began: 0, lanes: Vec::new(), cheats: Cheats::default(), realign: false }
    }

    /// Lets something happen in the next frame; whether it knows it.
    fn happen(&mut self, name: &str) -> bool {
        if name == "realign" {
            self.realign = true;
            return true;
        }
        self.cheats.begin(name)
    }

    /// Runs the next frame.
    fn play(&mut self, frame: u32, keys: u8, options: &Options, conditions: &Conditions) -> Lanes {
        if self.options != Some(*options) {
            self.begin(frame, options);
        }
        let (passed, start) = (frame - self.began, start_of(options.age_s));
        let (before, now) = (start + since_start(passed), start + since_start(passed + 1));
        let input = FrameInput {
            now,
            time_s: f64::from(frame) / 60.0,
            length: now.since(before),
            direction: direction_of(keys),
            doing: self.cheats.take(),
            conditions,
            interval: options.interval,
            article: options.article,
        };
        let realign = core::mem::take(&mut self.realign);
        let mut told = Lanes::default();
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if realign {
                lane.local = lane.client;
                lane.input_lag.begin_anew();
            }
            let mut seen = lane.architecture.frame(&input);
            told.steps.extend(seen.steps.drain(..).map(|step| (number, step)));
            told.lanes.push(lane.report(number, &input, &seen));
        }
        told
    }

    fn begin(&mut self, frame: u32, options: &Options) {
        let spawn = self.lanes.first().map(|lane| lane.local).unwrap_or_default();
        let start = start_of(options.age_s);
        let [a, b, c] = [0, 8, 16].map(|nth| self.seed ^ (nth + 1));
        let prediction: Box<dyn Architecture> = match options.single {
            true => Box::new(Prediction::<Single>::new(c, options, spawn, start)),
            false => Box::new(Prediction::<Micros>::new(c, options, spawn, start)),
        };
        let architectures: [Box<dyn Architecture>; 3] =
            [Box::new(ClientDecides::new(a, spawn, start)), Box::new(ServerDecides::new(b, spawn)), prediction];
        self.lanes = architectures.into_iter().map(|architecture| ArchitectureLane::new(architecture, spawn)).collect();
        (self.options, self.began) = (Some(*options), frame);
    }
}

impl SceneEngine for Architectures {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, name: &str) -> bool {
        self.happen(name)
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let options = Options {
            interval: Duration::from_secs_f64(1.0 / settings.number(Key::SyncRate)),
            article: settings.code(Key::Believes) == 1,
            detect: [Detect::Client, Detect::Server][usize::from(settings.code(Key::Detect))],
            single: settings.code(Key::Clock) == 1,
            age_s: [0, 64, 256, 1024, 4096, 16_384][usize::from(settings.code(Key::Age))],
        };
        self.play(frame, keys, &options, &settings.conditions())
    }
}

impl ArchitectureLane {
    fn new(architecture: Box<dyn Architecture>, spawn: [f64; 3]) -> ArchitectureLane {
        ArchitectureLane {
            architecture,
            local: spawn,
            input_lag: InputLag::default(),
            way: Window::new(60),
            other: None,
            client: spawn,
        }
    }

    fn report(&mut self, number: usize, input: &FrameInput<'_>, seen: &FrameView) -> Lane {
        walk(&mut self.local, input.direction, input.length.as_secs_f64());
        self.input_lag.note(self.local, seen.client);
        if let (Some(before), Some(other)) = (self.other, seen.other) {
            self.way.note(length(sub(other, before)));
        }
        (self.other, self.client) = (seen.other, seen.client);
        let off = |position| length(sub(position, self.local)) * 100.0;
        let (name, explain) = NAMES[number];
        let source = if number == 1 { "interpolated" } else { "predicted" };
        let mut cubes = vec![
            cube("local", self.local, "predicted"),
            cube("client", seen.client, source),
            cube("server", seen.server, "confirmed"),
        ];
        cubes.extend(seen.other.map(|other| cube("other", other, "interpolated")));
        let figure = |label, value, unit, digits| Figure { label, value, unit, digits };
        Lane {
            name,
            explain,
            cubes,
            figures: vec![
                figure("input lag", self.input_lag.ms(), "ms", 0),
                figure("off local", off(seen.client), "cm", 1),
                figure("resyncs", count(seen.resyncs), "", 0),
                figure("refused", count(seen.refused), "", 0),
                figure("others see", self.way.sum(), "m/s", 1),
            ],
            chart: vec![Some(off(seen.client)), Some(off(seen.server)), seen.other.map(|_| self.way.sum())],
            ..Lane::default()
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count that a person reads")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
