//! What the lab does in a session: plays for the person and the bots, interferes on the server, and looks on.

use super::explain::Witness;
use super::faults::PLAYERS_MAX;
use super::frame::{Correction, Shown};
use super::local::Local;
use super::others::{HELD_MS, Others};
use super::packets::Packets;
use super::recording::Event;
use crate::plan::{Keys, Session};
use crate::sweep::bots::Bots;
use core::time::Duration;
use foretell::harness::{Driver, Moment, Sent, ServerHost};
use foretell::session::client::{Corrected, EntityMode, Reconciliation, Source};
use foretell::{
    Client, ClientConfig, ClientState, Entity, Frame, Instant, PlayerId, Rows, Server, ServerFrame, Stepping, Tick,
    TickRate,
};
use foretell_arena::{Arena, Buttons, Cube};

/// The person's number among the players; the others are bots.
pub const HUMAN: usize = 0;

/// From so far on the recorded keys are played for the person: there they lead through the middle of the room.
const AHEAD: Duration = Duration::from_secs(6);

/// What the person's screen shows; it stands still while their machine does.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    pub cubes: Vec<Shown>,
    pub state: &'static str,
    pub tick: u32,
    pub correction_m: f64,
}

/// Everything between the harness and the frames of a run.
#[derive(Clone, Debug)]
pub struct Stage {
    rate: TickRate,
    stepping: Stepping,
    bots: Bots,
    /// Whose machine is whose, where players come and go as faults have it; else each has the index of its player.
    seats: Vec<usize>,
    /// How the client decides.
    pub config: ClientConfig,
    /// Whether the person's own cube is predicted.
    pub predicts: bool,
    /// Whether a bot plays for the person.
    pub bot: bool,
    /// The keys that the person holds.
    pub keys: u8,
    /// The person's player, once they have joined.
    pub human: Option<PlayerId>,
    /// What is to be done to the cube before the server's next update.
    pub events: Vec<Event>,
    /// The new ticks of the update that runs, with their inputs.
    inputs: Vec<(Tick, Buttons)>,
    /// `None` until it can start.
    pub local: Option<Local>,
    pub witness: Witness,
    pub packets: Packets,
    pub others: Others,
    /// The others in the frame that is made: where each is shown, and how far beyond the newest snapshot in ms.
    views: Vec<(Entity, [f64; 3], f64)>,
    /// Whether their newest snapshots are drawn as well.
    pub ghosts: bool,
    pub screen: Screen,
    /// Of the frame that is made.
    pub corrections: Vec<Correction>,
    /// Of the frame that is made.
    pub resimulated: u32,
}

impl Stage {
    /// Before the first frame.
    pub fn new(seed: u64, (rate, stepping): (TickRate, Stepping), bot: bool) -> Stage {
        let players = usize::from(PLAYERS_MAX);
        let session = Session { tick_rate: rate.get(), players, input: Keys::Recorded, ..Session::default() };
        Stage {
            rate,
            stepping,
            bots: Bots::new(&session, seed),
            seats: Vec::new(),
            config: ClientConfig::default(),
            predicts: true,
            bot,
            keys: 0,
            human: None,
            events: Vec::new(),
            inputs: Vec::new(),
            local: None,
            witness: Witness::new(),
            packets: Packets::default(),
            others: Others::default(),
            views: Vec::new(),
            ghosts: false,
            screen: Screen { state: "joining", ..Screen::default() },
            corrections: Vec::new(),
            resimulated: 0,
        }
    }

    /// The person's client predicts their own cube, or takes it from the server's states like any other: as soon as a
    /// snapshot has it.
    pub fn predict_own(&self, client: &mut Client<Arena>) {
        let rows = client.newest_snapshot().map(|(_, rows)| rows);
        let own = rows.and_then(|rows| rows.iter().find(|(entity, _)| Some(entity.player()) == self.human));
        if let Some((own, _)) = own {
            client.set_mode(own, (!self.predicts).then_some(EntityMode::Interpolated));
        }
    }

