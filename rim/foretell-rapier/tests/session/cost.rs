//! What sessions cost the server: CPU time and bytes, in whole sessions on virtual time.

use crate::pile::{Keys, Pile, Thing};
use crate::{drive, of_exact, of_near};
use core::time::Duration;
use cpu_time::ThreadTime;
use foretell::harness::{Driver, HostOptions, PlayerOptions, Sent, ServerHost, Simulation};
use foretell::netsim::{Conditions, Loss, SplitMix64};
use foretell::rollback::{InputStatus, PlayerInput, Side};
use foretell::session::server::Server;
use foretell::{ClientConfig, Instant, PlayerId, Rules, ServerConfig, ServerFrame, State, Step, Tick, TickRate, World};

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
fn session(players: u16, world: &Pile, (exact, client, server): (bool, ClientConfig, ServerConfig)) -> (f64, f64) {
    let rules = Rules { exact, ..Rules::new(Thing::schema()) };
    let mut simulation = Simulation::new(rules, server, world.clone(), 3);
    let latency = Duration::from_millis(75);
    let conditions = Conditions { latency, loss: Loss::Uniform(0.05), ..Conditions::default() };
    for _ in 0..players {
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: world.clone() });
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
        let joined = if tick.get() == 16 { &everybody[..] } else { &[] };
        let step = Step::new(tick, TickRate::default(), Side::Server, &inputs).with_players(joined, &[]);
        let began = ThreadTime::now();
        world.step(&step);
        spent += if tick.get() >= TICKS[0] { began.elapsed() } else { Duration::ZERO };
    }
    spent.as_secs_f64() * 1000.0 / f64::from(TICKS[1] - TICKS[0])
}

/// For docs/PHYSICS.md: `cargo test --release -p foretell-rapier --test session cost -- --ignored --nocapture`.
#[test]
#[ignore = "a minute; prints the table of what a server spends in docs/PHYSICS.md"]
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
            let (tick, kilobytes) = session(players, &world, config);
            let ratio = tick / bare;
            println!("| {name} | {players} | {bare:.2} ms | {tick:.2} ms | {ratio:.2} | {kilobytes:.1} |");
        }
    }
}
