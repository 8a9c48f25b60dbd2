//! Who comes into a run: the person and the bots, and whom a scenario brings.

use super::driver::Stage;
use super::recording::Event;
use super::run::FRAMES_PER_SECOND;
use super::settings::Settings;
use foretell::harness::{FaultStage, HostOptions, PlayerOptions};
use foretell_arena::Arena;

/// Who comes because a scenario says so.
pub struct Coming<'a> {
    pub stage: &'a mut Stage,
    pub settings: &'a Settings,
}

impl FaultStage<Arena> for Coming<'_> {
    fn newcomer(&mut self, number: usize) -> PlayerOptions<Arena> {
        self.stage.seat(number);
        player(self.settings)
    }

    fn event(&mut self, _world: &mut Arena, _number: u32) {
        self.stage.events.push(Event::Impulse);
    }
}

/// A machine of these settings.
pub fn player(settings: &Settings) -> PlayerOptions<Arena> {
    PlayerOptions {
        client: settings.client(),
        host: HostOptions::at(FRAMES_PER_SECOND),
        conditions: settings.conditions(),
        world: Arena::default(),
    }
}
