//! Mobile networks while driving: rates that wander, and outages of half a second and more.

use crate::budgets::Swarm;
use crate::common::Buttons;
use core::ops::Range;
use core::time::Duration;
use foretell::session::server::ServerEvent;
use foretell::{ClientConfig, Instant, Rules, Server, ServerConfig, ServerFrame, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, PlayerOptions, Sent, Simulation};
use foretell_sim::netsim::{Bottleneck, Cellular, Conditions, Fate, Ordering, Trace};
use std::sync::Arc;

const LATENCY: Duration = Duration::from_millis(40);
/// A second of the fastest of them.
const QUEUE_BYTES: u32 = 2_000_000;
/// Longer than a session: nothing is repeated.
const LENGTH: Duration = Duration::from_secs(40);
const ENDS: Instant = Instant::from_micros(35_000_000);
/// Until then it is found out what the link takes.
const BEGINS: Instant = Instant::from_micros(5_000_000);

struct Watch {
    down: Arc<Trace>,
    /// How long each datagram waited for others, and not for the link to be there.
    waited: Vec<Duration>,
    lost: u32,
}

impl Watch {
    /// When something may leave the link next.
    fn opportunity(&self, after: Instant) -> Instant {
        let opportunities = self.down.opportunities_ms();
        let ms = after.micros() / 1000;
        let next = opportunities.partition_point(|at| u64::from(*at) <= ms);
        Instant::from_micros(opportunities.get(next).map_or(u64::MAX, |at| u64::from(*at) * 1000))
    }
}

impl Driver<Swarm> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 32) * 5)
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Swarm>, frame: &ServerFrame<'_>) {
        let lost = frame.events.iter().filter(|event| matches!(event, ServerEvent::Lost(_)));
        self.lost += u32::try_from(lost.count()).expect("few");
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if let (false, Fate::Arrives(at)) = (sent.to_server || sent.now < BEGINS, sent.fate) {
            let alone = self.opportunity(sent.now) + LATENCY;
            self.waited.push(at.since(alone));
        }
    }
}

/// A mobile network, and how long 95 % of its datagrams wait at most in the median session.
struct Network {
    up: Cellular,
    down: Cellular,
    waits: Duration,
}

const NETWORKS: [Network; 3] = [
    Network { up: Cellular::LTE_UP, down: Cellular::LTE_DOWN, waits: Duration::from_millis(50) },
    Network { up: Cellular::UMTS_UP, down: Cellular::UMTS_DOWN, waits: Duration::from_millis(200) },
    Network { up: Cellular::EVDO_UP, down: Cellular::EVDO_DOWN, waits: Duration::from_millis(400) },
];

/// Plays over one of them. Returns how long 95 % of the datagrams wait at most.
fn play(network: &Network, seed: u64) -> Duration {
    let (up, down) = (network.up.trace(2 * seed, LENGTH), network.down.trace(2 * seed + 1, LENGTH));
    let [up, down] = [up, down].map(Arc::new);
    let config = ServerConfig { budget: 256_000, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Swarm::schema()), config, Swarm::of(200, 200), seed);
    let over = |trace: &Arc<Trace>| Conditions {
        latency: LATENCY,
        ordering: Ordering::Fifo,
        bottleneck: Some(Bottleneck::trace(trace.clone(), QUEUE_BYTES)),
        ..Conditions::default()
    };
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions: over(&up), world: Swarm::default() });
    simulation.players[0].down_conditions = over(&down);
    let mut watch = Watch { down, waited: Vec::new(), lost: 0 };
    simulation.run_until(ENDS, &mut watch);
    assert!(watch.lost == 0 && simulation.players[0].client.player().is_some(), "{:?}, seed {seed}", network.down);
    watch.waited.sort_unstable();
    watch.waited[watch.waited.len() * 95 / 100]
}

/// Over these networks nobody is lost, and what the server sends mostly waits for little that it has sent before.
fn are_played_over(seeds: Range<u64>) {
    for network in &NETWORKS {
        let mut waits: Vec<Duration> = seeds.clone().map(|seed| play(network, seed)).collect();
        waits.sort_unstable();
        assert!(waits[waits.len() / 2] <= network.waits, "{:?}: {waits:?}", network.down);
    }
}

#[test]
fn over_mobile_links_nobody_is_lost_and_little_waits_for_what_was_sent_before() {
    are_played_over(0..5);
}

#[test]
#[ignore = "300 sessions: for the nightly run"]
fn over_any_mobile_link_nobody_is_lost_and_little_waits_for_what_was_sent_before() {
    are_played_over(0..100);
}
