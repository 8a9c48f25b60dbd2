//! The tables of docs/PHYSICS.md: what players see in whole sessions on virtual time, and what these cost the server in CPU
//! time and bytes. `cargo bench -p foretell-rapier --bench session`, some minutes.

#![allow(dead_code, unused_imports, reason = "the sessions are those of the tests, which look at more of them")]

#[path = "../tests/session/main.rs"]
mod session;

use core::time::Duration;
use cpu_time::ThreadTime;
use foretell::session::server::Server;
use foretell::world::{InputStatus, PlayerInput, Side};
use foretell::{
    ClientConfig, Instant, Newcomer, PlayerId, Rules, ServerConfig, ServerFrame, Simulate, Step, Tick, TickRate, World,
};
use foretell_sim::harness::{Driver, HostOptions, PlayerOptions, Sent, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use session::pile::{Keys, Pile};
use session::{drive, figures, of_exact, of_near};

/// From when on is measured, in ticks, and until when.
const TICKS: [u32; 2] = [128, 128 + 640];

/// The keys of a player in a tick; the same in a session and without.
fn keys(player: usize, tick: Tick) -> Keys {
    drive(player, tick, &mut SplitMix64::new(u64::from(tick.get() / 8) << 8 | player as u64))
}

/// Measures the server's updates.
#[derive(Default)]
struct Meter {
    began: Option<ThreadTime>,
    spent: Duration,
    down: usize,
    on: bool,
}

impl Driver<Pile> for Meter {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        keys(player, tick)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Pile>) {
        self.on = (TICKS[0]..TICKS[1]).contains(&server.server.tick().get());
        self.began = Some(ThreadTime::now());
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Pile>, _frame: &ServerFrame<'_>) {
        let spent = self.began.take().map_or(Duration::ZERO, |began| began.elapsed());
        self.spent += if self.on { spent } else { Duration::ZERO };
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        self.down += if self.on && !sent.to_server { sent.datagram.len() } else { 0 };
    }
}

/// What a tick costs the server of such a session, in ms, and what goes to each player, in kB/s.
fn costs(players: u16, world: &Pile, (exact, client, server): (bool, ClientConfig, ServerConfig)) -> (f64, f64) {
    let rules = Rules { exact, ..Rules::new(Pile::schema()) };
    let mut simulation = Simulation::new(rules, server, world.clone(), 3);
    let latency = Duration::from_millis(75);
    let conditions = Conditions { latency, loss: Loss::Uniform(0.05), ..Conditions::default() };
    for _ in 0..players {
        let (conditions, world) = (conditions.clone(), world.clone());
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world });
    }
    let mut meter = Meter::default();
    let seconds = f64::from(TICKS[1]) / f64::from(TickRate::default().get());
    simulation.run_until(Instant::ZERO + Duration::from_secs_f64(seconds), &mut meter);
    let ticks = f64::from(TICKS[1] - TICKS[0]);
    let kilobytes = meter.down as f64 / 1000.0 / f64::from(players);
    (meter.spent.as_secs_f64() * 1000.0 / ticks, kilobytes * f64::from(TickRate::default().get()) / ticks)
}

/// What a bare step costs of the same world with the same players, in ms.
fn bare(players: u16, mut world: Pile) -> f64 {
    let everybody: Vec<_> = (1..=players).map(PlayerId::new).collect();
    let mut spent = Duration::ZERO;
    for tick in (0..TICKS[1]).map(Tick::new) {
        let status = InputStatus::Received;
        let input = |player: &PlayerId| PlayerInput {
            player: *player,
            input: keys(usize::from(player.get()) - 1, tick),
            status,
            presented: None,
        };
        let inputs: Vec<_> = everybody.iter().map(input).collect();
        let joined = everybody.iter().filter(|_| tick.get() == 16);
        let joined: Vec<_> = joined.map(|player| Newcomer::new(*player)).collect();
        let mut step = Step::new(tick, TickRate::default(), Side::Server, &inputs).with_players(&joined, &[]);
        let began = ThreadTime::now();
        world.step(&mut step);
        spent += if tick.get() >= TICKS[0] { began.elapsed() } else { Duration::ZERO };
    }
    spent.as_secs_f64() * 1000.0 / f64::from(TICKS[1] - TICKS[0])
}

fn figures_of_many_seeds() {
    println!(
        "| players | inputs relayed | RTT, loss | corrections per min | p99, max (m) | step excess p99, max (m) | kB/s | asked per min | missed |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (players, relays, seeds) in [(1, true, 4), (2, true, 4), (2, false, 4), (4, true, 1), (8, true, 1)] {
        for (rtt_ms, loss) in [(50, 1), (150, 5), (300, 10)] {
            let f = figures(players, relays, (rtt_ms, loss), seeds);
            println!(
                "| {players} | {relays} | {rtt_ms} ms, {loss} % | {:.1} | {:.3}, {:.3} | {:.4}, {:.3} | {:.1} | {:.0} | {:.2} % |",
                f.corrections_per_min,
                f.correction_m.p99,
                f.correction_m.max,
                f.step_excess_m.p99,
                f.step_excess_m.max,
                f.down_bytes_per_s / 1000.0,
                f.asked as f64 / f.minutes,
                f.input_miss_share * 100.0,
            );
        }
    }
}

fn what_a_tick_costs_the_server() {
    println!("| session | players | a bare step | a tick of the server | ratio | kB/s to each |");
    println!("|---|---|---:|---:|---:|---:|");
    for (name, world, config) in [
        ("exact, a heap of 100, all awake", Pile::heap(100, true), of_exact(true)),
        ("exact, the same, inputs not relayed", Pile::heap(100, true), of_exact(false)),
        ("partial, a field of 901, most asleep", Pile::field(901), of_near()),
    ] {
        for players in [2, 8] {
            let bare = bare(players, world.clone());
            let (tick, kilobytes) = costs(players, &world, config);
            let ratio = tick / bare;
            println!("| {name} | {players} | {bare:.2} ms | {tick:.2} ms | {ratio:.2} | {kilobytes:.1} |");
        }
    }
}

fn main() {
    figures_of_many_seeds();
    what_a_tick_costs_the_server();
}
