//! Who is greeted and never comes into play: nothing comes through to them, or from them, or they are gone.

use super::hall::{Hall, Net, Way, is_lost, passes};
use foretell::session::client::ClientEvent;
use foretell::session::{Inspected, Refusal, inspect};
use foretell::{ClientState, ServerConfig, Tick};

/// Answers to hellos come through, and nothing that is larger.
fn is_small(datagram: &mut [u8]) -> bool {
    datagram.len() <= 26
}

fn is_no_input(datagram: &mut [u8]) -> bool {
    !matches!(inspect(datagram, Tick::ZERO), Ok(Inspected::Inputs { .. }))
}

/// A session in which a client comes over a link of these ways, as it is after a minute.
fn after_a_minute(up: Way, down: Way, seed: u64) -> Net {
    let mut net = Net::lossy(ServerConfig::default(), Hall::default(), seed);
    let only = net.start();
    (net.programs[only].up, net.programs[only].down) = (up, down);
    net.run(60.0);
    net
}

#[test]
fn who_hears_nothing_of_the_server_gives_up_and_the_world_never_heard_of_them() {
    for seed in 0..4 {
        let net = after_a_minute(passes, is_lost, seed);
        assert_eq!(net.programs[0].events, [ClientEvent::Refused(Refusal::Unanswered)]);
        assert_eq!((net.joined(), net.world.walkers.iter().count()), (0, 0));
        assert_eq!((net.reported(Refusal::TimedOut), net.joins().refused_in_all()), (1, 1), "{:?}", net.events);
    }
}

#[test]
fn who_is_not_heard_by_the_server_gives_up_after_the_time_that_is_set() {
    let mut net = Net::new(ServerConfig::default(), Hall::default());
    let only = net.start();
    net.programs[only].up = is_lost;
    net.run(9.9);
    assert_eq!(net.state(only), ClientState::Joining);
    net.run(0.3);
    assert_eq!(net.programs[only].events, [ClientEvent::Refused(Refusal::Unanswered)]);
    assert_eq!(net.events, []);
}

#[test]
fn who_is_greeted_and_never_gets_a_first_state_is_refused_by_both_ends_once_and_takes_one_number() {
    for seed in 0..4 {
        let net = after_a_minute(passes, is_small, seed);
        net.assert_refused(0, Refusal::TimedOut);
        assert_eq!((net.joined(), net.bodies()), (1, vec![]), "{:?}", net.events);
    }
}

#[test]
fn who_gets_a_state_and_whose_inputs_never_come_is_refused_and_told_so() {
    for seed in 0..4 {
        let net = after_a_minute(is_no_input, passes, seed);
        let events = &net.programs[0].events;
        assert!(matches!(events.first(), Some(ClientEvent::Joined(_))), "{events:?}");
        assert_eq!(events.last(), Some(&ClientEvent::Refused(Refusal::TimedOut)));
        assert_eq!((net.joined(), net.bodies(), net.reported(Refusal::TimedOut)), (1, vec![], 1), "{:?}", net.events);
    }
}

#[test]
fn whoever_stops_in_the_middle_of_joining_leaves_nothing_after_the_timeout() {
    for frames in 0..40 {
        let mut net = Net::lossy(ServerConfig::default(), Hall::default(), frames);
        net.start();
        (0..frames).for_each(|_| net.run_frame());
        net.programs.clear();
        let has_played = net
            .server
            .players()
            .next()
            .is_some_and(|player| net.server.stats(player).is_some_and(|stats| stats.datagrams_received > 0));
        net.run(12.0);
        let waits = usize::from(has_played);
        assert_eq!((net.server.players().count(), net.bodies().len()), (waits, waits), "{frames}: {:?}", net.events);
        assert!(net.reported(Refusal::TimedOut) <= 1 && net.joined() <= 1);
    }
}

#[test]
fn over_any_link_everybody_plays_or_is_told_why_not_and_nobody_elses_body_stands_around() {
    for seed in 0..24 {
        let mut net = Net::lossy(ServerConfig::default(), Hall::default(), seed);
        net.loss = [0.0, 0.3, 0.6, 0.9][seed as usize % 4];
        for _ in 0..3 {
            net.start();
        }
        net.run(35.0);
        let mut playing = Vec::new();
        for (index, program) in net.programs.iter().enumerate() {
            match net.state(index) {
                ClientState::Refused(why) => {
                    assert_eq!(program.events.last(), Some(&ClientEvent::Refused(why)), "{seed}");
                }
                ClientState::Joining => panic!("{seed}: it asks on: {:?}", net.events),
                _ => playing.extend(program.client.player()),
            }
        }
        playing.sort();
        assert_eq!(net.bodies(), playing, "{seed}: {:?}", net.events);
        assert!(net.loss > 0.5 || playing.len() == 3, "{seed}: {:?}", net.events);
    }
}

#[test]
fn a_pause_of_the_clients_own_is_not_the_silence_of_the_server() {
    let mut net = Net::new(ServerConfig::default(), Hall::default());
    let only = net.start();
    net.programs[only].up = is_lost;
    net.run(5.0);
    // Twelve seconds in which nothing of it runs.
    net.pause(only, 12.0);
    net.programs[only].up = passes;
    net.run(2.0);
    assert_eq!(net.state(only), ClientState::Playing);
}
