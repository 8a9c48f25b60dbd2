//! The flight recorder: a session that was recorded can be run again to the same, and whatever else the bytes are, they
//! are told apart from that.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use crate::common::projectiles::{Keys, Range};
use core::time::Duration;
use foretell::session::client::{ClientEvent, Corrected, Joined};
use foretell::session::server::{LateInput, Server, ServerEvent};
use foretell::{
    Client, ClientConfig, Fingerprint, Frame, Instant, Outbox, PeerId, PlayerId, Rules, SendRate, ServerConfig,
    ServerFrame, Tick, TickRate, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, HostClock, Loss, Reordering, SplitMix64};
use foretell_sim::record::{ClientReplay, Divergence, Ending, Recorder, Recording, RecordingError, ServerReplay};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};

/// A recorder, and where its bytes come out.
fn recorder(limit: Option<u64>) -> (Recorder, Receiver<Vec<u8>>) {
    let (to, from) = channel();
    let sink = Box::new(move |bytes: &[u8]| {
        // What is written when an endpoint is dropped is mostly not waited for.
        let _ = to.send(bytes.to_vec());
    });
    (limit.map_or_else(|| Recorder::new(sink.clone()), |limit| Recorder::with_limit(sink.clone(), limit)), from)
}

/// Plays, pushes, changes settings, and keeps what the endpoints tell.
#[derive(Default)]
struct Play {
    corrections: Vec<(Instant, Corrected)>,
    events: Vec<(Instant, ClientEvent)>,
    server_events: Vec<(Instant, ServerEvent)>,
    late: Vec<(Instant, LateInput)>,
}

impl Driver<Masses> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(SplitMix64::new(u64::from(tick.get() / 16) ^ (player as u64) << 32).next_u64() & 31)
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        let tick = server.server.tick().get();
        let first = server.world.bodies.iter_mut().find(|body| body.owner() == PlayerId::new(1));
        if let Some(mut body) = first.filter(|_| tick.is_multiple_of(100)) {
            body.velocity[0] += 3.0;
        }
        if tick == 450 {
            server.server.config_mut().snapshot_rate = SendRate::Hz(16);
        }
        if tick == 900 {
            server.server.leave(PeerId(1));
        }
    }

    fn after_server(&mut self, now: Instant, _server: &Server<Masses>, frame: &ServerFrame<'_>) {
        self.server_events.extend(frame.events.iter().map(|event| (now, *event)));
        self.late.extend(frame.late.iter().map(|late| (now, *late)));
    }

    fn after_client(
        &mut self,
        player: usize,
        Moment { local, .. }: Moment,
        _client: &Client<Masses>,
        frame: &Frame<'_>,
    ) {
        if player == 0 {
            self.corrections.extend(frame.corrections.iter().map(|correction| (local, *correction)));
            self.events.extend(frame.events.iter().map(|event| (local, *event)));
        }
    }
}

fn rules() -> Rules {
    Rules::new(Masses::schema())
}

fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(60),
        jitter: Duration::from_millis(30),
        loss: Loss::Bursts { rate: 0.1, mean_length: 3.0 },
        duplicates: 0.05,
        reordering: Reordering { rate: 0.05, ..Reordering::default() },
        ..Conditions::default()
    }
}

/// Two players on a rough network, one of whom sleeps for a while, for so many seconds. The recordings of the first
/// client and of the server, if they are to be recorded.
fn session(seconds: u64, limit: Option<Option<u64>>) -> (Simulation<Masses>, Play, [Vec<u8>; 2]) {
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Masses::default(), 5);
    // What stands there before anybody has come.
    let rock = foretell::Entity::new(PlayerId::SERVER, Tick::ZERO, 7);
    simulation.server.world.add(foretell::Owned { entity: rock, owner: PlayerId::SERVER });
    let mut from = Vec::new();
    if let Some(limit) = limit {
        let (recorder, bytes) = recorder(limit);
        simulation.server.server.set_tap(Box::new(recorder));
        from.push(bytes);
    }
    for clock in [HostClock::new(Duration::from_secs(77), 300), HostClock::default()] {
        let host = HostOptions { clock, ..HostOptions::at(60) };
        let (client, conditions, world) = (ClientConfig::default(), rough(), Masses::default());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    if let Some(limit) = limit {
        let (recorder, bytes) = recorder(limit);
        simulation.players[0].client.set_tap(Box::new(recorder));
        from.push(bytes);
    }
    let mut play = Play::default();
    let third = Duration::from_secs(seconds) / 3;
    simulation.run_until(simulation.now() + third, &mut play);
    simulation.players[0].client.config_mut().correction = None;
    let now = simulation.now();
    simulation.players[0].host.clock_mut().stall(now, Duration::from_secs(3));
    simulation.run_until(simulation.now() + third, &mut play);
    simulation.players[0].client.config_mut().correction = ClientConfig::default().correction;
    simulation.run_until(simulation.now() + third, &mut play);
    let mut bytes = from.into_iter().map(|from| from.try_iter().flatten().collect());
    let [server, client] = [bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default()];
    (simulation, play, [client, server])
}

