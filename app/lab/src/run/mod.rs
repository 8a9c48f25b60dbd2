//! The engine of a run: settings, keys and events in, frames of 1/60 s out.
//!
//! A run is a function of its [`Recording`]: the same seed, settings, keys and events by frame give the same frames, bit
//! for bit. Nothing here reads a clock.

mod axis_marks;
mod driver;
mod explain;
mod joining;
mod local_cube;
mod packet_log;
mod playback;
mod players;
mod rates;
mod readout;
mod remote_quality;
mod running_faults;
mod screen;
pub mod scripts;
mod session;
mod substituted_inputs;

use crate::clock::FRAMES_PER_SECOND;
use crate::controls::{CONTROLS, Key, Settings, control};
use crate::frame::{Frame, Next, Pressed};
use crate::recording::event::Event;
use crate::recording::{Change, Recording, Start};
use crate::scenes::companion::{CompanionEngine, CompanionFrame};
use axis_marks::AxisMarks;
use foretell::session::client::ClientStats;
use playback::Playback;
use players::HUMAN;
use rates::Meter;
use scripts::Upcoming;
use session::Session;

/// How many changes one frame takes.
const CHANGES_PER_FRAME: usize = 64;

/// A session with a person in it, and everything that was done in it.
pub struct Run {
    session: Session,
    companion: CompanionEngine,
    settings: Settings,
    recording: Recording,
    playback: Playback,
    /// The keys that a second person holds.
    second: u8,
    /// The number of the next frame.
    next: u32,
    meter: Meter,
    marks: AxisMarks,
    notes: Vec<String>,
}

