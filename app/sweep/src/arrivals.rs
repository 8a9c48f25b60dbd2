//! What the second article's system would have cost over the networks of the plans: a server for each player that waits for
//! their inputs, and is stepped by those that come (R8, R16).

use super::charts::worst;
use super::row::Row;
use super::samples::Samples;
use core::fmt::Write;
use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell::session::Offence;
use foretell::{Instant, SendRate, Tick};
use foretell_arena::{Buttons, Cube};
use foretell_articles::csp::{Client, ClientConfig, Server, ServerConfig, TICK_RATE};
use foretell_articles::timestamped::Mover;
use foretell_plan::bots::{self, Bots, Push};
use foretell_plan::figures::JOIN_S;
use foretell_plan::{Plan, Session};
use foretell_sim::netsim::{Conditions, Link, SplitMix64};

/// How long a tick is.
const TICK: Duration = Duration::from_micros(1_000_000 / TICK_RATE.get() as u64);
/// A correction of less than this nobody sees, in metres.
const SEEN_M: f64 = 0.001;

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
        state.position.map(f64::from)
    }

    fn limit(&self, _input: &mut Buttons) -> Option<Offence> {
        None
    }
}

/// What was measured of some players.
#[derive(Clone, Debug, Default)]
struct Measured {
    seconds: f64,
    /// How far the server is behind the client, at each tick.
    apart_ms: Samples,
    /// How far each correction moved the simulated cube.
    correction_m: Samples,
    /// Updates of the server, 64 per second, and those in which nothing had come to step it by.
    updates: u64,
    idle: u64,
    /// The most of those in a row, and the most steps in one.
    still_max: u64,
    at_once_max: u64,
    bytes_up: u64,
}

/// One player, their server, and the links between.
struct Pair {
    client: Client<CubeMover>,
    server: Server<CubeMover>,
    up: Link,
    down: Link,
    /// The pushes of the server that are yet to come; ascending by tick.
    pushes: Vec<Push>,
    /// How long the server has not been stepped by now, in updates.
    still: u64,
}

impl Pair {
    fn new(seeds: &mut SplitMix64, snapshot_hz: u16, pushes: Vec<Push>) -> Pair {
        let config = ServerConfig { snapshot_rate: SendRate::Hz(snapshot_hz), ..ServerConfig::default() };
        let mut link = || Link::new(seeds.next_u64(), seeds.next_u64());
        Pair {
            client: Client::new(CubeMover, ClientConfig::default(), Cube::default()),
            server: Server::new(CubeMover, config, Cube::default()),
            up: link(),
            down: link(),
            pushes,
            still: 0,
        }
    }

    /// A tick of both ends, in the order of the article's program.
    fn tick(&mut self, now: Instant, buttons: Buttons, [up, down]: &[Conditions; 2], measured: Option<&mut Measured>) {
        let mut datagram = Vec::new();
        self.client.tick(buttons, &mut datagram);
        self.up.send(now, &datagram, up);
        while let Some(delivery) = self.down.receive(now) {
            // What is late is refused by its tick alone.
            let _ = self.client.receive(delivery.bytes);
        }
        let before = CubeMover.position(self.client.state());
        self.client.reconcile(now);
        let moved_m = length(sub(CubeMover.position(self.client.state()), before));
        while let Some(delivery) = self.up.receive(now) {
            // As above.
            let _ = self.server.receive(delivery.bytes);
        }
        let Pair { server, down: link, pushes, .. } = self;
        let steps = server.stats().steps;
        let mut push = |tick: Tick, cube: &mut Cube| {
            while let Some(push) = pushes.pop_if(|push| push.tick <= tick) {
                (0..3).for_each(|axis| cube.velocity[axis] += push.velocity[axis]);
            }
        };
        server.update(&mut push, &mut |state| {
            link.send(now, state, down);
        });
        let steps = server.stats().steps - steps;
        self.still = if steps > 0 { 0 } else { self.still + 1 };
        let Some(measured) = measured else { return };
        measured.seconds += TICK.as_secs_f64();
        let apart = f64::from(self.client.present().get()) - f64::from(self.server.next().get());
        measured.apart_ms.push(apart * TICK.as_secs_f64() * 1000.0);
        if moved_m >= SEEN_M {
            measured.correction_m.push(moved_m);
        }
        measured.updates += 1;
        measured.idle += u64::from(steps == 0);
        measured.still_max = measured.still_max.max(self.still);
        measured.at_once_max = measured.at_once_max.max(steps);
        measured.bytes_up += datagram.len() as u64;
    }
}

/// All players of a plan without a grid, with a seed.
fn measure(plan: &Plan, seed: u64) -> Measured {
    let session = Session { tick_rate: TICK_RATE.get(), ..plan.session.clone() };
    let (bots, pushes) = (Bots::new(&session, seed), bots::pushes(&session, seed));
    let (mut measured, mut seeds) = (Measured::default(), SplitMix64::new(seed));
    for player in 0..session.players {
        let own = pushes.iter().rev().filter(|push| push.player == player).copied().collect();
        let mut pair = Pair::new(&mut seeds, session.snapshot_rate, own);
        let mut now = Instant::ZERO;
        let begin = now + Duration::from_secs(JOIN_S);
        let end = begin + Duration::from_secs(u64::from(session.seconds));
        let mut tick = Tick::ZERO;
        while now < end {
            let is_measured = now >= begin;
            let links = plan.network.conditions_at(now.micros() / 1_000_000, seed, player);
            pair.tick(now, bots.buttons(player, tick), &links, is_measured.then_some(&mut measured));
            (tick, now) = (tick.next(), now + TICK);
        }
    }
    measured
}

