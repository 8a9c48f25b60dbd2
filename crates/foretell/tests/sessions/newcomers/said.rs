//! What is said of a player, of whose account they are, and why they are not let in or leave.

use super::club::{Club, Pawn, Watch, add, club, rough, run, saying};
use crate::common::Buttons;
use foretell::session::client::{ClientEvent, JoinDataTooLong, Show};
use foretell::session::host::LocalPlayer;
use foretell::session::server::ServerEvent;
use foretell::session::{Departure, Outbox, Refusal};
use foretell::{
    ClientState, Instant, JoinRequest, Leaver, Newcomer, PeerId, PlayerId, Rules, ServerConfig, Session, SessionConfig,
    Start, Text, World,
};
use foretell_sim::harness::check::{Check, ServerSeen};
use foretell_sim::harness::{Leaving, Scenario};
use foretell_sim::netsim::{Conditions, Loss};
use foretell_sim::record::{Recorder, Recording};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn what_is_said_with_a_join_and_the_account_come_once_and_whole_over_any_link() {
    for seed in 0..12 {
        let mut simulation = club(ServerConfig::default(), seed);
        let long: Vec<u8> = (0..1000).map(|nth| (nth * 7 % 251) as u8).collect();
        for (peer, data) in [(0, &b"Anna"[..]), (1, b""), (2, &long)] {
            add(&mut simulation, rough(), 0, saying(data));
            if peer != 1 {
                simulation.server.server.identify(PeerId(peer), Some(format!("account {peer}").as_str().into()));
            }
        }
        let mut watch = Watch::default();
        run(&mut simulation, &mut watch, 12.0);
        let mut joined = simulation.server.world.joined.clone();
        joined.sort_by_key(|joined| joined.data.len());
        let account = |peer: u64| Some(format!("account {peer}").as_str().into());
        let said: Vec<_> = joined.iter().map(|joined| (joined.account, &joined.data[..])).collect();
        assert_eq!(said, [(None, &b""[..]), (account(0), b"Anna"), (account(2), &long)], "seed {seed}");
        let anna = joined[1].player;
        assert_eq!(simulation.server.server.account_of(anna), Some("account 0"));
        let pawn = simulation.players[0].world.pawns.owned_by(anna).next().expect("on her own client");
        assert_eq!(&*pawn.name, "Anna");
        assert_eq!(simulation.server.server.totals().malformed, 0);
    }
}

#[test]
fn a_program_that_comes_back_to_its_place_joins_nobody_and_after_it_was_given_up_it_says_all_again() {
    for (gone, keeps) in [(13.0, true), (80.0, false)] {
        let mut simulation = club(ServerConfig::default(), 3);
        add(&mut simulation, rough(), 0, saying(b"Anna"));
        let mut watch = Watch::default();
        run(&mut simulation, &mut watch, 6.0);
        let cut = Conditions { loss: Loss::Uniform(1.0), ..rough() };
        (simulation.players[0].up_conditions, simulation.players[0].down_conditions) = (cut.clone(), cut);
        run(&mut simulation, &mut watch, gone);
        (simulation.players[0].up_conditions, simulation.players[0].down_conditions) = (rough(), rough());
        run(&mut simulation, &mut watch, 8.0);
        let said: Vec<_> = simulation.server.world.joined.iter().map(|joined| &joined.data[..]).collect();
        assert_eq!(said, if keeps { vec![b"Anna"] } else { vec![b"Anna"; 2] });
        let lost = ServerEvent::Left { player: PlayerId::new(1), why: Departure::Lost };
        assert_eq!(watch.server.contains(&lost), !keeps);
        assert_eq!(
            simulation.players[0].client.state(simulation.players[0].host.local(simulation.now())),
            ClientState::Playing
        );
    }
}

#[test]
fn whom_the_game_does_not_let_in_is_told_its_words_and_the_world_never_hears_of_them() {
    for seed in 0..12 {
        let mut simulation = club(ServerConfig { players_max: 2, ..ServerConfig::default() }, seed);
        let mallory = add(&mut simulation, rough(), 0, saying(b"Mallory"));
        let mut watch = Watch::default();
        run(&mut simulation, &mut watch, 8.0);
        let why = Refusal::ByGame("no Mallory here".into());
        assert_eq!(watch.clients, [(mallory, ClientEvent::Refused(why))], "seed {seed}");
        assert_eq!(why.to_string(), "no Mallory here");
        assert_eq!(watch.server, [ServerEvent::Refused { peer: PeerId(0), player: None, why }]);
        let joins = simulation.server.server.totals().joins;
        assert_eq!((joins.joined, joins.refused(Refusal::ByGame("".into()))), (0, 1));
        assert!(simulation.server.world.joined.is_empty() && simulation.server.world.left.is_empty());
        // Both places are free.
        add(&mut simulation, rough(), 0, saying(b"Anna"));
        add(&mut simulation, rough(), 0, saying(b"Bob"));
        run(&mut simulation, &mut watch, 10.0);
        assert_eq!(simulation.server.world.joined.len(), 2, "seed {seed}");
    }
}

