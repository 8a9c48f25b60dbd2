//! Refusals that the server decides on as soon as it hears of somebody.

use super::hall::{Hall, Net, rules};
use foretell::session::Refusal;
use foretell::session::client::{ClientEvent, Predict};
use foretell::session::server::ServerEvent;
use foretell::{ClientConfig, ClientState, PlayerId, Rules, ServerConfig, TickRate};

fn bags(bags_each: u32) -> Hall {
    Hall { bags_each, ..Hall::default() }
}

#[test]
fn a_full_server_says_so_once_to_all_sides_and_takes_no_number() {
    for seed in 0..8 {
        let config = ServerConfig { players_max: 1, ..ServerConfig::default() };
        let mut net = Net::lossy(config, Hall::default(), seed);
        net.start();
        net.run(3.0);
        let late = net.start();
        net.run(20.0);
        net.assert_refused(late, Refusal::Full);
        assert_eq!((net.joins().joined, net.joins().refused_in_all()), (1, 1));
        assert_eq!((net.bodies().len(), net.server.players().count()), (1, 1));
        assert_eq!(net.state(0), ClientState::Playing);
    }
}

#[test]
fn who_plays_by_other_rules_or_speaks_another_version_is_told_so() {
    for seed in 0..8 {
        let mut net = Net::lossy(ServerConfig::default(), Hall::default(), seed);
        let other = Rules { tick_rate: TickRate::hz(30), ..rules() };
        let odd = net.start_with(other, ClientConfig::default());
        let old = net.start();
        // The version stands in bits 3 to 10 of a hello, which is message 0.
        net.programs[old].up = |datagram| {
            datagram[0] ^= if datagram[0] & 7 == 0 { 0b1_1000 } else { 0 };
            true
        };
        net.run(5.0);
        net.assert_refused(odd, Refusal::Rules);
        assert_eq!(net.programs[odd].client.differing(), Some("tick rate"));
        net.assert_refused(old, Refusal::Version);
        assert_eq!(net.joins().joined, 0);
    }
}

#[test]
fn a_server_that_drains_refuses_newcomers_and_who_has_a_place_plays_on_and_comes_back() {
    let mut net = Net::lossy(ServerConfig::default(), Hall::default(), 3);
    net.start();
    net.run(3.0);
    net.server.config_mut().draining = true;
    let late = net.start();
    net.run(3.0);
    net.assert_refused(late, Refusal::Draining);
    net.programs[0].down = super::hall::is_lost;
    net.programs[0].up = super::hall::is_lost;
    net.run(15.0);
    assert!(net.server.is_lost(PlayerId::new(1)));
    net.programs[0].down = super::hall::passes;
    net.programs[0].up = super::hall::passes;
    net.run(3.0);
    assert_eq!(net.state(0), ClientState::Playing);
}

#[test]
fn who_has_more_of_their_own_than_fits_into_a_snapshot_is_refused_within_a_second_and_nothing_is_left_of_them() {
    for seed in 0..8 {
        let mut net = Net::lossy(ServerConfig::default(), bags(40), seed);
        let big = net.start();
        net.run(2.0);
        net.assert_refused(big, Refusal::TooLarge);
        net.run(60.0);
        net.assert_refused(big, Refusal::TooLarge);
        assert_eq!((net.joined(), net.bodies(), net.world.bags.iter().count()), (1, vec![], 0), "{:?}", net.events);
        let player = PlayerId::new(1);
        let left = net
            .events
            .iter()
            .position(|event| matches!(event, ServerEvent::Left { player: left, .. } if *left == player))
            .expect("it has left");
        let refused = matches!(net.events[left - 1], ServerEvent::Refused { player: Some(of), .. } if of == player);
        assert!(refused, "the reason comes just before: {:?}", net.events);
    }
}

