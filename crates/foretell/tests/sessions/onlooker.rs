//! What a driver of the harness sees of the datagrams of a session.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, Moment, PlayerOptions, Sent, Simulation};
use foretell::netsim::{Conditions, Fate, Loss};
use foretell::session::{Peek, peek};
use foretell::{Client, ClientConfig, Frame, Instant, Rules, ServerConfig, State, Tick};

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
        match peek(sent.datagram, self.client).expect("both ends are well-behaved") {
            Peek::Inputs { first, newest } => {
                assert_eq!((sent.to_server, newest), (true, self.client.back(1).expect("a tick has run")));
                self.inputs += u64::from(newest.next().since(first));
                self.lost += u64::from(sent.fate == Fate::Lost);
            }
            Peek::Snapshot { tick } => {
                assert!(!sent.to_server);
                assert!(self.snapshots.last().is_none_or(|before| *before < tick));
                self.snapshots.push(tick);
            }
            Peek::Hello { .. } | Peek::Refused { .. } | Peek::Other => {}
        }
    }
}

#[test]
fn a_driver_sees_each_datagram_with_its_ticks_and_its_fate() {
    let rules = Rules::new(Body::schema());
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
    assert_eq!(onlooker.inputs, stats.inputs_sent);
    assert!(onlooker.lost > 50 && onlooker.lost < stats.datagrams_sent / 5, "{} {stats:?}", onlooker.lost);
    assert!(onlooker.snapshots.len() > 1200, "{}", onlooker.snapshots.len());
}
