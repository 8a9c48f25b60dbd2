//! Others predicted from relayed inputs: whole sessions of several players.

use crate::common::f64_mass::Masses;
use crate::common::relayed::{Play, add_player, conditions, run, session, session_of};
use core::time::Duration;
use foretell::session::client::{Causes, PoseSource, Predict};
use foretell::{ClientConfig, GapPolicy, Outbox, PlayerId, SendRate, ServerConfig, Tick, Views};
use foretell_sim::harness::{HostOptions, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, SplitMix64};
use proptest::prelude::*;

/// How many entities a player sees that are predicted, and how many that are not.
fn sources(simulation: &Simulation<Masses>, player: usize) -> (usize, usize) {
    let host = &simulation.players[player];
    let mut views = Views::new();
    host.client.present(host.host.local(simulation.now()), &mut views);
    let predicted = views.iter().filter(|view| view.source == PoseSource::Predicted).count();
    (predicted, views.len() - predicted)
}

/// Everybody's newest predicted rows whose truth is known are the server's, exactly.
fn assert_predictions_are_true(simulation: &Simulation<Masses>, play: &Play) {
    for host in &simulation.players {
        let tick = *play.truth.keys().next_back().expect("the server has stepped");
        let (predicted, truth) = (host.client.predicted(tick).expect("remembered"), &play.truth[&tick]);
        assert_eq!(predicted.len(), truth.len());
        assert_eq!(predicted.digest(), truth.digest());
    }
}

#[test]
fn with_relayed_inputs_others_are_shown_where_they_are_and_without_where_they_were() {
    let seen = |relayed: (bool, Predict)| {
        let mut simulation = session_of(4, relayed, conditions(150, 0.05), 7);
        let mut play = Play::new(7);
        run(&mut simulation, 5.0, &mut play);
        play.forget();
        run(&mut simulation, 20.0, &mut play);
        (play.behind_ticks(), play.error_m(0.0))
    };
    let (behind, error) = seen((false, Predict::Own));
    assert!(behind > 12, "the round trip is 9.6 ticks, and the playout comes on top: {behind}");
    assert!(error > 0.7, "{error}");
    let (behind, error) = seen((true, Predict::Everyone));
    assert!(behind <= 3, "{behind}");
    assert!(error < 0.5, "{error}");
    assert!(seen((false, Predict::Everyone)).0 > 12, "what is not relayed can't be predicted");
}

#[test]
fn a_change_of_an_input_is_at_most_one_correction_of_every_other_who_sees_it() {
    for rtt_ms in [1, 50, 150, 300] {
        let mut simulation = session_of(3, (true, Predict::Everyone), conditions(rtt_ms, 0.0), 3);
        let mut play = Play::new(3);
        run(&mut simulation, 5.0, &mut play);
        play.forget();
        run(&mut simulation, 20.0, &mut play);
        let changes = 20 * 64 / 16;
        let corrections = play.others.len();
        assert!(corrections <= changes * 3 * 2 && corrections > changes, "{rtt_ms} ms: {corrections}");
        assert!(play.others.iter().all(|one| one.causes == Causes::RELAYED_INPUT), "{rtt_ms} ms");
        assert_eq!(play.own, [], "{rtt_ms} ms");
        // An input is told as soon as it waits for its tick: before there is a state that shows it.
        let by_states = play.others.iter().filter(|one| one.difference.is_some()).count();
        assert!(by_states * 4 < corrections * 3, "{rtt_ms} ms: {by_states} of {corrections}");
        play.quiet_from = Tick::ZERO;
        run(&mut simulation, 2.0, &mut play);
        assert_predictions_are_true(&simulation, &play);
    }
}

