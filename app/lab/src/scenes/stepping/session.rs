//! A session of this project with the same cube: the server steps by its own clock, and the client leads it.

use super::shown_ticks::ShownTicks;
use super::system::{Counters, FrameEvents, FrameInput, FrameView, OwnCorrection, STALL, System, SystemConfig};
use crate::clock::{FRAMES_PER_SECOND, since_start};
use crate::scenes::remote_screen::cube;
use core::time::Duration;
use foretell::motion::vector::{add, length, lerp, sub};
use foretell::time::Offset;
use foretell::{Client, Frame, Instant, Owned, Rows, Rules, Server, ServerFrame, Tick, Views, World};
use foretell_arena::{Arena, Buttons, Cube};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;

/// How many frames the session runs before the lane begins: at least, so that its clock has measured the network, and at most.
const WARM_FRAMES: core::ops::Range<u32> = 120..480;

/// Where the only cube of these rows is.
fn place(rows: &Rows) -> Option<[f64; 3]> {
    rows.states::<Cube>().next().map(|(_, cube)| cube.position.map(f64::from))
}

/// The player, and who looks at both ends.
#[derive(Default)]
struct Player {
    keys: u8,
    /// What the server does to the cube before its next update.
    pending: FrameEvents,
    /// The inputs of the update that runs.
    inputs: Vec<Buttons>,
    /// The cube without a network, and as it was a tick ago; `None` until the client has one.
    local: Option<[Cube; 2]>,
    realign: bool,
    step_s: f64,
    steps: u64,
    server_tick: Tick,
    /// The client's newest state: of which tick, and where it has the cube.
    newest: Option<(Tick, [f64; 3])>,
    /// Where local, client and ghost are shown.
    positions: [Option<[f64; 3]>; 3],
    views: Views,
    shown: ShownTicks,
    /// Of the frame that is made.
    off_m: Vec<f64>,
    corrections: Vec<OwnCorrection>,
}

impl Player {
    #[expect(clippy::cast_possible_truncation, reason = "the arena is in f32")]
    fn move_local(&mut self, client: &Client<Arena>) {
        let newest = client.predicted(client.tick()).and_then(|rows| rows.states::<Cube>().next());
        let start = newest.map(|(_, cube)| [cube; 2]);
        if core::mem::take(&mut self.realign) || self.local.is_none() {
            self.local = start;
            self.inputs.clear();
        }
        let Some([before, newest]) = &mut self.local else { return };
        for input in self.inputs.drain(..) {
            *before = *newest;
            newest.step(input, self.step_s as f32);
        }
    }

    fn look(&mut self, at: Moment, client: &Client<Arena>) {
        let fraction = client.tick_fraction(at.local);
        let [local, shown, ghost] = &mut self.positions;
        *local = self.local.map(|cubes| {
            let [before, newest] = cubes.map(|cube| cube.position.map(f64::from));
            lerp(before, newest, fraction)
        });
        *shown = None;
        let mut offset = [0.0; 3];
        client.present(at.local, &mut self.views);
        if let Some(view) = self.views.nth(0) {
            *shown = Some(view.pose().position);
            offset = view.offset.position();
        }
        *ghost = client.newest_snapshot().and_then(|(_, rows)| place(rows));
        if let Some(newest) = client.predicted(client.tick()).and_then(place) {
            self.newest = Some((client.tick(), newest));
            self.shown.note(client.tick(), add(newest, offset));
        }
    }
}

impl Driver<Arena> for Player {
    fn input(&mut self, _machine: usize, _tick: Tick) -> Buttons {
        let input = Buttons::from_bits(self.keys);
        self.inputs.push(input);
        input
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Arena>) {
        let owner = server.server.rows().states::<Cube>().next().map(|(Owned { owner, .. }, _)| owner);
        let Some(cube) = owner.and_then(|owner| server.world.cube_mut(owner)) else { return };
        self.pending.do_to(cube);
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Arena>, frame: &ServerFrame<'_>) {
        self.steps += u64::from(frame.steps);
        self.server_tick = frame.tick;
        let off = place(server.rows()).and_then(|truth| self.shown.judge(frame.tick, truth));
        self.off_m.extend(off);
    }