fn replay_client(bytes: &[u8]) -> Result<ClientReplay, RecordingError> {
    Recording::open(bytes)?.replay_client(rules(), Masses::default())
}

fn replay_server(bytes: &[u8]) -> Result<ServerReplay, RecordingError> {
    Recording::open(bytes)?.replay_server(rules(), Masses::default())
}

#[test]
fn a_recorded_session_runs_again_to_the_same_corrections_events_and_digests() {
    let (simulation, play, [client, server]) = session(24, Some(None));
    let (corrected, told) = (play.corrections.len(), play.server_events.len());
    assert!(corrected > 2 && play.events.len() > 2 && told > 1, "{corrected} {told}");
    let replay = replay_client(&client).expect("it is of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 20, "{:?}", replay.agreement);
    assert_eq!(replay.corrections, play.corrections);
    assert_eq!(replay.events, play.events);
    assert_eq!(replay.stats, simulation.players[0].client.stats());
    let replay = replay_server(&server).expect("it is of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 24, "{:?}", replay.agreement);
    assert_eq!(replay.events, play.server_events);
    assert_eq!(replay.late, play.late);
    let of_the_first = simulation.server.server.stats(replay.players[0].0);
    assert_eq!(Some(&replay.players[0].1), of_the_first);
    assert!(client.len() < 24 * 25_000 && server.len() < 24 * 15_000, "{} {}", client.len(), server.len());
}

#[test]
fn recording_changes_nothing_of_a_session() {
    let [(with, seen, _), (without, unseen, _)] = [Some(None), None].map(|limit| session(12, limit));
    assert_eq!((seen.corrections, seen.server_events), (unseen.corrections, unseen.server_events));
    assert_eq!(with.server.server.rows().digest(), without.server.server.rows().digest());
    assert_eq!(with.players[0].client.stats(), without.players[0].client.stats());
}

#[test]
fn sessions_without_a_handshake_and_what_the_transport_does_are_recorded_too() {
    let (given, bytes) = recorder(None);
    let mut server = Server::<Masses>::new(rules(), ServerConfig::default(), 3, Instant::from_micros(9));
    server.set_tap(Box::new(given));
    let player = server.join(PeerId(4));
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    let mut mine = Masses::default();
    let start = Instant::from_micros(1_000_000);
    let (config, me) = (ClientConfig::default(), Joined { player, epoch: 3, now: start });
    let mut client = Client::joined(rules(), config, me, &mut mine);
    let (given, bytes_of_client) = recorder(None);
    client.set_tap(Box::new(given));
    for tick in 0..300 {
        let now = Instant::from_micros(tick * 15_625);
        let here = start + now.since(Instant::ZERO);
        client.update(here, &mut mine, &mut |_| Buttons::from_bits(3), &mut outbox);
        for (_, datagram) in outbox.iter() {
            server.receive(now, PeerId(4), datagram).expect("well-formed");
        }
        outbox.clear();
        match tick {
            100 => server.disconnected(PeerId(4)),
            150 => drop(server.join(PeerId(5))),
            200 => server.leave(PeerId(5)),
            220 => drop(server.join(PeerId(6))),
            240 => server.release(PeerId(6)),
            _ => {}
        }
        server.update(now, &mut world, &mut outbox);
        for (_, datagram) in outbox.iter() {
            client.receive(here, datagram).expect("well-formed");
        }
        outbox.clear();
    }
    let server_replay = replay_server(&bytes.try_iter().flatten().collect::<Vec<_>>()).expect("of this game");
    assert!(server_replay.agreement.holds() && server_replay.agreement.digests == 5, "{server_replay:?}");
    assert_eq!(server_replay.events.len(), 6, "{:?}", server_replay.events);
    assert_eq!(server_replay.span, Some((Instant::ZERO, Instant::from_micros(299 * 15_625))));
    let replay = replay_client(&bytes_of_client.try_iter().flatten().collect::<Vec<_>>()).expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests == 5, "{replay:?}");
    assert_eq!(replay.stats, client.stats());
}

#[test]
fn a_recorded_session_of_a_game_with_fingerprints_runs_again_to_the_same() {
    let rules = || Rules { fingerprints: vec![Fingerprint::of_bytes("level", b"of stone")], ..rules() };
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Masses::default(), 5);
    let (tap, of_server) = recorder(None);
    simulation.server.server.set_tap(Box::new(tap));
    let (client, host, world) = (ClientConfig::default(), HostOptions::at(60), Masses::default());
    simulation.add_player(PlayerOptions { client, host, conditions: rough(), world });
    let (tap, of_client) = recorder(None);
    simulation.players[0].client.set_tap(Box::new(tap));
    simulation.run_until(Instant::from_micros(6_000_000), &mut Play::default());
    let [server, client]: [Vec<u8>; 2] = [of_server, of_client].map(|bytes| bytes.try_iter().flatten().collect());
    let open = |bytes| Recording::open(bytes).expect("a recording");
    let replay = open(&server).replay_server(rules(), Masses::default()).expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 5, "{:?}", replay.agreement);
    assert_eq!(replay.players.len(), 1);
    let replay = open(&client).replay_client(rules(), Masses::default()).expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests >= 4, "{:?}", replay.agreement);
    assert_eq!(replay.stats, simulation.players[0].client.stats());
}

