//! Machines that join a run: the person's and the bots', and those that a scenario brings.

use super::driver::SessionDriver;
use crate::clock::FRAMES_PER_SECOND;
use crate::controls::Settings;
use crate::recording::event::Event;
use foretell_arena::Arena;
use foretell_sim::harness::{FaultStage, HostOptions, PlayerOptions};

/// Who joins because a scenario says so, and what it lets happen.
pub struct ScenarioStage<'a> {
    pub driver: &'a mut SessionDriver,
    pub settings: &'a Settings,
}

impl FaultStage<Arena> for ScenarioStage<'_> {
    fn newcomer(&mut self, number: usize) -> PlayerOptions<Arena> {
        self.driver.seat(number);
        player_options(self.settings)
    }

    fn event(&mut self, _world: &mut Arena, _number: u32) {
        self.driver.events.push(Event::Impulse);
    }
}

/// A machine of these settings.
pub fn player_options(settings: &Settings) -> PlayerOptions<Arena> {
    PlayerOptions {
        client: settings.client(),
        host: HostOptions::at(FRAMES_PER_SECOND),
        conditions: settings.conditions(),
        world: Arena::default(),
    }
}