    fn after_client(&mut self, _machine: usize, at: Moment, client: &Client<Arena>, frame: &Frame<'_>) {
        if let Some((tick, before)) = self.newest {
            let after = client.predicted(tick).and_then(place).unwrap_or(before);
            let moved_m = length(sub(after, before));
            self.corrections.extend(frame.corrections.iter().map(|corrected| OwnCorrection::new(corrected, moved_m)));
        }
        self.move_local(client);
        self.look(at, client);
    }
}

/// The session, and the player in it.
pub struct SessionSystem {
    simulation: Simulation<Arena>,
    player: Player,
    /// How long it has run when the lane begins.
    warm: Duration,
}

impl SessionSystem {
    /// A session that somebody has joined over a network like this one.
    pub fn new(seed: u64, config: &SystemConfig, conditions: &Conditions) -> SessionSystem {
        let rules = Rules::new(Arena::schema());
        let player = Player { step_s: rules.tick_rate.seconds(), ..Player::default() };
        let mut simulation = Simulation::new(rules, config.server, Arena::default(), seed);
        let (client, conditions) = (config.client, conditions.clone());
        let host = HostOptions::at(FRAMES_PER_SECOND);
        simulation.add_player(PlayerOptions { client, host, conditions, world: Arena::default() });
        let mut system = SessionSystem { simulation, player, warm: Duration::ZERO };
        let mut frames = 0;
        while frames < WARM_FRAMES.start || (frames < WARM_FRAMES.end && system.player.local.is_none()) {
            frames += 1;
            system.warm = since_start(frames);
            system.simulation.run_until(Instant::ZERO + system.warm, &mut system.player);
        }
        system
    }

    fn arrange(&mut self, input: &FrameInput<'_>) {
        *self.simulation.server.server.config_mut() = input.config.server;
        let machine = &mut self.simulation.players[0];
        *machine.client.config_mut() = input.config.client;
        (machine.up_conditions, machine.down_conditions) = (input.conditions.clone(), input.conditions.clone());
        let clock = machine.host.clock_mut();
        let (before, length) = (input.before + self.warm, input.now.since(input.before));
        if input.events.stall {
            clock.stall(before, STALL);
        }
        if input.events.double_clock {
            clock.step(before, Offset::from_micros(i64::try_from(length.as_micros()).unwrap_or(0)));
        }
        let player = &mut self.player;
        player.keys = input.keys;
        player.pending.add(&input.events);
        player.realign |= input.events.realign;
    }
}

impl System for SessionSystem {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        self.arrange(input);
        self.simulation.run_until(input.now + self.warm, &mut self.player);
        let (machine, server) = (&self.simulation.players[0], &self.simulation.server.server);
        let stats = machine.client.stats();
        let missed = machine.client.player().and_then(|player| server.stats(player)).map_or(0, |of| of.inputs.missed);
        let [local, client, ghost] = self.player.positions;
        let cubes = [
            local.map(|position| cube("local", position, "predicted")),
            client.map(|position| cube("client", position, "predicted")),
            place(server.rows()).map(|position| cube("server", position, "confirmed")),
            ghost.map(|position| cube("ghost", position, "confirmed")),
        ];
        let server_tick = f64::from(self.player.server_tick.get());
        FrameView {
            cubes: cubes.into_iter().flatten().collect(),
            counters: Counters {
                steps: self.player.steps,
                ticks: u64::from(self.player.server_tick.get()),
                missed,
                resimulated: stats.prediction.resimulated,
                up: machine.up.stats().bytes_sent,
                down: machine.down.stats().bytes_sent,
            },
            corrections: core::mem::take(&mut self.player.corrections),
            off_m: core::mem::take(&mut self.player.off_m),
            apart_ticks: self.player.newest.map(|(tick, _)| f64::from(tick.get()) - server_tick),
        }
    }
}
