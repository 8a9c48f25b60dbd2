//! The engine of a run: settings, keys and events in, frames of 1/60 s out.
//!
//! A run is a function of its [`Recording`]: the same seed, settings, keys and events by frame give the same frames, bit
//! for bit. Nothing here reads a clock.

use super::beside::{Beside, Made};
use super::controls::{Key, Scene};
use super::driver::{HUMAN, Stage, confirmed};
use super::faults::UnderWay;
use super::frame::{Frame, Next};
use super::marks::Marks;
use super::newcomers::{Coming, player};
use super::numbers::{chart, now};
use super::rates::{Counters, Meter, Rates};
use super::recording::{Change, Event, Recording, Start};
use super::script::{Running, Upcoming, What};
use super::settings::Settings;
use core::time::Duration;
use foretell::harness::{PlayerHost, Simulation};
use foretell::netsim::Conditions;
use foretell::session::client::ClientStats;
use foretell::{Instant, PeerId};
use foretell_arena::{Arena, Cube};

/// How often the person's screen is drawn, in Hz.
pub const FRAMES_PER_SECOND: u32 = 60;
const STALL: Duration = Duration::from_secs(2);
/// How many changes one frame takes.
const CHANGES_PER_FRAME: usize = 64;

/// A session with a person in it, and everything that was done in it.
pub struct Run {
    simulation: Simulation<Arena>,
    stage: Stage,
    beside: Beside,
    settings: Settings,
    recording: Recording,
    /// What is left of the recording that is played.
    replay: Recording,
    /// The whole of it.
    origin: Recording,
    /// The keys that the recording holds.
    replayed_keys: u8,
    /// The keys that a second person holds.
    second: u8,
    /// The number of the next frame.
    next: u32,
    scripts: Running,
    /// Of a scenario; then it is they who say who plays.
    faults: Option<UnderWay>,
    meter: Meter,
    marks: Marks,
    notes: Vec<String>,
}

