//! Shared mode: clients have authority over entities, the server decides who and checks what they do with it (F5 to F8).

use crate::common::toys::{Act, BOUND_MPS, GOLD, Play, Toy, Toys, Walk, bounded, cube, ms, session, walker};
use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell::session::Offence;
use foretell::session::client::AuthorityChange::{Began, Granted, Lost, Refused, Returned};
use foretell::session::client::{Predict, Show};
use foretell::session::host::LocalPlayer;
use foretell::session::server::{Server, ServerEvent};
use foretell::session::{Claim, HoldRefusal, Holder};
use foretell::{Client, ClientConfig, Entity, Frame, Instant, ServerConfig, ServerFrame, Tick, Views};
use foretell_sim::harness::{Driver, LocalSeat, Moment, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use proptest::prelude::*;

fn good() -> Conditions {
    Conditions { latency: Duration::from_millis(40), ..Conditions::default() }
}

fn bad() -> Conditions {
    Conditions {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(30),
        loss: Loss::Uniform(0.1),
        duplicates: 0.1,
        ..Conditions::default()
    }
}

fn play(players: usize, conditions: Conditions, seed: u64) -> Simulation<Toys> {
    session((bounded(), ServerConfig::default()), players, conditions, ClientConfig::default(), seed)
}

fn holder(simulation: &Simulation<Toys>, entity: Entity) -> Option<Holder> {
    simulation.server.server.holder(entity)
}

fn place(simulation: &Simulation<Toys>, entity: Entity) -> [f64; 3] {
    simulation.server.server.rows().state::<Toy>(entity).expect("it is there").place()
}

/// The one machine that moves an entity, by the index of its player; `None` for the server.
fn mover(simulation: &Simulation<Toys>, play: &Play, entity: Entity) -> Option<usize> {
    let movers: Vec<usize> = (0..simulation.players.len()).filter(|player| play.moves(*player, entity)).collect();
    assert!(movers.len() <= 1, "{entity} is moved by {movers:?}");
    movers.first().copied()
}

/// All machines agree on who moves an entity.
fn agree(simulation: &Simulation<Toys>, play: &Play, entity: Entity) {
    let held = holder(simulation, entity);
    for player in &simulation.players {
        assert_eq!(player.client.holder(entity), held, "{entity}");
    }
    let moves = mover(simulation, play, entity).map(|index| simulation.players[index].client.player());
    assert_eq!(moves, held.map(|held| Some(held.player)), "{entity}");
}

/// Where a cube is shown to who sits at the server, while a client moves it.
#[derive(Default)]
struct SeenAtServer {
    play: Play,
    places: Vec<[f64; 3]>,
}

impl Driver<Toys> for SeenAtServer {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        self.play.input(player, tick)
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        self.play.before_client(player, at, client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
    }

    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, Toys>, _frame: &Frame<'_>) {
        let mut views = Views::new();
        seat.present(at.local, &mut views);
        self.places.extend(views.get(cube(1)).and_then(|view| view.get::<Toy>()).map(|toy| toy.place()));
    }
}

#[test]
fn who_sits_at_the_server_sees_what_a_client_moves() {
    let mut simulation = play(1, good(), 1);
    simulation.seat_player(LocalPlayer::new(Show::Between));
    let script = [(1000, 0, Act::Request(cube(1), Claim::Authority)), (1200, 0, Act::Move([2.0, 0.0, 0.0]))];
    let mut driver = SeenAtServer { play: Play::of(&script), ..SeenAtServer::default() };
    simulation.run_until(ms(4000), &mut driver);
    assert_eq!(holder(&simulation, cube(1)).map(|holder| holder.player), simulation.players[0].client.player());
    let (first, last) = (driver.places[0], driver.places[driver.places.len() - 1]);
    assert!((last[0] - first[0] - 5.4).abs() < 0.3, "{first:?} {last:?}");
    let steps = driver.places.windows(2).map(|two| length(sub(two[1], two[0])));
    assert!(steps.fold(0.0, f64::max) < 0.1, "evenly, at 2 m/s and 64 frames a second");
    assert!((place(&simulation, cube(1))[0] - last[0]).abs() < 0.1);
}

