//! Who looks on: sees what the rules say, is asked for nothing, and costs nobody anything.

use super::club::{Club, Watch, add, club, rough, run, saying};
use foretell::session::client::{ClientEvent, EntityMode, PoseSource, Predict};
use foretell::session::{Claim, Refusal};
use foretell::{ClientState, Seat, ServerConfig, Views};
use foretell_sim::harness::Simulation;
use foretell_sim::netsim::Conditions;
use std::collections::BTreeSet;

fn with_spectators(spectators_max: u16) -> ServerConfig {
    ServerConfig { spectators_max, ..ServerConfig::default() }
}

/// Two players and somebody who looks on.
fn session(conditions: &Conditions, skew_ppm: i32, seed: u64) -> (Simulation<Club>, Watch, usize) {
    let mut simulation = club(with_spectators(1), seed);
    add(&mut simulation, conditions.clone(), 0, saying(b"Anna"));
    add(&mut simulation, conditions.clone(), 0, saying(b"Bob"));
    let onlooker = add(&mut simulation, conditions.clone(), skew_ppm, |request| request.as_spectator());
    let watch = Watch { spectators: BTreeSet::from([onlooker]), ..Watch::default() };
    (simulation, watch, onlooker)
}

fn views(simulation: &Simulation<Club>, index: usize) -> Views {
    let player = &simulation.players[index];
    let mut views = Views::new();
    player.client.present(player.host.local(simulation.now()), &mut views);
    views
}

#[test]
fn who_looks_on_sees_what_the_rules_say_and_no_input_of_theirs_is_ever_given_or_missed() {
    for seed in 0..8 {
        let (mut simulation, mut watch, onlooker) = session(&rough(), 150, seed);
        run(&mut simulation, &mut watch, 20.0);
        let joined = &simulation.server.world.joined;
        let spectator = joined.iter().find(|joined| joined.seat == Seat::Spectator).expect("joined").player;
        let players = joined.iter().map(|joined| joined.player).filter(|player| *player != spectator);
        assert_eq!(simulation.server.world.played, players.collect(), "the server's steps");
        for machine in &simulation.players {
            assert!(!machine.world.played.contains(&spectator), "a client's steps");
        }
        assert!(simulation.players[onlooker].world.played.is_empty(), "nobody is predicted where one looks on");
        let server = &simulation.server.server;
        let stats = server.stats(spectator).expect("there");
        assert_eq!((stats.inputs.applied, stats.inputs.missed, stats.inputs.absent, stats.inputs.late), (0, 0, 0, 0));
        assert_eq!((stats.offences.total(), server.seat_of(spectator)), (0, Some(Seat::Spectator)));
        let client = &simulation.players[onlooker].client;
        assert_eq!(
            (client.stats().inputs.substituted, client.stats().prediction.corrections, client.stats().inputs.sent),
            (0, 0, 0)
        );
        assert!(
            client.stats().network.rtt.as_millis() > 60 && client.stats().network.datagrams_sent > 600,
            "{:?}",
            client.stats()
        );
        // It sees both, and none of what is for the owner alone; a player sees as far as five metres.
        let seen = views(&simulation, onlooker);
        assert_eq!(seen.len(), 2, "seed {seed}");
        assert!(seen.iter().all(|view| view.source != PoseSource::Predicted));
        assert_eq!(views(&simulation, 0).len(), 1, "a player, as far as five metres");
        // What it shows moves as it does on the server, a little late.
        for pawn in simulation.server.world.pawns.iter() {
            let shown = seen.iter().find(|view| view.owner == pawn.owner()).expect("seen").pose().position;
            assert!((shown[0] - pawn.position[0]).abs() < 1e-3 && (shown[1] - pawn.position[1]).abs() < 2.0);
        }
    }
}

