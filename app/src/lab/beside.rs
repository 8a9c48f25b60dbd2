//! What runs beside the session while a scene of lanes is selected: its engine, and a bot for it.
//!
//! A function of the recording, as the session is: the engine begins when its scene is selected, from the run's seed.

use super::controls::Scene;
use super::lanes::{Bench, Lanes, Question};
use super::physics::Physics;
use super::qiita::Qiita;
use super::settings::Settings;
use super::shared::Shared;
use super::styles::Styles;
use crate::plan::{Keys, Session};
use crate::sweep::bots::Bots;
use foretell::Tick;

/// The one player of an engine, who is the person or the bot.
const PLAYER: usize = 0;

/// The engine of the selected scene, or none.
pub struct Beside {
    seed: u64,
    /// At the rate of frames.
    bots: Bots,
    /// The scene whose engine it is.
    running: Option<(Scene, Box<dyn Bench>)>,
    /// How many frames it has run while no key was pressed: it may open by itself. `None` once one was.
    opening: Option<u32>,
}

/// What an engine has made of a frame.
pub struct Made {
    /// The keys that counted in it.
    pub keys: u8,
    pub questions: &'static [Question],
    pub lanes: Lanes,
}

impl Beside {
    /// The engine of the scene that is selected, if it is one of lanes.
    pub fn new(seed: u64, settings: &Settings) -> Beside {
        let session = Session { tick_rate: 60, players: PLAYER + 1, input: Keys::Recorded, ..Session::default() };
        let mut beside = Beside { seed, bots: Bots::new(&session, seed), running: None, opening: None };
        beside.turn_to(settings.scene());
        beside
    }

    /// Begins the engine of a scene, unless it runs; the one of any other is dropped.
    pub fn turn_to(&mut self, scene: Scene) {
        if self.running.as_ref().is_none_or(|(running, _)| *running != scene) {
            self.running = bench(scene, self.seed).map(|bench| (scene, bench));
            self.opening = Some(0);
        }
    }

    /// Lets something happen in the next frame; whether the engine knows it.
    pub fn event(&mut self, name: &str) -> bool {
        self.running.as_mut().is_some_and(|(_, bench)| bench.event(name))
    }

    /// A second person holds these keys from the next frame on.
    pub fn second(&mut self, keys: u8) {
        if let Some((_, bench)) = &mut self.running {
            bench.second(keys);
        }
    }

    /// Runs the next frame with these keys, or the bot's where there are none. As long as the person has pressed none, the
    /// engine's own come first.
    pub fn frame(&mut self, frame: u32, keys: Option<u8>, settings: &Settings) -> Option<Made> {
        let (_, bench) = self.running.as_mut()?;
        let age = self.opening.filter(|_| keys.unwrap_or(0) == 0);
        self.opening = age.map(|age| age + 1);
        let opening = age.and_then(|age| bench.opening(age));
        let keys = opening.or(keys).unwrap_or_else(|| self.bots.bits(PLAYER, Tick::new(frame)));
        Some(Made { keys, questions: bench.questions(), lanes: bench.frame(frame, keys, settings) })
    }
}

/// The engine of a scene of lanes.
fn bench(scene: Scene, seed: u64) -> Option<Box<dyn Bench>> {
    match scene {
        Scene::Prediction | Scene::Remote => None,
        Scene::Styles => Some(Box::new(Styles::new(seed))),
        Scene::Qiita => Some(Box::new(Qiita::new(seed))),
        Scene::Shared => Some(Box::new(Shared::new(seed))),
        Scene::Physics => Some(Box::new(Physics::new(seed))),
    }
}