#[test]
fn who_takes_a_cube_moves_it_at_once_and_everybody_sees_it_move() {
    let mut simulation = play(2, good(), 1);
    let mut play =
        Play::of(&[(3000, 0, Act::Move([3.0, 0.0, 0.0])), (3000, 0, Act::Request(cube(0), Claim::Ownership))]);
    simulation.run_until(ms(3060), &mut play);
    assert_eq!(play.told(0, cube(0)), [Began], "before any answer can have come");
    simulation.run_until(ms(4000), &mut play);
    assert_eq!(play.told(0, cube(0)), [Began, Granted(Claim::Ownership)]);
    agree(&simulation, &play, cube(0));
    let player = simulation.players[0].client.player().expect("it plays");
    let held = ServerEvent::Held { entity: cube(0), player, claim: Claim::Ownership };
    assert!(play.server_events.contains(&held));
    // A second later, less the way there, and for the other the way back.
    let own = play.shown[&(0, cube(0))].1[0];
    let other = play.shown[&(1, cube(0))].1[0];
    assert!((2.9..3.02).contains(&own) && (2.4..own).contains(&other), "{own} {other}");
    assert_eq!(play.source[&(0, cube(0))], "Held");
    assert_eq!(play.source[&(1, cube(0))], "Interpolated");
    // The owner's frames of 60 per second do not show in what the others see (F6).
    simulation.run_until(ms(6000), &mut play);
    play.forget();
    play.truth_mps.clear();
    simulation.run_until(ms(8000), &mut play);
    assert!((play.truth_mps[&cube(0)] - 3.0).abs() < 1e-6, "evenly spaced: {} m/s", play.truth_mps[&cube(0)]);
    assert!(play.fastest_mps[&(1, cube(0))] < 3.3, "{}", play.fastest_mps[&(1, cube(0))]);
    assert_eq!(play.corrections, 0, "nothing that is held is corrected");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.total(), 0, "{offences:?}");
}

#[test]
fn what_another_player_moves_is_not_predicted_until_it_is_given_back() {
    let client = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
    let mut simulation = session((bounded(), ServerConfig::default()), 2, good(), client, 1);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Ownership)),
        (6000, 0, Act::Release(cube(0))),
    ]);
    simulation.run_until(ms(2900), &mut play);
    assert_eq!(play.source[&(1, cube(0))], "Predicted");
    // That somebody grabs it nobody can foresee.
    simulation.run_until(ms(3500), &mut play);
    play.corrected.clear();
    simulation.run_until(ms(5900), &mut play);
    assert!(!play.corrected.contains(&(1, cube(0))), "{:?}", play.corrected);
    assert_eq!(play.source[&(1, cube(0))], "Interpolated");
    // A step would slow it down.
    assert!(play.shown[&(1, cube(0))].1[0] > 5.0, "{:?}", play.shown[&(1, cube(0))]);
    simulation.run_until(ms(7000), &mut play);
    assert_eq!(play.source[&(1, cube(0))], "Predicted");
}

#[test]
fn what_is_given_back_stays_where_it_was_left_on_all_machines() {
    let mut simulation = play(2, bad(), 2);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([3.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(1), Claim::Ownership)),
        (4000, 0, Act::Move([0.0; 3])),
        (4050, 0, Act::Release(cube(1))),
    ]);
    simulation.run_until(ms(4055), &mut play);
    let left = play.shown[&(0, cube(1))].1;
    simulation.run_until(ms(6000), &mut play);
    assert_eq!(play.told(0, cube(1)), [Began, Granted(Claim::Ownership), Returned]);
    agree(&simulation, &play, cube(1));
    assert_eq!(holder(&simulation, cube(1)), None);
    let [own, other] = [0, 1].map(|player| play.shown[&(player, cube(1))].1);
    for at in [place(&simulation, cube(1)), own, other] {
        assert!(length(sub(at, left)) < 0.01, "{at:?} instead of {left:?}");
    }
}

