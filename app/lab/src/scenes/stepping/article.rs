//! The second article's system with the arena's cube: a client that runs 64 ticks per second of its own, and a server that
//! waits for its inputs (R8).

use super::shown_ticks::ShownTicks;
use super::system::{Counters, FrameEvents, FrameInput, FrameView, OwnCorrection, STALL, System};
use crate::scenes::remote_screen::cube;
use core::time::Duration;
use foretell::motion::vector::{add, length, lerp, sub};
use foretell::session::Offence;
use foretell::{Instant, Tick};
use foretell_arena::{Buttons, Cube};
use foretell_articles::csp::{Client, ClientConfig, Server, ServerConfig, TICK_RATE};
use foretell_articles::timestamped::Mover;
use foretell_sim::netsim::Link;

/// How long a tick is.
const TICK: Duration = Duration::from_micros(1_000_000 / TICK_RATE.get() as u64);
/// How much time a frame makes up for at most, as in the article's project.
const FRAME_MAX: Duration = Duration::from_micros(333_333);

/// How the arena's cube moves.
#[derive(Clone, Copy, Debug)]
struct CubeMover;

impl Mover for CubeMover {
    type Input = Buttons;
    type State = Cube;

    #[expect(clippy::cast_possible_truncation, reason = "the arena is in f32")]
    fn advance(&self, state: &mut Cube, input: Buttons, seconds: f64) {
        state.step(input, seconds as f32);
    }

    fn position(&self, state: &Cube) -> [f64; 3] {
        place(state)
    }

    fn limit(&self, _input: &mut Buttons) -> Option<Offence> {
        None
    }
}

/// Where a cube is.
fn place(cube: &Cube) -> [f64; 3] {
    cube.position.map(f64::from)
}

/// Both ends, and the links between them.
pub struct ArticleSystem {
    client: Client<CubeMover>,
    server: Server<CubeMover>,
    up: Link,
    down: Link,
    /// The cube without a network, and as it was a tick ago.
    local: Cube,
    local_before: Cube,
    /// The time that the client has not simulated yet, shorter than a tick between two frames (R5).
    rest: Duration,
    stalled_until: Instant,
    next_server_update: Instant,
    /// What the server does to the cube before its next step.
    pending: FrameEvents,
    shown: ShownTicks,
}

impl ArticleSystem {
    pub fn new(seed: u64, client: ClientConfig, server: ServerConfig) -> ArticleSystem {
        ArticleSystem {
            client: Client::new(CubeMover, client, Cube::default()),
            server: Server::new(CubeMover, server, Cube::default()),
            up: Link::new(seed, seed ^ 1),
            down: Link::new(seed ^ 2, seed ^ 3),
            local: Cube::default(),
            local_before: Cube::default(),
            rest: Duration::ZERO,
            stalled_until: Instant::ZERO,
            next_server_update: Instant::ZERO,
            pending: FrameEvents::default(),
            shown: ShownTicks::default(),
        }
    }

    /// A tick of the client: it simulates and sends, and then takes what has come.
    fn tick(&mut self, at: Instant, input: &FrameInput<'_>, view: &mut FrameView) {
        let buttons = Buttons::from_bits(input.keys);
        let mut datagram = Vec::new();
        self.client.tick(buttons, &mut datagram);
        self.up.send(at, &datagram, input.conditions);
        self.local_before = self.local;
        CubeMover.advance(&mut self.local, buttons, TICK.as_secs_f64());
        while let Some(delivery) = self.down.receive(at) {
            // A state of before that comes late is refused by its tick alone.
            let _ = self.client.receive(delivery.bytes);
        }
        let before = place(self.client.state());
        if let Some(corrected) = self.client.reconcile(at) {
            let moved_m = length(sub(place(self.client.state()), before));
            let sentence = match corrected.resimulated {
                0 => format!("set back by {:.0} cm", moved_m * 100.0),
                ticks => format!("corrected by {:.0} cm over {ticks} ticks", moved_m * 100.0),
            };
            view.corrections.push(OwnCorrection { moved_m, sentence });
        }
        self.shown.note(self.client.present(), self.client.shown(at));
    }

    /// The server takes what has come, and steps by it.
    fn serve(&mut self, at: Instant, input: &FrameInput<'_>, view: &mut FrameView) {
        while let Some(delivery) = self.up.receive(at) {
            // As above.
            let _ = self.server.receive(delivery.bytes);
        }
        let ArticleSystem { server, down, pending, shown, .. } = self;
        let off_m = &mut view.off_m;
        let mut before = |tick: Tick, cube: &mut Cube| {
            off_m.extend(shown.judge(tick, place(cube)));
            pending.do_to(cube);
        };
        server.update(&mut before, &mut |state| {
            down.send(at, state, input.conditions);
        });
    }

    /// How long the client has to simulate in this frame.
    fn spend(&mut self, input: &FrameInput<'_>) {
        let FrameInput { before, now, events, .. } = *input;
        if events.stall {
            self.stalled_until = before + STALL;
        }
        let passed = if now < self.stalled_until { Duration::ZERO } else { now.since(before) };
        self.rest += if events.double_clock { passed * 2 } else { passed };
        // The first frame after it stood still is a long one.
        if before < self.stalled_until && self.stalled_until <= now {
            self.rest = FRAME_MAX;
        }
    }

    /// The player's cube as it is shown when so much of a tick has passed: between its last two states, with what is left of
    /// corrections.
    fn client_position(&self, now: Instant, fraction: f64) -> [f64; 3] {
        let newest = place(self.client.state());
        let before = self.client.present().back(1).and_then(|tick| self.client.predicted(tick)).map_or(newest, place);
        add(lerp(before, newest, fraction), sub(self.client.shown(now), newest))
    }
}

impl System for ArticleSystem {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        let mut view = FrameView::default();
        *self.client.config_mut() = input.config.article_client;
        *self.server.config_mut() = input.config.article_server;
        self.pending.add(&input.events);
        self.spend(input);
        while self.rest >= TICK || self.next_server_update <= input.now {
            // Both run at the same instants, unless the client has stood still or runs fast.
            let due = input.now.micros().saturating_sub(as_micros(self.rest.saturating_sub(TICK)));
            let client_at = Instant::from_micros(due).max(input.before);
            if self.rest >= TICK && client_at <= self.next_server_update.min(input.now) {
                self.rest -= TICK;
                self.tick(client_at, input, &mut view);
            } else {
                let at = self.next_server_update;
                self.next_server_update = at + TICK;
                self.serve(at, input, &mut view);
            }
        }
        if input.events.realign {
            (self.local, self.local_before) = (*self.client.state(), *self.client.state());
        }
        let fraction = self.rest.as_secs_f64() / TICK.as_secs_f64();
        let local = lerp(place(&self.local_before), place(&self.local), fraction);
        view.cubes = vec![
            cube("local", local, "predicted"),
            cube("client", self.client_position(input.now, fraction), "predicted"),
            cube("server", place(self.server.state()), "confirmed"),
        ];
        view.cubes.extend(self.client.snapshot().map(|(_, state)| cube("ghost", place(state), "confirmed")));
        view.counters = Counters {
            steps: self.server.stats().steps,
            ticks: u64::from(self.server.next().get()),
            missed: self.server.stats().inputs_missed,
            resimulated: self.client.stats().resimulated,
            up: self.up.stats().bytes_sent,
            down: self.down.stats().bytes_sent,
        };
        view.apart_ticks = Some(f64::from(self.client.present().get()) - f64::from(self.server.next().get()));
        view
    }
}

fn as_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
