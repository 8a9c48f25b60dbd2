//! The scene of the second article: cubes driven by forces push a field of small ones (R3, R4, R13).
//!
//! In an exact session everything is predicted, bit by bit; in one that is not, what is near a player's own cube.
//!
//! A session of its own, on the harness as every other: a lane is the screen of one player. A function of seed, settings,
//! keys and events by frame, but for the CPU time that is measured. When both ends have to agree anew it begins anew.

mod driver;
mod measures;
mod screen;

use super::engine::SceneEngine;
use crate::clock::{FRAMES_PER_SECOND, instant};
use crate::controls::{Key, Settings};
use crate::frame::lane::{Lanes, Question};
use driver::{Disturbance, PileDriver};
use foretell::session::client::{Predict, Show};
use foretell::{ClientConfig, Interest, PeerId, Rules, SendRate, ServerConfig, TickRate};
use foretell_arena::Game;
use foretell_pile::Pile;
use foretell_sim::harness::{HostOptions, PlayerOptions, Simulation};
use screen::{PileScreen, ScreenText};

/// What one frame simulates again at most; the rest waits for the next frames.
const RESIMULATION_BUDGET: u32 = 64;

/// What is near, where not all is predicted: most of what is told of. What is pushed against a proxy stops there.
const NEAR: Predict = Predict::Near { within_m: 4.0, until_m: 5.0 };

/// Of how many each is told then, the nearest first.
const NEAREST: u16 = 96;

/// The key towards the pile, and in which frames it is held as the scene opens: once the session has begun, until the cube is
/// in the middle of the pile.
const OPENING: (u8, core::ops::Range<u32>) = (1, 30..120);

/// What its charts ask.
const QUESTIONS: [Question; 4] = [
    Question { question: "How far are you corrected?", unit: "cm", digits: 1 },
    Question { question: "How much with you?", unit: "bodies", digits: 0 },
    Question { question: "How much is run again?", unit: "ticks", digits: 0 },
    Question { question: "What is received?", unit: "kB/s", digits: 1 },
];

const SCREENS: [ScreenText; 2] = [
    ScreenText {
        name: "your screen",
        explain: "Your cube is predicted by your keys, another by theirs as far as they are known, and what they push with them (R4).",
    },
    ScreenText {
        name: "player 2",
        explain: "The screen of the second player, at the other end of a link of its own: a bot, until I, J, K, L or U is pressed.",
    },
];

/// The scene.
pub struct Physics {
    seed: u64,
    session: Option<PileSession>,
    disturbances: Vec<Disturbance>,
    /// The keys of the second player, once a person has pressed one.
    second: Option<u8>,
}

/// What both ends agree on from the start.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Agreed {
    field: u16,
    exact: bool,
    rate: TickRate,
}

/// The session that runs.
struct PileSession {
    agreed: Agreed,
    simulation: Simulation<Pile>,
    driver: PileDriver,
    /// The frame of the run in which it began.
    began: u32,
}

impl Physics {
    pub fn new(seed: u64) -> Physics {
        Physics { seed, session: None, disturbances: Vec::new(), second: None }
    }

    /// The session that fits the settings: the one that runs, or a new one.
    fn session(&mut self, frame: u32, settings: &Settings) -> &mut PileSession {
        let agreed = Agreed { field: settings.field(), exact: settings.is_exact(), rate: settings.tick_rate() };
        let session = self.session.take().filter(|session| session.agreed == agreed);
        self.session.insert(session.unwrap_or_else(|| PileSession::new(agreed, self.seed, frame, settings)))
    }
}

impl PileSession {
    fn new(agreed: Agreed, seed: u64, began: u32, settings: &Settings) -> PileSession {
        let rules = Rules { tick_rate: agreed.rate, exact: agreed.exact, ..Pile::rules() };
        let simulation = Simulation::new(rules, server(settings), Pile::new(agreed.field), seed);
        let mut session = PileSession { agreed, simulation, driver: PileDriver::default(), began };
        session.add_player(settings);
        session
    }

    fn add_player(&mut self, settings: &Settings) -> usize {
        self.driver.screens.push(PileScreen::new(self.agreed.exact));
        let (client, conditions) = (client(settings), settings.conditions());
        let (host, world) = (HostOptions::at(FRAMES_PER_SECOND), Pile::new(self.agreed.field));
        self.simulation.add_player(PlayerOptions { client, host, conditions, world })
    }

    /// Brings links, ends and players to the settings.
    fn arrange(&mut self, settings: &Settings) {
        match (self.driver.second, settings.second_player()) {
            (None, true) => self.driver.second = Some(self.add_player(settings)),
            (Some(machine), false) => {
                // The last that has come: there are two at most.
                self.simulation.players.truncate(machine);
                self.driver.screens.truncate(machine);
                self.simulation.server.server.leave(PeerId(machine as u64));
                self.driver.second = None;
            }
            _ => {}
        }
        *self.simulation.server.server.config_mut() = server(settings);
        for player in &mut self.simulation.players {
            *player.client.config_mut() = client(settings);
            (player.up_conditions, player.down_conditions) = (settings.conditions(), settings.conditions());
        }
    }

    fn play(&mut self, frame: u32) -> Lanes {
        self.driver.begin_frame();
        self.simulation.run_until(instant(frame - self.began), &mut self.driver);
        let truth = self.driver.newest_truth().to_vec();
        let mut told = Lanes { second: self.driver.second_keys, ..Lanes::default() };
        for (number, machine) in [Some(0), self.driver.second].into_iter().flatten().enumerate() {
            let (screen, stats) = (&mut self.driver.screens[machine], self.simulation.players[machine].client.stats());
            told.lanes.push(screen.lane(SCREENS[number], &truth, &stats));
            told.steps.extend(screen.take_sentence().map(|sentence| (number, sentence)));
        }
        told
    }
}

/// How both clients decide: in an exact session all is predicted, else what is near.
fn client(settings: &Settings) -> ClientConfig {
    let ClientConfig { checkpoint_interval, tolerance, .. } = Pile::client();
    ClientConfig {
        predict: if settings.is_exact() { Predict::Everyone } else { NEAR },
        checkpoint_interval,
        resimulation_budget: RESIMULATION_BUDGET,
        tolerance,
        send_rate: SendRate::EveryTick,
        show: Show::default(),
        ..settings.client()
    }
}

fn server(settings: &Settings) -> ServerConfig {
    let interest = Interest::Nearest(NEAREST);
    ServerConfig { relay_inputs: settings.is_on(Key::Relay), interest, ..settings.server() }
}

impl SceneEngine for Physics {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, name: &str) -> bool {
        let disturbance = match name {
            "impulse" => Disturbance::Impulse,
            "teleport" => Disturbance::Teleport,
            _ => return false,
        };
        self.disturbances.push(disturbance);
        true
    }

    fn opening(&self, age: u32) -> Option<u8> {
        let (key, frames) = OPENING;
        frames.contains(&age).then_some(key)
    }

    fn second(&mut self, keys: u8) {
        self.second = Some(keys);
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let disturbances = core::mem::take(&mut self.disturbances);
        self.second = self.second.filter(|_| settings.second_player());
        let second = self.second;
        let session = self.session(frame, settings);
        session.driver.disturbances.extend(disturbances);
        (session.driver.keys, session.driver.second_keys) = (keys, second);
        session.arrange(settings);
        session.play(frame)
    }
}

#[cfg(test)]
mod tests;
