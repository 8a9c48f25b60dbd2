//! Who looks on in an exact session simulates all of it with the inputs of the players, and costs nobody anything.

use super::exact::{Balls, Play, Push, agrees_with_truth, bad, run, stats};
use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::{
    Client, ClientConfig, Frame, Instant, PlayerId, Rules, Seat, ServerConfig, Simulate, State, Step, Table, Tick,
    World,
};
use foretell_sim::harness::{Driver, FaultMix, HostOptions, Leaving, Moment, PlayerOptions, Scenario, Simulation};
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

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Ball {
    at: i32,
}

/// Who joins has no ball before they press a key.
#[derive(World, Clone, Default)]
struct Spawning(Table<Ball>);

impl Simulate for Spawning {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        self.0.remove_left(step);
        for player in (1..=2).map(PlayerId::new) {
            let Some(input) = step.input(player).filter(|input| input.input.force != 0) else { continue };
            let force = i32::from(input.input.force);
            if let Some(mut ball) = self.0.iter_mut().find(|ball| ball.owner() == player) {
                ball.at += force;
                continue;
            }
            self.0.spawn(step, player, Ball::default());
        }
    }
}

/// Presses from the fourth second on.
#[derive(Default)]
struct Late {
    is_apart: bool,
}

impl Driver<Spawning> for Late {
    fn input(&mut self, player: usize, tick: Tick) -> Push {
        Push { force: if tick.get() > 250 + 100 * player as u32 { 1 } else { 0 } }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Spawning>, frame: &Frame<'_>) {
        self.is_apart |= frame.events.iter().any(|event| matches!(event, ClientEvent::EndsDiffer { .. }));
    }
}

#[test]
fn who_comes_into_the_world_by_a_key_is_no_difference_between_the_ends() {
    for (rtt_ms, loss, seed) in [(0, 0.0, 1), (100, 0.0, 2), (100, 0.2, 3)] {
        let rules = Rules { exact: true, ..Rules::new(Spawning::schema()) };
        let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
        let mut simulation = Simulation::new(rules, config, Spawning::default(), seed);
        for _ in 0..2 {
            let (host, world, conditions) = (HostOptions::at(60), Spawning::default(), bad(rtt_ms, loss));
            let client = ClientConfig::default();
            simulation.add_player(PlayerOptions { client, host, conditions, world });
        }
        let mut late = Late::default();
        simulation.run_until(Instant::from_micros(10_000_000), &mut late);
        assert!(!late.is_apart && simulation.server.world.0.len() == 2, "{rtt_ms} ms, {loss}");
    }
}