#[test]
fn a_recorded_server_that_had_no_place_left_runs_again_to_its_end() {
    let (tap, bytes) = recorder(None);
    let config = ServerConfig { players_max: 1, ..ServerConfig::default() };
    let mut server = Server::<Masses>::new(rules(), config, 3, Instant::ZERO);
    server.set_tap(Box::new(tap));
    assert_eq!([4, 5].map(|peer| server.try_join(PeerId(peer)).is_some()), [true, false]);
    let mut world = Masses::default();
    for tick in 0..200 {
        server.update(Instant::from_micros(tick * 15_625), &mut world, &mut Outbox::new());
    }
    drop(server);
    let replay = replay_server(&bytes.try_iter().flatten().collect::<Vec<_>>()).expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.ending == Ending::Dropped, "{:?}", replay.agreement);
    assert_eq!((replay.agreement.digests, replay.players.len()), (4, 1));
}

/// Both recordings of a short session.
static SHORT: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| session(6, Some(None)).2);

#[test]
fn at_its_limit_a_recording_says_so_and_nothing_follows() {
    let [whole, _] = &*SHORT;
    for limit in [0, 4, 7, 8, 40, 100, 5_000] {
        let (_, _, [client, server]) = session(6, Some(Some(limit)));
        for bytes in [&client, &server] {
            assert!(bytes.len() as u64 <= limit, "{} of {limit}", bytes.len());
            assert!(limit != 5_000 || bytes.len() as u64 > limit - 1_300);
        }
        assert!(client.is_empty() || client[..client.len() - 2] == whole[..client.len() - 2]);
        if limit == 5_000 {
            let replay = replay_client(&client).expect("it is of this game");
            assert!(replay.agreement.holds() && replay.agreement.ending == Ending::Limit, "{:?}", replay.agreement);
            assert!(replay_server(&server).expect("it is of this game").agreement.ending == Ending::Limit);
        } else {
            assert!(replay_client(&client).map_or(true, |replay| replay.agreement.ending == Ending::Limit), "{limit}");
        }
    }
    assert!(replay_client(whole).expect("it is of this game").agreement.ending != Ending::Limit);
}

