//! A server in a player's program: who sits at it, and who plays with them; and the same game however it is started.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use crate::common::projectiles::{HIT, Keys, Range, SHOT};
use crate::common::scenario::masses;
use core::time::Duration;
use foretell::session::Refusal;
use foretell::session::client::{ClientEvent, ClientState, Joined, PoseSource, Show};
use foretell::session::host::{LocalPlayer, ServerSide};
use foretell::{
    Client, ClientConfig, Host, InputStatus, Instant, Outbox, PeerId, PlayerId, Rules, SendRate, Server, ServerConfig,
    Session, SessionConfig, Simulate, Start, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::check::{Check, ServerSeen};
use foretell_sim::harness::{FaultMix, Scenario};
use foretell_sim::netsim::SplitMix64;
use foretell_sim::record::{Ending, Recorder, Recording};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::channel;

const HOST: PlayerId = PlayerId::new(1);

/// The instant of a frame of a screen with 60 Hz.
fn frame_at(nth: u64) -> Instant {
    Instant::from_micros(nth * 1_000_000 / 60)
}

/// What is pressed in a tick: nothing in the first second, so that a client has come into play by then.
fn press(tick: Tick) -> Buttons {
    let part = u64::from(tick.get() / 16);
    Buttons::from_bits(if part < 4 { 0 } else { SplitMix64::new(part).next_u64() & 31 })
}

fn host<W: World>(config: ServerConfig) -> Host<W> {
    Host::new(Rules::new(W::schema()), config, 0, Instant::ZERO)
}

#[test]
fn whatever_goes_wrong_for_the_others_who_sits_at_the_server_is_never_corrected() {
    let seen = masses().players(2).hosted().seeds(0..60).expect("no check complains");
    assert!(seen.figures.corrections > 300, "the others are corrected: {seen:?}");
}

/// How many ticks each update of the server has stepped.
struct Pace(Rc<RefCell<Vec<usize>>>);

impl Check<Masses> for Pace {
    fn name(&self) -> &'static str {
        "pace"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, Masses>) -> Result<(), String> {
        self.0.borrow_mut().push(seen.stepped.len());
        Ok(())
    }
}

#[test]
fn a_server_that_somebody_sits_at_renders_60_frames_per_second_whatever_its_tick_rate() {
    let frames = Rc::new(RefCell::new(Vec::new()));
    let noted = frames.clone();
    let hosted =
        Scenario::new(Rules::new(Masses::schema()), Masses::default).hosted().check(move || Pace(noted.clone()));
    hosted.length(Duration::from_secs(4)).run(1).expect("no check complains");
    let frames = frames.borrow();
    assert_eq!(frames.len(), 4 * 60 + 1, "with that at the start");
    assert_eq!(frames.iter().filter(|ticks| **ticks == 2).count(), 4 * 4, "as 64 ticks fall into 60 frames");
}

/// Finds fault with the state of a tick, whichever it is.
struct Finds;

impl Check<Masses> for Finds {
    fn name(&self) -> &'static str {
        "finds"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, Masses>) -> Result<(), String> {
        let digest = seen.server.rows().digest();
        if seen.server.tick() < Tick::new(200) { Ok(()) } else { Err(format!("it is {digest:x}")) }
    }
}

#[test]
fn a_hosted_failure_that_needs_fewer_players_prints_the_run_that_was_found() {
    let found = |players| {
        let scenario = masses().hosted().players(players).schedule("").check(|| Finds);
        scenario.run(7).expect_err("the check complains")
    };
    let shrunk = found(3);
    assert!(shrunk.test().contains(".players(1)"), "{shrunk}");
    assert_eq!(shrunk.what(), found(1).what());
}

#[test]
fn a_game_that_is_played_alone_is_a_host_without_anybody_else() {
    let seen = masses().hosted().players(0).faults(FaultMix::default()).seeds(0..5).expect("no check complains");
    assert_eq!(seen.figures.corrections, 0);
}

