//! The same session with the player at the server: a host, on whom somebody looks over the network.

use super::system::{Counters, FrameEvents, FrameInput, FrameView, OwnCorrection, STALL, System, SystemConfig};
use crate::clock::{FRAMES_PER_SECOND, since_start};
use crate::scenes::remote_screen::cube;
use core::time::Duration;
use foretell::motion::vector::{length, lerp, sub};
use foretell::session::host::LocalPlayer;
use foretell::{Client, Frame, Instant, PlayerId, Rows, Rules, Server, ServerFrame, Tick, Views, World};
use foretell_arena::{Arena, Buttons, Cube};
use foretell_sim::harness::{Driver, HostOptions, LocalSeat, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;

/// How many frames the session runs before the lane begins: until who looks on is there.
const WARM_FRAMES: u32 = 240;

/// Where a player's cube is in these rows.
fn place(rows: &Rows, player: Option<PlayerId>) -> Option<[f64; 3]> {
    let own = rows.states::<Cube>().find(|(of, _)| Some(of.owner) == player);
    own.map(|(_, cube)| cube.position.map(f64::from))
}

/// The host, and who looks at everything.
#[derive(Default)]
struct Player {
    keys: u8,
    /// What the server does to the cube before its next update.
    pending: FrameEvents,
    host: Option<PlayerId>,
    /// The inputs of the update that runs.
    inputs: Vec<Buttons>,
    /// The cube without a network, and as it was a tick ago.
    local: Option<[Cube; 2]>,
    realign: bool,
    step_s: f64,
    steps: u64,
    server_tick: Tick,
    /// Of the host: the next tick, and how many ticks were simulated again for them.
    next: Option<Tick>,
    resimulated: u64,
    /// Where local, the host, and the host on the other's screen are shown.
    positions: [Option<[f64; 3]>; 3],
    views: Views,
    /// Of the frame that is made.
    off_m: Vec<f64>,
    corrections: Vec<OwnCorrection>,
}

impl Player {
    #[expect(clippy::cast_possible_truncation, reason = "the arena is in f32")]
    fn move_local(&mut self, rows: &Rows) {
        let own = rows.states::<Cube>().find(|(of, _)| Some(of.owner) == self.host);
        if core::mem::take(&mut self.realign) || self.local.is_none() {
            self.local = own.map(|(_, cube)| [cube; 2]);
            self.inputs.clear();
        }
        let Some([before, newest]) = &mut self.local else { return };
        for input in self.inputs.drain(..) {
            *before = *newest;
            newest.step(input, self.step_s as f32);
        }
    }

    /// Where the host's cube is in what was shown last.
    fn shown(&self) -> Option<[f64; 3]> {
        self.views.iter().find(|view| Some(view.owner) == self.host).map(|view| view.pose().position)
    }
}

impl Driver<Arena> for Player {
    fn input(&mut self, _machine: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn local_input(&mut self, _tick: Tick) -> Buttons {
        let input = Buttons::from_bits(self.keys);
        self.inputs.push(input);
        input
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Arena>) {
        let Some(cube) = self.host.and_then(|host| server.world.cube_mut(host)) else { return };
        self.pending.do_to(cube);
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Arena>, frame: &ServerFrame<'_>) {
        self.host = server.local_player();
        self.steps += u64::from(frame.steps);
        self.server_tick = frame.tick;
    }

    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, Arena>, frame: &Frame<'_>) {
        let rows = seat.server.rows();
        self.next = Some(frame.tick);
        self.resimulated += u64::from(frame.resimulated);
        self.corrections.extend(frame.corrections.iter().map(|of| OwnCorrection::new(of, of.misprediction_m)));
        self.move_local(rows);
        // A whole tick later nothing but the newest state is shown.
        seat.present(at.local + Duration::from_secs_f64(self.step_s), &mut self.views);
        let off = place(rows, self.host).zip(self.shown()).map(|(truth, shown)| length(sub(shown, truth)));
        self.off_m.extend(off.filter(|_| frame.ticks > 0));
        seat.present(at.local, &mut self.views);
        let passed = at.local.since(Instant::ZERO).as_secs_f64() / self.step_s;
        self.positions[0] = self.local.map(|cubes| {
            let [before, newest] = cubes.map(|cube| cube.position.map(f64::from));
            lerp(before, newest, passed.fract())
        });
        self.positions[1] = self.shown();
    }

    fn after_client(&mut self, _machine: usize, at: Moment, client: &Client<Arena>, _frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        self.positions[2] = self.shown();
    }
}

/// The session, and who plays in it.
pub struct HostSystem {
    simulation: Simulation<Arena>,
    player: Player,
    /// How long it has run when the lane begins.
    warm: Duration,
}

impl HostSystem {
    /// A session whose host somebody looks at over a network like this one.
    pub fn new(seed: u64, config: &SystemConfig, conditions: &Conditions) -> HostSystem {
        let rules = Rules::new(Arena::schema());
        let mut player = Player { step_s: rules.tick_rate.seconds(), ..Player::default() };
        let mut simulation = Simulation::new(rules, config.server, Arena::default(), seed);
        simulation.seat_player(LocalPlayer::new(config.client.show));
        simulation.server.host.set_frames_per_second(Instant::ZERO, FRAMES_PER_SECOND);
        // The host is there first.
        simulation.run_until(Instant::ZERO, &mut player);
        let (client, conditions) = (config.client, conditions.clone());
        let host = HostOptions::at(FRAMES_PER_SECOND);
        simulation.add_player(PlayerOptions { client, host, conditions, world: Arena::default() });
        let warm = since_start(WARM_FRAMES);
        simulation.run_until(Instant::ZERO + warm, &mut player);
        HostSystem { simulation, player, warm }
    }

    fn arrange(&mut self, input: &FrameInput<'_>) {
        *self.simulation.server.server.config_mut() = input.config.server;
        let onlooker = &mut self.simulation.players[0];
        (onlooker.up_conditions, onlooker.down_conditions) = (input.conditions.clone(), input.conditions.clone());
        if input.events.stall {
            self.simulation.server.host.clock_mut().stall(input.before + self.warm, STALL);
        }
        let player = &mut self.player;
        player.keys = input.keys;
        player.pending.add(&input.events);
        player.realign |= input.events.realign;
    }
}

impl System for HostSystem {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        self.arrange(input);
        self.simulation.run_until(input.now + self.warm, &mut self.player);
        let (onlooker, server) = (&self.simulation.players[0], &self.simulation.server.server);
        let missed = self.player.host.and_then(|host| server.stats(host)).map_or(0, |of| of.inputs.missed);
        let [local, client, other] = self.player.positions;
        let cubes = [
            local.map(|position| cube("local", position, "predicted")),
            client.map(|position| cube("client", position, "authority")),
            place(server.rows(), self.player.host).map(|position| cube("server", position, "confirmed")),
            other.map(|position| cube("other", position, "interpolated")),
        ];
        let server_tick = f64::from(self.player.server_tick.get());
        FrameView {
            cubes: cubes.into_iter().flatten().collect(),
            counters: Counters {
                steps: self.player.steps,
                ticks: u64::from(self.player.server_tick.get()),
                missed,
                resimulated: self.player.resimulated,
                // Of all that the host's machine sends and gets.
                up: onlooker.down.stats().bytes_sent,
                down: onlooker.up.stats().bytes_sent,
            },
            corrections: core::mem::take(&mut self.player.corrections),
            off_m: core::mem::take(&mut self.player.off_m),
            apart_ticks: self.player.next.map(|next| f64::from(next.get()) - server_tick),
        }
    }
}