#[test]
fn another_game_the_other_end_another_format_and_no_recording_are_told_apart() {
    let [client, server] = &*SHORT;
    assert_eq!(replay_client(server).err(), Some(RecordingError::OtherEnd));
    assert_eq!(replay_server(client).err(), Some(RecordingError::OtherEnd));
    assert!(Recording::open(server).expect("a recording").is_of_server());
    let of_f32 = Recording::open(client).expect("a recording");
    let schema = crate::common::f32_mass::Masses::schema();
    let other = of_f32.replay_client(Rules::new(schema.clone()), crate::common::f32_mass::Masses::default());
    let recorded = rules().hash_with::<Buttons>();
    let given = Rules::new(schema).hash_with::<Buttons>();
    assert_eq!(other.err(), Some(RecordingError::OtherGame { recorded, given }));
    assert_eq!(replay_client(b"FOO").err(), Some(RecordingError::NotARecording));
    assert_eq!(replay_client(&[]).err(), Some(RecordingError::NotARecording));
    let newer = [&client[..4], &[1], &client[5..]].concat();
    assert_eq!(replay_client(&newer).err(), Some(RecordingError::OtherVersion(1)));
    assert_eq!(
        RecordingError::OtherVersion(1).to_string(),
        "the recording has version 1 of the format, which is not known here"
    );
    let rules = Recording::open(client).expect("a recording").rules::<Buttons>(rules()).expect("its own");
    assert_eq!(rules.tick_rate, TickRate::default());
}

/// A world that panics, or is not the one that was recorded, from a tick on.
#[derive(Clone, Default)]
struct Faulty {
    masses: Masses,
    panics_at: Option<Tick>,
    is_heavier_at: Option<Tick>,
}

fn heavier() -> Faulty {
    Faulty { is_heavier_at: Some(Tick::new(90)), ..Faulty::default() }
}

impl foretell::Simulate for Faulty {
    type Input = Buttons;

    fn step(&mut self, step: &mut foretell::Step<'_, Buttons>) {
        assert!(self.panics_at != Some(step.tick()), "as it is to");
        self.masses.step(step);
        if self.is_heavier_at == Some(step.tick()) {
            self.masses.bodies.iter_mut().for_each(|mut body| body.velocity[2] += 1e-9);
        }
    }
}

impl World for Faulty {
    type Saved = <Masses as World>::Saved;
    fn schema() -> foretell::Schema {
        Masses::schema()
    }
    fn save(&self, into: &mut Self::Saved) {
        self.masses.save(into);
    }
    fn load(&mut self, from: &Self::Saved) {
        self.masses.load(from);
    }
    fn publish(&mut self, rows: &mut foretell::Rows) {
        self.masses.publish(rows);
    }
    fn adopt(&mut self, rows: &foretell::Rows) {
        self.masses.adopt(rows);
    }
}

#[test]
fn a_replay_that_comes_to_something_else_says_where_first() {
    let [client, server] = &*SHORT;
    let open = |bytes| Recording::open(bytes).expect("a recording");
    let replay = open(client).replay_client(rules(), heavier()).expect("of this game");
    let Some(Divergence::Digest { tick, at, .. }) = replay.agreement.divergence else { panic!("{replay:?}") };
    assert!((Tick::new(90)..Tick::new(160)).contains(&tick) && at > Instant::from_micros(77_000_000), "{tick}");
    assert!(!replay.agreement.holds() && replay.agreement.broken.is_none());
    let replay = open(server).replay_server(rules(), heavier()).expect("of this game");
    let Some(Divergence::Digest { tick, .. }) = replay.agreement.divergence else { panic!("{replay:?}") };
    assert!((Tick::new(91)..Tick::new(156)).contains(&tick), "{tick}");
    assert_eq!(replay.agreement.digests, 2, "those before");
}

#[test]
fn a_recording_that_breaks_off_is_replayed_as_far_as_it_goes() {
    for bytes in &*SHORT {
        let cut = &bytes[..bytes.len() * 2 / 3 + 1];
        let agreements: [_; 2] = core::array::from_fn(|more| {
            let bytes = &cut[..cut.len() + more - 1];
            let is_server = Recording::open(bytes).expect("a recording").is_of_server();
            if is_server {
                replay_server(bytes).expect("of this game").agreement
            } else {
                replay_client(bytes).expect("of this game").agreement
            }
        });
        // One of two lengths in a row is not the end of a record.
        let broken = agreements.iter().find_map(|agreement| agreement.broken).expect("one breaks off");
        assert!(matches!(broken, RecordingError::BreaksOff { at } if at > cut.len() - 1_400 && at < cut.len()));
        assert!(agreements.iter().all(|agreement| agreement.digests >= 3 && agreement.divergence.is_none()));
    }
}