#[test]
fn shots_of_who_sits_at_the_server_are_predicted_by_nobody_and_told_to_everybody() {
    let shooters = Scenario::new(Rules::new(Range::schema()), Range::default)
        .players(2)
        .hosted()
        .bot(|_, random| {
            let [walks, fires] = [random.next_u64() % 3, random.next_u64() % 4];
            Keys { right: walks == 1, left: walks == 2, fire: fires == 0 }
        })
        .faults(FaultMix::default())
        .search(0);
    // Who is hit is corrected in calm, too; so many shots need more bytes; and the world counts its own first times.
    let shooters = ["calm", "bytes", "world"].into_iter().fold(shooters, Scenario::without);
    shooters.seeds(0..20).expect("no check complains");
}

/// What the steps of a world are told.
#[derive(World, Default)]
struct Noted {
    bodies: Table<Body>,
    #[world(constant)]
    told: BTreeMap<Tick, (Buttons, InputStatus, Option<f64>)>,
    /// Where the host's own is in each state, from the first after a step on.
    #[world(constant)]
    places: Vec<[f64; 3]>,
}

impl Simulate for Noted {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.bodies.spawn(step, joined.player, Body::default());
        }
        if let Some(own) = step.input(HOST) {
            let presented = own.presented.map(|at| at.as_ticks());
            self.told.insert(step.tick(), (own.input, own.status, presented));
        }
        for mut body in self.bodies.simulated(step) {
            if let Some(input) = step.input(body.owner()) {
                body.step(input.input, step.seconds());
            }
        }
        self.places.extend(self.bodies.iter().next().map(|body| body.position));
    }
}

#[test]
fn the_input_of_a_tick_is_asked_for_when_it_is_stepped_and_counts_in_it() {
    for show in [Show::Between, Show::Newest] {
        let server = Server::new(Rules::new(Noted::schema()), ServerConfig::default(), 0, Instant::ZERO);
        let (mut host, mut world, mut outbox) = (Host::of(server, show), Noted::default(), Outbox::new());
        let (mut asked, mut shown_at) = (Vec::new(), None);
        for now in (0..300).map(frame_at) {
            let first = asked.len();
            let mut input = |tick| {
                asked.push(tick);
                press(tick)
            };
            let (ticks, next) = {
                let frame = host.update(now, &mut world, &mut input, &mut outbox);
                assert_eq!((frame.state, frame.resimulated, frame.corrections.len()), (ClientState::Playing, 0, 0));
                (frame.ticks, frame.tick)
            };
            assert_eq!((asked.len() - first, asked.last().map(|tick| tick.next())), (ticks as usize, Some(next)));
            for tick in &asked[first..] {
                let (input, status, presented) = world.told[tick];
                assert_eq!((input, status), (press(*tick), InputStatus::Received));
                let is_right = |(one, other): (f64, f64)| (one - other).abs() < 2e-6;
                assert!(presented.zip(shown_at).map_or(presented == shown_at, is_right), "{presented:?} {shown_at:?}");
            }
            // What is seen until the next frame.
            let at = now.micros() as f64 * 64.0 / 1e6;
            shown_at = Some(if show == Show::Between { at } else { f64::from(next.get()) });
        }
        assert!(asked.iter().copied().eq(Tick::ZERO.until(Tick::new(asked.len() as u32))) && asked.len() > 300);
        assert!(outbox.is_empty(), "nothing is sent where nobody else is");
        assert_eq!(host.server().stats(HOST).expect("there").inputs.applied, asked.len() as u64);
    }
}

/// Something that goes faster and faster, and is told rarely.
#[derive(State, Clone, Copy)]
#[state(hz = 10)]
struct Target {
    #[state(position, precision = 0.01)]
    x: [f64; 1],
}

#[derive(World, Default)]
struct Gallery {
    targets: Table<Target>,
    /// Where the host finds the target in the step of each tick.
    #[world(constant)]
    found: Vec<Option<f64>>,
}

