//! The scene of the second article's client-side prediction: its server, which is stepped by arriving inputs, beside a session
//! whose server keeps its own time (R8, R10, R12, R14, R16 to R25, D10).
//!
//! A function of seed, settings, network, keys and events by frame. All lanes have the same keys, the same cube, and links of
//! the same conditions; those of the article have the same losses.

mod article;
mod host;
mod lineup;
mod measures;
mod session;
mod shown_ticks;
mod system;

use super::engine::SceneEngine;
use crate::clock::since_start;
use crate::controls::{Key, Scene, Settings};
use crate::frame::lane::{Lane, Lanes, Question};
use foretell::motion::Correction;
use foretell::{GapPolicy, Instant};
use foretell_articles::csp;
use lineup::{LaneKind, lineup};
use measures::Measures;
use system::{FrameEvents, FrameInput, OwnCorrection, System, SystemConfig};

/// For how many frames the cheat lasts: 5 s.
const CHEAT_FRAMES: u32 = 300;
/// A correction from this on is told, in metres.
const TOLD_M: f64 = 0.02;

/// What its charts ask.
const QUESTIONS: [Question; 4] = [
    Question { question: "How wrong is what you see?", unit: "cm", digits: 1 },
    Question { question: "How far are you corrected?", unit: "cm", digits: 1 },
    Question { question: "How late is the server?", unit: "ms", digits: 0 },
    Question { question: "How much at once?", unit: "ticks", digits: 0 },
];

/// From one sentence about a lane to the next, in frames: so that it can be read.
const TOLD_FRAMES: u32 = 45;

/// One lane that runs.
struct SteppingLane {
    kind: &'static LaneKind,
    system: Box<dyn System>,
    measures: Measures,
    /// The last frame in which something was said of it.
    told: Option<u32>,
}

impl SteppingLane {
    /// What is said of the corrections of a frame, if one is worth it.
    fn tell(&mut self, frame: u32, corrections: Vec<OwnCorrection>) -> Option<String> {
        let largest = corrections.into_iter().max_by(|a, b| a.moved_m.total_cmp(&b.moved_m));
        let is_read = self.told.is_none_or(|told| frame - told >= TOLD_FRAMES);
        let worth = largest.filter(|correction| is_read && correction.moved_m >= TOLD_M)?;
        self.told = Some(frame);
        Some(worth.sentence)
    }
}

/// The scene.
pub struct Stepping {
    seed: u64,
    /// Which lanes there are; `None` before the first frame.
    lineup: Option<u16>,
    /// The frame in which they began.
    began: u32,
    lanes: Vec<SteppingLane>,
    events: FrameEvents,
    /// For how many frames the player's clock runs fast yet.
    cheats: u32,
}

impl Stepping {
    pub fn new(seed: u64) -> Stepping {
        Stepping { seed, lineup: None, began: 0, lanes: Vec::new(), events: FrameEvents::default(), cheats: 0 }
    }

    fn begin(&mut self, frame: u32, code: u16, settings: &Settings) {
        let (chosen, conditions) = (config(settings), settings.conditions());
        let tick_ms = settings.tick_rate().seconds() * 1000.0;
        let lane = |kind: &'static LaneKind| SteppingLane {
            kind,
            system: kind.begin(self.seed, &chosen, &conditions),
            measures: Measures::new(tick_ms),
            told: None,
        };
        self.lanes = lineup(code).lanes.iter().map(lane).collect();
        (self.lineup, self.began) = (Some(code), frame);
    }

    fn take_events(&mut self) -> FrameEvents {
        let double_clock = self.cheats > 0;
        self.cheats = self.cheats.saturating_sub(1);
        FrameEvents { double_clock, ..core::mem::take(&mut self.events) }
    }
}

/// How both systems decide by these settings.
fn config(settings: &Settings) -> SystemConfig {
    use foretell::session::client::Redundancy;
    let (client, server) = (settings.client(), settings.server());
    let redundancy = match client.redundancy {
        Redundancy::None => csp::Redundancy::None,
        Redundancy::Unacknowledged { limit } => {
            csp::Redundancy::SinceState { limit: (limit < u32::MAX).then_some(limit) }
        }
    };
    let reconciliations = [
        csp::Reconciliation::Rollback,
        csp::Reconciliation::AlwaysRollback,
        csp::Reconciliation::Snap,
        csp::Reconciliation::Off,
    ];
    let gap = match server.gap {
        GapPolicy::RepeatLast { .. } => csp::GapPolicy::Repeat,
        GapPolicy::Neutral => csp::GapPolicy::Neutral,
        GapPolicy::Hold => csp::GapPolicy::Skip,
    };
    SystemConfig {
        article_client: csp::ClientConfig {
            redundancy,
            reconciliation: reconciliations[usize::from(settings.code(Key::Reconciliation))],
            correction: settings.is_on(Key::Correction).then(Correction::article),
        },
        article_server: csp::ServerConfig { snapshot_rate: server.snapshot_rate, gap },
        client,
        server,
    }
}

impl SceneEngine for Stepping {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, name: &str) -> bool {
        match name {
            "impulse" => self.events.push = true,
            "teleport" => self.events.teleport = true,
            "stall" => self.events.stall = true,
            "realign" => self.events.realign = true,
            "double_clock" => self.cheats = CHEAT_FRAMES,
            _ => return false,
        }
        true
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let settings = settings.of_scene(Scene::Stepping);
        let code = settings.code(Key::SteppingLanes);
        if self.lineup != Some(code) {
            self.begin(frame, code, &settings);
        }
        let [before, now] = [0, 1].map(|more| Instant::ZERO + since_start(frame - self.began + more));
        let (events, chosen, conditions) = (self.take_events(), config(&settings), settings.conditions());
        let mut told = Lanes::default();
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            let config = lane.kind.config(&chosen);
            let input = FrameInput { before, now, keys, events, conditions: &conditions, config: &config };
            let view = lane.system.frame(&input);
            lane.measures.note(&view);
            told.steps.extend(lane.tell(frame, view.corrections).map(|sentence| (number, sentence)));
            told.lanes.push(Lane {
                name: lane.kind.name,
                explain: lane.kind.explain,
                cubes: view.cubes,
                figures: lane.measures.figures(lineup(code).figures),
                chart: lane.measures.chart(),
                ..Lane::default()
            });
        }
        told
    }
}

#[cfg(test)]
mod tests;
