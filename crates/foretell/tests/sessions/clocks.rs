//! Clocks that run slow or fast, ticks that are long, and networks that are disturbed every now and then: what is missed, and
//! what that costs in lead and delay.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::{
    Client, ClientConfig, Frame, Instant, Outbox, PeerId, PlayerId, Rules, Server, ServerConfig, ServerFrame, Tick,
    TickRate, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, HostClock, Loss, Ordering};

/// Measures from `from` on.
struct Watch {
    ticks_per_s: f64,
    from: Instant,
    /// Missed and all, when measuring began and by now.
    inputs: [(u64, u64); 2],
    lead_ms: Vec<f64>,
    delay_ms: Vec<f64>,
    /// By virtual time: how far the lead that the client estimates is from the true one, in ms.
    wrong_by_ms: Vec<(Instant, f64)>,
}

impl Driver<Masses> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16) * 7 + player as u64)
    }

    fn after_server(&mut self, now: Instant, server: &Server<Masses>, _frame: &ServerFrame<'_>) {
        let Some(stats) = server.stats(PlayerId::new(1)) else { return };
        self.inputs[1] = (stats.inputs.missed, stats.inputs.missed + stats.inputs.applied);
        if now < self.from {
            self.inputs[0] = self.inputs[1];
        }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        let stats = client.stats();
        let running = f64::from(frame.tick.get()) - 1.0 + client.tick_fraction(at.local);
        let lead_ms = 1000.0 * (running / self.ticks_per_s - at.now.micros() as f64 / 1e6);
        let estimated_ms = 1000.0 * stats.clock.lead_ticks / self.ticks_per_s;
        self.wrong_by_ms.push((at.now, estimated_ms - lead_ms));
        if at.now >= self.from {
            self.lead_ms.push(lead_ms);
            self.delay_ms.push(1000.0 * stats.playout.delay_ticks / self.ticks_per_s);
        }
    }
}