impl Simulate for Gallery {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.found.push(step.rewound(HOST).poses().next().map(|(_, pose)| pose.position[0]));
        if step.tick() == Tick::ZERO {
            self.targets.spawn(step, PlayerId::SERVER, Target { x: [0.0] });
        }
        let seconds = f64::from(step.tick().next().get()) * step.seconds();
        for mut target in self.targets.simulated(step) {
            target.x = [seconds * seconds];
        }
    }
}

#[test]
fn who_sits_at_the_server_shoots_at_what_is_on_the_screen_however_rarely_it_is_told() {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(20), ..ServerConfig::default() };
    let (mut host, mut world, mut outbox) = (host::<Gallery>(config), Gallery::default(), Outbox::new());
    let (mut views, mut shown) = (Views::new(), None);
    for now in (0..300).map(frame_at) {
        let first = world.found.len();
        host.update(now, &mut world, &mut press, &mut outbox);
        for found in &world.found[first..] {
            let off = found.zip(shown).map(|(found, shown): (f64, f64)| (found - shown).abs());
            assert!(first < 30 || off.is_some_and(|off| off < 1e-4), "{found:?} of {shown:?}");
        }
        host.present(now, &mut views);
        shown = views.nth(0).map(|view| view.pose().position[0]);
    }
    assert!(world.found.len() > 300);
}

#[test]
fn a_host_is_shown_the_truth_between_its_last_two_states() {
    let (mut host, mut world, mut outbox) = (host::<Noted>(ServerConfig::default()), Noted::default(), Outbox::new());
    let mut views = Views::new();
    for now in (0..300).map(frame_at) {
        host.update(now, &mut world, &mut press, &mut outbox);
        host.present(now, &mut views);
        let [view] = [views.nth(0).expect("their own")];
        assert_eq!(
            (views.len(), view.owner, view.source, view.offset.is_none()),
            (1, HOST, PoseSource::Authority, true)
        );
        if let [.., before, newest] = &world.places[..] {
            let passed = now.micros() as f64 * 64.0 / 1e6;
            let at = passed.fract();
            for axis in 0..3 {
                let expected = before[axis] + (newest[axis] - before[axis]) * at;
                assert!((view.pose().position[axis] - expected).abs() < 1e-6, "{at}: {before:?} {newest:?}");
            }
        }
    }
}

/// The digest of every state up to the last that all have, played as `start` says.
fn digests(start: Start) -> Vec<u64> {
    let config = SessionConfig::new(Rules::new(Masses::schema()));
    let (mut game, mut world) = (Session::start(start, config, Instant::ZERO), Masses::default());
    let (mut outbox, mut digests) = (Outbox::new(), Vec::new());
    // A dedicated server gets one client, which plays over a perfect link, and was there from the first tick on.
    let mut remote = (start == Start::Dedicated { epoch: 0 }).then(|| {
        let player = game.server().expect("a server").join(PeerId(7));
        let (mut world, joined) = (Masses::default(), Joined { player, epoch: 0, now: Instant::ZERO });
        let rules = Rules::new(Masses::schema());
        (Client::joined(rules, ClientConfig::default(), joined, &mut world), world, Outbox::new())
    });
    // The server's ticks, and a client's frame just before each.
    for now in (0..64 * 10).map(|nth| Instant::from_micros((nth * 1_000_000_u64).div_ceil(64))) {
        if let Some((client, world, sent)) = &mut remote {
            client.update(now, world, &mut press, sent);
            sent.iter().for_each(|(_, bytes)| game.receive(now, PeerId(7), bytes).expect("well-formed"));
            sent.clear();
        }
        let updated = format!("{:?}", game.update(now, &mut world, &mut press, &mut outbox));
        assert_eq!(format!("{:?}", game.frame(now)), updated, "it is still known what the update did");
        if let Some((client, ..)) = &mut remote {
            outbox.iter().for_each(|(_, bytes)| client.receive(now, bytes).expect("well-formed"));
        }
        outbox.clear();
        digests.push(game.server().expect("a server").rows().digest());
    }
    digests
}

