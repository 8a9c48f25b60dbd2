//! The checks of what a sound client and server never do: each is shown something that has been tampered with.

use super::*;
use crate::harness::spied::Shared;
use crate::harness::{Driver, HostOptions, PlayerOptions, Simulation};
use crate::netsim::Conditions;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use foretell::session::server::ServerConfig;
use foretell::world::{InputStatus, PlayerId, Row, RowKey, Rows, Seat, Simulate, Step, Table};

#[derive(foretell::Input, Clone, Copy, PartialEq, Default, Debug)]
struct Throttle {
    on: bool,
}

#[derive(foretell::State, Clone, Copy, Default)]
struct Cart {
    #[state(position)]
    x: [f64; 1],
}

#[derive(foretell::World, Default)]
struct Carts(Table<Cart>);

impl Simulate for Carts {
    type Input = Throttle;

    fn step(&mut self, step: &mut Step<'_, Throttle>) {
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Cart::default());
        }
        for mut cart in self.0.simulated(step) {
            cart.x[0] += f64::from(u8::from(step.input(cart.owner()).is_some_and(|input| input.input.on)));
        }
    }
}

struct Idle;

impl Driver<Spied<Carts>> for Idle {
    fn input(&mut self, _player: usize, tick: Tick) -> Throttle {
        Throttle { on: tick.get().is_multiple_of(2) }
    }
}

/// What a check is told instead of what is so.
#[derive(Default)]
struct Told {
    stats: Option<ClientStats>,
    quiet: Option<Duration>,
    truth: Option<Truth>,
    asked: Vec<Tick>,
    stepped: Vec<Tick>,
    seat: Seat,
    views: Option<Views>,
}

/// A sound session, and what the checks see of it.
struct Session {
    simulation: Simulation<Spied<Carts>>,
    notes: Shared<Throttle>,
    setting: Setting,
}

impl Session {
    fn new(seconds: u64) -> Session {
        Session::of(seconds, ClientConfig::default())
    }

    /// Its client is told `client`, and the checks that it is as ever.
    fn of(seconds: u64, client: ClientConfig) -> Session {
        let rules = Rules::new(Carts::schema());
        let (world, notes) = Spied::new(Carts::default(), &rules.messages, Some(Truth::new(&rules.schema)));
        let mut simulation = Simulation::new(rules.clone(), ServerConfig::default(), world, 1);
        let (host, conditions) = (HostOptions::at(60), Conditions::default());
        let world = Spied::new(Carts::default(), &rules.messages, None).0;
        simulation.add_player(PlayerOptions { client, host, conditions, world });
        simulation.run_until(Instant::from_micros(seconds * 1_000_000), &mut Idle);
        let setting = Setting { rules, client: ClientConfig::default(), server: ServerConfig::default() };
        Session { simulation, notes, setting }
    }

    /// Shows the client to a check, and what is told of it.
    fn client(&self, check: &mut impl Check<Carts>, told: &Told) -> Result<(), String> {
        let client = &self.simulation.players[0].client;
        let now = self.simulation.now();
        let notes = self.notes.borrow();
        let stats = told.stats.unwrap_or(client.stats());
        let mut views = Views::new();
        client.present(now, &mut views);
        let seen = ClientSeen {
            now,
            local: now,
            machine: 0,
            seat: told.seat,
            client,
            frame: &client.frame(now),
            stats: &stats,
            asked: &told.asked,
            stepped: &told.stepped,
            said: &[],
            heard: &[],
            quiet: told.quiet.unwrap_or(Duration::from_secs(10)),
            quiet_beside_jitter: Duration::from_secs(10),
            views: told.views.as_ref().unwrap_or(&views),
            truth: told.truth.as_ref().or(notes.truth.as_ref()).expect("it is kept"),
            setting: &self.setting,
        };
        check.after_client(&seen)
    }

    /// Shows the server to a check as if it had stepped these ticks, with these inputs.
    fn server(
        &self,
        check: &mut impl Check<Carts>,
        stepped: &[Tick],
        applied: &[Applied<Throttle>],
    ) -> Result<(), String> {
        let server = &self.simulation.server.server;
        let (now, quiet) = (self.simulation.now(), Duration::from_secs(10));
        let frame = &server.frame();
        let setting = &self.setting;
        check.after_server(&ServerSeen {
            now,
            server,
            frame,
            stepped,
            applied,
            said: &[],
            said_here: &[],
            heard: &[],
            machines: 1,
            local: None,
            quiet,
            setting,
        })
    }
}

/// The complaint, which has to be one, and to be about `what`.
fn assert_complains(result: Result<(), String>, what: &str) {
    let complaint = result.expect_err("a complaint");
    assert!(complaint.contains(what), "{complaint}");
}

#[test]
fn no_check_complains_about_a_sound_session() {
    let session = Session::new(10);
    for check in &mut all::<Carts>() {
        let mut boxed = Boxed(check);
        assert_eq!(session.client(&mut boxed, &Told::default()), Ok(()));
        assert_eq!(session.server(&mut boxed, &[], &[]), Ok(()));
    }
}

