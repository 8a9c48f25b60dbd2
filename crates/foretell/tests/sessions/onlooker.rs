//! What a driver of the harness sees of the datagrams of a session.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::{Inspected, inspect};
use foretell::{Client, ClientConfig, Frame, Instant, Rules, ServerConfig, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Sent, Simulation};
use foretell_sim::netsim::{Conditions, Fate, Loss, Reordering};

/// Counts what is sent, and holds the newest tick of each end.
#[derive(Default)]
struct Onlooker {
    client: Tick,
    /// The ticks of inputs in the client's datagrams, with repetitions; and how many of these are lost.
    inputs: u64,
    lost: u64,
    /// Ascending, each tick once.
    snapshots: Vec<Tick>,
}

impl Driver<Masses> for Onlooker {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16 % 32))
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        self.client = client.tick();
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        match inspect(sent.datagram, self.client).expect("both ends are well-behaved") {
            Inspected::Inputs { first, newest } => {
                assert_eq!((sent.to_server, newest), (true, self.client.back(1).expect("a tick has run")));
                self.inputs += u64::from(newest.next().since(first));
                self.lost += u64::from(sent.fate == Fate::Lost);
            }
            Inspected::Snapshot { tick } => {
                assert!(!sent.to_server);
                assert!(self.snapshots.last().is_none_or(|before| *before < tick));
                self.snapshots.push(tick);
            }
            Inspected::Hello { .. } | Inspected::Refused { .. } | Inspected::Other => {}
        }
    }
}

#[test]
fn a_driver_sees_each_datagram_with_its_ticks_and_its_fate() {
    let rules = Rules::new(Masses::schema());
    let mut simulation = Simulation::new(rules, ServerConfig::default(), Masses::default(), 5);
    let conditions = Conditions {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(20),
        loss: Loss::Uniform(0.1),
        ..Conditions::default()
    };
    let host = HostOptions::at(60);
    simulation.add_player(PlayerOptions {
        client: ClientConfig::default(),
        host,
        conditions,
        world: Masses::default(),
    });
    let mut onlooker = Onlooker::default();
    simulation.run_until(Instant::from_micros(20_000_000), &mut onlooker);
    let stats = simulation.players[0].client.stats();
    assert_eq!(onlooker.inputs, stats.inputs.sent);
    assert!(onlooker.lost > 50 && onlooker.lost < stats.network.datagrams_sent / 5, "{} {stats:?}", onlooker.lost);
    assert!(onlooker.snapshots.len() > 1200, "{}", onlooker.snapshots.len());
}

/// Knows what either end knows of the inputs that have come.
#[derive(Default)]
struct Acknowledged {
    /// The client's newest tick.
    client: Tick,
    /// When the server has an input, and when the client is told of it.
    server_has: Vec<(Instant, Tick)>,
    client_knows: Vec<(Instant, Tick)>,
    /// By datagram, the number of inputs in it.
    counts: Vec<u32>,
}

/// The newest of what has come by `now`.
fn newest(of: &[(Instant, Tick)], now: Instant) -> Option<Tick> {
    of.iter().filter(|(at, _)| *at <= now).map(|(_, tick)| *tick).max()
}

impl Driver<Masses> for Acknowledged {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 16 % 32))
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        self.client = client.tick();
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        let arrives = match sent.fate {
            Fate::Arrives(at) => Some(at),
            Fate::Lost | Fate::Dropped => None,
        };
        match inspect(sent.datagram, self.client).expect("both ends are well-behaved") {
            Inspected::Inputs { first, newest: last } => {
                let known = newest(&self.client_knows, sent.now);
                assert!(known.is_none_or(|known| first > known), "{first:?} is repeated, and {known:?} acknowledged");
                self.counts.push(last.next().since(first));
                self.server_has.extend(arrives.map(|at| (at, last)));
            }
            Inspected::Snapshot { .. } => {
                let has = newest(&self.server_has, sent.now);
                self.client_knows.extend(arrives.zip(has));
            }
            Inspected::Hello { .. } | Inspected::Refused { .. } | Inspected::Other => {}
        }
    }
}

/// Half a minute of a client with the default redundancy: by datagram, the number of inputs in it.
fn counts(client: ClientConfig, up: Conditions, down: Conditions) -> Vec<u32> {
    let rules = Rules::new(Masses::schema());
    let mut simulation = Simulation::new(rules, ServerConfig::default(), Masses::default(), 6);
    let (host, world) = (HostOptions::at(64), Masses::default());
    simulation.add_player(PlayerOptions { client, host, conditions: up, world });
    simulation.players[0].down_conditions = down;
    let mut acknowledged = Acknowledged::default();
    simulation.run_until(Instant::from_micros(30_000_000), &mut acknowledged);
    acknowledged.counts
}

#[test]
fn no_input_is_repeated_that_the_server_has_said_it_has_whatever_overtakes_what() {
    let rough = Conditions {
        jitter: Duration::from_millis(80),
        duplicates: 0.1,
        reordering: Reordering { rate: 0.2, ..Reordering::default() },
        ..Conditions::default()
    };
    let counts = counts(ClientConfig::default(), rough.clone(), rough);
    assert!(counts.iter().filter(|count| **count > 3).count() > 300, "much is repeated");
}

#[test]
fn by_default_an_input_is_repeated_while_it_can_be_in_time_and_at_most_sixteen_travel() {
    let latency = Conditions { latency: Duration::from_millis(60), ..Conditions::default() };
    let steady = counts(ClientConfig::default(), latency.clone(), latency.clone());
    // The newest, and two that a datagram without delay still brings in time.
    assert!(steady[640..].iter().all(|count| *count == 3), "{:?}", steady[640..].iter().max());
    let slow = Conditions { jitter: Duration::from_millis(600), ..latency.clone() };
    let patient = ClientConfig { lead_max: Some(Duration::from_secs(1)), ..ClientConfig::default() };
    let much = counts(patient, slow, latency);
    assert_eq!(much.iter().max(), Some(&16));
}