#[test]
fn the_same_inputs_come_to_the_same_states_however_the_game_is_started() {
    let alone = digests(Start::Single);
    assert!(alone.len() == 640 && alone[100..].windows(2).filter(|two| two[0] != two[1]).count() > 400);
    assert_eq!(digests(Start::Host { epoch: 3 }), alone);
    assert_eq!(digests(Start::Dedicated { epoch: 0 }), alone);
}

#[test]
fn where_there_is_no_place_left_the_player_of_the_program_is_refused_and_the_others_play_on() {
    let config = ServerConfig { players_max: 1, ..ServerConfig::default() };
    let mut server = Server::<Masses>::new(Rules::new(Masses::schema()), config, 0, Instant::ZERO);
    let other = server.join(PeerId(5));
    let (mut world, mut outbox, mut views) = (Masses::default(), Outbox::new(), Views::new());
    let mut local = LocalPlayer::new(Show::Between);
    for (nth, now) in (0..100).map(frame_at).enumerate() {
        let side = ServerSide { server: &mut server, world: &mut world, outbox: &mut outbox };
        let frame = local.update(now, side, &mut |_| panic!("nobody asks them"));
        let told: &[ClientEvent] = if nth == 0 { &[ClientEvent::Refused(Refusal::Full)] } else { &[] };
        assert_eq!((frame.state, frame.events), (ClientState::Refused(Refusal::Full), told));
        local.present(now, &server, &mut views);
        assert!(views.is_empty());
    }
    assert_eq!((local.player(), server.local_player()), (None, None));
    assert_eq!(
        (world.bodies.iter().map(|body| body.owner()).collect::<Vec<_>>(), server.tick() > Tick::new(90)),
        (vec![other], true)
    );
}

#[test]
fn one_player_sits_at_a_server_and_no_other() {
    let mut server = Server::<Masses>::new(Rules::new(Masses::schema()), ServerConfig::default(), 0, Instant::ZERO);
    let (mut first, mut second) = (LocalPlayer::new(Show::Between), LocalPlayer::new(Show::Between));
    first.join(&mut server);
    second.join(&mut server);
    assert_eq!((first.player(), second.player(), server.local_player()), (Some(HOST), None, Some(HOST)));
    assert_eq!((second.state(), server.peer_of(HOST)), (ClientState::Refused(Refusal::Full), None));
}

#[test]
fn who_plays_alone_lets_nobody_in_until_there_are_more_places() {
    let config = SessionConfig::new(Rules::new(Masses::schema()));
    let mut alone = Session::start(Start::Single, config.clone(), Instant::ZERO);
    let joins = |alone: &mut Session<Masses>, world: &mut Masses, nonce: u64, from: u64| {
        let mut other: Session<Masses> = Session::start(Start::Client { nonce }, config.clone(), Instant::ZERO);
        let (mut its_world, mut up, mut down) = (Masses::default(), Outbox::new(), Outbox::new());
        for now in (from..from + 120).map(frame_at) {
            other.update(now, &mut its_world, &mut |_| Buttons::default(), &mut up);
            up.iter().for_each(|(_, bytes)| alone.receive(now, PeerId(nonce), bytes).expect("well-formed"));
            alone.update(now, world, &mut press, &mut down);
            down.iter().for_each(|(_, bytes)| other.receive(now, PeerId(0), bytes).expect("well-formed"));
            up.clear();
            down.clear();
        }
        other.player()
    };
    let mut world = Masses::default();
    assert_eq!(joins(&mut alone, &mut world, 11, 0), None);
    alone.server().expect("a server").config_mut().players_max = 8;
    assert!(joins(&mut alone, &mut world, 12, 120).is_some());
    assert_eq!((alone.player(), world.bodies.len()), (Some(HOST), 2));
}

