//! Who looks on in an exact session simulates all of it with the inputs of the players, and costs nobody anything.

use super::exact::{Balls, Play, Push, agrees_with_truth, bad, run, stats};
use foretell::session::server::ServerEvent;
use foretell::{ClientConfig, Rules, Seat, ServerConfig, Tick, World};
use foretell_sim::harness::{FaultMix, HostOptions, Leaving, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::Conditions;

/// Two players, and somebody who looks on, whose index is 2.
fn with_onlooker(conditions: &Conditions, relay_inputs: bool, seed: u64) -> Simulation<Balls> {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let config = ServerConfig { relay_inputs, spectators_max: 1, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Balls::default(), seed);
    for player in 0..3 {
        let (host, world, conditions) = (HostOptions::at(60), Balls::default(), conditions.clone());
        let client = ClientConfig { checkpoint_interval: 8, ..ClientConfig::default() };
        let options = PlayerOptions { client, host, conditions, world };
        simulation.add_player_who(options, |request| if player == 2 { request.as_spectator() } else { request });
    }
    simulation
}

#[test]
fn who_looks_on_has_every_bit_by_the_inputs_of_the_players_and_is_sent_no_state_after_the_first() {
    for (rtt_ms, loss, seed) in [(0, 0.0, 1), (150, 0.0, 2), (150, 0.05, 3), (400, 0.02, 4)] {
        let mut simulation = with_onlooker(&bad(rtt_ms, loss), true, seed);
        let mut play = Play::new(seed, &[0, 1]);
        run(&mut simulation, &mut play, 6);
        let (before, asked) =
            (stats(&simulation, 2), [0, 1].map(|player| stats(&simulation, player).prediction.outcomes.asked));
        run(&mut simulation, &mut play, 20);
        let after = stats(&simulation, 2);
        assert!((0..3).all(|player| agrees_with_truth(&simulation, &play, player, 90)), "{rtt_ms} ms, {loss}");
        assert!(
            after.prediction.outcomes.agreed - before.prediction.outcomes.agreed > 900,
            "{rtt_ms} ms, {loss}: {after:?}"
        );
        assert_eq!(
            after.prediction.outcomes.asked, before.prediction.outcomes.asked,
            "{rtt_ms} ms, {loss}: no whole state is needed"
        );
        assert_eq!((after.inputs.sent, after.inputs.substituted), (0, 0));
        assert_eq!(
            [0, 1].map(|player| stats(&simulation, player).prediction.outcomes.asked),
            asked,
            "the players are not disturbed"
        );
        let server = &simulation.server.server;
        let spectator = simulation.players[2].client.player().expect("they are there");
        let of_spectator = server.stats(spectator).expect("they are there");
        assert_eq!((server.seat_of(spectator), of_spectator.offences.total()), (Some(Seat::Spectator), 0));
        assert_eq!((of_spectator.inputs.applied, of_spectator.inputs.missed, of_spectator.inputs.late), (0, 0, 0));
    }
}

#[test]
fn what_nobody_can_foresee_comes_to_who_looks_on_with_the_next_canonical_tick() {
    let mut simulation = with_onlooker(&bad(150, 0.02), true, 5);
    let mut play = Play::new(5, &[0, 1]);
    run(&mut simulation, &mut play, 6);
    simulation.server.world.push_all(3.0);
    run(&mut simulation, &mut play, 1);
    let corrected = stats(&simulation, 2).prediction.corrections;
    run(&mut simulation, &mut play, 6);
    assert!(corrected > 0 && agrees_with_truth(&simulation, &play, 2, 90));
    // Where no inputs are relayed it is told states all the time, and follows.
    let mut simulation = with_onlooker(&bad(150, 0.0), false, 5);
    run(&mut simulation, &mut Play::new(5, &[0, 1]), 12);
    assert!(stats(&simulation, 2).prediction.corrections > 10);
}

#[test]
fn who_looks_on_comes_and_goes_and_the_players_go_on() {
    let mut simulation = with_onlooker(&bad(100, 0.0), true, 6);
    let mut play = Play::new(6, &[0, 1]);
    run(&mut simulation, &mut play, 6);
    simulation.remove_player(2, Leaving::Politely);
    run(&mut simulation, &mut play, 8);
    assert!(play.server_events.iter().any(|event| matches!(event, ServerEvent::Left { .. })));
    assert!((0..2).all(|player| agrees_with_truth(&simulation, &play, player, 90)));
    assert_eq!(simulation.server.world.balls.len(), 22, "there are no balls but those of the world and the players");
}

#[test]
fn a_client_whose_world_is_another_is_told_so_though_somebody_looks_on_who_has_no_entity() {
    let mut simulation = with_onlooker(&bad(100, 0.0), true, 42);
    simulation.players[0].world.bent = true;
    let mut play = Play::new(5, &[0, 1]);
    run(&mut simulation, &mut play, 10);
    let first = play.apart.first().expect("it is told").1;
    assert!(first < Tick::new(300), "{first:?}");
    assert!(agrees_with_truth(&simulation, &play, 2, 90), "who looks on agrees all the same");
}

#[test]
fn no_check_complains_where_one_looks_on_whatever_goes_wrong() {
    let rules = Rules { exact: true, ..Rules::new(Balls::schema()) };
    let scenario = Scenario::new(rules, Balls::default)
        .players(3)
        .server(ServerConfig { relay_inputs: true, spectators_max: 3, ..ServerConfig::default() })
        .ask(|player, request| if player == 2 { request.as_spectator() } else { request })
        .bot(|_, random| Push { force: [-100, 0, 0, 100][(random.next_u64() & 3) as usize] })
        .client(ClientConfig { checkpoint_interval: 8, ..ClientConfig::default() })
        .faults(FaultMix::default())
        .search(0)
        // Guesses about others are corrected in calm, too.
        .without("calm");
    scenario.seeds(0..10).expect("no check complains");
}
