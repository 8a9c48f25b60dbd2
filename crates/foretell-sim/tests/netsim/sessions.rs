//! Whole sessions over synthetic mobile networks.

use core::time::Duration;
use foretell::{ClientConfig, Input, Instant, Rules, ServerConfig, Simulate, State, Step, Table, Tick, World};
use foretell_sim::harness::{Driver, FaultMix, HostOptions, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::{Bottleneck, Capacity, Cellular, Conditions, LinkStats, Ordering, QueueLimit, Trace};
use std::sync::Arc;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Throttle {
    on: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Cart {
    #[state(position, precision = 0.01)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
}

#[derive(World, Default)]
struct Carts {
    carts: Table<Cart>,
}

impl Simulate for Carts {
    type Input = Throttle;

    fn step(&mut self, step: &mut Step<'_, Throttle>) {
        self.carts.remove_left(step);
        for joined in step.joined() {
            self.carts.spawn(step, joined.player, Cart::default());
        }
        for mut cart in self.carts.simulated(step) {
            let on = step.input(cart.owner()).is_some_and(|player| player.input.on);
            cart.speed[0] += if on { 0.25 } else { -0.25 };
            cart.x[0] += cart.speed[0] * step.seconds() as f32;
        }
    }
}

struct Play;

impl Driver<Carts> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Throttle {
        Throttle { on: (tick.get() / 48 + player as u32).is_multiple_of(2) }
    }
}

/// The links of three players, each of whom begins at another place of the same traces.
fn links([up, down]: &[Arc<Trace>; 2], player: u64) -> [Conditions; 2] {
    let start = Duration::from_secs(2 * player);
    [up, down].map(|trace| Conditions {
        latency: Duration::from_millis(30),
        ordering: Ordering::Fifo,
        bottleneck: Some(Bottleneck {
            capacity: Capacity::Trace { trace: trace.clone(), start },
            queue: QueueLimit::of_bytes(60_000),
        }),
        ..Conditions::default()
    })
}

/// A minute of three players over these traces.
fn play(traces: &[Arc<Trace>; 2]) -> Simulation<Carts> {
    let mut session = Simulation::new(Rules::new(Carts::schema()), ServerConfig::default(), Carts::default(), 5);
    for player in 0..3 {
        let [up, down] = links(traces, player);
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        let index = session.add_player(PlayerOptions { client, host, conditions: up, world: Carts::default() });
        session.players[index].down_conditions = down;
    }
    session.run_until(Instant::ZERO + Duration::from_secs(60), &mut Play);
    session
}

fn mobile(up: Cellular, down: Cellular) -> [Arc<Trace>; 2] {
    let length = Duration::from_secs(45);
    [up.trace(1, length), down.trace(2, length)].map(Arc::new)
}

#[test]
fn a_whole_session_plays_over_a_synthetic_lte_trace() {
    let session = play(&mobile(Cellular::LTE_UP, Cellular::LTE_DOWN));
    for player in &session.players {
        let (stats, served) = (player.client.stats(), player.client.player().expect("joined"));
        assert!(
            stats.prediction.outcomes.add_up()
                && stats.prediction.outcomes.agreed > 2_000
                && stats.prediction.resyncs == 0,
            "{stats:?}"
        );
        let served = session.server.server.stats(served).expect("known");
        let missed = served.inputs.missed as f64 / (served.inputs.applied + served.inputs.missed) as f64;
        // Some 10 % of the time nothing goes up, which no lead that a client has by default bridges.
        assert!((0.05..0.2).contains(&missed), "{missed}: {served:?}");
        // Nothing is lost on these links, and the outages are short enough for the queues.
        let LinkStats { dropped_by_queue, sent, .. } = *player.down.stats();
        assert!(dropped_by_queue == 0 && sent > 3_000, "{:?}", player.down.stats());
    }
}

#[test]
fn the_same_session_over_the_same_trace_is_the_same_bit_for_bit_and_over_none_another() {
    let digest = |session: &Simulation<Carts>| {
        let links = session.players.iter().flat_map(|player| [*player.up.stats(), *player.down.stats()]);
        (session.server.server.rows().digest(), links.collect::<Vec<_>>())
    };
    let lte = || mobile(Cellular::LTE_UP, Cellular::LTE_DOWN);
    assert_eq!(digest(&play(&lte())), digest(&play(&lte())));
    let evdo = mobile(Cellular::EVDO_UP, Cellular::EVDO_DOWN);
    assert_ne!(digest(&play(&lte())), digest(&play(&evdo)));
}

#[test]
fn an_outage_holds_everything_up_and_the_session_goes_on_behind_it() {
    // 5 s with an opportunity per millisecond, 2 s without any.
    let lines: String = (1..=5_000).chain([7_000]).map(|ms| format!("{ms}\n")).collect();
    let trace = Arc::new(Trace::parse(lines.as_bytes()).expect("well-formed"));
    let session = play(&[trace.clone(), trace]);
    for player in &session.players {
        let stats = player.client.stats();
        assert!(stats.prediction.outcomes.add_up() && stats.prediction.outcomes.agreed > 1_500, "{stats:?}");
        assert!(player.client.player().is_some_and(|player| session.server.server.stats(player).is_some()));
    }
}

#[test]
fn a_scenario_over_mobile_links_holds_with_and_without_faults() {
    let scenario = || {
        let lte = mobile(Cellular::LTE_UP, Cellular::LTE_DOWN);
        Scenario::new(Rules::new(Carts::schema()), Carts::default)
            .players(3)
            .bot(|_, random| Throttle { on: random.chance(0.5) })
            .links(move |player| links(&lte, player as u64))
    };
    let seen = scenario().seeds(0..4).expect("no check complains").figures;
    assert!(seen.input_miss_share > 0.05 && seen.playout_delay_ms.p95 > 100.0, "there were outages: {seen:?}");
    scenario().faults(FaultMix::default()).seeds(0..30).expect("no check complains");
}