#[test]
fn nobody_is_corrected_while_nobody_changes_their_input() {
    for (rtt_ms, loss) in [(1, 0.0), (50, 0.05), (150, 0.05), (300, 0.05), (600, 0.0)] {
        let mut simulation = session_of(3, (true, Predict::Everyone), conditions(rtt_ms, loss), 5);
        let mut play = Play { change_every: u32::MAX, ..Play::new(5) };
        run(&mut simulation, 5.0, &mut play);
        play.forget();
        let resimulated = |simulation: &Simulation<Masses>| simulation.players[0].client.stats().prediction.resimulated;
        let before = resimulated(&simulation);
        run(&mut simulation, 20.0, &mut play);
        assert_eq!((play.own.len(), play.others.len()), (0, 0), "{rtt_ms} ms: {:?}", play.others.first());
        assert_eq!(resimulated(&simulation), before, "{rtt_ms} ms: nothing is simulated again");
        assert_eq!(sources(&simulation, 0), (3, 0));
    }
}

/// Players switch others between predicted and interpolated at run time, each at another moment.
fn switch_about(simulation: &mut Simulation<Masses>, play: &mut Play, times: u32) -> f64 {
    let mut random = SplitMix64::new(play.seed);
    play.step_max_m = 0.0;
    for _ in 0..times {
        for index in 0..simulation.players.len() {
            let other = PlayerId::new((random.next_u64() % 4) as u16 + 1);
            simulation.players[index].client.predict(other, random.chance(0.5));
        }
        run(simulation, 0.4, play);
    }
    play.step_max_m
}

#[test]
fn others_can_be_predicted_and_interpolated_in_turns_without_a_jump() {
    let mut simulation = session_of(4, (true, Predict::Own), conditions(150, 0.0), 11);
    let mut play = Play::new(11);
    run(&mut simulation, 5.0, &mut play);
    play.forget();
    run(&mut simulation, 20.0, &mut play);
    let usual = play.step_max_m;
    let switching = switch_about(&mut simulation, &mut play, 50);
    // At 8 m/s, 0.14 m are the way of a frame. A switch bridges about 0.4 s of way, and at a metre or more a sixth of that
    // vanishes per frame.
    assert!(usual < 0.2, "{usual}");
    assert!(switching < 0.5, "{switching}");
    let resyncs: u64 = simulation
        .players
        .iter()
        .map(|host| host.client.stats().prediction.resyncs + host.client.stats().prediction.teleports)
        .sum();
    assert_eq!(resyncs, 0);
}