#[test]
fn who_comes_to_have_too_much_while_they_play_is_told_within_the_timeout_and_plays_on_where_it_passes() {
    for seed in 0..4 {
        let mut net = Net::lossy(ServerConfig::default(), bags(10), seed);
        let only = net.start();
        net.run(5.0);
        assert_eq!(net.state(only), ClientState::Playing);
        (net.world.bags_each, net.world.bags_change) = (45, true);
        net.run(4.0);
        assert!(net.events.contains(&ServerEvent::SnapshotTooLarge(PlayerId::new(1))));
        assert_eq!(net.state(only), ClientState::Starved);
        net.world.bags_change = false;
        net.world.bags.retain(|_| false);
        net.world.bags_each = 10;
        net.run(4.0);
        assert_eq!(net.state(only), ClientState::Playing, "{:?}", net.events);
        (net.world.bags_each, net.world.bags_change) = (45, true);
        net.run(12.0);
        assert_eq!(net.state(only), ClientState::Refused(Refusal::TooLarge));
        assert_eq!(net.programs[only].events.last(), Some(&ClientEvent::Refused(Refusal::TooLarge)));
        assert_eq!((net.reported(Refusal::TooLarge), net.bodies()), (1, vec![]));
        net.run(30.0);
        assert_eq!(net.joined(), 1, "{:?}", net.events);
    }
}

#[test]
fn more_than_a_snapshot_holds_of_what_others_have_keeps_nobody_out_who_shows_it_row_by_row() {
    let mut net = Net::lossy(ServerConfig::default(), Hall { boards_to_come: 240, ..Hall::default() }, 1);
    let only = net.start();
    net.run(4.0);
    assert_eq!(net.state(only), ClientState::Playing);
    net.run(6.0);
    let (_, rows) = net.programs[only].client.newest_snapshot().expect("a snapshot");
    assert_eq!(rows.states::<super::hall::Board>().count(), 240);
}

#[test]
fn more_than_a_snapshot_holds_of_what_others_have_keeps_nobody_out_who_predicts_it() {
    let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let everyone = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
    for seed in 0..4 {
        let mut net = Net::lossy(config, Hall { boards_to_come: 240, ..Hall::default() }, seed);
        net.start_with(rules(), everyone);
        net.run(10.0);
        assert_eq!(net.state(0), ClientState::Playing, "{:?}", net.events);
        let (_, rows) = net.programs[0].client.newest_snapshot().expect("a snapshot");
        assert_eq!(rows.states::<super::hall::Board>().count(), 240);
        assert_eq!((net.joined(), net.bodies().len()), (1, 1), "{:?}", net.events);
    }
}

#[test]
fn what_is_predicted_of_a_thousand_that_rest_may_all_be_shown_again_or_gone_at_once() {
    let mut net = Net::new(ServerConfig::default(), Hall { boards_to_come: 1000, ..Hall::default() });
    let only = net.start();
    net.run(2.0);
    net.programs[only].client.predict(PlayerId::SERVER, true);
    net.run(16.0);
    // How many are known, and predicted.
    let boards = |net: &Net| {
        let client = &net.programs[only].client;
        let (tick, known) = client.newest_snapshot().expect("a snapshot");
        let predicted = client.predicted(tick).expect("it has been compared");
        [known, predicted].map(|rows| rows.states::<super::hall::Board>().count())
    };
    let [known, predicted] = boards(&net);
    assert!(known == 1000 && predicted > 500, "what rests takes no room: {predicted} of {known}");
    net.programs[only].client.predict(PlayerId::SERVER, false);
    net.run(3.0);
    assert_eq!(boards(&net), [1000, 0]);
    assert_eq!(net.state(only), ClientState::Playing);
}

#[test]
fn who_predicts_what_others_have_and_does_not_in_turn_has_it_all_the_time() {
    let mut net = Net::new(ServerConfig::default(), Hall { boards_to_come: 20, ..Hall::default() });
    let odd = net.start();
    net.run(2.0);
    for frame in 0..320 {
        net.programs[odd].client.predict(PlayerId::SERVER, frame % 2 == 0);
        net.run_frame();
        let (_, rows) = net.programs[odd].client.newest_snapshot().expect("a snapshot");
        assert_eq!(rows.states::<super::hall::Board>().count(), 20, "in frame {frame}");
    }
    assert_eq!(net.state(odd), ClientState::Playing);
}
