//! What runs beside the session while a scene of lanes is selected: its engine, and a bot for it.
//!
//! A function of the recording, as the session is: the engine begins when its scene is selected, from the run's seed.

use super::architectures::Architectures;
use super::crowd::CrowdScene;
use super::engine::SceneEngine;
use super::peek::Peek;
use super::physics::Physics;
use super::shared_mode::SharedMode;
use super::stepping::Stepping;
use super::styles::Styles;
use crate::controls::{Scene, Settings};
use crate::frame::lane::{Lanes, Question};
use foretell::Tick;
use foretell_plan::bots::Bots;
use foretell_plan::{Keys, Session};

/// The one player of an engine, who is the person or the bot.
const PLAYER: usize = 0;

/// The engine of the selected scene, or none.
pub struct CompanionEngine {
    seed: u64,
    /// At the rate of frames.
    bots: Bots,
    /// The scene whose engine it is.
    running: Option<(Scene, Box<dyn SceneEngine>)>,
    /// How many frames it has run while no key was pressed: it may open by itself. `None` once one was.
    opening: Option<u32>,
}

/// What an engine has made of a frame.
pub struct CompanionFrame {
    /// The keys that counted in it.
    pub keys: u8,
    pub questions: &'static [Question],
    pub lanes: Lanes,
}

impl CompanionEngine {
    /// The engine of the scene that is selected, if it is one of lanes.
    pub fn new(seed: u64, settings: &Settings) -> CompanionEngine {
        let session = Session { tick_rate: 60, players: PLAYER + 1, input: Keys::Recorded, ..Session::default() };
        let mut companion = CompanionEngine { seed, bots: Bots::new(&session, seed), running: None, opening: None };
        companion.turn_to(settings.scene());
        companion
    }

    /// Begins the engine of a scene, unless it runs; the one of any other is dropped.
    pub fn turn_to(&mut self, scene: Scene) {
        if self.running.as_ref().is_none_or(|(running, _)| *running != scene) {
            self.running = engine(scene, self.seed).map(|engine| (scene, engine));
            self.opening = Some(0);
        }
    }

    /// Lets something happen in the next frame; whether the engine knows it.
    pub fn event(&mut self, name: &str) -> bool {
        self.running.as_mut().is_some_and(|(_, engine)| engine.event(name))
    }

    /// A second person holds these keys from the next frame on.
    pub fn second(&mut self, keys: u8) {
        if let Some((_, engine)) = &mut self.running {
            engine.second(keys);
        }
    }

    /// Runs the next frame with these keys, or the bot's where there are none. As long as the person has pressed none, the
    /// engine's own come first.
    pub fn frame(&mut self, frame: u32, keys: Option<u8>, settings: &Settings) -> Option<CompanionFrame> {
        let (_, engine) = self.running.as_mut()?;
        let age = self.opening.filter(|_| keys.unwrap_or(0) == 0);
        self.opening = age.map(|age| age + 1);
        let opening = age.and_then(|age| engine.opening(age));
        let keys = opening.or(keys).unwrap_or_else(|| self.bots.bits(PLAYER, Tick::new(frame)));
        Some(CompanionFrame { keys, questions: engine.questions(), lanes: engine.frame(frame, keys, settings) })
    }
}

/// The engine of a scene of lanes.
fn engine(scene: Scene, seed: u64) -> Option<Box<dyn SceneEngine>> {
    match scene {
        Scene::Prediction | Scene::Remote => None,
        Scene::Styles => Some(Box::new(Styles::new(seed))),
        Scene::Qiita => Some(Box::new(Architectures::new(seed))),
        Scene::Stepping => Some(Box::new(Stepping::new(seed))),
        Scene::Shared => Some(Box::new(SharedMode::new(seed))),
        Scene::Physics => Some(Box::new(Physics::new(seed))),
        Scene::Crowd => Some(Box::new(CrowdScene::new(seed))),
        Scene::Peek => Some(Box::new(Peek::new(seed))),
    }
}