impl Run {
    /// A run that plays a recording first; one without frames is just a beginning.
    pub fn new(origin: Recording) -> Run {
        let Start { seed, settings, bot, keys, second } = origin.start;
        let mut simulation = Simulation::new(settings.rules::<Cube>(), settings.server(), Arena::default(), seed);
        let faults = origin.faults.as_ref().map(UnderWay::new);
        let mut notes = Vec::new();
        match &origin.faults {
            Some(faulty) => {
                notes.push(format!("the faults of a scenario: players are p0, who is you, to p{}", faulty.players - 1))
            }
            None => drop(simulation.add_player(player(&settings))),
        }
        let mut stage = Stage::new(seed, (settings.tick_rate(), settings.stepping()), bot);
        stage.keys = keys;
        let mut beside = Beside::new(seed, &settings);
        second.into_iter().for_each(|keys| beside.second(keys));
        Run {
            simulation,
            stage,
            beside,
            settings,
            recording: Recording::new(origin.start).with_faults(origin.faults.clone()),
            replay: origin.clone(),
            origin,
            replayed_keys: keys,
            second: second.unwrap_or(0),
            next: 0,
            scripts: Running::default(),
            faults,
            meter: Meter::default(),
            marks: Marks::default(),
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
        self.person().map(|person| person.client.stats()).unwrap_or_default()
    }

    /// The person's machine, once they are there.
    fn person(&self) -> Option<&PlayerHost<Arena>> {
        self.simulation.players.get(self.stage.machine()?)
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
        if self.faults.is_some() && matches!(key, Key::Bots | Key::Other) {
            return Err("who plays in this run is up to the faults of its link".to_owned());
        }
        if key.restarts() {
            self.restart(key, code);
            return Ok(true);
        }
        self.make_room()?;
        self.apply(Change::Set(key, code));
        Ok(false)
    }

    /// Lets something happen in the next frame.
    ///
    /// # Errors
    /// A sentence when there were too many changes since the last frame.
    pub fn event(&mut self, event: Event) -> Result<(), String> {
        self.make_room()?;
        self.apply(Change::Event(event));
        Ok(())
    }

    fn make_room(&self) -> Result<(), String> {
        if self.recording.pending() < CHANGES_PER_FRAME {
            return Ok(());
        }
        Err(format!("at most {CHANGES_PER_FRAME} changes are possible between two frames"))
    }

    /// The same seed from the beginning; a recording that was being played is played again.
    fn restart(&mut self, key: Key, code: u16) {
        let mut origin = if self.is_replaying() {
            self.origin.clone()
        } else {
            let start = Start { bot: self.stage.bot, ..Start::new(self.seed(), self.settings) };
            Recording::new(start).with_faults(self.recording.faults.clone())
        };
        origin.start.settings.set(key, code);
        *self = Run::new(origin);
        let label = key.control().label;
        self.notes.push(format!("the run started again: both ends must agree on \"{label}\" from the start"));
    }

    /// Runs the frames that nobody needs to see: those of a session that nothing has happened in until the person is in
    /// it. As many as that takes, within a few seconds.
    pub fn warm_up(&mut self) -> Vec<Frame> {
        const MOST: u32 = 4 * FRAMES_PER_SECOND;
        let mut frames = Vec::new();
        let is_new = self.next == 0 && !self.is_replaying() && self.faults.is_none();
        let is_seen = |run: &Run| run.settings.scene().is_of_session() && run.stage.screen.state == "joining";
        while is_new && self.next < MOST && is_seen(self) {
            frames.push(self.frame(0));
        }
        frames
    }

    fn is_replaying(&self) -> bool {
        self.next < self.replay.frames
    }

    /// Takes over a change before the next frame, and notes it.
    fn apply(&mut self, change: Change) {
        self.recording.note(self.next, change);
        match change {
            Change::Keys(keys) => {
                self.stage.keys = keys;
                self.stage.bot &= keys == 0;
            }
            Change::Second(keys) => {
                self.second = keys;
                self.beside.second(keys);
            }
            Change::Set(key, code) => {
                self.settings.set(key, code);
                self.marks.note_set(key);
                self.beside.turn_to(self.settings.scene());
            }
            Change::Event(event) => self.happen(event),
        }
    }

    fn happen(&mut self, event: Event) {
        if self.scripts.start(event, self.next) {
            return;
        }
        self.marks.note_event(event);
        if self.beside.event(event.name()) {
            return;
        }
        match event {
            Event::Stall => self.stall(STALL),
            Event::Realign => self.stage.local = None,
            event => self.stage.events.push(event),
        }
    }

    /// The person's machine runs nothing from the next frame on.
    fn stall(&mut self, length: Duration) {
        let machine = self.stage.machine().and_then(|machine| self.simulation.players.get_mut(machine));
        machine.into_iter().for_each(|machine| machine.host.clock_mut().stall(instant(self.next), length));
    }

    /// Begins what scripts do in the next frame.
    fn follow_scripts(&mut self) {
        for step in self.scripts.begin(self.next) {
            self.marks.note_script(step.caption.to_owned());
            match step.what {
                What::Sleep(ms) => self.stall(Duration::from_millis(ms)),
                What::ServerStall(ms) => {
                    let clock = self.simulation.server.host.clock_mut();
                    clock.stall(instant(self.next), Duration::from_millis(ms));
                }
                What::AsSet | What::Latency(_) | What::Loss(..) => {}
            }
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
        while let Some(change) = self.replay.take_due(frame) {
            match change {
                Change::Keys(keys) => self.replayed_keys = keys,
                change => self.apply(change),
            }
        }
        let keys = if replaying { self.replayed_keys } else { keys };
        if keys != self.stage.keys {
            self.apply(Change::Keys(keys));
        }
        self.follow_scripts();
        self.arrange();
        self.stage.begin_frame();
        self.suffer_faults();
        self.simulation.run_until(instant(frame), &mut self.stage);
        self.recording.played(frame);
        self.next += 1;
        self.report(frame, replaying)
    }

    /// Runs up to each moment of this frame at which a fault begins or ends, and brings it about.
    fn suffer_faults(&mut self) {
        let until = instant(self.next);
        while let Some(under_way) = &mut self.faults {
            let Some(moment) = under_way.faults.next_ms().map(|ms| Instant::from_micros(u64::from(ms) * 1000)) else {
                break;
            };
            if until < moment {
                break;
            }
            if moment > Instant::ZERO {
                self.simulation.run_until(moment, &mut self.stage);
            }
            let mut coming = Coming { stage: &mut self.stage, settings: &self.settings };
            under_way.faults.begin(&mut self.simulation, &mut coming);
            self.arrange_links();
        }
        while let Some(caption) = self.faults.as_mut().and_then(|under_way| under_way.take_caption(self.next)) {
            self.marks.note_script(caption);
        }
    }

    /// Brings links, client, server and players to the settings.
    fn arrange(&mut self) {
        if self.faults.is_none() {
            self.arrange_bots();
        }
        self.arrange_links();
        let (client, server) = (self.settings.client(), self.settings.server());
        *self.simulation.server.server.config_mut() = server;
        self.simulation.players.iter_mut().for_each(|player| *player.client.config_mut() = client);
        (self.stage.config, self.stage.witness.gap) = (client, server.gap);
        self.stage.ghosts = self.settings.scene() == Scene::Remote;
        self.stage.predicts = self.settings.is_on(Key::Prediction);
        let machine = self.stage.machine().and_then(|machine| self.simulation.players.get_mut(machine));
        machine.into_iter().for_each(|machine| self.stage.predict_own(&mut machine.client));
    }

    /// Scripts lie over the person's link, and faults over everybody's.
    fn arrange_links(&mut self) {
        let set = self.settings.conditions();
        let (own, mine) = (self.scripts.over(set, self.next), self.stage.machine());
        let of = |machine: usize| -> Conditions { if Some(machine) == mine { own } else { set } };
        for (machine, player) in self.simulation.players.iter_mut().enumerate() {
            (player.up_conditions, player.down_conditions) = (of(machine), of(machine));
        }
        if let Some(under_way) = &self.faults {
            under_way.faults.hold(&mut self.simulation, of);
        }
    }

    /// The bots come once the person is there, so that the person is always the first player.
    fn arrange_bots(&mut self) {
        let bots = if self.stage.human.is_some() { self.settings.bots() } else { 0 };
        let wanted = HUMAN + 1 + bots;
        while self.simulation.players.len() < wanted {
            self.simulation.add_player(player(&self.settings));
        }
        while self.simulation.players.len() > wanted {
            self.simulation.players.pop();
            self.simulation.server.server.leave(PeerId(self.simulation.players.len() as u64));
        }
    }

    /// What comes next of scripts and faults.
    fn upcoming(&self, frame: u32) -> Option<Next> {
        let of_faults = self.faults.as_ref().and_then(|under_way| under_way.upcoming(frame));
        let next = self.scripts.upcoming(frame).into_iter().chain(of_faults).min_by_key(|next| next.frames);
        next.map(|Upcoming { caption, frames }| Next {
            caption,
            in_s: f64::from(frames) / f64::from(FRAMES_PER_SECOND),
        })
    }

    /// How the person fares in a frame.
    fn state(&mut self, frame: u32) -> &'static str {
        let machine = self.stage.machine().and_then(|machine| self.simulation.players.get_mut(machine));
        let Some(machine) = machine else { return "joining" };
        match machine.host.clock_mut().is_stalled(instant(frame)) {
            _ if machine.is_gone() => "left",
            true => "stalled",
            false => self.stage.screen.state,
        }
    }

    /// What the engine beside the session makes of a frame; scripts lie over its links too.
    fn beside(&mut self, frame: u32) -> Option<Made> {
        let mut settings = self.settings;
        let (set, over) = (settings.conditions(), self.scripts.over(settings.conditions(), frame));
        if over != set {
            settings.set_network(&over);
        }
        let keys = (!self.stage.bot).then_some(self.stage.keys);
        self.beside.frame(frame, keys, &settings)
    }

    fn report(&mut self, frame: u32, replaying: bool) -> Frame {
        let stats = self.stats();
        let rates = self.rates(&stats);
        let (state, upcoming, made) = (self.state(frame), self.upcoming(frame), self.beside(frame));
        let last_tick = self.person().and_then(|person| person.client.tick().back(1)).unwrap_or_default();
        let stage = &mut self.stage;
        let mut cubes = stage.screen.cubes.clone();
        if let Some(human) = stage.human {
            cubes.extend(confirmed("server", self.simulation.server.server.rows(), human, stage.ghosts));
        }
        let seen = stage.others.seen();
        let now = now(&stats, rates, stage.screen.correction_m, (seen, &self.settings));
        let mut notes = core::mem::take(&mut self.notes);
        notes.append(&mut stage.witness.take_notes());
        Frame {
            frame,
            time_s: f64::from(frame) / f64::from(FRAMES_PER_SECOND),
            tick: stage.screen.tick,
            state,
            scene: self.settings.scene().name(),
            keys: made.as_ref().map_or_else(|| stage.keys_of(HUMAN, last_tick), |made| made.keys),
            bot: stage.bot,
            replaying,
            cubes,
            chart: chart(&now, &stats, seen, stage.resimulated),
            now,
            corrections: core::mem::take(&mut stage.corrections),
            notes,
            marks: self.marks.take(&self.settings),
            upcoming,
            questions: made.as_ref().map_or(&[], |made| made.questions),
            lanes: made.map(|made| made.lanes),
        }
    }

    fn rates(&mut self, stats: &ClientStats) -> Rates {
        let served = self.stage.human.and_then(|human| self.simulation.server.server.stats(human));
        self.meter.note(Counters {
            up: stats.bytes_sent,
            down: stats.bytes_received,
            applied: served.map_or(0, |served| served.inputs_applied),
            missed: served.map_or(0, |served| served.inputs_missed),
        })
    }
}

/// When a frame is drawn, by the same rule as the harness's hosts.
fn instant(frame: u32) -> Instant {
    Instant::from_micros((u64::from(frame) * 1_000_000).div_ceil(u64::from(FRAMES_PER_SECOND)))
}
