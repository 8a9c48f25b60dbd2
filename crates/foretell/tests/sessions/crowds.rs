//! Many strangers: hellos without end over one connection, and more players in a session's life than are remembered.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::client::Predict;
use foretell::session::server::{Server, ServerEvent};
use foretell::{Client, ClientConfig, Instant, Outbox, PeerId, Rules, ServerConfig, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Leaving, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, SplitMix64};

fn rules() -> Rules {
    Rules::new(Masses::schema())
}

/// The hello of a client that has just been started.
fn hello(nonce: u64) -> Vec<u8> {
    let mut client: Client<Masses> = Client::new(rules(), ClientConfig::default(), nonce);
    let mut outbox = Outbox::new();
    client.update(Instant::ZERO, &mut Masses::default(), &mut |_| Buttons::default(), &mut outbox);
    outbox.iter().next().expect("a hello").1.to_vec()
}

#[test]
fn however_many_hellos_come_over_one_connection_one_stranger_joins_in_a_second() {
    let mut server = Server::new(rules(), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    let (mut joined, mut most) = (0, 0);
    for tick in 0..640_u64 {
        let now = Instant::from_micros(tick * 15_625);
        for nth in 0..4 {
            server.receive(now, PeerId(7), &hello(tick * 4 + nth)).expect("well-formed");
        }
        let frame = server.update(now, &mut world, &mut outbox);
        joined += frame.events.iter().filter(|event| matches!(event, ServerEvent::Joined(_))).count();
        most = most.max(world.bodies.len());
        outbox.clear();
    }
    assert!((8..=10).contains(&joined), "{joined} joined in 10 s");
    assert_eq!(most, 1, "each is gone when the next one comes");
}

/// Everybody's keys change four times a second.
struct Restless;

impl Driver<Masses> for Restless {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(SplitMix64::new(u64::from(tick.get() / 16) << 16 | player as u64).next_u64())
    }
}

/// A session in which one player stays and guests come and go, 16 at a time; the number of the first of those who are there now.
fn visited(exact: bool, guests: usize) -> (Simulation<Masses>, usize) {
    let server = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules { exact, ..rules() }, server, Masses::default(), 5);
    let add = |simulation: &mut Simulation<Masses>| {
        let client = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
        let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Masses::default() })
    };
    add(&mut simulation);
    let mut first = 1;
    loop {
        first = (0..16).map(|_| add(&mut simulation)).min().unwrap_or(first);
        let until = simulation.now() + Duration::from_millis(1300);
        simulation.run_until(until, &mut Restless);
        if first >= guests {
            return (simulation, first);
        }
        (first..first + 16).for_each(|guest| simulation.remove_player(guest, Leaving::Politely));
    }
}

#[test]
fn whoever_comes_after_256_others_is_predicted_as_they_were() {
    for exact in [false, true] {
        let (mut simulation, first) = visited(exact, 300);
        let host = &simulation.players[0];
        let predicted = host.client.predicted_players();
        for guest in &simulation.players[first..] {
            let number = guest.client.player().expect("they have joined");
            assert!(predicted.contains(&number), "{number:?}, of {predicted:?}");
        }
        assert!(predicted.len() <= 2 + 16, "nobody else is: {predicted:?}");
        // And their inputs are known: without them the states of an exact session would be asked for.
        let before = host.client.stats();
        let until = simulation.now() + Duration::from_secs(3);
        simulation.run_until(until, &mut Restless);
        let after = simulation.players[0].client.stats();
        assert_eq!(after.outcomes.asked, before.outcomes.asked);
        assert!(after.outcomes.agreed > before.outcomes.agreed + 100, "{after:?}");
    }
}