struct Boxed<'a>(&'a mut Box<dyn Check<Carts>>);

impl Check<Carts> for Boxed<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn after_server(&mut self, seen: &ServerSeen<'_, Carts>) -> Result<(), String> {
        self.0.after_server(seen)
    }
    fn after_client(&mut self, seen: &ClientSeen<'_, Carts>) -> Result<(), String> {
        self.0.after_client(seen)
    }
}

/// A client that passes over what it should compare.
#[test]
fn a_difference_that_is_passed_over_is_caught_in_three_ways() {
    let blind = Tolerance { position_sqr_m: 1e9, ..Tolerance::default() };
    let mut session = Session::of(2, ClientConfig { tolerance: blind, ..ClientConfig::default() });
    session.simulation.server.world.world.0.iter_mut().for_each(|mut cart| cart.x[0] += 1000.0);
    let (mut silence, mut convergence) = (Silence::default(), Convergence::default());
    let mut divergence = Divergence::default();
    assert_eq!(session.client(&mut divergence, &Told::default()), Ok(()));
    session.simulation.run_until(Instant::from_micros(6_000_000), &mut Idle);
    assert_complains(session.client(&mut silence, &Told::default()), "was not corrected: Cart");
    assert_complains(session.client(&mut convergence, &Told::default()), "does not agree with the server");
    assert_complains(session.client(&mut divergence, &Told::default()), "from the truth");
}

/// Somebody else plays, too.
fn with_another() -> (Session, Shown) {
    let (mut session, mut check) = (Session::new(1), Shown::default());
    let (client, host, conditions) = (ClientConfig::default(), HostOptions::at(60), Conditions::default());
    let world = Spied::new(Carts::default(), &session.setting.rules.messages, None).0;
    session.simulation.add_player(PlayerOptions { client, host, conditions, world });
    for seconds in 2..6 {
        session.simulation.run_until(Instant::from_micros(seconds * 1_000_000), &mut Idle);
        assert_eq!(session.client(&mut check, &Told::default()), Ok(()));
    }
    (session, check)
}

/// Changes what the other's cart was in all states that are remembered.
fn tamper(session: &Session, change: impl Fn(&mut Rows, RowKey, [u32; 2])) {
    let mut notes = session.notes.borrow_mut();
    let truth = notes.truth.as_mut().expect("it is kept");
    for tick in Tick::new(100).until(truth.newest().next()) {
        let rows = truth.rows_mut(tick);
        let other =
            rows.iter().find(|row| row.owner == PlayerId::new(2)).map(|row| (row.key(), [row.words[0], row.words[1]]));
        if let Some((key, words)) = other {
            change(rows, key, words);
        }
    }
}

#[test]
fn somebody_who_is_shown_elsewhere_or_is_gone_or_is_not_shown_is_caught() {
    let (session, mut check) = with_another();
    tamper(&session, |rows, key, _| rows.remove(key));
    assert_complains(session.client(&mut check, &Told::default()), "has been gone since");

    let (session, mut check) = with_another();
    tamper(&session, |rows, key, words| {
        let words = [words[0], (5000.0_f64.to_bits() >> 32) as u32];
        rows.set_words(Row { component: key.component, entity: key.entity, owner: PlayerId::new(2), words: &words });
    });
    assert_complains(session.client(&mut check, &Told::default()), "m from the truth");

    let (mut session, mut check) = with_another();
    let nobody = || Told { views: Some(Views::new()), ..Told::default() };
    assert_eq!(session.client(&mut check, &nobody()), Ok(()));
    session.simulation.run_until(Instant::from_micros(8_000_000), &mut Idle);
    assert_complains(session.client(&mut check, &nobody()), "has not been shown for 3000 ms");
}

#[test]
fn a_sample_without_an_outcome_is_caught() {
    let session = Session::new(2);
    let mut stats = session.simulation.players[0].client.stats();
    stats.prediction.outcomes.received += 1;
    let told = Told { stats: Some(stats), ..Told::default() };
    assert_complains(session.client(&mut Outcomes, &told), "don't add up");
}

#[test]
fn inputs_that_are_late_are_caught_where_there_is_jitter_too() {
    for (late, is_caught) in [(0, false), (25, false), (34, true), (400, true)] {
        let (mut session, mut check) = (Session::new(2), Punctual::default());
        let mut told = Told { quiet: Some(Duration::ZERO), ..Told::default() };
        assert_eq!(session.client(&mut check, &told), Ok(()));
        session.simulation.run_until(Instant::from_micros(12_000_000), &mut Idle);
        let mut stats = session.simulation.players[0].client.stats();
        stats.inputs.substituted += late;
        told.stats = Some(stats);
        let result = session.client(&mut check, &told);
        assert_eq!(result.is_err(), is_caught, "{late} late: {result:?}");
        if is_caught {
            assert_complains(result, "with nothing but jitter");
        }
    }
}