#[test]
fn what_was_let_go_returns_when_it_has_come_to_rest_and_not_before() {
    let mut simulation = play(2, bad(), 3);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(1), Claim::Ownership)),
        (4000, 0, Act::Request(cube(1), Claim::Authority)),
        (6000, 0, Act::Move([0.0; 3])),
    ]);
    simulation.run_until(ms(6200), &mut play);
    let claim = holder(&simulation, cube(1)).map(|holder| holder.claim);
    assert_eq!(claim, Some(Claim::Authority), "it still moves");
    simulation.run_until(ms(7000), &mut play);
    assert_eq!(holder(&simulation, cube(1)), None);
    let told = play.told(0, cube(1));
    assert_eq!(told, [Began, Granted(Claim::Ownership), Granted(Claim::Authority), Returned]);
    agree(&simulation, &play, cube(1));
    let [own, other] = [0, 1].map(|player| play.shown[&(player, cube(1))].1);
    assert!(length(sub(own, other)) < 0.01 && length(sub(own, place(&simulation, cube(1)))) < 0.01);
}

#[test]
fn what_was_moved_far_while_nothing_got_through_comes_to_where_it_rests_and_goes_back() {
    let mut simulation = play(2, good(), 3);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([BOUND_MPS * 0.9, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(1), Claim::Authority)),
        (5500, 0, Act::Move([0.0; 3])),
    ]);
    simulation.run_until(ms(3300), &mut play);
    simulation.players[0].up_conditions.loss = Loss::Uniform(1.0);
    simulation.run_until(ms(5900), &mut play);
    simulation.players[0].up_conditions.loss = Loss::default();
    simulation.run_until(ms(10_000), &mut play);
    assert_eq!(holder(&simulation, cube(1)), None, "it rests");
    let [own, other] = [0, 1].map(|player| play.shown[&(player, cube(1))].1);
    assert!(length(sub(own, other)) < 0.01, "{own:?} {other:?}");
    assert!(length(sub(own, place(&simulation, cube(1)))) < 0.01);
    assert!(own[0] > BOUND_MPS, "{own:?}");
}

#[test]
fn what_was_moved_far_while_nothing_got_through_and_then_let_go_comes_to_where_it_was_let_go() {
    for claim in [Claim::Authority, Claim::Ownership] {
        let mut simulation = play(2, good(), 3);
        let mut play = Play::of(&[
            (3000, 0, Act::Move([BOUND_MPS * 0.9, 0.0, 0.0])),
            (3000, 0, Act::Request(cube(1), claim)),
            (5500, 0, Act::Move([0.0; 3])),
            (5520, 0, Act::Release(cube(1))),
        ]);
        simulation.run_until(ms(3300), &mut play);
        simulation.players[0].up_conditions.loss = Loss::Uniform(1.0);
        simulation.run_until(ms(5500), &mut play);
        let left = play.shown[&(0, cube(1))].1;
        simulation.run_until(ms(5900), &mut play);
        simulation.players[0].up_conditions.loss = Loss::default();
        simulation.run_until(ms(10_000), &mut play);
        assert_eq!(holder(&simulation, cube(1)), None);
        assert!(left[0] > BOUND_MPS, "{left:?}");
        let truth = place(&simulation, cube(1));
        assert!(length(sub(left, truth)) < 0.2, "{claim:?}: let go at {left:?}, is at {truth:?}");
        assert_eq!(play.told(0, cube(1)), [Began, Granted(claim), Returned]);
        agree(&simulation, &play, cube(1));
    }
}

#[test]
fn what_is_hidden_from_its_holder_is_moved_on_and_goes_back_when_it_rests() {
    let mut simulation = play(2, good(), 10);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Authority)),
        (5000, 0, Act::Move([0.0; 3])),
    ]);
    simulation.run_until(ms(4000), &mut play);
    let player = simulation.players[0].client.player().expect("it plays");
    simulation.server.world.hidden.push((player, cube(0)));
    let before = place(&simulation, cube(0));
    simulation.run_until(ms(4900), &mut play);
    let (_, rows) = simulation.players[0].client.newest_snapshot().expect("a state");
    assert!(!rows.has(cube(0)), "it is hidden");
    agree(&simulation, &play, cube(0));
    let way_m = length(sub(place(&simulation, cube(0)), before));
    assert!((1.7..1.9).contains(&way_m), "{way_m} m in 0.9 s");
    simulation.run_until(ms(6000), &mut play);
    assert_eq!(holder(&simulation, cube(0)), None, "it rests");
    assert_eq!(play.told(0, cube(0)), [Began, Granted(Claim::Authority), Returned]);
    agree(&simulation, &play, cube(0));
}

