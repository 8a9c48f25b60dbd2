//! The mode of a single entity at run time: predicted, interpolated, or moved by the client that has authority over it.
//! Each goes over into each without a jump, and ends where it was asked to.

use crate::common::toys::{Act, Play, Toys, Walk, bounded, cube, ms, session, walker};
use core::time::Duration;
use foretell::session::Claim;
use foretell::session::client::EntityMode;
use foretell::{ClientConfig, Entity, SendRate, ServerConfig, Tick};
use foretell_sim::harness::Simulation;
use foretell_sim::netsim::{Conditions, Loss};

/// What is shown may go from one frame to the next at this speed, in m/s: a walk of 5, and an offset of up to 1 m that
/// vanishes along it. A jump by what the modes differ in would be more than 60.
const SHOWN_MPS_MAX: f64 = 25.0;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Predicted,
    Interpolated,
    Held,
}

const MODES: [Mode; 3] = [Mode::Predicted, Mode::Interpolated, Mode::Held];

fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        loss: Loss::Uniform(0.05),
        duplicates: 0.05,
        ..Conditions::default()
    }
}

/// What a player does who wants an entity in a mode.
fn want(entity: Entity, mode: Mode, at: u64) -> Vec<(u64, usize, Act)> {
    let set = |mode| (at, 0, Act::Mode(entity, Some(mode)));
    match mode {
        Mode::Predicted => vec![(at, 0, Act::Release(entity)), set(EntityMode::Predicted)],
        Mode::Interpolated => vec![(at, 0, Act::Release(entity)), set(EntityMode::Interpolated)],
        Mode::Held => vec![(at, 0, Act::Request(entity, Claim::Ownership))],
    }
}

fn shown_as(play: &Play, entity: Entity) -> Mode {
    match play.source[&(0, entity)].as_str() {
        "Predicted" => Mode::Predicted,
        "Held" => Mode::Held,
        "Interpolated" | "Extrapolated" => Mode::Interpolated,
        other => panic!("{other}"),
    }
}

/// Two players over a rough network, of whom the first walks all the time.
fn walking(seed: u64) -> (Simulation<Toys>, Entity) {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(32), ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 2, rough(), ClientConfig::default(), seed);
    simulation.run_until(ms(2500), &mut Play::default());
    let own = walker(&simulation, 0);
    (simulation, own)
}

#[test]
fn each_of_the_six_changes_of_mode_ends_where_it_was_asked_to_and_shows_no_jump() {
    for (from, to) in MODES.iter().flat_map(|from| MODES.map(|to| (*from, to))).filter(|(from, to)| from != to) {
        for seed in 0..3 {
            let (mut simulation, own) = walking(seed);
            let mut script =
                vec![(2500, 0, Act::Walk(Walk { x: 1, ..Walk::default() })), (2500, 0, Act::Move([5.0, 0.0, 0.0]))];
            script.extend(want(own, from, 2600));
            script.extend(want(own, to, 5000));
            let mut play = Play::of(&script);
            simulation.run_until(ms(4990), &mut play);
            assert_eq!(shown_as(&play, own), from, "before");
            let before = simulation.players[0].world.proxies.get(&own).copied();
            let was_proxy = before.is_some_and(|tick| simulation.players[0].client.tick().since(tick) < 10);
            assert_eq!(was_proxy, from != Mode::Predicted);
            play.forget();
            let begun = play.shown[&(0, own)].1[0];
            simulation.run_until(ms(7000), &mut play);
            assert_eq!(shown_as(&play, own), to, "{from:?} to {to:?}");
            for looker in 0..2 {
                let fastest = play.fastest_mps[&(looker, own)];
                assert!(fastest < SHOWN_MPS_MAX, "{from:?} to {to:?} seen by {looker}: {fastest} m/s");
            }
            let way = play.shown[&(0, own)].1[0] - begun;
            assert!((7.0..13.0).contains(&way), "two seconds at 5 m/s: {way} m");
            let offences = simulation.server.server.stats(own.spawned_for()).expect("it plays").offences;
            assert!(offences.total() <= 20, "{from:?} to {to:?}: {offences:?}");
            let proxies = &simulation.players[0].world.proxies;
            let last = proxies.get(&own).copied().unwrap_or(Tick::ZERO);
            let is_proxy = simulation.players[0].client.tick().since(last) < 10;
            assert_eq!(is_proxy, to != Mode::Predicted, "the step is told");
        }
    }
}

#[test]
fn a_thing_of_the_servers_goes_through_all_modes_and_back() {
    let (mut simulation, _) = walking(7);
    let entity = cube(1);
    let order = [Mode::Interpolated, Mode::Predicted, Mode::Held, Mode::Interpolated, Mode::Held, Mode::Predicted];
    let mut script = vec![(2500, 0, Act::Move([2.0, 0.0, 1.0]))];
    for (nth, mode) in (0..).zip(order) {
        script.extend(want(entity, mode, 3000 + nth * 1500));
    }
    let mut play = Play::of(&script);
    for (nth, mode) in (0..).zip(order) {
        simulation.run_until(ms(3000 + (nth + 1) * 1500 - 10), &mut play);
        assert_eq!(shown_as(&play, entity), mode, "{nth}");
    }
    for looker in 0..2 {
        let fastest = play.fastest_mps[&(looker, entity)];
        assert!(fastest < SHOWN_MPS_MAX, "seen by {looker}: {fastest} m/s");
    }
    let truth = play.truth[&entity];
    assert!(truth[0] > 4.0, "it was carried: {truth:?}");
    let shown = [0, 1].map(|looker| play.shown[&(looker, entity)].1);
    assert!(shown.iter().all(|at| (0..3).all(|axis| (at[axis] - truth[axis]).abs() < 0.05)), "{shown:?} {truth:?}");
}

#[test]
fn a_single_entity_of_another_player_is_predicted_from_relayed_inputs_and_interpolated_again() {
    let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 3, rough(), ClientConfig::default(), 11);
    simulation.run_until(ms(2500), &mut Play::default());
    let [other, third] = [1, 2].map(|player| walker(&simulation, player));
    let walk = |at, who, x| (at, who, Act::Walk(Walk { x, ..Walk::default() }));
    let mut play = Play::of(&[
        walk(2500, 1, 1),
        walk(2500, 2, 1),
        (3000, 0, Act::Mode(other, Some(EntityMode::Predicted))),
        (5000, 0, Act::Mode(other, None)),
    ]);
    simulation.run_until(ms(4990), &mut play);
    assert_eq!((shown_as(&play, other), shown_as(&play, third)), (Mode::Predicted, Mode::Interpolated));
    // Shown where it is, and the third, who walks beside it, where it was.
    let ahead = play.shown[&(0, other)].1[0] - play.shown[&(0, third)].1[0];
    assert!(ahead > 0.5, "{ahead} m");
    let apart = play.truth[&other][0] - play.truth[&third][0];
    assert!(apart.abs() < 0.3, "{apart} m");
    simulation.run_until(ms(7000), &mut play);
    assert_eq!(shown_as(&play, other), Mode::Interpolated);
    let fastest = play.fastest_mps[&(0, other)];
    assert!(fastest < SHOWN_MPS_MAX, "{fastest} m/s");
    let behind = play.shown[&(0, third)].1[0] - play.shown[&(0, other)].1[0];
    assert!(behind.abs() < 0.3, "side by side again: {behind} m");
}