impl Run {
    /// A run that plays a recording first; one without frames is just a beginning.
    pub fn new(origin: Recording) -> Run {
        let Start { seed, settings, second, .. } = origin.start;
        let mut notes = Vec::new();
        if let Some(scenario) = &origin.scenario {
            notes.push(format!("the faults of a scenario: players are p0, who is you, to p{}", scenario.players - 1));
        }
        let mut companion = CompanionEngine::new(seed, &settings);
        second.into_iter().for_each(|keys| companion.second(keys));
        Run {
            session: Session::new(&origin.start, origin.scenario.as_ref()),
            companion,
            settings,
            recording: Recording::new(origin.start).with_scenario(origin.scenario.clone()),
            playback: Playback::new(origin),
            second: second.unwrap_or(0),
            next: 0,
            meter: Meter::default(),
            marks: AxisMarks::default(),
            notes,
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.recording.start.seed
    }

    /// The settings as they are from the next frame on.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was done so far.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The client's counters.
    pub fn stats(&self) -> ClientStats {
        self.session.stats()
    }

    /// Changes a control from the next frame on; where both ends must agree on it, the run starts again. Says whether it
    /// did.
    ///
    /// # Errors
    /// A sentence when there were too many changes since the last frame, or who plays is not to be chosen.
    pub fn set(&mut self, key: Key, code: u16) -> Result<bool, String> {
        if self.settings.code(key) == code {
            return Ok(false);
        }
        if self.session.is_of_scenario() && matches!(key, Key::Bots | Key::Other) {
            return Err("who plays in this run is up to the faults of its link".to_owned());
        }
        if key.restarts() {
            self.restart(key, code);
            return Ok(true);
        }
        // Settings count when the next frame runs, but for the scene, which begins at once.
        if key != Key::Scene && self.recording.set_again(self.next, key, code) {
            self.settings.set(key, code);
            return Ok(false);
        }
        self.make_room(1)?;
        self.apply(Change::Set(key, code));
        Ok(false)
    }

    /// Changes all controls to these settings from the next frame on.
    ///
    /// # Errors
    /// As [`set`](Run::set); where there is no room for all of them none is changed.
    pub fn set_all(&mut self, settings: &Settings) -> Result<(), String> {
        let others = CONTROLS.iter().filter(|control| self.settings.code(control.key) != settings.code(control.key));
        self.make_room(others.count())?;
        for control in CONTROLS {
            self.set(control.key, settings.code(control.key))?;
        }
        Ok(())
    }

    /// Lets something happen in the next frame.
    ///
    /// # Errors
    /// A sentence when there were too many changes since the last frame.
    pub fn event(&mut self, event: Event) -> Result<(), String> {
        self.make_room(1)?;
        self.apply(Change::Event(event));
        Ok(())
    }

    fn make_room(&self, changes: usize) -> Result<(), String> {
        if self.recording.pending() + changes <= CHANGES_PER_FRAME {
            return Ok(());
        }
        Err(format!("at most {CHANGES_PER_FRAME} changes are possible between two frames"))
    }

    /// The same seed from the beginning; a recording that was being played is played again.
    fn restart(&mut self, key: Key, code: u16) {
        let mut origin = if self.is_replaying() {
            self.playback.origin().clone()
        } else {
            let start = Start { bot: self.session.driver.players.bot, ..Start::new(self.seed(), self.settings) };
            Recording::new(start).with_scenario(self.recording.scenario.clone())
        };
        origin.start.settings.set(key, code);
        *self = Run::new(origin);
        let label = control(key).label;
        self.notes.push(format!("the run started again: both ends must agree on \"{label}\" from the start"));
    }

    /// Runs the frames that nobody needs to see: those of a session that nothing has happened in until the person is in
    /// it. As many as that takes, within a few seconds.
    pub fn warm_up(&mut self) -> Vec<Frame> {
        const MOST: u32 = 4 * FRAMES_PER_SECOND;
        let mut frames = Vec::new();
        let is_new = self.next == 0 && !self.is_replaying() && !self.session.is_of_scenario();
        let is_seen = |run: &Run| run.settings.scene().is_of_session() && run.session.driver.screen.state == "joining";
        while is_new && self.next < MOST && is_seen(self) {
            frames.push(self.frame(0));
        }
        frames
    }

    fn is_replaying(&self) -> bool {
        self.playback.is_playing(self.next)
    }

    /// Takes over a change before the next frame, and notes it.
    fn apply(&mut self, change: Change) {
        self.recording.note(self.next, change);
        match change {
            Change::Keys(keys) => {
                let players = &mut self.session.driver.players;
                players.keys = keys;
                players.bot &= keys == 0;
            }
            Change::Second(keys) => {
                self.second = keys;
                self.companion.second(keys);
            }
            Change::Set(key, code) => {
                self.settings.set(key, code);
                self.marks.note_set(key);
                self.companion.turn_to(self.settings.scene());
            }
            Change::Event(event) => self.happen(event),
        }
    }

    fn happen(&mut self, event: Event) {
        if self.session.start_script(event, self.next) {
            return;
        }
        self.marks.note_event(event);
        if !self.companion.event(event.name()) {
            self.session.happen(event, self.next);
        }
    }

    /// A second person holds these keys from the next frame on, unless a recording is being played.
    pub fn second(&mut self, keys: u8) {
        if keys != self.second && !self.is_replaying() {
            self.apply(Change::Second(keys));
        }
    }

    /// Runs the next frame with these keys held, unless a recording is being played.
    pub fn frame(&mut self, keys: u8) -> Frame {
        let frame = self.next;
        let replaying = self.is_replaying();
        self.playback.take_due(frame).into_iter().for_each(|change| self.apply(change));
        let keys = if replaying { self.playback.keys() } else { keys };
        if keys != self.session.driver.players.keys {
            self.apply(Change::Keys(keys));
        }
        self.session.run(frame, &self.settings, &mut self.marks);
        self.recording.played(frame);
        self.next += 1;
        self.report(frame, replaying)
    }

    /// What comes next of scripts and faults.
    fn upcoming(&self, frame: u32) -> Option<Next> {
        let next = self.session.upcoming(frame);
        next.map(|Upcoming { caption, frames }| Next {
            caption,
            in_s: f64::from(frames) / f64::from(FRAMES_PER_SECOND),
        })
    }

    /// What the engine beside the session makes of a frame; scripts lie over its links too.
    fn run_companion(&mut self, frame: u32) -> Option<CompanionFrame> {
        let mut settings = self.settings;
        let set = settings.conditions();
        let over = self.session.over(set.clone(), frame);
        if over != set {
            settings.set_network(&over);
        }
        let players = &self.session.driver.players;
        let keys = (!players.bot).then_some(players.keys);
        self.companion.frame(frame, keys, &settings)
    }

    fn report(&mut self, frame: u32, replaying: bool) -> Frame {
        let stats = self.stats();
        let rates = self.meter.note(self.session.counters());
        let (state, upcoming, companion) = (self.session.state(frame), self.upcoming(frame), self.run_companion(frame));
        let last_tick = self.session.person().and_then(|person| person.client.tick().back(1)).unwrap_or_default();
        let cubes = self.session.cubes();
        let driver = &mut self.session.driver;
        let remote = driver.screen.others.figures();
        let now = readout::now(&stats, rates, driver.screen.correction_m, remote, &self.settings);
        let mut notes = core::mem::take(&mut self.notes);
        notes.append(&mut driver.explainer.take_notes());
        let own_keys = || driver.players.keys_of(HUMAN, last_tick);
        Frame {
            frame,
            time_s: f64::from(frame) / f64::from(FRAMES_PER_SECOND),
            tick: driver.screen.tick,
            state,
            scene: self.settings.scene().name(),
            pressed: Pressed {
                keys: companion.as_ref().map_or_else(own_keys, |companion| companion.keys),
                bot: driver.players.bot,
                replaying,
            },
            cubes,
            chart: readout::chart(&stats, remote, driver.resimulated),
            now,
            corrections: core::mem::take(&mut driver.corrections),
            notes,
            marks: self.marks.take(&self.settings),
            upcoming,
            questions: companion.as_ref().map_or(&[], |companion| companion.questions),
            lanes: companion.map(|companion| companion.lanes),
        }
    }
}