#[test]
fn what_becomes_another_variant_while_it_is_asked_for_goes_back_and_can_be_asked_for_as_that() {
    let mut simulation = play(1, good(), 10);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Ownership)),
        (4000, 0, Act::Request(cube(0), Claim::Ownership)),
    ]);
    simulation.run_until(ms(3020), &mut play);
    assert_eq!(play.told(0, cube(0)), [Began]);
    let mut toy = simulation.server.world.all.get_mut(cube(0)).expect("it is there");
    *toy = Toy::Walker { place: toy.place(), velocity: [0.0; 3], health: 5 };
    simulation.run_until(ms(3900), &mut play);
    let granted = Granted(Claim::Ownership);
    assert_eq!(play.told(0, cube(0)), [Began, granted, Returned]);
    assert!(holder(&simulation, cube(0)).is_none() && place(&simulation, cube(0))[0] < 0.1);
    agree(&simulation, &play, cube(0));
    simulation.run_until(ms(6000), &mut play);
    assert_eq!(play.told(0, cube(0)), [Began, granted, Returned, Began, granted]);
    let way = place(&simulation, cube(0))[0];
    assert!((3.5..4.1).contains(&way), "it is where it was carried: {way} m");
    agree(&simulation, &play, cube(0));
}

/// How far the server's entity goes in each 50 ms from here on, in metres.
fn ways(simulation: &mut Simulation<Toys>, play: &mut Play, count: u64) -> Vec<f64> {
    let mut before = place(simulation, cube(1));
    let from = simulation.now();
    let way = |nth: u64| {
        simulation.run_until(from + Duration::from_millis(50 * nth), play);
        length(sub(core::mem::replace(&mut before, place(simulation, cube(1))), before))
    };
    (1..=count).map(way).collect()
}

#[test]
fn who_asks_three_times_within_a_round_trip_is_seen_moving_all_the_time() {
    let slow = Conditions { latency: Duration::from_millis(150), ..Conditions::default() };
    let mut simulation = play(1, slow, 3);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(1), Claim::Authority)),
        (4000, 0, Act::Request(cube(1), Claim::Ownership)),
        (4400, 0, Act::Request(cube(1), Claim::Authority)),
    ]);
    simulation.run_until(ms(3900), &mut play);
    let ways = ways(&mut simulation, &mut play, 26);
    assert!(ways.iter().all(|way| (0.06..0.14).contains(way)), "{ways:?}");
}

#[test]
fn who_is_suddenly_far_too_early_is_seen_moving_all_the_time() {
    let slow = Conditions { latency: Duration::from_millis(450), ..Conditions::default() };
    let mut simulation = play(1, slow, 3);
    let mut play =
        Play::of(&[(5000, 0, Act::Move([2.0, 0.0, 0.0])), (5000, 0, Act::Request(cube(1), Claim::Authority))]);
    simulation.run_until(ms(6500), &mut play);
    simulation.players[0].up_conditions.latency = Duration::from_millis(50);
    let ways = ways(&mut simulation, &mut play, 40);
    assert!(ways.iter().all(|way| *way > 0.03), "{ways:?}");
}

#[test]
fn ownership_beats_authority_and_authority_beats_nothing() {
    let mut simulation = play(2, good(), 4);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([1.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Authority)),
        (3500, 1, Act::Request(cube(0), Claim::Authority)),
        (4000, 1, Act::Request(cube(0), Claim::Ownership)),
        (4500, 0, Act::Request(cube(0), Claim::Ownership)),
    ]);
    simulation.run_until(ms(3900), &mut play);
    assert_eq!(play.told(1, cube(0)), [Began, Refused(HoldRefusal::Taken)]);
    agree(&simulation, &play, cube(0));
    let first = holder(&simulation, cube(0)).expect("the first has it");
    simulation.run_until(ms(4450), &mut play);
    let second = holder(&simulation, cube(0)).expect("the second has taken it");
    assert_ne!(first.player, second.player);
    assert_eq!((second.authority, second.ownership), (first.authority + 1, first.ownership + 1));
    assert_eq!(play.told(0, cube(0)), [Began, Granted(Claim::Authority), Lost(second.player)]);
    simulation.run_until(ms(5500), &mut play);
    assert_eq!(play.told(0, cube(0)).last(), Some(&Refused(HoldRefusal::Taken)));
    assert_eq!(holder(&simulation, cube(0)), Some(second));
    agree(&simulation, &play, cube(0));
}

