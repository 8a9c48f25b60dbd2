//! The scene of lag compensation: two players at a corner and a doorway, each on a link of its own, and the receipt of every shot.
//!
//! A session of its own, on the harness as every other: a lane is the screen of one player. A function of seed, settings and keys
//! by frame.

mod bots;
mod cards;
mod driver;
mod duel;
mod ground;
mod screen;

use super::engine::SceneEngine;
use crate::clock::{FRAMES_PER_SECOND, instant};
use crate::controls::Settings;
use crate::frame::duel::{DuelPicture, ShotCard};
use crate::frame::lane::{Figure, Lane, Lanes, Question};
use bots::Plan;
use cards::CardTerms;
use driver::PeekDriver;
use duel::Duel;
use foretell::hits::VictimRules;
use foretell::{ClientConfig, ServerConfig, TickRate};
use foretell_sim::harness::{HostOptions, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

/// What its charts ask. The curves of the first are what you claim, what you are judged by, what the other is judged by, and the most
/// that the server goes back; of the second where the other is by now on your screen, and you on theirs.
const QUESTIONS: [Question; 2] = [
    Question { question: "How far back is a shot judged?", unit: "ms", digits: 0 },
    Question { question: "How far off is who is shown?", unit: "cm", digits: 0 },
];

/// What is said of each screen.
const SCREENS: [[&str; 2]; 2] = [
    ["your screen", "You as you play, and the other as your client shows them: in the past."],
    [
        "the other's screen",
        "The same at the other end, over a link of its own: a bot plays there, and shoots when it sees you.",
    ],
];

/// The scene.
pub struct Peek {
    seed: u64,
    session: Option<PeekSession>,
}

/// The session that runs.
struct PeekSession {
    rate: TickRate,
    simulation: Simulation<Duel>,
    driver: PeekDriver,
    /// The frame of the run in which it began.
    began: u32,
}

impl Peek {
    pub fn new(seed: u64) -> Peek {
        Peek { seed, session: None }
    }

    /// The session that fits the settings: the one that runs, or a new one.
    fn session(&mut self, frame: u32, settings: &Settings) -> &mut PeekSession {
        let session = self.session.take().filter(|session| session.rate == settings.tick_rate());
        self.session.insert(session.unwrap_or_else(|| PeekSession::new(self.seed, frame, settings)))
    }
}

impl PeekSession {
    fn new(seed: u64, began: u32, settings: &Settings) -> PeekSession {
        let simulation = Simulation::new(settings.rules::<Duel>(), server(settings), Duel::default(), seed);
        let driver = PeekDriver::new(plan(settings));
        PeekSession { rate: settings.tick_rate(), simulation, driver, began }
    }

    /// The person comes first, and the other when they are there: so each is the same player in every run.
    fn add_next(&mut self, links: [Conditions; 2]) {
        let there = self.simulation.players.len();
        let is_next = there == 0 || self.driver.screens[there - 1].player().is_some();
        if let Some(conditions) = links.into_iter().nth(there).filter(|_| is_next) {
            let (client, host) = (ClientConfig::default(), HostOptions::at(FRAMES_PER_SECOND));
            self.simulation.add_player(PlayerOptions { client, host, conditions, world: Duel::default() });
        }
    }

    /// Brings links, server and the other's plan to the settings.
    fn arrange(&mut self, settings: &Settings) {
        if self.simulation.players.len() < SCREENS.len() {
            self.add_next(links(settings));
        }
        let Simulation { server: host, players, .. } = &mut self.simulation;
        *host.server.config_mut() = server(settings);
        host.world.rules = VictimRules { grace: settings.grace(), ..VictimRules::default() };
        for (player, conditions) in players.iter_mut().zip(links(settings)) {
            (player.up_conditions, player.down_conditions) = (conditions.clone(), conditions);
        }
        self.driver.turn_to(plan(settings));
    }

    fn play(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let PeekSession { simulation, driver, began, .. } = self;
        driver.begin_frame(keys);
        simulation.run_until(instant(frame - *began), driver);
        let shots = self.cards(settings);
        let lanes = (0..SCREENS.len()).map(|nth| self.lane(nth, settings)).collect();
        Lanes { lanes, shots, ..Lanes::default() }
    }

    /// Of the shots that the server has judged in this frame.
    fn cards(&mut self, settings: &Settings) -> Vec<ShotCard> {
        let PeekSession { simulation, driver, rate, .. } = self;
        for player in &mut simulation.players {
            driver.cards.predict(player.world.shots.drain(..));
        }
        let terms = CardTerms { rate: *rate, rewind_max: server(settings).rewind_max, grace: settings.grace() };
        let judged = core::mem::take(&mut simulation.server.world.shots);
        judged.iter().map(|shot| driver.card(shot, terms)).collect()
    }

    fn lane(&self, nth: usize, settings: &Settings) -> Lane {
        let world = &self.simulation.server.world;
        let screen = &self.driver.screens[nth];
        let [name, explain] = SCREENS[nth];
        let walls = ground::WALLS.iter().map(|wall| [wall.min[0], wall.min[1], wall.max[0], wall.max[1]]).collect();
        Lane {
            name,
            explain,
            cubes: screen.cubes(world),
            figures: self.figures(nth),
            chart: if nth == 0 { self.chart(settings) } else { Vec::new() },
            duel: Some(DuelPicture { walls, viewer: nth }),
            ..Lane::default()
        }
    }

    /// How far back the player of a screen claims to look, and is judged, in ms.
    fn looks_back(&self, nth: usize) -> [Option<f64>; 2] {
        let world = &self.simulation.server.world;
        let judged = self.driver.screens[nth].player().and_then(|player| world.rewinds.get(&player));
        // In place of an input that is lost another is used, which claims nothing.
        let judged = judged.filter(|(_, rewind)| rewind.claimed.is_some());
        judged.map_or([None; 2], |(tick, rewind)| cards::looks_back(rewind, *tick, self.rate))
    }

    /// The numbers under the picture.
    fn figures(&self, nth: usize) -> Vec<Figure> {
        let figure = |label, value: Option<f64>, unit, digits| {
            let value = value.unwrap_or(f64::NAN);
            Figure { label, value, unit, digits }
        };
        let screen = &self.driver.screens[nth];
        let [claimed, used] = self.looks_back(nth);
        let first = self.driver.seen_first_ms.map(|ms| if nth == 0 { ms } else { -ms });
        let off_cm = screen.other_off_m(&self.simulation.server.world).map(|metres| metres * 100.0);
        vec![
            figure("claims", claimed, "ms", 0),
            figure("judged by", used, "ms", 0),
            figure("off by", off_cm, "cm", 0),
            figure("sees first", first, "ms", 0),
            figure("hits", Some(f64::from(self.driver.hits[nth])), "", 0),
            figure("taken back", u32::try_from(screen.taken_back).ok().map(f64::from), "", 0),
        ]
    }

    /// The newest points of the curves.
    fn chart(&self, settings: &Settings) -> Vec<Option<f64>> {
        let [yours, theirs] = [0, 1].map(|nth| self.looks_back(nth));
        let most_ms = server(settings).rewind_max.as_secs_f64() * 1000.0;
        let world = &self.simulation.server.world;
        let off = |nth: usize| self.driver.screens[nth].other_off_m(world).map(|metres| metres * 100.0);
        vec![yours[0], yours[1], theirs[1], Some(most_ms), off(0), off(1)]
    }
}

fn plan(settings: &Settings) -> Plan {
    Plan::ALL[settings.other_plays()]
}

fn server(settings: &Settings) -> ServerConfig {
    ServerConfig { rewind_max: settings.rewind_max(), ..ServerConfig::default() }
}

/// The person's link, and the other's, which has the same faults and a latency of its own.
fn links(settings: &Settings) -> [Conditions; 2] {
    let yours = settings.conditions();
    let theirs = Conditions { latency: settings.other_latency(), ..yours.clone() };
    [yours, theirs]
}

impl SceneEngine for Peek {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, _name: &str) -> bool {
        false
    }

    fn opening(&self, age: u32) -> Option<u8> {
        Some(self.session.as_ref().map_or(0, |session| session.driver.opening(age)))
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let session = self.session(frame, settings);
        session.arrange(settings);
        session.play(frame, keys, settings)
    }
}

#[cfg(test)]
mod tests;