/// A server alone that is updated a few times; in the last update it panics, if it is to.
fn lone_server(panics: bool) -> Vec<u8> {
    let (given, bytes) = recorder(None);
    let play = || {
        let mut server = Server::<Faulty>::new(rules(), ServerConfig::default(), 3, Instant::ZERO);
        server.set_tap(Box::new(given));
        let mut world = Faulty { panics_at: panics.then_some(Tick::new(20)), ..Faulty::default() };
        for tick in 0..40 {
            server.update(Instant::from_micros(tick * 15_625), &mut world, &mut Outbox::new());
        }
    };
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(play)).is_err();
    assert_eq!(panicked, panics);
    bytes.try_iter().flatten().collect()
}

#[test]
fn a_recording_says_whether_its_endpoint_came_to_its_end() {
    let ending = |bytes: &[u8]| replay_server(bytes).expect("of this game").agreement;
    let whole = lone_server(false);
    assert!(ending(&whole).holds() && ending(&whole).ending == Ending::Dropped, "{:?}", ending(&whole));
    // The last record is its end, of two bytes.
    let cut = ending(&whole[..whole.len() - 2]);
    assert!(cut.holds() && cut.ending == Ending::Missing && cut.digests == ending(&whole).digests, "{cut:?}");
    let panicked = ending(&lone_server(true));
    assert!(panicked.holds() && panicked.ending == Ending::Missing, "{panicked:?}");
    let ended_twice = [&whole[..], &whole[whole.len() - 2..]].concat();
    assert_eq!(ending(&ended_twice), ending(&whole), "nothing after its end is read");
}

#[test]
fn a_history_is_not_as_long_as_a_recording_claims() {
    let huge = ClientConfig { horizon: Duration::from_secs(1 << 40), ..ClientConfig::default() };
    let mut client = Client::<Masses>::new(rules(), huge, 1);
    let (given, bytes) = recorder(None);
    client.set_tap(Box::new(given));
    let claims: Vec<u8> = bytes.try_iter().flatten().collect();
    // The header, the start and the settings: a record's length is one byte, or two.
    let after = |bytes: &[u8], at: usize| match bytes[at + 1] {
        short @ 0..128 => at + 2 + usize::from(short),
        low => at + 3 + usize::from(low - 128) + 128 * usize::from(bytes[at + 2]),
    };
    let [start, start_huge] = [&SHORT[0][..], &claims].map(|bytes| after(bytes, 5));
    let [settings, settings_huge] = [after(&SHORT[0], start), after(&claims, start_huge)];
    assert_eq!(settings_huge, claims.len());
    let bytes = [&SHORT[0][..start], &claims[start_huge..], &SHORT[0][settings..]].concat();
    let used = allocation_counter::measure(|| assert!(replay_client(&bytes).expect("of this game").agreement.holds()));
    assert!(used.bytes_max < 16 * 1024 * 1024, "{used:?}");
}

#[test]
#[should_panic(expected = "a tap is set before the first")]
fn what_has_begun_can_not_be_recorded() {
    let mut server = Server::<Masses>::new(rules(), ServerConfig::default(), 3, Instant::ZERO);
    server.join(PeerId(4));
    server.set_tap(Box::new(recorder(None).0));
}

#[test]
#[should_panic(expected = "a tap is set before the first")]
fn a_client_that_was_told_something_can_not_be_recorded_any_more() {
    let mut client = Client::<Masses>::new(rules(), ClientConfig::default(), 1);
    client.predict(PlayerId::new(2), true);
    client.set_tap(Box::new(recorder(None).0));
}

#[test]
fn a_recording_has_its_digests_when_the_clock_was_set_back_by_an_hour_too() {
    let (given, bytes) = recorder(None);
    let start = Instant::from_micros(7_200_000_000);
    let mut server = Server::<Masses>::new(rules(), ServerConfig::default(), 3, start);
    server.set_tap(Box::new(given));
    let mut world = Masses::default();
    for frame in 0..640 {
        let now = if frame < 128 { 7_200_000_000 } else { 3_600_000_000 } + frame * 15_625;
        server.update(Instant::from_micros(now), &mut world, &mut Outbox::new());
    }
    let replay = replay_server(&bytes.try_iter().flatten().collect::<Vec<_>>()).expect("of this game");
    assert!(replay.agreement.holds() && replay.agreement.digests == 10, "{:?}", replay.agreement);
}