#[test]
fn who_is_gone_holds_nothing() {
    for how in [foretell_sim::harness::Leaving::Politely, foretell_sim::harness::Leaving::Silently] {
        let config = ServerConfig { timeout: Duration::from_secs(2), ..ServerConfig::default() };
        let mut simulation = session((bounded(), config), 2, good(), ClientConfig::default(), 5);
        let mut play = Play::of(&[(3000, 0, Act::Request(cube(0), Claim::Ownership))]);
        simulation.run_until(ms(4000), &mut play);
        let player = holder(&simulation, cube(0)).expect("it is held").player;
        simulation.remove_player(0, how);
        simulation.run_until(ms(7000), &mut play);
        assert_eq!(holder(&simulation, cube(0)), None, "{how:?}");
        assert!(play.server_events.contains(&ServerEvent::Returned { entity: cube(0), player }));
        assert_eq!(simulation.players[1].client.holder(cube(0)), None);
    }
}

#[test]
fn what_the_game_gives_to_another_player_its_holder_has_no_more() {
    let mut simulation = play(2, good(), 5);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([1.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Ownership)),
        (3000, 0, Act::Request(cube(1), Claim::Ownership)),
        (5000, 1, Act::Request(cube(0), Claim::Authority)),
    ]);
    simulation.run_until(ms(4000), &mut play);
    let [first, second] = [0, 1].map(|nth| simulation.players[nth].client.player().expect("it plays"));
    for (entity, owner) in [(cube(0), second), (cube(1), first)] {
        assert!(simulation.server.world.all.set_owner(entity, owner));
    }
    simulation.run_until(ms(4900), &mut play);
    assert_eq!(holder(&simulation, cube(0)), None);
    assert_eq!(play.told(0, cube(0)), [Began, Granted(Claim::Ownership), Returned]);
    assert_eq!(holder(&simulation, cube(1)).map(|holder| holder.player), Some(first), "it is theirs altogether");
    simulation.run_until(ms(5200), &mut play);
    assert_eq!(holder(&simulation, cube(0)).map(|holder| holder.player), Some(second));
    (0..2).for_each(|nth| agree(&simulation, &play, cube(nth)));
    let offences = simulation.server.server.stats(first).expect("it plays").offences;
    assert_eq!(offences.total(), 0, "{offences:?}");
}