#[test]
fn whom_the_game_removes_is_told_why_and_does_not_come_back() {
    for seed in 0..12 {
        let mut simulation = club(ServerConfig::default(), seed);
        add(&mut simulation, rough(), 0, saying(b"Anna"));
        let mut watch = Watch::default();
        run(&mut simulation, &mut watch, 6.0);
        let player = simulation.server.world.joined[0].player;
        simulation.server.server.remove(player, "asleep for too long");
        watch.server.clear();
        run(&mut simulation, &mut watch, 12.0);
        let why = "asleep for too long".into();
        assert_eq!(watch.server, [ServerEvent::Left { player, why: Departure::Removed(why) }]);
        assert_eq!(watch.clients.last(), Some(&(0, ClientEvent::Refused(Refusal::Removed(why)))), "seed {seed}");
        let why = Departure::Removed(why);
        assert_eq!(simulation.server.world.left, [Leaver { player, why }]);
        assert_eq!(simulation.server.world.joined.len(), 1);
    }
}

#[test]
fn who_leaves_says_why_and_who_is_only_gone_has_said_nothing() {
    for seed in 0..8 {
        let mut simulation = club(ServerConfig { keep_lost: Duration::ZERO, ..ServerConfig::default() }, seed);
        add(&mut simulation, Conditions::default(), 0, saying(b"Anna"));
        add(&mut simulation, rough(), 0, saying(b"Bob"));
        let mut watch = Watch::default();
        run(&mut simulation, &mut watch, 6.0);
        let player =
            |data: &[u8], joined: &[Newcomer]| joined.iter().find(|one| one.data == data).expect("joined").player;
        let joined = simulation.server.world.joined.clone();
        let mut outbox = Outbox::new();
        simulation.players[0].client.leave_with(&"dinner ".repeat(40), &mut outbox);
        let now = simulation.now();
        for (_, datagram) in outbox.iter() {
            simulation.server.server.receive(now, PeerId(0), datagram).expect("well-formed");
        }
        simulation.remove_player(0, Leaving::Silently);
        simulation.remove_player(1, Leaving::Silently);
        watch.server.clear();
        run(&mut simulation, &mut watch, 12.0);
        let left = |data, why| ServerEvent::Left { player: player(data, &joined), why };
        let words = "dinner ".repeat(18);
        assert!(watch.server.contains(&left(b"Anna", Departure::GoodBye(words[..120].into()))), "{:?}", watch.server);
        assert!(watch.server.contains(&left(b"Bob", Departure::Lost)), "seed {seed}: {:?}", watch.server);
        // The world hears the same, and a client's world of nobody.
        let told = |event: &ServerEvent| matches!(event, ServerEvent::Left { .. }).then_some(*event);
        let heard = simulation
            .server
            .world
            .left
            .iter()
            .map(|Leaver { player, why }| ServerEvent::Left { player: *player, why: *why });
        assert!(heard.eq(watch.server.iter().filter_map(told)), "seed {seed}: {:?}", simulation.server.world.left);
        assert!(simulation.players.iter().all(|host| host.world.left.is_empty()));
    }
}

#[test]
fn a_recorded_session_of_newcomers_refusals_removals_and_spectators_runs_again_to_the_same() {
    let mut simulation = club(ServerConfig { spectators_max: 2, ..ServerConfig::default() }, 4);
    let (to, server_bytes) = channel();
    let sink = move |bytes: &[u8]| drop(to.send(bytes.to_vec()));
    simulation.server.server.set_tap(Box::new(Recorder::new(Box::new(sink))));
    simulation.server.server.identify(PeerId(0), Some("Anna's account".into()));
    simulation.seat_player(LocalPlayer::new(Show::Between).with_data("Hugo").expect("short"));
    let mut watch = Watch::default();
    add(&mut simulation, rough(), 0, saying(b"Anna"));
    add(&mut simulation, rough(), 0, saying(b"Mallory"));
    let looks_on =
        add(&mut simulation, rough(), 200, |request| request.with_data("eyes").expect("short").as_spectator());
    watch.spectators.insert(looks_on);
    let (to, bytes) = channel();
    let sink = move |bytes: &[u8]| drop(to.send(bytes.to_vec()));
    simulation.players[looks_on].client.set_tap(Box::new(Recorder::new(Box::new(sink))));
    run(&mut simulation, &mut watch, 8.0);
    let anna = simulation.server.world.joined.iter().find(|joined| joined.data == b"Anna").expect("joined").player;
    simulation.server.server.remove(anna, "enough");
    simulation.server.server.identify(PeerId(0), None);
    run(&mut simulation, &mut watch, 4.0);
    let bytes_of = |from: std::sync::mpsc::Receiver<Vec<u8>>| from.try_iter().flatten().collect::<Vec<_>>();
    let recorded = bytes_of(server_bytes);
    let replay = Recording::open(&recorded)
        .expect("a recording")
        .replay_server(foretell::Rules::new(Club::schema()), Club::default());
    let replay = replay.expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 11, "{:?}", replay.agreement);
    let again: Vec<_> = replay.events.iter().map(|(_, event)| *event).collect();
    assert_eq!(again, watch.server);
    assert!(again.iter().any(|event| matches!(event, ServerEvent::Refused { why: Refusal::ByGame(_), .. })));
    let recorded = bytes_of(bytes);
    let replay = Recording::open(&recorded)
        .expect("a recording")
        .replay_client(foretell::Rules::new(Club::schema()), Club::default());
    let replay = replay.expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 10, "{:?}", replay.agreement);
    assert_eq!(replay.stats, simulation.players[looks_on].client.stats());
}

