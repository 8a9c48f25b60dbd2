//! What the lab does in a session: plays for the person and the bots, interferes on the server, and observes.

use super::explain::Explainer;
use super::packet_log::PacketLog;
use super::players::{HUMAN, Players};
use super::screen::PersonScreen;
use crate::clock::seconds;
use crate::frame::correction::Correction;
use crate::recording::event::Event;
use foretell::session::client::{Corrected, EntityMode};
use foretell::{Client, ClientConfig, ClientState, Frame, Instant, Server, ServerFrame, Tick, TickRate};
use foretell_arena::{Arena, Buttons};
use foretell_sim::harness::{Driver, Moment, Sent, ServerHost};

/// Everything between the harness and the frames of a run.
#[derive(Clone, Debug)]
pub struct SessionDriver {
    rate: TickRate,
    pub players: Players,
    pub screen: PersonScreen,
    /// How the client decides.
    pub config: ClientConfig,
    /// Whether the person's own cube is predicted.
    pub predicts: bool,
    /// What is to be done to the cube before the server's next update.
    pub events: Vec<Event>,
    /// The new ticks of the update that runs, with their inputs.
    inputs: Vec<(Tick, Buttons)>,
    pub explainer: Explainer,
    packets: PacketLog,
    /// Of the frame that is made.
    pub corrections: Vec<Correction>,
    /// Of the frame that is made.
    pub resimulated: u32,
}

impl SessionDriver {
    /// Before the first frame of a session whose server steps so.
    pub fn new(rate: TickRate, players: Players) -> SessionDriver {
        SessionDriver {
            rate,
            players,
            screen: PersonScreen::new(),
            config: ClientConfig::default(),
            predicts: true,
            events: Vec::new(),
            inputs: Vec::new(),
            explainer: Explainer::new(),
            packets: PacketLog::default(),
            corrections: Vec::new(),
            resimulated: 0,
        }
    }

    /// The person's client predicts their own cube, or takes it from the server's states like any other: as soon as a
    /// snapshot has it.
    pub fn predict_own(&self, client: &mut Client<Arena>) {
        let rows = client.newest_snapshot().map(|(_, rows)| rows);
        let own = rows.and_then(|rows| rows.iter().find(|row| Some(row.owner) == self.players.human));
        if let Some(own) = own.map(|row| row.entity) {
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
        self.players.seat(player);
        if player == HUMAN {
            self.screen.local = None;
            self.explainer.first_input = None;
        }
    }

    /// Tells the explainer how far the client's predictions have been compared.
    fn note_compared(&mut self, client: &Client<Arena>, frame: &Frame<'_>) {
        let newest = client.newest_snapshot().map(|(tick, _)| tick).filter(|_| self.predicts);
        let is_own = |corrected: &&Corrected| Some(corrected.owner) == self.players.human;
        let own: Vec<_> = frame.corrections.iter().filter(is_own).copied().collect();
        self.explainer.note_compared(newest, &own);
    }
}

impl Driver<Arena> for SessionDriver {
    fn input(&mut self, machine: usize, tick: Tick) -> Buttons {
        let player = self.players.player_at(machine);
        let input = Buttons::from_bits(self.players.keys_of(player, tick));
        if player == HUMAN {
            self.explainer.first_input.get_or_insert(tick);
            self.inputs.push((tick, input));
        }
        input
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Arena>) {
        for event in self.events.drain(..) {
            let Some(cube) = self.players.human.and_then(|human| server.world.cube_mut(human)) else {
                self.explainer.note("your cube is not there yet: nothing happened".to_owned());
                continue;
            };
            match event {
                Event::Impulse => cube.velocity[0] += 3.0,
                Event::Teleport => cube.position[0] += if cube.position[0] > 6.0 { -4.0 } else { 4.0 },
                _ => continue,
            }
            self.explainer.note_event(server.server.tick(), event);
        }
    }

    fn after_server(&mut self, now: Instant, server: &Server<Arena>, frame: &ServerFrame<'_>) {
        let first = frame.tick.back(frame.steps).unwrap_or_default();
        first.until(frame.tick).for_each(|tick| self.packets.note_step(tick, now));
        let human = self.players.human;
        self.screen.others.note_truth(seconds(now), server.rows(), |of| Some(of.owner) != human);
        for late in frame.late.iter().filter(|late| Some(late.player) == human) {
            self.explainer.note_late(late);
        }
        frame.events.iter().for_each(|event| self.explainer.note_server(event, human));
    }

    fn after_client(&mut self, machine: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        if self.players.player_at(machine) != HUMAN {
            return;
        }
        self.players.human = client.player();
        frame.events.iter().for_each(|event| self.explainer.note_client(event));
        let explained = frame.corrections.iter().map(|corrected| {
            let own = Some(corrected.owner) == self.players.human;
            self.explainer.correction(corrected, own, &self.packets)
        });
        self.corrections.extend(explained);
        self.note_compared(client, frame);
        self.screen.move_local(client, &mut self.inputs, self.rate);
        self.screen.draw(at, client, self.players.human.unwrap_or_default(), self.config.show);
        self.screen.tick = frame.tick.get();
        self.screen.state = state_name(frame.state);
        self.resimulated = frame.resimulated;
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if self.players.player_at(sent.player) == HUMAN {
            self.packets.note(sent, Tick::new(self.screen.tick));
        }
    }
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