/// What a random script does: who, when in ms, with which cube, what.
fn acts() -> impl Strategy<Value = Vec<(u64, usize, Act)>> {
    let act = prop_oneof![
        4 => (0..2_u8, any::<bool>()).prop_map(|(nth, owns)| {
            Act::Request(cube(nth), if owns { Claim::Ownership } else { Claim::Authority })
        }),
        2 => (0..2_u8).prop_map(|nth| Act::Release(cube(nth))),
        1 => (-4..4_i32, -4..4_i32).prop_map(|(x, z)| Act::Move([f64::from(x), 0.0, f64::from(z)])),
    ];
    // Often in the same tick.
    prop::collection::vec((0..40_u64, 0..3_usize, act).prop_map(|(at, who, act)| (3000 + at * 50, who, act)), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whoever_grabs_when_over_bad_links_all_machines_agree_on_one_holder(script in acts(), seed in any::<u64>()) {
        let mut simulation = play(3, bad(), seed);
        let mut play = Play::of(&script);
        // Three seconds after the last act everything has been said.
        simulation.run_until(ms(8000), &mut play);
        for nth in 0..2 {
            agree(&simulation, &play, cube(nth));
            let truth = place(&simulation, cube(nth));
            let moves = mover(&simulation, &play, cube(nth));
            if moves.is_none() {
                for player in 0..3 {
                    let shown = play.shown[&(player, cube(nth))].1;
                    prop_assert!(length(sub(shown, truth)) < 0.05, "{player}: {shown:?} instead of {truth:?}");
                }
            }
        }
        prop_assert_eq!(play.corrections, 0);
        for player in simulation.server.server.players() {
            let offences = simulation.server.server.stats(player).expect("it plays").offences;
            let allowed = [Offence::Speed, Offence::Teleport, Offence::Request];
            prop_assert!(offences.entries().all(|(what, _)| allowed.contains(&what)), "{:?}", offences);
        }
    }
}

#[test]
fn two_who_grab_in_the_same_tick_end_with_one_owner() {
    for seed in 0..20 {
        let mut simulation = play(3, bad(), seed);
        let mut play = Play::of(&[
            (3000, 0, Act::Move([1.0, 0.0, 0.0])),
            (3000, 0, Act::Request(cube(0), Claim::Ownership)),
            (3000, 1, Act::Request(cube(0), Claim::Ownership)),
        ]);
        simulation.run_until(ms(5000), &mut play);
        agree(&simulation, &play, cube(0));
        let told = [0, 1].map(|player| *play.told(player, cube(0)).last().expect("it was answered"));
        assert!(told.contains(&Granted(Claim::Ownership)) && told.contains(&Refused(HoldRefusal::Taken)), "{told:?}");
    }
}

#[test]
fn the_last_state_always_arrives_and_then_nothing_is_sent_any_more() {
    let lossy = Conditions { loss: Loss::Uniform(0.5), ..bad() };
    let mut simulation = play(1, lossy, 6);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([1.0, 0.0, 2.0])),
        (3000, 0, Act::Request(cube(0), Claim::Ownership)),
        (4000, 0, Act::Move([0.0; 3])),
    ]);
    simulation.run_until(ms(7000), &mut play);
    let shown = play.shown[&(0, cube(0))].1;
    assert_eq!(place(&simulation, cube(0)), shown);
    let sent = |simulation: &Simulation<Toys>| simulation.players[0].client.stats().network.bytes_sent;
    let before = sent(&simulation);
    simulation.run_until(ms(8000), &mut play);
    let resting = sent(&simulation) - before;
    simulation.run_until(ms(9000), &mut play);
    play.velocity[0] = [1.0, 0.0, 0.0];
    let before = sent(&simulation);
    simulation.run_until(ms(10_000), &mut play);
    let moving = sent(&simulation) - before;
    assert!(moving > resting + 60 * 48, "a row has more than 48 bytes: {moving} and {resting}");
}

#[test]
fn the_last_state_arrives_though_the_server_stood_still_when_it_was_sent() {
    let mut simulation = play(1, good(), 6);
    let mut play = Play::of(&[
        (3000, 0, Act::Move([2.0, 0.0, 0.0])),
        (3000, 0, Act::Request(cube(0), Claim::Ownership)),
        (5100, 0, Act::Move([0.0; 3])),
    ]);
    simulation.run_until(ms(4000), &mut play);
    let now = simulation.now();
    simulation.server.host.clock_mut().stall(now, Duration::from_millis(1600));
    simulation.run_until(ms(5500), &mut play);
    // What is sent from then on is lost, until it is known that what was sent before has come.
    simulation.players[0].up_conditions.loss = Loss::Uniform(1.0);
    simulation.run_until(ms(6500), &mut play);
    simulation.players[0].up_conditions.loss = Loss::default();
    simulation.run_until(ms(8000), &mut play);
    let shown = play.shown[&(0, cube(0))].1;
    assert!(length(sub(place(&simulation, cube(0)), shown)) < 1e-9, "{shown:?}");
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.count(Offence::Time), 0, "nothing was too far ahead: {offences:?}");
}

#[test]
fn what_is_not_shared_is_not_given_away() {
    let mut simulation = play(2, good(), 7);
    simulation.run_until(ms(2500), &mut Play::default());
    let other = walker(&simulation, 1);
    let mut play =
        Play::of(&[(3000, 0, Act::Request(GOLD, Claim::Ownership)), (3000, 0, Act::Request(other, Claim::Ownership))]);
    simulation.run_until(ms(4000), &mut play);
    for entity in [GOLD, other] {
        assert_eq!(play.told(0, entity).last(), Some(&Refused(HoldRefusal::NotShared)));
        agree(&simulation, &play, entity);
    }
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.count(Offence::Ownership), 2);
}