/// What is told of a run of some players.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct ArrivalFigures {
    apart_ms_p50: f64,
    corrections_per_min: f64,
    bytes_up_per_s: f64,
    /// The share of the server's updates in which it did not step.
    idle: f64,
    still_ms_max: f64,
    at_once_max: f64,
}

impl ArrivalFigures {
    #[expect(clippy::cast_precision_loss, reason = "counts of a run")]
    fn of(measured: Measured) -> ArrivalFigures {
        let Measured { seconds, apart_ms, correction_m, updates, idle, still_max, at_once_max, bytes_up } = measured;
        ArrivalFigures {
            apart_ms_p50: apart_ms.sorted().percentile(50),
            corrections_per_min: correction_m.len() as f64 / seconds * 60.0,
            bytes_up_per_s: bytes_up as f64 / seconds,
            idle: idle as f64 / updates as f64,
            still_ms_max: still_max as f64 * TICK.as_secs_f64() * 1000.0,
            at_once_max: at_once_max as f64,
        }
    }

    /// The worse of both, figure by figure.
    fn worse(self, other: ArrivalFigures) -> ArrivalFigures {
        ArrivalFigures {
            apart_ms_p50: self.apart_ms_p50.max(other.apart_ms_p50),
            corrections_per_min: self.corrections_per_min.max(other.corrections_per_min),
            bytes_up_per_s: self.bytes_up_per_s.max(other.bytes_up_per_s),
            idle: self.idle.max(other.idle),
            still_ms_max: self.still_ms_max.max(other.still_ms_max),
            at_once_max: self.at_once_max.max(other.at_once_max),
        }
    }
}

/// The plans without a grid, a line each: what both systems cost, and how the article's server runs. Of every figure the worst
/// of the seeds.
pub fn markdown(plans: &[Plan], rows: &[(usize, Row)]) -> String {
    let mut text = "| plan | lead p50, ms | article's | corrections, /min | article's | up, B/s | article's | \
                    it stands still, % | at most, ms | then at once, ticks |\n|---|"
        .to_owned();
    text.push_str(&"---:|".repeat(9));
    text.push('\n');
    for (index, plan) in plans.iter().enumerate().filter(|(_, plan)| plan.grid.is_single()) {
        let ours = |figure| worst(rows.iter().filter(|(of, _)| *of == index).map(|(_, row)| row), figure);
        let figures = plan.session.seeds.iter().map(|seed| ArrivalFigures::of(measure(plan, *seed)));
        let theirs = figures.reduce(ArrivalFigures::worse).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.0} | {:.1} | {:.1} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} |",
            plan.name,
            ours("lead_ms_p50"),
            theirs.apart_ms_p50,
            ours("corrections_per_min"),
            theirs.corrections_per_min,
            ours("bytes_up_per_s"),
            theirs.bytes_up_per_s,
            theirs.idle * 100.0,
            theirs.still_ms_max,
            theirs.at_once_max,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> ArrivalFigures {
        let plan =
            foretell_plan::read("a.toml", &format!("name = 'a'\n{text}\n[session]\nseconds = 60")).expect("good");
        ArrivalFigures::of(measure(&plan, 1))
    }

    #[test]
    fn where_nothing_is_lost_and_nothing_varies_the_server_steps_every_tick_as_far_behind_as_the_way_takes() {
        let told = figures("[network]\nlatency_ms = 75");
        assert_eq!((told.corrections_per_min, told.idle, told.still_ms_max, told.at_once_max), (0.0, 0.0, 0.0, 1.0));
        // 75 ms are 4.8 ticks, which are five (D24).
        assert_eq!(told.apart_ms_p50, 5.0 * 15.625);
    }

    #[test]
    fn where_inputs_are_lost_in_bursts_nothing_is_corrected_and_the_server_stands_still_and_leaps() {
        let told = figures("[network]\nlatency_ms = 75\njitter_ms = 20\nloss = 0.05\nburst_length = 4");
        assert_eq!(told.corrections_per_min, 0.0);
        assert!(told.idle > 0.05 && told.still_ms_max > 100.0 && told.at_once_max > 6.0, "{told:?}");
        assert!(told.bytes_up_per_s > figures("[network]\nlatency_ms = 10").bytes_up_per_s, "{told:?}");
    }

    #[test]
    fn a_push_is_a_correction_there_too() {
        let plan = "name = 'a'\n[network]\nlatency_ms = 75\n[session]\nseconds = 60\nplayers = 1\nimpulses_per_min = 6";
        let plan = foretell_plan::read("a.toml", plan).expect("good");
        let told = ArrivalFigures::of(measure(&plan, 1));
        assert!((5.0..=7.0).contains(&told.corrections_per_min), "{told:?}");
    }
}