impl Watch {
    /// The share of inputs that the server did not have in time.
    fn missed(&self) -> f64 {
        let [before, by_now] = self.inputs;
        (by_now.0 - before.0) as f64 / (by_now.1 - before.1) as f64
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A player whose clock gains `skew_ppm`, in a session that is measured from its tenth second on.
fn session(hz: u16, skew_ppm: i32, conditions: Conditions) -> (Simulation<Masses>, Watch) {
    let rules = Rules { tick_rate: TickRate::hz(hz), ..Rules::new(Masses::schema()) };
    let mut simulation = Simulation::new(rules, ServerConfig::default(), Masses::default(), 5);
    let host = HostOptions { clock: HostClock::new(seconds(100), skew_ppm), ..HostOptions::at(60) };
    simulation.add_player(PlayerOptions {
        client: ClientConfig::default(),
        host,
        conditions,
        world: Masses::default(),
    });
    let watch = Watch {
        ticks_per_s: f64::from(hz),
        from: Instant::ZERO + seconds(10),
        inputs: [(0, 1); 2],
        lead_ms: Vec::new(),
        delay_ms: Vec::new(),
        wrong_by_ms: Vec::new(),
    };
    (simulation, watch)
}

fn ocean() -> Conditions {
    Conditions { loss: Loss::Uniform(0.05), ordering: Ordering::Independent, ..network(75, 20) }
}

fn network(latency_ms: u64, jitter_ms: u64) -> Conditions {
    let (latency, jitter) = (Duration::from_millis(latency_ms), Duration::from_millis(jitter_ms));
    Conditions { latency, jitter, ..Conditions::default() }
}

fn set(simulation: &mut Simulation<Masses>, conditions: &Conditions) {
    let player = &mut simulation.players[0];
    (player.up_conditions, player.down_conditions) = (conditions.clone(), conditions.clone());
}

/// The share that is missed, the mean lead and the mean playout delay, over two minutes.
fn measured(skew_ppm: i32) -> (f64, f64, f64) {
    let (mut simulation, mut watch) = session(64, skew_ppm, ocean());
    simulation.run_until(Instant::ZERO + seconds(130), &mut watch);
    (watch.missed(), mean(&watch.lead_ms), mean(&watch.delay_ms))
}

#[test]
fn a_clock_that_is_slow_or_fast_by_up_to_a_percent_costs_neither_inputs_nor_lead_nor_delay() {
    let (missed, lead_ms, delay_ms) = measured(0);
    assert!(missed < 0.003, "{missed}");
    for skew_ppm in [-10_000, -1_000, -200, 200, 1_000, 10_000] {
        let of = measured(skew_ppm);
        assert!((of.0 - missed).abs() <= 0.001, "{skew_ppm} ppm: {} missed, {missed} without skew", of.0);
        assert!((of.1 - lead_ms).abs() <= 10.0, "{skew_ppm} ppm: {} ms of lead, {lead_ms} without skew", of.1);
        assert!((of.2 - delay_ms).abs() <= 10.0, "{skew_ppm} ppm: {} ms of delay, {delay_ms} without skew", of.2);
    }
}

#[test]
fn a_clock_that_is_off_by_five_percent_misses_one_input_of_a_hundred_at_most() {
    for skew_ppm in [-50_000, -30_000, 30_000, 50_000] {
        let (mut simulation, mut watch) = session(64, skew_ppm, ocean());
        watch.from = Instant::ZERO + seconds(2);
        simulation.run_until(Instant::ZERO + seconds(120), &mut watch);
        assert!(watch.missed() <= 0.01, "{skew_ppm} ppm: {}", watch.missed());
        let stats = simulation.players[0].client.stats();
        let true_ppm = 1e6 / (1.0 + f64::from(skew_ppm) / 1e6) - 1e6;
        assert!((stats.clock.drift_ppm - true_ppm).abs() < 100.0, "{skew_ppm} ppm: {}", stats.clock.drift_ppm);
    }
}

#[test]
fn at_ten_ticks_per_second_losses_make_few_inputs_late() {
    for (jitter_ms, loss) in [(0, 0.01), (20, 0.05), (60, 0.05)] {
        let conditions = Conditions { loss: Loss::Uniform(loss), ..network(75, jitter_ms) };
        let (mut simulation, mut watch) = session(10, 0, conditions);
        simulation.run_until(Instant::ZERO + seconds(310), &mut watch);
        assert!(watch.missed() <= 0.004, "{jitter_ms} ms, {loss}: {}", watch.missed());
        // The way, twice the time between two datagrams, a frame and the dead zone of the steering.
        let lead_ms = mean(&watch.lead_ms);
        assert!(lead_ms <= 75.0 + 200.0 + 17.0 + 50.0, "{jitter_ms} ms, {loss}: {lead_ms} ms");
    }
}

#[test]
fn what_disturbs_a_network_every_eleven_to_twenty_seconds_is_waited_for_all_the_time() {
    for calm_s in [11, 15, 20] {
        let (mut simulation, mut watch) = session(64, 0, network(30, 0));
        watch.from = Instant::ZERO + seconds(2 * calm_s);
        let calm = network(30, 0);
        let rough = Conditions { loss: Loss::Uniform(0.03), ..network(30, 60) };
        for turn in 0..16 {
            set(&mut simulation, if turn % 2 == 0 { &calm } else { &rough });
            simulation.run_until(simulation.now() + seconds(calm_s), &mut watch);
        }
        assert!(watch.missed() <= 0.004, "every {calm_s} s: {}", watch.missed());
        assert!(mean(&watch.lead_ms) <= 120.0, "every {calm_s} s: {} ms", mean(&watch.lead_ms));
    }
}

#[test]
fn on_a_longer_route_the_estimated_lead_is_true_within_two_seconds() {
    let (mut simulation, mut watch) = session(64, 0, network(30, 5));
    simulation.run_until(Instant::ZERO + seconds(20), &mut watch);
    set(&mut simulation, &network(400, 5));
    let jump = simulation.now();
    simulation.run_until(jump + seconds(12), &mut watch);
    let settled =
        |(at, _): &&(Instant, f64)| *at > Instant::ZERO + seconds(10) && (*at < jump || *at > jump + seconds(2));
    for (at, wrong_by_ms) in watch.wrong_by_ms.iter().filter(settled) {
        assert!(wrong_by_ms.abs() <= 25.0, "{wrong_by_ms} ms at {at:?}, of a jump at {jump:?}");
    }
}

#[test]
fn what_is_read_connection_after_connection_does_not_move_the_clock_of_a_server() {
    let mut server = Server::<Masses>::new(Rules::new(Masses::schema()), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    for update in 0..50_u64 {
        for (peer, ms) in [(1, 5), (1, 195), (2, 8), (2, 190), (3, 20), (3, 180)] {
            let came = Instant::from_micros((update * 200 + ms) * 1000);
            server.receive(came, PeerId(peer), &[]).expect_err("there is nothing in it");
        }
        server.update(Instant::from_micros((update + 1) * 200_000), &mut world, &mut outbox);
    }
    assert_eq!(server.tick(), Tick::new(641), "after 10 s");
}