#[test]
fn what_a_player_does_not_see_is_not_given_to_them_nor_do_they_learn_whether_it_is_there() {
    let mut simulation = play(2, good(), 7);
    simulation.run_until(ms(2500), &mut Play::default());
    let player = simulation.players[0].client.player().expect("it plays");
    simulation.server.world.hidden.push((player, cube(0)));
    let not_there = cube(77);
    let ask = |of| Act::Request(of, Claim::Ownership);
    let mut play = Play::of(&[
        (3000, 0, ask(cube(0))),
        (3000, 0, ask(cube(1))),
        (3000, 0, ask(not_there)),
        (4500, 0, ask(cube(0))),
    ]);
    simulation.run_until(ms(4000), &mut play);
    assert_eq!([cube(0), cube(1)].map(|of| holder(&simulation, of).is_some()), [false, true]);
    assert_eq!(play.told(0, cube(0)), play.told(0, not_there));
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.total(), 0, "it may have left the view on the way");
    simulation.server.world.hidden.clear();
    simulation.run_until(ms(5500), &mut play);
    agree(&simulation, &play, cube(0));
    assert!(holder(&simulation, cube(0)).is_some(), "what is seen again can be had");
}

#[test]
fn a_player_holds_as_many_as_allowed_and_asks_ten_times_a_second_at_most() {
    let config = ServerConfig { held_max: 2, ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 1, good(), ClientConfig::default(), 8);
    let mut script: Vec<_> = (0..3).map(|nth| (3000, 0, Act::Request(cube(nth), Claim::Ownership))).collect();
    let again = |nth: u64| [(5000 + nth * 20, 0, Act::Release(cube(0))), (5001 + nth * 20, 0, grab())];
    script.extend((0..20).flat_map(again));
    let mut play = Play::of(&script);
    simulation.run_until(ms(4000), &mut play);
    assert_eq!(play.told(0, cube(2)), [Began, Refused(HoldRefusal::TooMany)]);
    simulation.run_until(ms(7000), &mut play);
    let refused = play.told(0, cube(0)).iter().filter(|what| **what == Refused(HoldRefusal::TooOften)).count();
    assert_eq!(refused, 10, "of twenty in less than half a second");
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.count(Offence::Request), 11);
    agree(&simulation, &play, cube(0));
}

#[test]
fn who_gives_something_back_may_have_something_else_at_once() {
    let config = ServerConfig { held_max: 1, ..ServerConfig::default() };
    let mut simulation = session((bounded(), config), 1, good(), ClientConfig::default(), 8);
    let ask = |nth: u8| Act::Request(cube(nth), Claim::Ownership);
    let mut play = Play::of(&[
        (3000, 0, ask(0)),
        (3500, 0, Act::Release(cube(0))),
        (3500, 0, ask(1)),
        // One too many, though it was the first that went back.
        (4500, 0, Act::Release(cube(1))),
        (4500, 0, ask(2)),
        (4500, 0, ask(1)),
    ]);
    simulation.run_until(ms(4000), &mut play);
    assert_eq!(play.told(0, cube(1)), [Began, Granted(Claim::Ownership)]);
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = |simulation: &Simulation<Toys>| simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences(&simulation).total(), 0);
    simulation.run_until(ms(5500), &mut play);
    assert_eq!([0, 1, 2].map(|nth| holder(&simulation, cube(nth)).is_some()), [false, false, true]);
    assert_eq!(offences(&simulation).count(Offence::Request), 1);
}

fn grab() -> Act {
    Act::Request(cube(0), Claim::Ownership)
}

/// Player 0 plays as they please: with what they hold, and with what they don't.
struct Cheat {
    play: Play,
    /// Where the honest player was shown the cube and the cheat's walker at the end of each quarter of a second.
    seen: Vec<[[f64; 3]; 2]>,
    healths: Vec<u32>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// To and fro between two places a hundred metres apart, with a velocity to match.
    Teleports,
    /// Twice as fast as allowed.
    Runs,
    /// With numbers that are none.
    WritesNonsense,
}