/// Whatever happens to an entity of a host's player, and to others', is told once.
#[test]
fn lives_and_effects_are_told_to_who_sits_at_the_server_as_to_a_client() {
    let (mut host, mut world, mut outbox) = (host::<Range>(ServerConfig::default()), Range::default(), Outbox::new());
    let other = host.server_mut().join(PeerId(5));
    let mut events = Vec::new();
    for now in (0..600).map(frame_at) {
        let mut keys = |tick: Tick| Keys { fire: tick.get() > 60 && tick.get().is_multiple_of(40), ..Keys::default() };
        events.extend_from_slice(host.update(now, &mut world, &mut keys, &mut outbox).events);
        outbox.clear();
    }
    let count = |wanted: &dyn Fn(&ClientEvent) -> bool| events.iter().filter(|event| wanted(event)).count();
    assert_eq!(events[0], ClientEvent::Joined(host.player().expect("a place")));
    let said = |kind| world.truth.iter().filter(|effect| effect.kind == kind).count();
    assert!(said(SHOT) > 10 && said(HIT) > 3, "{other}");
    for kind in [SHOT, HIT] {
        let told = count(&|event| matches!(event, ClientEvent::Effect { effect, late: 0 } if effect.kind == kind));
        let confirmed = count(&|event| matches!(event, ClientEvent::EffectConfirmed(effect) if effect.kind == kind));
        assert_eq!((told, confirmed), (said(kind), said(kind)));
    }
    let is_open = world.entities().len();
    let spawned = count(&|event| matches!(event, ClientEvent::Spawned(_)));
    let gone = count(&|event| matches!(event, ClientEvent::Despawned { .. }));
    // The other's pouch is for its owner alone.
    assert_eq!((spawned, spawned - gone), (world.lives.len() - 1, is_open - 1));
    assert_eq!(count(&|event| matches!(event, ClientEvent::Confirmed(_))), spawned);
    assert_eq!(count(&|event| matches!(event, ClientEvent::Withdrawn { .. } | ClientEvent::EffectCancelled(_))), 0);
}

#[test]
fn a_recorded_host_comes_to_the_same_again() {
    let (to, from) = channel();
    let mut host = host::<Masses>(ServerConfig::default());
    host.server_mut().set_tap(Box::new(Recorder::new(Box::new(move |bytes| drop(to.send(bytes.to_vec()))))));
    let (mut world, mut outbox) = (Masses::default(), Outbox::new());
    // Another says hello before the first update.
    let mut guest = Client::<Masses>::new(Rules::new(Masses::schema()), ClientConfig::default(), 77);
    let (mut its_world, mut up) = (Masses::default(), Outbox::new());
    for now in (0..600).map(frame_at) {
        guest.update(now, &mut its_world, &mut |_| Buttons::default(), &mut up);
        for (_, bytes) in up.iter() {
            host.receive(now, PeerId(9), bytes).expect("an honest client has written it");
        }
        up.clear();
        // It stands still for half a second.
        let now = now + Duration::from_millis(if now > Instant::from_micros(5_000_000) { 500 } else { 0 });
        if now == frame_at(200) {
            world.first().velocity[0] += 3.0;
        }
        host.update(now, &mut world, &mut press, &mut outbox);
        for (_, bytes) in outbox.iter() {
            guest.receive(now, bytes).expect("an honest server has written it");
        }
        outbox.clear();
    }
    let last = host.server().tick();
    drop(host);
    let bytes: Vec<u8> = from.iter().flatten().collect();
    let recording = Recording::open(&bytes).expect("a recording");
    let again = recording.replay_server(Rules::new(Masses::schema()), Masses::default()).expect("a server's");
    let agreement = &again.agreement;
    assert!(agreement.divergence.is_none() && agreement.broken.is_none() && agreement.digests >= 10, "{agreement:?}");
    assert_eq!((agreement.ending, again.players.len()), (Ending::Dropped, 2));
    assert!(last > Tick::new(640) && again.players[0].1.inputs.applied > 600, "{last} {:?}", again.players);
}