#[test]
fn what_is_said_of_who_sits_at_the_server_comes_with_them_and_is_no_longer_than_a_clients() {
    let mut simulation = club(ServerConfig::default(), 1);
    simulation.seat_player(LocalPlayer::new(Show::Between).with_data("Hugo").expect("short"));
    run(&mut simulation, &mut Watch::default(), 1.0);
    let world = &simulation.server.world;
    assert_eq!(world.joined, [Newcomer { data: b"Hugo".to_vec(), ..Newcomer::new(PlayerId::new(1)) }]);
    assert_eq!(world.pawns.iter().map(|pawn| pawn.name).collect::<Vec<_>>(), [Text::new("Hugo")]);
    assert!(LocalPlayer::new(Show::Between).with_data([0; 1000]).is_ok());
    assert_eq!(LocalPlayer::new(Show::Between).with_data([0; 1001]).err(), Some(JoinDataTooLong(1001)));
}

/// An end of a session, whose player says this of themselves.
fn started(start: Start, data: &str) -> (Session<Club>, Club) {
    let config = SessionConfig::new(Rules::new(Club::schema())).with_data(data).expect("short");
    (Session::start(start, config, Instant::ZERO), Club::default())
}

#[test]
fn what_is_said_of_the_player_of_a_program_comes_with_their_join_however_it_is_started() {
    let said = |club: &Club| club.joined.iter().map(|joined| joined.data.clone()).collect::<Vec<_>>();
    let mut outbox = Outbox::new();
    for start in [Start::Single, Start::Host { epoch: 1 }] {
        let (mut game, mut club) = started(start, "Hugo");
        game.update(Instant::from_micros(100_000), &mut club, &mut |_| Buttons::default(), &mut outbox);
        assert_eq!(said(&club), [b"Hugo"], "{start:?}");
    }
    let (mut server, mut club) = started(Start::Dedicated { epoch: 1 }, "nobody sits at it");
    let (mut client, mut own) = started(Start::Client { nonce: 7 }, "Anna");
    for now in (0..50).map(|nth| Instant::from_micros(nth * 15_625)) {
        outbox.clear();
        client.update(now, &mut own, &mut |_| Buttons::default(), &mut outbox);
        outbox.iter().for_each(|(_, bytes)| server.receive(now, PeerId(1), bytes).expect("well-formed"));
        outbox.clear();
        server.update(now, &mut club, &mut |_| Buttons::default(), &mut outbox);
        outbox.iter().for_each(|(_, bytes)| client.receive(now, PeerId(0), bytes).expect("well-formed"));
    }
    assert_eq!(said(&club), [b"Anna"]);
    let too_long = SessionConfig::new(Rules::new(Club::schema())).with_data([0; 1001]).err();
    assert_eq!(too_long, Some(JoinDataTooLong(1001)));
}

/// Notes the names of all pawns on the server.
struct Names(Rc<RefCell<Vec<Text<16>>>>);

impl Check<Club> for Names {
    fn name(&self) -> &'static str {
        "names"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, Club>) -> Result<(), String> {
        let rows = seen.server.rows();
        let pawns: BTreeSet<_> = rows.iter().map(|row| row.entity).collect();
        *self.0.borrow_mut() = pawns.iter().filter_map(|of| rows.state::<Pawn>(*of)).map(|pawn| pawn.name).collect();
        Ok(())
    }
}

#[test]
fn a_scenario_says_of_who_sits_at_the_server_what_it_says_of_their_index() {
    let names = Rc::new(RefCell::new(Vec::new()));
    let seen = names.clone();
    let scenario = Scenario::new(Rules::new(Club::schema()), Club::default).players(1).hosted();
    let scenario = scenario.ask(|player, request| request.with_data(["Anna", "Hugo"][player]).expect("short"));
    let scenario = scenario.bot(|_, _| Buttons::default()).length(Duration::from_secs(3));
    scenario.check(move || Names(seen.clone())).schedule("").run(1).expect("no check complains");
    assert_eq!(*names.borrow(), [Text::new("Hugo"), Text::new("Anna")]);
}

#[test]
fn a_number_alone_is_a_player_of_whom_nothing_is_said() {
    assert_eq!(JoinRequest::from(77), JoinRequest::new(77));
    assert!(JoinRequest::new(77).data().is_empty());
}