#[test]
fn a_recording_that_says_it_is_of_an_exact_session_where_none_can_be_is_of_another_game() {
    let (given, bytes) = recorder(None);
    let of_range = || Rules::new(Range::schema());
    let mut server = Server::<Range>::new(of_range(), ServerConfig::default(), 3, Instant::ZERO);
    server.set_tap(Box::new(given));
    let bytes: Vec<u8> = bytes.try_iter().flatten().collect();
    let said = of_range().hash_with::<Keys>();
    let exact = Rules { exact: true, ..of_range() }.hash_with::<Keys>();
    let at = bytes.windows(8).position(|eight| eight == said.to_le_bytes()).expect("it says its rules");
    let crafted = [&bytes[..at], &exact.to_le_bytes(), &bytes[at + 8..]].concat();
    let replay = |bytes| Recording::open(bytes).expect("one").replay_server(of_range(), Range::default()).err();
    assert_eq!(replay(&bytes), None);
    assert_eq!(replay(&crafted), Some(RecordingError::OtherGame { recorded: exact, given: said }));
}

/// What the sink of the test below has seen; a sink that allocates would be counted.
static SEEN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

#[test]
fn recording_allocates_nothing_in_a_steady_state() {
    let sink = || {
        Box::new(|bytes: &[u8]| {
            SEEN.fetch_add(bytes.len() as u64, std::sync::atomic::Ordering::Relaxed);
        })
    };
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Masses::default(), 5);
    simulation.server.server.set_tap(Box::new(Recorder::new(sink())));
    for _ in 0..2 {
        let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
        let (client, host, world) = (ClientConfig::default(), HostOptions::at(60), Masses::default());
        let index = simulation.add_player(PlayerOptions { client, host, conditions, world });
        simulation.players[index].client.set_tap(Box::new(Recorder::new(sink())));
    }
    struct Quiet;
    impl Driver<Masses> for Quiet {
        fn input(&mut self, player: usize, tick: Tick) -> Buttons {
            Buttons::from_bits(u64::from(tick.get() / 16) + player as u64)
        }
    }
    simulation.run_until(Instant::from_micros(20_000_000), &mut Quiet);
    let before = SEEN.load(std::sync::atomic::Ordering::Relaxed);
    let used = allocation_counter::measure(|| simulation.run_until(Instant::from_micros(30_000_000), &mut Quiet));
    assert!(SEEN.load(std::sync::atomic::Ordering::Relaxed) > before + 100_000);
    assert_eq!(used.count_total, 0, "{used:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_and_cut_recordings_never_panic_and_never_allocate_by_a_length_they_claim(
        of_server: bool,
        flips in prop::collection::vec((0.0_f64..1.0, 0_u32..8), 0..6),
        early in prop::collection::vec((0_usize..120, any::<u8>()), 0..3),
        cut in 0.0_f64..1.3,
    ) {
        let mut bytes = SHORT[usize::from(of_server)].clone();
        for (place, bit) in &flips {
            let at = (place * bytes.len() as f64) as usize;
            bytes[at] ^= 1 << bit;
        }
        for (at, byte) in &early {
            bytes[*at] = *byte;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let untouched = flips.is_empty() && early.is_empty();
        let mut agreement = None;
        let used = allocation_counter::measure(|| {
            agreement = Some(if of_server {
                replay_server(&bytes).map(|replay| replay.agreement)
            } else {
                replay_client(&bytes).map(|replay| replay.agreement)
            });
        });
        // The endpoint itself takes what its history takes, at most that of a minute at 1000 Hz.
        prop_assert!(used.bytes_max < 128 * 1024 * 1024, "{:?}", used);
        if untouched && cut >= 1.0 {
            prop_assert!(agreement.expect("measured").expect("readable").holds());
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0_usize..80) {
        let start = &SHORT[0][..keep.min(SHORT[0].len())];
        bytes.splice(0..0, start.iter().copied());
        let _ = replay_client(&bytes);
        let _ = replay_server(&bytes);
    }
}
