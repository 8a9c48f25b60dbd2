//! The session of a run: its machines and links, who drives them, and the scripts and faults that lie over them.

use super::axis_marks::AxisMarks;
use super::driver::SessionDriver;
use super::joining::{ScenarioStage, player_options};
use super::players::{HUMAN, Players};
use super::rates::Counters;
use super::running_faults::RunningFaults;
use super::screen::confirmed;
use super::scripts::{Action, RunningScripts, Upcoming};
use crate::clock::instant;
use crate::controls::{Key, Scene, Settings};
use crate::frame::cube::ShownCube;
use crate::recording::Start;
use crate::recording::event::Event;
use crate::recording::scenario::Scenario;
use core::time::Duration;
use foretell::session::client::ClientStats;
use foretell::{Instant, PeerId};
use foretell_arena::Arena;
use foretell_sim::harness::{PlayerHost, Simulation};
use foretell_sim::netsim::Conditions;

const STALL: Duration = Duration::from_secs(2);

/// A simulated session with a person in it.
pub struct Session {
    simulation: Simulation<Arena>,
    pub driver: SessionDriver,
    scripts: RunningScripts,
    /// Of a scenario; then it is they who say who plays.
    faults: Option<RunningFaults>,
}

impl Session {
    /// Before the first frame.
    pub fn new(start: &Start, scenario: Option<&Scenario>) -> Session {
        let Start { seed, settings, bot, keys, .. } = *start;
        let mut simulation = Simulation::new(settings.rules::<Arena>(), settings.server(), Arena::default(), seed);
        if scenario.is_none() {
            simulation.add_player(player_options(&settings));
        }
        let players = Players::new(seed, settings.tick_rate(), bot, keys);
        Session {
            simulation,
            driver: SessionDriver::new(settings.tick_rate(), players),
            scripts: RunningScripts::default(),
            faults: scenario.map(RunningFaults::new),
        }
    }

    /// Whether who plays is up to the faults of a scenario.
    pub fn is_of_scenario(&self) -> bool {
        self.faults.is_some()
    }

    /// The person's machine, once they are there.
    pub fn person(&self) -> Option<&PlayerHost<Arena>> {
        self.simulation.players.get(self.driver.players.machine()?)
    }

    fn person_mut(&mut self) -> Option<&mut PlayerHost<Arena>> {
        self.simulation.players.get_mut(self.driver.players.machine()?)
    }

    /// The counters of the person's client.
    pub fn stats(&self) -> ClientStats {
        self.person().map(|person| person.client.stats()).unwrap_or_default()
    }

    /// What both ends have counted of the person.
    pub fn counters(&self) -> Counters {
        let stats = self.stats();
        let human = self.driver.players.human;
        let served = human.and_then(|human| self.simulation.server.server.stats(human));
        Counters {
            up: stats.network.bytes_sent,
            down: stats.network.bytes_received,
            applied: served.map_or(0, |served| served.inputs.applied),
            missed: served.map_or(0, |served| served.inputs.missed),
        }
    }

    /// The cubes on the person's screen, and their truth.
    pub fn cubes(&self) -> Vec<ShownCube> {
        let screen = &self.driver.screen;
        let mut cubes = screen.cubes.clone();
        if let Some(human) = self.driver.players.human {
            cubes.extend(confirmed("server", self.simulation.server.server.rows(), human, screen.ghosts));
        }
        cubes
    }

