//! Exact sessions whose two ends are not the same: it is said at once, and what both have to share is compared beforehand.

use super::exact::{Ball, Balls, Play, Push, bad, run, session};
use foretell::session::Refusal;
use foretell::session::client::Causes;
use foretell::session::server::ServerEvent;
use foretell::{
    Client, ClientConfig, ClientState, Entity, Fingerprint, Instant, Outbox, Owned, PeerId, PlayerId, Rules, Server,
    ServerConfig, Simulate, Step, Table, Tick, World,
};
use foretell_sim::harness::{HostOptions, PlayerOptions, Scenario, SyncTest};

fn rules() -> Rules {
    Rules { exact: true, ..Rules::new(Balls::schema()) }
}

#[test]
fn what_the_server_alone_does_in_a_step_is_called_a_difference_of_the_ends_in_the_next_state() {
    for players in [1, 2] {
        let mut simulation = session(players, true, bad(100, 0.0), 41);
        simulation.server.world.kicks_at = Some(300);
        let mut play = Play::new(4, &[0, 1]);
        run(&mut simulation, &mut play, 10);
        let told: Vec<_> = play.apart.iter().map(|(_, tick)| *tick).collect();
        assert_eq!(told, vec![Tick::new(301); players], "once for each player, and then all is well again");
        assert!(play.apart.iter().all(|(since, _)| *since == Tick::new(300)), "{:?}", play.apart);
        let late = play.corrections.iter().filter(|one| one.tick > Tick::new(300));
        let (causes, kick) = (late.map(|one| one.causes), Causes::ENDS_DIFFER);
        assert!(causes.clone().next().is_some_and(|first| first.contains(kick)), "{:?}", causes.collect::<Vec<_>>());
    }
}

#[test]
fn every_correction_of_a_client_whose_world_is_another_says_that_the_ends_differ() {
    let mut simulation = session(1, true, bad(100, 0.0), 42);
    simulation.players[0].world.bent = true;
    let mut play = Play::new(5, &[0]);
    run(&mut simulation, &mut play, 10);
    let first = play.apart.first().expect("it is told").1;
    assert!(first < Tick::new(120) && play.corrections.len() > 10, "{first:?}");
    let mut since = play.corrections.iter().filter(|one| one.tick > first);
    let silent = since.find(|one| !one.causes.contains(Causes::ENDS_DIFFER));
    assert_eq!(silent, None);
}

#[test]
fn a_scenario_says_that_only_the_authority_has_spawned_what_no_client_has() {
    let world = || Balls { spawns_from: Some(200), ..Balls::default() };
    let server = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let scenario = Scenario::new(rules(), world).players(1).server(server).search(0);
    let failure = scenario.bot(|_, _| Push::default()).seeds(0..1).expect_err("no client can know of them");
    let said = failure.to_string();
    assert!(said.contains("only the authority has spawned") && said.contains("is_authority"), "{said}");
}

#[test]
fn a_world_in_which_only_the_authority_spawns_is_called_wrong_before_any_session() {
    let keys = |_: PlayerId, tick: Tick| Push { force: if tick.get() % 40 < 20 { 50 } else { 0 } };
    assert_eq!(SyncTest::new(rules(), Steady::default).input(keys).run(200), Ok(()));
    let alone = || Steady { spawns_from: Some(100), ..Steady::default() };
    let found = SyncTest::new(rules(), alone).input(keys).run(200).expect_err("no client can know of them").to_string();
    assert!(found.contains("client of an exact session") && found.contains("is_authority"), "{found}");
    // Where nobody predicts them they may.
    assert_eq!(SyncTest::new(Rules::new(Balls::schema()), alone).input(keys).run(200), Ok(()));
}

/// Balls that publish all that their steps read.
#[derive(World, Default)]
struct Steady {
    balls: Table<Ball>,
    #[world(constant)]
    spawns_from: Option<u32>,
}

impl Simulate for Steady {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        let is_due = self.spawns_from.is_some_and(|from| step.tick().get() >= from && step.tick().get() % 64 == 0);
        if is_due && step.is_authority() || step.simulates(PlayerId::SERVER) && step.tick().get() % 50 == 0 {
            self.balls.spawn(step, PlayerId::SERVER, Ball::default());
        }
        for joined in step.joined() {
            self.balls.spawn(step, joined.player, Ball::default());
        }
        for mut ball in self.balls.simulated(step) {
            ball.at[0] += step.input(ball.owner()).map_or(0.1, |input| f64::from(input.input.force));
        }
    }
}

