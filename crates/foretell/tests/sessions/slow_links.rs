//! Links that take less than there is to tell: how much of them is used, how long datagrams wait, and how soon one plays again.

use crate::budgets::Swarm;
use crate::common::Buttons;
use core::ops::Range;
use core::time::Duration;
use foretell::{Client, ClientConfig, ClientState, Frame, Instant, Rules, ServerConfig, Tick, TickRate, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Sent, Simulation};
use foretell_sim::netsim::{Bottleneck, Conditions, Fate, Loss, Ordering, SplitMix64};

/// What is measured of the way from the server.
struct Probe {
    /// How long a datagram takes that does not wait.
    way: Duration,
    waited: Vec<Duration>,
    /// When the client did not play last.
    idle: Instant,
}

impl Driver<Swarm> for Probe {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 32) * 5)
    }

    fn after_client(&mut self, _player: usize, at: Moment, _client: &Client<Swarm>, frame: &Frame<'_>) {
        if frame.state != ClientState::Playing {
            self.idle = at.now;
        }
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if let (false, Fate::Arrives(at)) = (sent.to_server, sent.fate) {
            self.waited.push(at.since(sent.now).saturating_sub(self.way));
        }
    }
}

/// A session over a slow link.
struct SlowLink {
    simulation: Simulation<Swarm>,
    probe: Probe,
    link: Conditions,
    bytes_per_s: u32,
}

/// What five seconds have shown.
#[derive(Debug)]
struct Measured {
    /// Of what the link takes, without what it loses by itself.
    used: f64,
    /// The longest.
    waited: Duration,
}

impl SlowLink {
    /// Latency, jitter, losses and the client's frames are up to the seed.
    fn new(bytes_per_s: u32, queue_bytes: u32, tick_rate: u16, seed: u64) -> SlowLink {
        let mut random = SplitMix64::new(seed * 7919 + u64::from(bytes_per_s) * 31 + u64::from(queue_bytes));
        let mut of = |values: [u64; 4]| values[(random.next_u64() % 4) as usize];
        let latency = Duration::from_millis(of([15, 35, 60, 100]));
        let jitter = Duration::from_millis(of([0, 0, 3, 10]));
        let loss = Loss::Uniform(of([0, 0, 5, 20]) as f64 / 1000.0);
        let hz = u32::try_from(of([30, 60, 60, 144])).expect("small");
        let wide = Conditions { latency, jitter, loss, ordering: Ordering::Fifo, ..Conditions::default() };
        let link = Conditions { bottleneck: Some(Bottleneck::rate(bytes_per_s, queue_bytes)), ..wide.clone() };
        let rules = Rules { tick_rate: TickRate::hz(tick_rate), ..Rules::new(Swarm::schema()) };
        let config = ServerConfig { budget: 256_000, ..ServerConfig::default() };
        let mut simulation = Simulation::new(rules, config, Swarm::of(200, 200), seed);
        let (client, host) = (ClientConfig::default(), HostOptions::at(hz));
        simulation.add_player(PlayerOptions { client, host, conditions: wide, world: Swarm::default() });
        simulation.players[0].down_conditions = link.clone();
        let probe = Probe { way: latency + jitter, waited: Vec::new(), idle: Instant::ZERO };
        SlowLink { simulation, probe, link, bytes_per_s }
    }

    fn run(&mut self, seconds: f64) {
        self.simulation.run_until(self.simulation.now() + Duration::from_secs_f64(seconds), &mut self.probe);
    }

    fn measure(&mut self) -> Measured {
        self.probe.waited.clear();
        let delivered = |link: &SlowLink| link.simulation.players[0].down.stats().bytes_delivered;
        let before = delivered(self);
        self.run(5.0);
        let Loss::Uniform(lost) = self.link.loss else { panic!("the links of this test lose by chance") };
        let used = (delivered(self) - before) as f64 / (5.0 * f64::from(self.bytes_per_s) * (1.0 - lost));
        Measured { used, waited: self.probe.waited.iter().max().copied().expect("something comes") }
    }

    /// For so long nothing comes from the server. Returns how long after that it took until the client played on.
    fn go_out(&mut self, seconds: f64) -> Duration {
        self.simulation.players[0].down_conditions.loss = Loss::Uniform(1.0);
        self.run(seconds);
        self.simulation.players[0].down_conditions = self.link.clone();
        let since = self.simulation.now();
        self.run(5.0);
        self.probe.idle.since(since)
    }
}

const RATES: [u32; 5] = [8_000, 16_000, 32_000, 48_000, 128_000];
const QUEUES: [u32; 4] = [4_000, 20_000, 100_000, 1_000_000];

/// Nothing waits for longer.
const WAITED_MAX: Duration = Duration::from_millis(150);

/// Links by rate and queue.
fn are_used_without_a_queue(links: &[(u32, u32)], seeds: Range<u64>) {
    for seed in seeds {
        for &(rate, queue) in links {
            let mut link = SlowLink::new(rate, queue, 64, seed);
            link.run(5.0);
            let first = link.measure();
            let back = link.go_out(1.0 + (seed % 7) as f64);
            let after = link.measure();
            let found = format!("{rate} B/s, {queue} B, seed {seed}: {first:?}, back in {back:?}, {after:?}");
            for Measured { used, waited } in [first, after] {
                assert!(used >= 0.7 && waited <= WAITED_MAX, "{found}");
            }
            assert!(back <= Duration::from_secs(3), "{found}");
        }
    }
}

#[test]
fn a_slow_link_is_used_well_without_a_queue_and_one_plays_soon_after_an_outage() {
    let links = [(8_000, 20_000), (16_000, 1_000_000), (48_000, 4_000), (128_000, 100_000)];
    are_used_without_a_queue(&links, 0..1);
    // A link with a long round trip, on which growing fast goes unseen for longest.
    are_used_without_a_queue(&[(16_000, 1_000_000)], 4..5);
}

#[test]
#[ignore = "600 sessions: for the nightly run"]
fn any_slow_link_is_used_well_without_a_queue_and_one_plays_soon_after_any_outage() {
    let links: Vec<(u32, u32)> = RATES.iter().flat_map(|rate| QUEUES.map(|queue| (*rate, queue))).collect();
    are_used_without_a_queue(&links, 0..30);
}

#[test]
fn a_link_that_becomes_slow_is_back_in_play_soon() {
    let mut link = SlowLink::new(16_000, 20_000, 64, 3);
    let slow = link.simulation.players[0].down_conditions.clone();
    link.simulation.players[0].down_conditions.bottleneck = None;
    link.run(5.0);
    link.simulation.players[0].down_conditions = slow;
    link.run(5.0);
    let Measured { used, waited } = link.measure();
    assert!(used >= 0.7 && waited <= WAITED_MAX, "{used:.2} {waited:?}");
}