#[test]
fn an_input_that_is_late_and_a_client_that_starts_again_are_caught_where_nothing_goes_wrong() {
    for (late, resyncs, what) in [(0, 0, ""), (1, 0, "1 inputs were substituted"), (0, 1, "starts again")] {
        let (session, mut check) = (Session::new(2), Punctual::default());
        assert_eq!(session.client(&mut check, &Told::default()), Ok(()));
        let mut stats = session.simulation.players[0].client.stats();
        stats.inputs.substituted += late;
        stats.prediction.resyncs += resyncs;
        let told = |quiet_s| Told { stats: Some(stats), quiet: Some(Duration::from_secs(quiet_s)), ..Told::default() };
        assert_eq!(session.client(&mut check.clone(), &told(1)), Ok(()), "soon after a fault");
        let result = session.client(&mut check, &told(10));
        assert_eq!(result.is_err(), !what.is_empty(), "{result:?}");
        if !what.is_empty() {
            assert_complains(result, what);
        }
    }
}

#[test]
fn a_snapshot_that_is_not_the_servers_state_is_caught() {
    let session = Session::new(2);
    let unknown = Told { truth: Some(Truth::new(&session.setting.rules.schema)), ..Told::default() };
    assert_eq!(session.client(&mut Digests::default(), &unknown), Ok(()));
    let tampered = Session::new(2);
    let tick = tampered.simulation.players[0].client.newest_snapshot().expect("there is one").0;
    let mut notes = tampered.notes.borrow_mut();
    let rows = notes.truth.as_mut().expect("it is kept").rows_mut(tick);
    let cart = rows.iter().next().expect("a cart").owned();
    rows.set(cart, &Cart { x: [-1.0] });
    drop(notes);
    assert_complains(tampered.client(&mut Digests::default(), &Told::default()), "field `x`");
}

#[test]
fn a_confirmed_state_that_changes_is_caught() {
    let (session, mut check) = (Session::new(2), History::default());
    assert_eq!(session.client(&mut check, &Told::default()), Ok(()));
    check.tamper();
    assert_complains(session.client(&mut check, &Told::default()), "was confirmed, and has changed");
}

#[test]
fn a_tick_or_an_input_that_is_processed_twice_skipped_or_altered_is_caught() {
    let session = Session::new(2);
    let ticks = |numbers: &[u32]| numbers.iter().map(|number| Tick::new(*number)).collect::<Vec<_>>();
    let stepped = |numbers: &[u32]| session.server(&mut Once::default(), &ticks(numbers), &[]);
    assert_eq!(stepped(&[5, 6, 7]), Ok(()));
    assert_complains(stepped(&[5, 6, 6]), "steps tick 6 after");
    assert_complains(stepped(&[5, 7]), "steps tick 7 after");
    let applied = |tick: u32, on: bool| {
        let input = PlayerInput {
            player: PlayerId::new(1),
            input: Throttle { on },
            status: InputStatus::Received,
            presented: None,
        };
        Applied { tick: Tick::new(tick), input, given: Some(Throttle { on: true }) }
    };
    let inputs = |applied: &[_]| session.server(&mut Once::default(), &[], applied);
    assert_eq!(inputs(&[applied(5, true), applied(6, true)]), Ok(()));
    assert_complains(inputs(&[applied(5, true), applied(5, true)]), "two inputs of player 1 in tick 5");
    assert_complains(inputs(&[applied(5, false)]), "is not what the player gave");
    let asked = |asked: &[u32], stepped: &[u32]| {
        let told = Told { asked: ticks(asked), stepped: ticks(stepped), ..Told::default() };
        session.client(&mut Once::default(), &told)
    };
    assert_eq!(asked(&[5, 6], &[5, 6]), Ok(()));
    assert_complains(asked(&[5, 5], &[5, 5]), "asks for the input of tick 5 after");
    assert_complains(asked(&[5], &[5, 6]), "asked for the inputs of");
    let looks_on = |asked: &[u32], stepped: &[u32]| {
        let (asked, stepped) = (ticks(asked), ticks(stepped));
        session.client(&mut Once::default(), &Told { asked, stepped, seat: Seat::Spectator, ..Told::default() })
    };
    assert_eq!(looks_on(&[], &[5, 6]), Ok(()));
    assert_complains(looks_on(&[5], &[5]), "who looks on is asked");
}

#[test]
fn too_many_bytes_and_too_much_memory_are_caught() {
    let session = Session::new(2);
    assert_complains(session.client(&mut Bytes::new(100, 1_000_000), &Told::default()), "the client sends");
    assert_complains(session.server(&mut Bytes::new(1_000_000, 100), &[], &[]), "player 1 is sent");
    let kept = |quiet, kept| Memory::default().check("somebody", Duration::from_secs(quiet), kept, 1);
    assert_eq!((kept(1, 4_096), kept(3, 256)), (Ok(()), Ok(())));
    assert_complains(kept(1, 4_097), "keeps 4097 things");
    assert_complains(kept(3, 257), "keeps 257 things");
}