    /// How the person fares in a frame.
    pub fn state(&mut self, frame: u32) -> &'static str {
        let shown = self.driver.screen.state;
        let Some(machine) = self.person_mut() else { return "joining" };
        match machine.host.clock_mut().is_stalled(instant(frame)) {
            _ if machine.is_gone() => "left",
            true => "stalled",
            false => shown,
        }
    }

    /// Starts the script of this event in `frame`. Whether there is one.
    pub fn start_script(&mut self, event: Event, frame: u32) -> bool {
        self.scripts.start(event, frame)
    }

    /// What scripts make of these conditions in a frame.
    pub fn over(&self, set: Conditions, frame: u32) -> Conditions {
        self.scripts.over(set, frame)
    }

    /// What comes next of scripts and faults.
    pub fn upcoming(&self, frame: u32) -> Option<Upcoming> {
        let of_faults = self.faults.as_ref().and_then(|faults| faults.upcoming(frame));
        self.scripts.upcoming(frame).into_iter().chain(of_faults).min_by_key(|next| next.frames)
    }

    /// Lets something happen in `frame`.
    pub fn happen(&mut self, event: Event, frame: u32) {
        match event {
            Event::Stall => self.stall(frame, STALL),
            Event::Realign => self.driver.screen.local = None,
            event => self.driver.events.push(event),
        }
    }

    /// The person's machine runs nothing from a frame on.
    fn stall(&mut self, frame: u32, length: Duration) {
        if let Some(machine) = self.person_mut() {
            machine.host.clock_mut().stall(instant(frame), length);
        }
    }

    /// Runs a frame with these settings. What scripts and faults do is marked on the time axis.
    pub fn run(&mut self, frame: u32, settings: &Settings, marks: &mut AxisMarks) {
        self.follow_scripts(frame, marks);
        self.arrange(frame, settings);
        self.driver.begin_frame();
        self.suffer_faults(frame, settings, marks);
        self.simulation.run_until(instant(frame), &mut self.driver);
    }

    /// Begins what scripts do in a frame.
    fn follow_scripts(&mut self, frame: u32, marks: &mut AxisMarks) {
        for step in self.scripts.begin(frame) {
            marks.note_script(step.caption.to_owned());
            match step.action {
                Action::Sleep(ms) => self.stall(frame, Duration::from_millis(ms)),
                Action::ServerStall(ms) => {
                    let clock = self.simulation.server.host.clock_mut();
                    clock.stall(instant(frame), Duration::from_millis(ms));
                }
                Action::AsSet | Action::Latency(_) | Action::Loss(..) | Action::Rate(_) => {}
            }
        }
    }

    /// Runs up to each moment of this frame at which a fault begins or ends, and brings it about.
    fn suffer_faults(&mut self, frame: u32, settings: &Settings, marks: &mut AxisMarks) {
        let until = instant(frame);
        while let Some(running) = &mut self.faults {
            let Some(moment) = running.faults.next_ms().map(|ms| Instant::from_micros(u64::from(ms) * 1000)) else {
                break;
            };
            if until < moment {
                break;
            }
            if moment > Instant::ZERO {
                self.simulation.run_until(moment, &mut self.driver);
            }
            let mut stage = ScenarioStage { driver: &mut self.driver, settings };
            running.faults.begin(&mut self.simulation, &mut stage);
            self.arrange_links(frame, settings);
        }
        while let Some(caption) = self.faults.as_mut().and_then(|running| running.take_caption(frame)) {
            marks.note_script(caption);
        }
    }

    /// Brings links, client, server and players to the settings.
    fn arrange(&mut self, frame: u32, settings: &Settings) {
        if self.faults.is_none() {
            self.arrange_bots(settings);
        }
        self.arrange_links(frame, settings);
        let (client, server) = (settings.client(), settings.server());
        *self.simulation.server.server.config_mut() = server;
        self.simulation.players.iter_mut().for_each(|player| *player.client.config_mut() = client);
        self.driver.config = client;
        self.driver.explainer.gap = server.gap;
        self.driver.screen.ghosts = settings.scene() == Scene::Remote;
        self.driver.predicts = settings.is_on(Key::Prediction);
        let machine = self.driver.players.machine().and_then(|machine| self.simulation.players.get_mut(machine));
        machine.into_iter().for_each(|machine| self.driver.predict_own(&mut machine.client));
    }

    /// Scripts lie over the person's link, and faults over everybody's.
    fn arrange_links(&mut self, frame: u32, settings: &Settings) {
        let set = settings.conditions();
        let (own, mine) = (self.scripts.over(set.clone(), frame), self.driver.players.machine());
        let of = |machine: usize| if Some(machine) == mine { own.clone() } else { set.clone() };
        for (machine, player) in self.simulation.players.iter_mut().enumerate() {
            (player.up_conditions, player.down_conditions) = (of(machine), of(machine));
        }
        if let Some(running) = &self.faults {
            running.faults.hold(&mut self.simulation, |machine| [of(machine), of(machine)]);
        }
    }

    /// The bots come once the person is there, so that the person is always the first player.
    fn arrange_bots(&mut self, settings: &Settings) {
        let bots = if self.driver.players.human.is_some() { settings.bots() } else { 0 };
        let wanted = HUMAN + 1 + bots;
        while self.simulation.players.len() < wanted {
            self.simulation.add_player(player_options(settings));
        }
        while self.simulation.players.len() > wanted {
            self.simulation.players.pop();
            self.simulation.server.server.leave(PeerId(self.simulation.players.len() as u64));
        }
    }
}
