//! A world whose members have names and see as far as five metres, and which has somebody whom it does not let in.

use crate::common::Buttons;
use foretell::session::client::ClientEvent;
use foretell::session::server::{Server, ServerEvent};
use foretell::{
    Client, ClientConfig, Frame, Instant, Interest, InterestRules, JoinRequest, Leaver, Look, Newcomer, PlayerId,
    Reason, Rules, Seat, ServerConfig, ServerFrame, Simulate, State, Step, Table, Text, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, HostClock, Loss, Reordering};
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(State, Clone, Copy, PartialEq, Debug, Default)]
pub struct Pawn {
    #[state(position)]
    pub position: [f64; 2],
    pub name: Text<16>,
    #[state(audience = owner)]
    pub secret: u32,
}

#[derive(World, Default)]
pub struct Club {
    pub pawns: Table<Pawn>,
    /// Who has joined and left, and of whom inputs were given; no part of the state.
    #[world(constant)]
    pub joined: Vec<Newcomer>,
    #[world(constant)]
    pub left: Vec<Leaver>,
    #[world(constant)]
    pub played: BTreeSet<PlayerId>,
}

impl Simulate for Club {
    type Input = Buttons;

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        if newcomer.data == b"Mallory" { Err("no Mallory here".into()) } else { Ok(()) }
    }

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.pawns.remove_left(step);
        self.joined.extend_from_slice(step.joined());
        self.left.extend_from_slice(step.left());
        self.played.extend(step.inputs().iter().map(|input| input.player));
        for joined in step.joined().iter().filter(|joined| joined.seat == Seat::Player) {
            let name = Text::new(core::str::from_utf8(&joined.data).unwrap_or("?"));
            let position = [10.0 * f64::from(joined.player.get()), 0.0];
            self.pawns.spawn(step, joined.player, Pawn { position, name, secret: 7 });
        }
        for mut pawn in self.pawns.simulated(step) {
            let Some(input) = step.input(pawn.owner()) else { continue };
            pawn.position[1] += f64::from(i8::from(input.input.right) - i8::from(input.input.left)) * 0.05;
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        Some(self)
    }
}

impl InterestRules for Club {
    fn look(&self, _viewer: PlayerId, look: &mut Look) {
        look.interest = match look.seat {
            Seat::Player => Interest::Within { radius_m: 5.0, leaves_at_m: 6.0 },
            Seat::Spectator => Interest::Everything,
        };
    }
}

/// Notes what both ends tell, and that nobody who looks on is asked for an input.
#[derive(Default)]
pub struct Watch {
    pub server: Vec<ServerEvent>,
    /// With whose it is.
    pub clients: Vec<(usize, ClientEvent)>,
    /// By index.
    pub spectators: BTreeSet<usize>,
    /// How far the clocks of spectators were ahead of the server's, in ticks.
    pub leads_ticks: Vec<f64>,
    pub server_tick: Tick,
}

impl Driver<Club> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        assert!(!self.spectators.contains(&player), "who looks on is asked for nothing");
        Buttons::from_bits(if (tick.get() / 64).is_multiple_of(2) { 4 } else { 8 })
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Club>, frame: &ServerFrame<'_>) {
        self.server.extend_from_slice(frame.events);
        self.server_tick = server.tick();
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Club>, frame: &Frame<'_>) {
        let told = frame.events.iter().filter(|event| {
            matches!(event, ClientEvent::Joined(_) | ClientEvent::Rejoined(_) | ClientEvent::Refused(_))
        });
        self.clients.extend(told.map(|event| (player, *event)));
        if self.spectators.contains(&player) && client.player().is_some() {
            let at = client.tick_time(at.local).as_ticks();
            self.leads_ticks.push(at - f64::from(self.server_tick.get()));
        }
    }
}

pub fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(30),
        loss: Loss::Bursts { rate: 0.25, mean_length: 2.0 },
        duplicates: 0.1,
        reordering: Reordering { rate: 0.1, ..Reordering::default() },
        ..Conditions::default()
    }
}

/// A session of nobody.
pub fn club(config: ServerConfig, seed: u64) -> Simulation<Club> {
    Simulation::new(Rules::new(Club::schema()), config, Club::default(), seed)
}

/// Adds somebody, whose clock gains so much.
pub fn add(
    simulation: &mut Simulation<Club>,
    conditions: Conditions,
    skew_ppm: i32,
    say: impl FnOnce(JoinRequest) -> JoinRequest,
) -> usize {
    let clock = HostClock::new(Duration::from_secs(9), skew_ppm);
    let host = HostOptions { clock, ..HostOptions::at(60) };
    let options = PlayerOptions { client: ClientConfig::default(), host, conditions, world: Club::default() };
    simulation.add_player_who(options, say)
}

/// One who says this.
pub fn saying(data: &[u8]) -> impl FnOnce(JoinRequest) -> JoinRequest {
    let data = data.to_vec();
    |request| request.with_data(data).expect("there is room")
}

pub fn run(simulation: &mut Simulation<Club>, watch: &mut Watch, seconds: f64) {
    simulation.run_until(simulation.now() + Duration::from_secs_f64(seconds), watch);
}