    /// Forgets what belongs to the last frame alone.
    pub fn begin_frame(&mut self) {
        self.corrections.clear();
        self.resimulated = 0;
    }

    /// The next machine belongs to the player of this number.
    pub fn seat(&mut self, player: usize) {
        self.seats.push(player);
        if player == HUMAN {
            (self.local, self.human, self.witness.first_input) = (None, None, None);
        }
    }

    /// The number of the player whose machine it is.
    fn player_at(&self, machine: usize) -> usize {
        self.seats.get(machine).copied().unwrap_or(machine)
    }

    /// The person's machine; the newest, when they have come several times.
    pub fn machine(&self) -> Option<usize> {
        if self.seats.is_empty() { Some(HUMAN) } else { self.seats.iter().rposition(|player| *player == HUMAN) }
    }

    /// The keys that count in a tick.
    pub fn keys_of(&self, player: usize, tick: Tick) -> u8 {
        match player {
            HUMAN if !self.bot => self.keys,
            HUMAN => self.bots.bits(player, tick + self.rate.ticks_in(AHEAD)),
            player => self.bots.bits(player, tick),
        }
    }

    /// Moves the local cube by the inputs of the client's new ticks, or starts it.
    fn move_local(&mut self, client: &Client<Arena>) {
        let first = self.inputs.first().map_or(client.tick(), |(tick, _)| *tick);
        if self.local.is_none() {
            self.local = client.predicted(first).and_then(|rows| Local::start(rows, self.rate));
        }
        match &mut self.local {
            Some(local) => self.inputs.drain(..).for_each(|(tick, input)| local.step(tick, input)),
            // It came in the middle of the update: a client that joins before it has a cube.
            None => self.local = client.predicted(client.tick()).and_then(|rows| Local::start(rows, self.rate)),
        }
        self.inputs.clear();
    }

    /// Tells the witness how far the client's predictions have been compared.
    fn witness_compared(&mut self, client: &Client<Arena>, frame: &Frame<'_>) {
        let compares = self.predicts && self.config.reconciliation != Reconciliation::Off;
        let newest = client.newest_snapshot().map(|(tick, _)| tick).filter(|_| compares);
        let is_own = |corrected: &&Corrected| Some(corrected.entity.player()) == self.human;
        let own: Vec<_> = frame.corrections.iter().filter(is_own).copied().collect();
        self.witness.note_compared(newest, &own);
    }

    fn show(&mut self, Moment { now, local: at }: Moment, client: &Client<Arena>) {
        let Screen { cubes, correction_m, .. } = &mut self.screen;
        cubes.clear();
        *correction_m = 0.0;
        let human = self.human.unwrap_or_default();
        if let Some(local) = &self.local {
            let position = local.position(self.config.show, client.tick_fraction(at));
            cubes.push(shown("local", human, position, "predicted"));
        }
        self.views.clear();
        client.present(at, |view| {
            let (player, position) = (view.entity.player(), view.pose().position);
            let (source, beyond_ms) = source(view.source);
            if player == human {
                *correction_m = view.offset.distance();
                cubes.push(Shown { beyond_ms, ..shown("client", player, position, source) });
                return;
            }
            cubes.push(Shown { beyond_ms, ..shown("other", player, position, source) });
            self.views.push((view.entity, position, beyond_ms));
        });
        self.others.note_frame(seconds(now), &self.views);
        if let Some((_, rows)) = client.newest_snapshot() {
            cubes.extend(confirmed("ghost", rows, human, self.ghosts));
        }
    }
}

