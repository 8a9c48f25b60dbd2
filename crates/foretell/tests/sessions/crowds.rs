//! Many strangers: hellos without end over one connection, and more players in a session's life than are remembered.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::client::Predict;
use foretell::session::server::{Server, ServerEvent};
use foretell::{Client, ClientConfig, Instant, Outbox, PeerId, Rules, ServerConfig, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, Leaving, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, SplitMix64};
use std::collections::VecDeque;

fn rules() -> Rules {
    Rules::new(Masses::schema())
}

/// Clients that say hello, and show the ticket of an answer. They get nothing else.
struct Strangers {
    clients: VecDeque<Client<Masses>>,
    outbox: Outbox,
}

impl Strangers {
    /// Four more come, and of all eight stay; what they say.
    fn say_hello(&mut self, now: Instant, tick: u64) -> Vec<Vec<u8>> {
        for nth in 0..4 {
            self.clients.push_back(Client::new(rules(), ClientConfig::default(), tick * 4 + nth));
        }
        self.clients.drain(..self.clients.len().saturating_sub(8));
        self.outbox.clear();
        for client in &mut self.clients {
            client.update(now, &mut Masses::default(), &mut |_| Buttons::default(), &mut self.outbox);
        }
        self.outbox.iter().map(|(_, hello)| hello.to_vec()).collect()
    }

    fn hear(&mut self, now: Instant, outbox: &Outbox) {
        // Message 1 is a welcome.
        for (_, datagram) in outbox.iter().filter(|(_, datagram)| datagram[0] & 7 == 1) {
            self.clients.iter_mut().for_each(|client| client.receive(now, datagram).expect("well-formed"));
        }
    }
}

/// How many join in ten seconds over one connection, and the most bodies that there were at once.
fn joined_in_ten_seconds(do_hear: bool) -> (usize, usize) {
    let mut server = Server::new(rules(), ServerConfig::default(), 0, Instant::ZERO);
    let mut strangers = Strangers { clients: VecDeque::new(), outbox: Outbox::new() };
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    let (mut joined, mut most) = (0, 0);
    for tick in 0..640_u64 {
        let now = Instant::from_micros(tick * 15_625);
        for hello in strangers.say_hello(now, tick) {
            server.receive(now, PeerId(7), &hello).expect("well-formed");
        }
        let frame = server.update(now, &mut world, &mut outbox);
        joined += frame.events.iter().filter(|event| matches!(event, ServerEvent::Joined(_))).count();
        most = most.max(world.bodies.len());
        if do_hear {
            strangers.hear(now, &outbox);
        }
        outbox.clear();
    }
    (joined, most)
}

#[test]
fn however_many_hellos_come_over_one_connection_one_stranger_joins_in_a_second() {
    let (joined, most) = joined_in_ten_seconds(true);
    assert!((8..=10).contains(&joined), "{joined} joined in 10 s");
    assert_eq!(most, 1, "each is gone when the next one comes");
}

#[test]
fn however_many_hellos_come_of_whoever_hears_no_answer_nobody_joins() {
    assert_eq!(joined_in_ten_seconds(false), (0, 0));
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
        assert_eq!(after.prediction.outcomes.asked, before.prediction.outcomes.asked);
        assert!(after.prediction.outcomes.agreed > before.prediction.outcomes.agreed + 100, "{after:?}");
    }
}
