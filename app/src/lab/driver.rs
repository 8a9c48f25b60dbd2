//! What the lab does in a session: plays for the person and the bots, interferes on the server, and looks on.

use super::explain::Witness;
use super::frame::{Correction, Shown};
use super::local::Local;
use super::recording::Event;
use crate::arena::{Arena, Buttons, Cube};
use foretell::harness::{Driver, Moment, ServerHost};
use foretell::netsim::SplitMix64;
use foretell::session::client::Source;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, PlayerId, Rows, Server, ServerFrame, Tick, TickRate,
};

/// The person's place among the harness's players; the other one is the bot.
pub const HUMAN: usize = 0;
/// How long the bot keeps its keys, in milliseconds.
const LEG_MS: u64 = 750;

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
    seed: u64,
    rate: TickRate,
    /// How the client decides.
    pub config: ClientConfig,
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
    pub screen: Screen,
    /// Of the frame that is made.
    pub corrections: Vec<Correction>,
    /// Of the frame that is made.
    pub resimulated: u32,
    /// Whether the person's machine ran in the frame that is made.
    pub ran: bool,
}

impl Stage {
    /// Before the first frame.
    pub fn new(seed: u64, rate: TickRate, bot: bool) -> Stage {
        Stage {
            seed,
            rate,
            config: ClientConfig::default(),
            bot,
            keys: 0,
            human: None,
            events: Vec::new(),
            inputs: Vec::new(),
            local: None,
            witness: Witness::new(),
            screen: Screen { state: "joining", ..Screen::default() },
            corrections: Vec::new(),
            resimulated: 0,
            ran: false,
        }
    }

    /// Forgets what belongs to the last frame alone.
    pub fn begin_frame(&mut self) {
        self.corrections.clear();
        (self.resimulated, self.ran) = (0, false);
    }

    /// The keys that count in a tick.
    pub fn keys_of(&self, player: usize, tick: Tick) -> u8 {
        if player == HUMAN && !self.bot { self.keys } else { bot_keys(self.seed, player as u64, tick, self.rate) }
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

    fn show(&mut self, at: Instant, client: &Client<Arena>) {
        let Screen { cubes, correction_m, .. } = &mut self.screen;
        cubes.clear();
        *correction_m = 0.0;
        let human = self.human.unwrap_or_default();
        if let Some(local) = &self.local {
            let position = local.position(self.config.show, client.tick_fraction(at));
            cubes.push(shown("local", human, position, "predicted"));
        }
        client.present(at, |view| {
            let source = match view.source {
                Source::Predicted => "predicted",
                Source::Interpolated => "interpolated",
                Source::Extrapolated(_) => "extrapolated",
            };
            let player = view.entity.player();
            let mine = player == human;
            if mine {
                *correction_m = view.offset.distance();
            }
            cubes.push(shown(if mine { "client" } else { "other" }, player, view.pose().position, source));
        });
        let ghost = client.newest_snapshot().and_then(|(_, rows)| cube_of(rows, human));
        cubes.extend(ghost.map(|cube| shown("ghost", human, cube.position.map(f64::from), "confirmed")));
    }
}

impl Driver<Arena> for Stage {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
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
                Event::Stall | Event::Realign => continue,
            }
            self.witness.note_event(server.server.tick(), event);
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Arena>, frame: &ServerFrame<'_>) {
        for late in frame.late.iter().filter(|late| Some(late.player) == self.human) {
            self.witness.note_late(late);
        }
        frame.events.iter().for_each(|event| self.witness.note_server(event, self.human));
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        if player != HUMAN {
            return;
        }
        self.human = client.player();
        frame.events.iter().for_each(|event| self.witness.note_client(event));
        self.corrections.extend(frame.corrections.iter().map(|corrected| self.witness.correction(corrected)));
        self.move_local(client);
        self.show(at.local, client);
        (self.screen.tick, self.screen.state) = (frame.tick.get(), state_name(frame.state));
        (self.resimulated, self.ran) = (frame.resimulated, true);
    }
}

/// The cube of a player.
pub fn cube_of(rows: &Rows, player: PlayerId) -> Option<Cube> {
    rows.states::<Cube>().find(|(entity, _)| entity.player() == player).map(|(_, cube)| cube)
}

/// A cube to be drawn.
pub fn shown(role: &'static str, player: PlayerId, position: [f64; 3], source: &'static str) -> Shown {
    Shown { role, id: player.get().to_string(), position, source }
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

/// The bot walks in squares of changing size, cuts some corners, and jumps now and then: a function of the time alone.
fn bot_keys(seed: u64, player: u64, tick: Tick, rate: TickRate) -> u8 {
    const AROUND: [u8; 4] = [8, 1, 4, 2];
    let ms = u64::from(tick.get()) * 1000 / u64::from(rate.get());
    let leg = ms / LEG_MS + 2 * player;
    let chance = SplitMix64::new(seed ^ leg << 8 ^ player).next_u64() % 8;
    let [ahead, next] = [leg, leg + 1].map(|leg| AROUND[(leg % 4) as usize]);
    match chance {
        0 => 0,
        1 | 2 => ahead | next,
        3 if ms % LEG_MS < 100 => ahead | 16,
        _ => ahead,
    }
}