#[test]
fn the_clock_of_who_looks_on_keeps_to_the_servers_however_its_own_runs_and_whatever_way_it_takes() {
    for (skew_ppm, latency_ms) in [(0, 0), (500, 40), (-500, 150), (10_000, 40), (-10_000, 40)] {
        let conditions = Conditions { latency: core::time::Duration::from_millis(latency_ms), ..Conditions::default() };
        let (mut simulation, mut watch, onlooker) = session(&conditions, skew_ppm, 1);
        // The way becomes longer by 100 ms, and shorter again.
        for extra_ms in [0, 100, 0] {
            let latency = core::time::Duration::from_millis(latency_ms + extra_ms);
            let player = &mut simulation.players[onlooker];
            player.up_conditions = Conditions { latency, ..Conditions::default() };
            player.down_conditions = player.up_conditions.clone();
            run(&mut simulation, &mut watch, 30.0);
            let way_ticks = 0.064 * (latency_ms + extra_ms) as f64;
            let settled = &watch.leads_ticks[watch.leads_ticks.len() - 600..];
            let least = settled.iter().copied().fold(f64::INFINITY, f64::min);
            let most = settled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let what = format!("{skew_ppm} ppm, {latency_ms} + {extra_ms} ms: {least} to {most}");
            assert!(least > way_ticks - 0.5 && most < way_ticks + 5.0, "{what}");
        }
        let what = format!("{skew_ppm} ppm, {latency_ms} ms");
        let stats = simulation.players[onlooker].client.stats();
        assert_eq!((stats.prediction.resyncs, stats.prediction.corrections), (0, 0), "{what}");
        let machine = &simulation.players[onlooker];
        assert_eq!(machine.client.state(machine.host.local(simulation.now())), ClientState::Playing, "{what}");
        assert_eq!(views(&simulation, onlooker).len(), 2, "{what}");
    }
}

#[test]
fn spectators_have_places_of_their_own_and_none_unless_the_server_has_some() {
    let refused = |watch: &Watch, index| watch.clients.contains(&(index, ClientEvent::Refused(Refusal::Full)));
    for (spectators_max, fits) in [(0, 0), (1, 1), (3, 2)] {
        let config = ServerConfig { players_max: 1, ..with_spectators(spectators_max) };
        let mut simulation = club(config, 2);
        let onlookers: Vec<_> =
            (0..2).map(|_| add(&mut simulation, rough(), 0, |request| request.as_spectator())).collect();
        let mut watch = Watch { spectators: onlookers.iter().copied().collect(), ..Watch::default() };
        run(&mut simulation, &mut watch, 6.0);
        let player = add(&mut simulation, rough(), 0, saying(b"Anna"));
        let late = add(&mut simulation, rough(), 0, saying(b"Bob"));
        run(&mut simulation, &mut watch, 8.0);
        assert_eq!(onlookers.iter().filter(|index| !refused(&watch, **index)).count(), fits);
        assert!(refused(&watch, late) || refused(&watch, player), "there is one place for players");
        assert_eq!(simulation.server.world.joined.len(), fits + 1);
    }
}

#[test]
fn who_looks_on_predicts_nothing_whatever_it_asks_for() {
    let (mut simulation, mut watch, onlooker) = session(&rough(), 0, 5);
    simulation.server.server.config_mut().relay_inputs = true;
    simulation.players[onlooker].client.config_mut().predict = Predict::Everyone;
    run(&mut simulation, &mut watch, 5.0);
    let pawns: Vec<_> = simulation.server.world.pawns.iter().map(|pawn| (pawn.entity(), pawn.owner())).collect();
    for (entity, owner) in pawns {
        simulation.players[onlooker].client.predict(owner, true);
        simulation.players[onlooker].client.set_mode(entity, Some(EntityMode::Predicted));
        simulation.players[onlooker].client.request(entity, Claim::Authority);
    }
    run(&mut simulation, &mut watch, 5.0);
    let seen = views(&simulation, onlooker);
    assert_eq!((seen.len(), seen.iter().filter(|view| view.source == PoseSource::Predicted).count()), (2, 0));
    assert!(simulation.players[onlooker].world.played.is_empty());
    let server = &simulation.server.server;
    let spectator = simulation.players[onlooker].client.player().expect("there");
    let offences = server.stats(spectator).expect("there").offences;
    assert_eq!((offences.total(), server.totals().malformed), (0, 0));
}

#[test]
fn who_looks_on_is_lost_and_comes_back_as_a_player_does_and_its_nonce_is_no_players() {
    let (mut simulation, mut watch, onlooker) = session(&Conditions::default(), 0, 6);
    run(&mut simulation, &mut watch, 4.0);
    let now = simulation.now();
    simulation.players[onlooker].host.clock_mut().stall(now, core::time::Duration::from_secs(14));
    run(&mut simulation, &mut watch, 22.0);
    let joined = simulation.server.world.joined.len();
    assert_eq!((joined, views(&simulation, onlooker).len()), (3, 2));
    let spectator = simulation.players[onlooker].client.player().expect("there");
    assert!(!simulation.server.server.is_lost(spectator));
    assert!(watch.server.contains(&foretell::session::server::ServerEvent::Rejoined(spectator)), "{:?}", watch.server);
}