impl Driver<Arena> for Stage {
    fn input(&mut self, machine: usize, tick: Tick) -> Buttons {
        let player = self.player_at(machine);
        let input = Buttons::from_bits(self.keys_of(player, tick));
        if player == HUMAN {
            self.witness.first_input.get_or_insert(tick);
            self.inputs.push((tick, input));
        }
        input
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Arena>) {
        for event in self.events.drain(..) {
            let Some(cube) = self.human.and_then(|human| server.world.cube_mut(human)) else {
                self.witness.note("your cube is not there yet: nothing happened".to_owned());
                continue;
            };
            match event {
                Event::Impulse => cube.velocity[0] += 3.0,
                Event::Teleport => cube.position[0] += if cube.position[0] > 6.0 { -4.0 } else { 4.0 },
                _ => continue,
            }
            self.witness.note_event(server.server.tick(), event);
        }
    }

    fn after_server(&mut self, now: Instant, server: &Server<Arena>, frame: &ServerFrame<'_>) {
        if self.stepping == Stepping::Clock {
            let first = frame.tick.back(frame.steps).unwrap_or_default();
            first.until(frame.tick).for_each(|tick| self.packets.note_step(tick, now));
        }
        let human = self.human;
        self.others.note_truth(seconds(now), server.rows(), |entity| Some(entity.player()) != human);
        for late in frame.late.iter().filter(|late| Some(late.player) == self.human) {
            self.witness.note_late(late);
        }
        frame.events.iter().for_each(|event| self.witness.note_server(event, self.human));
    }

    fn after_client(&mut self, machine: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        if self.player_at(machine) != HUMAN {
            return;
        }
        self.human = client.player();
        frame.events.iter().for_each(|event| self.witness.note_client(event));
        let explained = frame.corrections.iter().map(|corrected| {
            let own = Some(corrected.entity.player()) == self.human;
            self.witness.correction(corrected, own, &self.packets)
        });
        self.corrections.extend(explained);
        self.witness_compared(client, frame);
        self.move_local(client);
        self.show(at, client);
        (self.screen.tick, self.screen.state) = (frame.tick.get(), state_name(frame.state));
        self.resimulated = frame.resimulated;
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if self.player_at(sent.player) == HUMAN {
            self.packets.note(sent, Tick::new(self.screen.tick));
        }
    }
}

/// Where a pose comes from, and how far beyond the newest snapshot it is, in ms.
fn source(source: Source) -> (&'static str, f64) {
    match source {
        Source::Predicted => ("predicted", 0.0),
        Source::Interpolated => ("interpolated", 0.0),
        Source::Held => ("held", 0.0),
        Source::Extrapolated(beyond) => {
            let beyond_ms = beyond.as_secs_f64() * 1000.0;
            (if beyond_ms < HELD_MS { "extrapolated" } else { "held" }, beyond_ms)
        }
    }
}

/// The cubes of rows of the server's: the person's first, and the others' if they are asked for.
pub fn confirmed(role: &'static str, rows: &Rows, human: PlayerId, others: bool) -> Vec<Shown> {
    let cube = |(entity, cube): (Entity, Cube)| shown(role, entity.player(), cube.position.map(f64::from), "confirmed");
    let (mine, theirs): (Vec<_>, Vec<_>) = rows.states().partition(|(entity, _)| entity.player() == human);
    mine.into_iter().chain(theirs.into_iter().filter(|_| others)).map(cube).collect()
}

#[expect(clippy::cast_precision_loss, reason = "for display; exact below 285 years")]
fn seconds(at: Instant) -> f64 {
    at.micros() as f64 / 1e6
}

/// A cube to be drawn.
pub fn shown(role: &'static str, player: PlayerId, position: [f64; 3], source: &'static str) -> Shown {
    Shown { role, id: player.get().to_string(), position, source, beyond_ms: 0.0 }
}

fn state_name(state: ClientState) -> &'static str {
    match state {
        ClientState::Joining => "joining",
        ClientState::Refused(_) => "refused",
        ClientState::Playing => "playing",
        ClientState::Starved => "starved",
        ClientState::Behind => "behind",
        ClientState::Resyncing => "resyncing",
        ClientState::Lost => "lost",
    }
}