#[test]
fn a_client_of_another_level_is_refused_and_told_that_it_is_the_level() {
    let of = |level: &[u8]| {
        let fingerprints = vec![Fingerprint::of_bytes("engine", &[1]), Fingerprint::of_bytes("level", level)];
        Rules { fingerprints, ..rules() }
    };
    let mut server = Server::<Balls>::new(of(&[1]), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut outbox) = (Balls::default(), Outbox::new());
    let mut told = |client_rules: Rules| {
        let mut client = Client::<Balls>::new(client_rules, ClientConfig::default(), 7);
        let mut there = Balls::default();
        client.update(Instant::ZERO, &mut there, &mut |_| Push::default(), &mut outbox);
        for (_, datagram) in outbox.iter() {
            server.receive(Instant::ZERO, PeerId(0), datagram).expect("well-formed");
        }
        outbox.clear();
        server.update(Instant::ZERO, &mut world, &mut outbox);
        for (_, datagram) in outbox.iter() {
            client.receive(Instant::ZERO, datagram).expect("well-formed");
        }
        outbox.clear();
        (client.state(Instant::ZERO), client.differing())
    };
    let refused = ClientState::Refused(Refusal::Rules);
    assert_eq!(told(of(&[2])), (refused, Some("level")));
    assert_eq!(told(Rules { tick_rate: foretell::TickRate::hz(30), ..of(&[1]) }), (refused, Some("tick rate")));
    assert_eq!(told(Rules { exact: false, ..of(&[1]) }), (refused, Some("exact")));
    assert_eq!(told(rules()), (refused, Some("a fingerprint that this end does not have")));
    assert_eq!(told(of(&[1])), (ClientState::Joining, None));
}

#[test]
fn who_plays_in_a_session_that_no_client_can_be_told_any_more_is_refused_when_that_has_lasted() {
    let mut simulation = session(1, true, bad(50, 0.0), 43);
    let mut play = Play::new(6, &[0]);
    run(&mut simulation, &mut play, 1);
    for nth in 0..900_u32 {
        let entity = Entity::new(PlayerId::SERVER, Tick::new(10_000 + nth), 0);
        simulation.server.world.balls.insert(Owned { entity, owner: PlayerId::SERVER }, Ball::default());
    }
    run(&mut simulation, &mut play, 8);
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing, "it may get smaller");
    run(&mut simulation, &mut play, 5);
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Refused(Refusal::TooLarge));
    let told = play.server_events.iter().filter(|event| matches!(event, ServerEvent::SnapshotTooLarge(_)));
    assert_eq!(told.count(), 1, "{:?}", play.server_events);
}

#[test]
fn a_session_that_no_client_can_be_told_refuses_whoever_comes_and_all_sides_are_told() {
    let mut simulation = session(1, true, bad(50, 0.0), 43);
    let mut play = Play::new(6, &[0]);
    // 8 datagrams of 1150 bytes don't hold 900 balls.
    run(&mut simulation, &mut play, 1);
    let crowd = |world: &mut Balls| {
        for nth in 0..900_u32 {
            let entity = Entity::new(PlayerId::SERVER, Tick::new(10_000 + nth), 0);
            world.balls.insert(Owned { entity, owner: PlayerId::SERVER }, Ball::default());
        }
    };
    crowd(&mut simulation.server.world);
    run(&mut simulation, &mut play, 2);
    let options = || {
        let (host, world) = (HostOptions::at(60), Balls::default());
        PlayerOptions { client: ClientConfig::default(), host, conditions: bad(50, 0.0), world }
    };
    for _ in 0..2 {
        let late = simulation.add_player(options());
        run(&mut simulation, &mut play, 3);
        let state = simulation.players[late].client.state(simulation.now());
        assert_eq!(state, ClientState::Refused(Refusal::TooLarge));
    }
    let told =
        play.server_events.iter().filter(|event| matches!(event, ServerEvent::Refused { why: Refusal::TooLarge, .. }));
    assert!(told.count() >= 2, "{:?}", play.server_events);
    let joined = play.server_events.iter().filter(|event| matches!(event, ServerEvent::Joined(_)));
    assert_eq!(joined.count(), 2, "the world hears of the first who comes alone: {:?}", play.server_events);
    // Smaller again, it is joined again.
    simulation.server.world.thin_out(Tick::new(10_000));
    run(&mut simulation, &mut play, 2);
    let last = simulation.add_player(options());
    run(&mut simulation, &mut play, 3);
    assert_eq!(simulation.players[last].client.state(simulation.now()), ClientState::Playing);
}
