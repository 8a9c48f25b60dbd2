//! Shared mode: when the server is asked for what a game wants, however often the game says so.

use crate::common::toys::{Act, Play, Toy, Toys, Walk, bounded, cube, ms, session};
use core::time::Duration;
use foretell::session::client::AuthorityChange::{Began, Granted, Refused};
use foretell::session::server::{Server, ServerEvent};
use foretell::session::{Claim, HoldRefusal};
use foretell::{Client, ClientConfig, Entity, Frame, Instant, ServerConfig, ServerFrame, Tick, Views};
use foretell_sim::harness::{Driver, Moment};
use foretell_sim::netsim::{Conditions, Loss};

/// The first player drops a cube, asks for it from when they see it, and moves it when they may.
struct Drop {
    play: Play,
    at: Tick,
    /// The cube, and when it was seen first, in ms.
    cube: Option<(Entity, u64)>,
    /// In how many frames it was not there after that.
    missing: usize,
}

impl Drop {
    fn new(at: Tick) -> Drop {
        Drop { play: Play::default(), at, cube: None, missing: 0 }
    }
}

impl Driver<Toys> for Drop {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        Walk { drops: player == 0 && tick == self.at, ..Walk::default() }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        // In each frame until it is theirs to move.
        let cube = self.cube.filter(|(cube, _)| player == 0 && !self.play.moves(0, *cube));
        cube.into_iter().for_each(|(cube, _)| client.request(cube, Claim::Ownership));
        self.play.before_client(player, at, client);
    }

    fn after_server(&mut self, now: Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        self.play.after_server(now, server, frame);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
        if player != 0 {
            return;
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let is_own_cube = |toy: Option<Toy>| matches!(toy, Some(Toy::Cube { .. }));
        let cube = views.iter().find(|view| Some(view.owner) == client.player() && is_own_cube(view.get()));
        match (cube, self.cube) {
            (Some(cube), None) => self.cube = Some((cube.entity, at.now.micros() / 1000)),
            (None, Some(_)) => self.missing += 1,
            _ => {}
        }
    }
}

#[test]
fn what_a_player_spawns_and_asks_for_at_once_stays_on_their_screen_and_becomes_theirs_to_move() {
    for (latency_ms, jitter_ms, loss, seed) in [(40, 0, 0.0, 1), (120, 30, 0.05, 2), (10, 5, 0.2, 3), (200, 0, 0.1, 4)]
    {
        let [latency, jitter] = [latency_ms, jitter_ms].map(Duration::from_millis);
        let conditions = Conditions { latency, jitter, loss: Loss::Uniform(loss), ..Conditions::default() };
        let rules = (bounded(), ServerConfig::default());
        let mut simulation = session(rules, 2, conditions, ClientConfig::default(), seed);
        let mut drop = Drop::new(Tick::new(300));
        drop.play.velocity[0] = [3.0, 0.0, 0.0];
        simulation.run_until(ms(9000), &mut drop);
        let (cube, seen_ms) = drop.cube.expect("it was dropped");
        assert_eq!(drop.missing, 0, "{latency_ms} ms: it is there in each frame");
        let began = drop.play.events.iter().find(|(_, to, of, what)| (*to, *of, *what) == (0, cube, Began));
        let (began_ms, ..) = began.expect("the player moves it");
        assert!(began_ms - seen_ms < 4 * latency_ms + 600, "{latency_ms} ms: {} ms later", began_ms - seen_ms);
        assert!(drop.play.told(0, cube).contains(&Granted(Claim::Ownership)), "{:?}", drop.play.events);
        assert_eq!(
            simulation.server.server.holder(cube).map(|held| Some(held.player)),
            Some(simulation.players[0].client.player())
        );
        let player = simulation.players[0].client.player().expect("it plays");
        assert_eq!(simulation.server.server.stats(player).expect("it plays").offences.total(), 0);
        assert!(drop.play.fastest_mps[&(0, cube)] < 8.0, "{latency_ms} ms: {} m/s", drop.play.fastest_mps[&(0, cube)]);
    }
}

/// The second player asks in each frame for what the first has, until they are answered.
#[derive(Default)]
struct Insist {
    play: Play,
}

impl Driver<Toys> for Insist {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        self.play.input(player, tick)
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        self.play.before_client(player, at, client);
        let is_answered = self.play.told(1, cube(0)).iter().any(|what| matches!(what, Granted(_) | Refused(_)));
        if player == 1 && at.now > ms(4000) && !is_answered {
            client.request(cube(0), Claim::Ownership);
        }
    }

    fn after_server(&mut self, now: Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        self.play.after_server(now, server, frame);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
    }
}

#[test]
fn who_asks_in_each_frame_until_they_are_answered_has_asked_once() {
    for (seed, script) in [(1, vec![(3000, 0, Act::Request(cube(0), Claim::Ownership))]), (2, Vec::new())] {
        let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
        let rules = (bounded(), ServerConfig::default());
        let mut simulation = session(rules, 2, conditions, ClientConfig::default(), seed);
        let mut insist = Insist { play: Play::of(&script) };
        simulation.run_until(ms(6000), &mut insist);
        let taken = Refused(HoldRefusal::Taken);
        let answer = if script.is_empty() { Granted(Claim::Ownership) } else { taken };
        assert_eq!(insist.play.told(1, cube(0)), [Began, answer]);
        let answers = insist.play.server_events.iter().filter(|event| match event {
            ServerEvent::HoldRefused { .. } => answer == taken,
            ServerEvent::Held { .. } => answer != taken,
            _ => false,
        });
        assert_eq!(answers.count(), 1, "{:?}", insist.play.server_events);
    }
}