impl Driver<Toys> for Cheat {
    fn input(&mut self, player: usize, tick: Tick) -> Walk {
        self.play.input(player, tick)
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Toys>) {
        self.play.before_client(player, at, client);
        if player != 0 {
            return;
        }
        let tick = client.tick();
        let from = f64::from(tick.get());
        let (place, velocity) = match self.how {
            How::Teleports => ([if tick.get() % 32 < 16 { 100.0 } else { 0.0 }, 0.0, 3.0], [1e6, 0.0, 0.0]),
            How::Runs => ([from * 2.0 * BOUND_MPS / 64.0, 0.0, 3.0], [2.0 * BOUND_MPS, 0.0, 0.0]),
            How::WritesNonsense => ([f64::NAN, 0.0, f64::INFINITY], [0.0; 3]),
        };
        let own = client.player().map(|own| Entity::new(own, Tick::ZERO, 0));
        for entity in [Some(cube(0)), own].into_iter().flatten() {
            let health = 999;
            let toy = if entity == cube(0) {
                Toy::Cube { place, velocity, health }
            } else {
                Toy::Walker { place, velocity, health }
            };
            client.capture(entity, tick, &toy);
        }
    }

    fn after_server(&mut self, now: Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        self.play.after_server(now, server, frame);
        self.healths.extend(server.rows().states::<Toy>().map(|(_, toy)| toy.health()));
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Toys>, frame: &Frame<'_>) {
        // The cheat's game has no movers.
        if player == 1 {
            self.play.after_client(player, at, client, frame);
        }
    }
}

#[test]
fn a_tampering_owner_shows_others_nothing_beyond_the_bound_and_the_ledger_says_what_was_refused() {
    for (how, offence) in
        [(How::Teleports, Offence::Teleport), (How::Runs, Offence::Speed), (How::WritesNonsense, Offence::NotFinite)]
    {
        let mut simulation = play(2, good(), 9);
        simulation.run_until(ms(2500), &mut Play::default());
        let other = walker(&simulation, 1);
        let mut script = vec![(3000, 0, grab()), (3000, 0, Act::Request(other, Claim::Ownership))];
        // Far too often.
        let in_turn = |nth: u64| if nth.is_multiple_of(2) { Claim::Authority } else { Claim::Ownership };
        script.extend((0..40).map(|nth| (4000 + nth * 10, 0, Act::Request(cube(1), in_turn(nth)))));
        let mut cheat = Cheat { play: Play::of(&script), seen: Vec::new(), healths: Vec::new(), how };
        for quarter in 1..=20 {
            simulation.run_until(ms(2500 + quarter * 250), &mut cheat);
            let seen = [cube(0), other].map(|entity| cheat.play.shown.get(&(1, entity)).map_or([0.0; 3], |at| at.1));
            cheat.seen.push(seen);
        }
        // A way of a quarter of a second more than the greatest speed makes, and what is extrapolated.
        let bound_m = BOUND_MPS * (0.25 + 0.25) + 0.1;
        for pair in cheat.seen[4..].windows(2) {
            let way_m = length(sub(pair[1][0], pair[0][0]));
            assert!(way_m <= bound_m, "{how:?}: {way_m} m in a quarter of a second");
            assert!(length(sub(pair[1][1], pair[0][1])) < 1e-9, "the other's walker stands");
        }
        let moved = cheat.seen.iter().map(|at| length(sub(at[0], cheat.seen[3][0]))).fold(0.0, f64::max);
        assert_eq!(moved > 0.5, how != How::WritesNonsense, "{how:?}: {moved} m");
        assert!(moved <= BOUND_MPS * 4.5, "{how:?}: {moved} m in four seconds");
        assert!(cheat.healths.iter().all(|health| *health < 50), "what the server alone writes stays the server's");
        let player = simulation.players[0].client.player().expect("it plays");
        let offences = simulation.server.server.stats(player).expect("it plays").offences;
        assert!(offences.count(offence) > 10, "{how:?}: {offences:?}");
        // The other's walker: what is asked too often is not looked at any further.
        assert!(offences.count(Offence::Ownership) >= 1, "{offences:?}");
        assert!(offences.count(Offence::Request) >= 20, "{offences:?}");
        let honest = simulation.players[1].client.player().expect("it plays");
        assert_eq!(simulation.server.server.stats(honest).expect("it plays").offences.total(), 0);
    }
}