#[test]
fn outcomes_add_up_though_others_are_switched_while_states_wait() {
    let mut simulation = session(true, 5);
    for _ in 0..4 {
        // At 5 frames per second and without a delay, states come before their ticks are simulated.
        let client = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
        let (host, conditions, world) = (HostOptions::at(5), conditions(0, 0.0), Masses::default());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    let mut play = Play::new(5);
    run(&mut simulation, 4.0, &mut play);
    // Most states are lost, so that one which waited during a switch is compared.
    simulation.players.iter_mut().for_each(|host| host.down_conditions = conditions(0, 0.8));
    // Checked in every frame.
    switch_about(&mut simulation, &mut play, 100);
    assert!(play.waiting_max > 4, "{}", play.waiting_max);
}

#[test]
fn a_client_predicts_whom_it_is_asked_to_predict() {
    let mut simulation = session_of(4, (true, Predict::Everyone), conditions(60, 0.02), 2);
    let mut play = Play::new(2);
    run(&mut simulation, 3.0, &mut play);
    assert_eq!(sources(&simulation, 0), (4, 0));
    simulation.players[0].client.predict(PlayerId::new(3), false);
    simulation.players[0].client.predict(PlayerId::new(1), false);
    run(&mut simulation, 1.0, &mut play);
    assert_eq!(sources(&simulation, 0), (3, 1), "the own player is always predicted");
    simulation.players[0].client.config_mut().predict = Predict::Own;
    simulation.players[0].client.predict(PlayerId::new(3), true);
    run(&mut simulation, 1.0, &mut play);
    assert_eq!(simulation.players[0].client.predicted_players(), [1, 3].map(PlayerId::new));
    assert_eq!(sources(&simulation, 0), (2, 2));
    simulation.server.server.config_mut().relay_inputs = false;
    run(&mut simulation, 2.0, &mut play);
    assert_eq!(sources(&simulation, 0), (1, 3), "nothing is relayed any more");
    assert_eq!(sources(&simulation, 1), (1, 3));
}

#[test]
fn players_join_and_leave_while_they_are_predicted() {
    let mut simulation = session_of(3, (true, Predict::Everyone), conditions(100, 0.05), 9);
    let mut play = Play::new(9);
    run(&mut simulation, 4.0, &mut play);
    let late = add_player(&mut simulation, Predict::Everyone, conditions(40, 0.0));
    run(&mut simulation, 4.0, &mut play);
    for player in 0..4 {
        assert_eq!(sources(&simulation, player), (4, 0));
    }
    let mut outbox = Outbox::new();
    simulation.players[late].client.leave(&mut outbox);
    let good_bye = outbox.iter().next().expect("a datagram").1.to_vec();
    let now = simulation.now();
    let host = &mut simulation.server;
    host.server.receive(host.host.local(now), foretell::PeerId(late as u64), &good_bye).expect("well-formed");
    simulation.players.truncate(late);
    run(&mut simulation, 2.0, &mut play);
    for player in 0..3 {
        assert_eq!(sources(&simulation, player), (3, 0));
        assert_eq!(simulation.players[player].world.bodies.len(), 3, "nobody is left behind");
    }
    play.quiet_from = Tick::ZERO;
    run(&mut simulation, 3.0, &mut play);
    assert_predictions_are_true(&simulation, &play);
}

#[test]
fn a_push_by_the_server_is_explained_for_others_too() {
    let mut simulation = session_of(3, (true, Predict::Everyone), conditions(100, 0.0), 9);
    let mut play = Play { change_every: u32::MAX, pushes: vec![Tick::new(320)], ..Play::new(9) };
    run(&mut simulation, 10.0, &mut play);
    let pushed: Vec<_> = play.own.iter().chain(&play.others).filter(|one| one.tick > Tick::new(300)).collect();
    assert_eq!(pushed.len(), 3, "each of the three is corrected once: {pushed:?}");
    assert!(pushed.iter().all(|one| one.causes == Causes::SERVER_EVENT));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_any_network_every_sample_of_others_has_one_outcome_every_correction_a_cause_and_calm_brings_agreement(
        rtt in prop::sample::select(vec![0_u64, 40, 150, 400]),
        jitter in 0_u64..40,
        loss in 0.0_f64..0.3,
        rate in prop::sample::select(vec![64_u16, 32, 13, 4]),
        gap in prop::sample::select(vec![GapPolicy::Hold, GapPolicy::Neutral, GapPolicy::RepeatLast { ticks: 4 }]),
        budget in prop::sample::select(vec![2_u32, 16, 1000]),
        switches in 0_u32..6,
        seed: u64,
    ) {
        let mut simulation = session(true, seed);
        *simulation.server.server.config_mut() =
            ServerConfig { snapshot_rate: SendRate::Hz(rate), gap, relay_inputs: true, ..ServerConfig::default() };
        let rough = Conditions { jitter: Duration::from_millis(jitter), ..conditions(rtt, loss) };
        for _ in 0..4 {
            let player = add_player(&mut simulation, Predict::Everyone, rough.clone());
            simulation.players[player].client.config_mut().resimulation_budget = budget;
        }
        // Outcomes and causes are checked in every frame.
        let mut play = Play { pushes: vec![Tick::new(200)], ..Play::new(seed) };
        run(&mut simulation, 5.0, &mut play);
        switch_about(&mut simulation, &mut play, switches);
        for host in &mut simulation.players {
            (host.up_conditions, host.down_conditions) = (conditions(rtt, 0.0), conditions(rtt, 0.0));
            (1..=4).for_each(|player| host.client.predict(PlayerId::new(player), true));
        }
        play.quiet_from = Tick::ZERO;
        run(&mut simulation, 6.0, &mut play);
        assert_predictions_are_true(&simulation, &play);
    }
}
