//! The way of an input: from the player to the step, with what the player saw, and what is refused on the way.

use core::time::Duration;
use foretell::session::Offence;
use foretell::session::client::Joined;
use foretell::world::InputStatus;
use foretell::{
    Client, ClientConfig, Frame, Input, Instant, Outbox, PeerId, PlayerId, Rules, Server, ServerConfig, Simulate,
    State, Step, Table, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Aim {
    at: [f32; 2],
    shots: u8,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Shooter {
    #[state(position)]
    position: [f64; 2],
    shots: u32,
}

/// What a step was given for a player: the tick, their input, its status, and what they saw, in ticks.
type Seen = (Tick, PlayerId, Aim, InputStatus, Option<f64>);

/// Moves each shooter to where they aim, and writes down every input.
#[derive(World, Default)]
struct Range {
    shooters: Table<Shooter>,
    /// No part of the state.
    #[world(constant)]
    seen: Vec<Seen>,
}

impl Range {
    /// How often the only one has shot.
    fn shots(&self) -> u32 {
        self.shooters.iter().next().expect("somebody").shots
    }
}

impl Simulate for Range {
    type Input = Aim;

    fn step(&mut self, step: &mut Step<'_, Aim>) {
        self.shooters.remove_left(step);
        for joined in step.joined() {
            self.shooters.spawn(step, joined.player, Shooter::default());
        }
        for mut shooter in self.shooters.simulated(step) {
            let Some(input) = step.input(shooter.owner()) else { continue };
            shooter.position = input.input.at.map(f64::from);
            shooter.shots += u32::from(input.input.shots);
            if step.is_authority() {
                let presented = input.presented.map(foretell::time::TickTime::as_ticks);
                self.seen.push((step.tick(), input.player, input.input, input.status, presented));
            }
        }
    }
}

/// Aims by the tick, and remembers where the cursor of others was shown in each frame.
#[derive(Default)]
struct Aiming {
    asked: Vec<(usize, Tick)>,
    corrections: usize,
}

impl Driver<Range> for Aiming {
    fn input(&mut self, player: usize, tick: Tick) -> Aim {
        self.asked.push((player, tick));
        Aim { at: [tick.get() as f32, player as f32], shots: 1 }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Range>, frame: &Frame<'_>) {
        self.corrections += frame.corrections.len();
    }
}

fn session(players: usize) -> Simulation<Range> {
    let rules = Rules::new(Range::schema());
    let mut simulation = Simulation::new(rules, ServerConfig::default(), Range::default(), 1);
    for player in 0..players {
        let conditions =
            Conditions { latency: Duration::from_millis(50 + 20 * player as u64), ..Conditions::default() };
        let (client, host, world) = (ClientConfig::default(), HostOptions::at(60), Range::default());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation
}

#[test]
fn each_input_is_asked_for_once_and_applied_in_its_own_tick_with_what_the_player_saw() {
    let mut simulation = session(2);
    let mut aiming = Aiming::default();
    simulation.run_until(Instant::from_micros(6_000_000), &mut aiming);
    for player in 0..2 {
        let mut ticks: Vec<_> = aiming.asked.iter().filter(|(of, _)| *of == player).map(|(_, tick)| *tick).collect();
        let asked = ticks.len();
        ticks.dedup();
        assert!(ticks.is_sorted() && ticks.len() == asked, "once per tick, in order");
        let first = ticks[0];
        let id = simulation.players[player].client.player().expect("joined");
        let seen = simulation.server.world.seen.iter().filter(|seen| seen.1 == id && seen.0 >= first);
        let late = first + 64;
        let mut count = 0;
        for (tick, _, aim, status, presented) in seen {
            assert_eq!((aim.at, *status), ([tick.get() as f32, player as f32], InputStatus::Received));
            if *tick > late {
                // Others are shown about a round trip, a lead and one and a half snapshots behind the own tick.
                let behind = f64::from(tick.get()) - presented.expect("there is another player");
                assert!((7.0..20.0).contains(&behind), "{behind} ticks");
            }
            count += 1;
        }
        assert!(count > 250, "{count}");
    }
    assert_eq!(aiming.corrections, 0);
}

/// Both ends, joined, and the datagram of one input.
fn one_datagram(aim: Aim) -> (Server<Range>, Range, Vec<u8>) {
    let rules = Rules::new(Range::schema());
    let mut server = Server::new(rules.clone(), ServerConfig::default(), 0, Instant::ZERO);
    let player = server.join(PeerId(5));
    let mut world = Range::default();
    let mut client =
        Client::joined(rules, ClientConfig::default(), Joined { player, epoch: 0, now: Instant::ZERO }, &mut world);
    let mut outbox = Outbox::new();
    client.update(Instant::ZERO, &mut world, &mut |_| aim, &mut outbox);
    let datagram = outbox.iter().next().expect("one datagram").1.to_vec();
    (server, Range::default(), datagram)
}

#[test]
fn a_number_that_is_not_finite_is_refused_and_counted() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (mut server, mut world, datagram) = one_datagram(Aim { at: [1.0, bad], shots: 1 });
        server.receive(Instant::ZERO, PeerId(5), &datagram).expect("well-formed");
        server.update(Instant::ZERO, &mut world, &mut Outbox::new());
        let stats = server.stats(PlayerId::new(1)).expect("joined");
        assert_eq!((stats.offences.count(Offence::NotFinite), stats.inputs.applied), (1, 0));
        assert_eq!(world.shots(), 0);
    }
}

#[test]
fn a_duplicate_is_applied_once_and_an_input_for_another_connection_not_at_all() {
    let (mut server, mut world, datagram) = one_datagram(Aim { at: [1.0, 2.0], shots: 1 });
    for peer in [PeerId(6), PeerId(5), PeerId(5)] {
        server.receive(Instant::ZERO, peer, &datagram).expect("well-formed");
    }
    server.update(Instant::ZERO, &mut world, &mut Outbox::new());
    server.receive(Instant::ZERO, PeerId(5), &datagram).expect("well-formed");
    server.update(Instant::from_micros(20_000), &mut world, &mut Outbox::new());
    assert_eq!(world.shots(), 2, "once in its tick, and repeated by the gap policy in the next");
    assert_eq!(server.stats(PlayerId::new(1)).expect("joined").inputs.applied, 1);
}

#[test]
fn a_player_who_leaves_is_gone_for_everybody_and_their_place_is_free() {
    let mut simulation = session(2);
    let mut aiming = Aiming::default();
    simulation.run_until(Instant::from_micros(3_000_000), &mut aiming);
    let mut outbox = Outbox::new();
    simulation.players[0].client.leave(&mut outbox);
    let good_bye = outbox.iter().next().expect("a datagram").1.to_vec();
    let gone = simulation.players.remove(0);
    let server = &mut simulation.server.server;
    let before = server.totals().inputs;
    server.receive(Instant::from_micros(3_000_000), PeerId(0), &good_bye).expect("well-formed");
    assert_eq!(server.players().collect::<Vec<_>>(), [PlayerId::new(2)]);
    assert_eq!(server.totals().inputs, before, "what came of the inputs of all is remembered");
    assert!(before.applied > server.stats(PlayerId::new(2)).expect("there").inputs.applied);
    server.update(Instant::from_micros(3_016_000), &mut simulation.server.world, &mut outbox);
    assert_eq!(simulation.server.world.shooters.len(), 1);
    assert!(server.stats(gone.client.player().expect("joined")).is_none());
}

#[test]
fn a_client_that_slept_a_minute_plays_on_at_once_and_never_simulates_what_it_slept_through() {
    let mut simulation = session(1);
    simulation.players[0].host.clock_mut().stall(Instant::from_micros(3_000_000), Duration::from_secs(60));
    let mut aiming = Aiming::default();
    simulation.run_until(Instant::from_micros(64_000_000), &mut aiming);
    let stats = simulation.players[0].client.stats();
    assert!(stats.prediction.resimulated < 400 && stats.prediction.resyncs <= 2, "{stats:?}");
    assert_eq!(simulation.players[0].client.state(simulation.now()), foretell::ClientState::Playing);
    let lead =
        simulation.players[0].client.tick().get().cast_signed() - simulation.server.server.tick().get().cast_signed();
    assert!((2..12).contains(&lead), "{lead} ticks ahead");
}

#[test]
fn datagrams_of_another_epoch_change_nothing_on_either_end() {
    let rules = Rules::new(Range::schema());
    let mut ends = [3, 4].map(|epoch| {
        let mut server = Server::new(rules.clone(), ServerConfig::default(), epoch, Instant::ZERO);
        let player = server.join(PeerId(0));
        let mut world = Range::default();
        let client = Client::joined(
            rules.clone(),
            ClientConfig::default(),
            Joined { player, epoch, now: Instant::ZERO },
            &mut world,
        );
        let (mut to_client, to_server) = (Outbox::new(), Outbox::new());
        server.update(Instant::ZERO, &mut world, &mut to_client);
        (server, client, world, to_client, to_server)
    });
    let [(_, _, _, foreign, _), (_, client, ..)] = &mut ends;
    let snapshot = foreign.iter().next().expect("a snapshot").1;
    client.receive(Instant::ZERO, snapshot).expect("well-formed");
    assert!(client.newest_snapshot().is_none());
    assert_eq!((client.stats().network.refused, client.stats().prediction.outcomes.received), (1, 0));
    let [(_, foreign, world, _, outbox), (server, ..)] = &mut ends;
    foreign.update(Instant::ZERO, world, &mut |_| Aim::default(), outbox);
    let inputs = outbox.iter().next().expect("inputs").1;
    server.receive(Instant::ZERO, PeerId(0), inputs).expect("well-formed");
    assert_eq!(server.stats(PlayerId::new(1)).expect("joined").datagrams_received, 0);
}
