//! Exact sessions of rigid bodies whose ends are not the same, or that are too large.

use super::pile::{Keys, Pile};
use core::time::Duration;
use foretell::session::Refusal;
use foretell::session::client::{Causes, ClientEvent, Corrected};
use foretell::session::server::{Server, ServerEvent};
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, Rules, ServerConfig, ServerFrame, Tick, Tolerance, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

#[derive(Default)]
struct Play {
    apart: Vec<(Tick, Tick)>,
    corrections: Vec<Corrected>,
    told: Vec<ServerEvent>,
}

impl Driver<Pile> for Play {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { d: tick.get() % 256 < 160, a: tick.get() % 256 >= 160, w: tick.get() % 90 < 20, ..Keys::default() }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Pile>, frame: &ServerFrame<'_>) {
        self.told.extend(frame.events);
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Pile>, frame: &Frame<'_>) {
        self.corrections.extend(frame.corrections);
        self.apart.extend(frame.events.iter().filter_map(|event| match event {
            ClientEvent::EndsDiffer { since, tick } => Some((*since, *tick)),
            _ => None,
        }));
    }
}

/// Players whose worlds are `theirs` over 100 ms, and a server whose world is `ours`.
fn session(players: usize, ours: Pile, theirs: &Pile) -> Simulation<Pile> {
    let rules = Rules { exact: true, ..Rules::new(Pile::schema()) };
    let server = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, server, ours, 5);
    for _ in 0..players {
        let tolerance = Tolerance::of_contacts();
        let client = ClientConfig { checkpoint_interval: 8, tolerance, ..ClientConfig::default() };
        let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: theirs.clone() });
    }
    simulation
}

fn run(simulation: &mut Simulation<Pile>, play: &mut Play, seconds: u64) {
    let until = simulation.now() + Duration::from_secs(seconds);
    simulation.run_until(until, play);
}

#[test]
fn a_lone_client_in_a_wider_room_is_told_that_the_ends_differ_and_so_is_every_correction() {
    let mut simulation = session(1, Pile::heap(40, true), &Pile::heap_in(3.525, 40, true));
    let mut play = Play::default();
    run(&mut simulation, &mut play, 10);
    let corrected = play.corrections.first().expect("it stands elsewhere at the wall").tick;
    assert!(play.apart.first().is_some_and(|(_, tick)| *tick <= corrected), "{:?} {corrected:?}", play.apart);
    let silent = play.corrections.iter().find(|one| !one.causes.contains(Causes::ENDS_DIFFER));
    assert_eq!(silent, None);
    // And with rooms of one width there is nothing to tell.
    let mut simulation = session(1, Pile::heap(40, true), &Pile::heap(40, true));
    let mut play = Play::default();
    run(&mut simulation, &mut play, 10);
    assert!(play.apart.is_empty() && play.corrections.is_empty(), "{:?}", play.apart);
}

#[test]
fn an_impulse_that_the_server_alone_gives_is_noticed_in_the_next_state() {
    let kicking = Pile { kick: Some(Tick::new(250)), ..Pile::heap(40, true) };
    let mut simulation = session(2, kicking, &Pile::heap(40, true));
    let mut play = Play::default();
    run(&mut simulation, &mut play, 8);
    assert_eq!(play.apart, [(Tick::new(250), Tick::new(251)); 2]);
}

#[test]
fn a_heap_that_no_client_can_be_told_is_refused_and_all_sides_are_told() {
    let mut simulation = session(1, Pile::heap(200, true), &Pile::heap(200, true));
    let mut play = Play::default();
    run(&mut simulation, &mut play, 5);
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Refused(Refusal::TooLarge));
    let refused = |event: &&ServerEvent| matches!(event, ServerEvent::Refused { why: Refusal::TooLarge, .. });
    assert!(play.told.iter().any(|event| refused(&event)), "{:?}", play.told);
    let fits = session(1, Pile::heap(130, true), &Pile::heap(130, true));
    let mut simulation = fits;
    run(&mut simulation, &mut play, 5);
    assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing);
}
