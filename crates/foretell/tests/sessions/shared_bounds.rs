//! Shared mode: how far a holder may move what it holds, by each of its positions, and however often it changes hands.

use crate::common::toys::{BOUND_MPS, Toy, Toys, Walk, bounded, cube, ms, session, unowned};
use core::time::Duration;
use foretell::motion::vector::{length, sub};
use foretell::session::Claim;
use foretell::session::{Offence, Offences};
use foretell::{
    Audience, Client, ClientConfig, Column, ComponentSchema, Entity, Field, Input, Meaning, PlayerId, Rules, Server,
    ServerConfig, ServerFrame, Simulate, State, Step, Table, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Reordering};

fn good() -> Conditions {
    Conditions { latency: Duration::from_millis(30), ..Conditions::default() }
}

/// A puppet with two hands, each where the player who holds it says.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Puppet {
    hands: [[f32; 3]; 2],
}

/// The derive knows one position per component; a schema may have more.
impl State for Puppet {
    const COMPONENTS: usize = 1;
    const IS_CHOICE: bool = false;

    fn components() -> Vec<ComponentSchema> {
        let hand = |name| Column::of::<[f32; 3]>(name, Meaning::Position).by_owner();
        vec![ComponentSchema::new("puppet", vec![hand("left"), hand("right")], Audience::All)]
    }

    fn write(&self, _nth: usize, words: &mut [u32]) -> bool {
        self.hands.put(words);
        true
    }

    fn read(_nth: usize, words: &[u32]) -> Option<Puppet> {
        Some(Puppet { hands: <[[f32; 3]; 2]>::get(words) })
    }

    fn adopt(&mut self, _nth: usize, words: &[u32]) {
        self.hands = <[[f32; 3]; 2]>::get(words);
    }
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Nothing(bool);

const PUPPET: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

/// One puppet, that does nothing by itself.
#[derive(World, Default)]
struct Stage(Table<Puppet>);

impl Simulate for Stage {
    type Input = Nothing;

    fn step(&mut self, _step: &mut Step<'_, Nothing>) {}
}

/// Moves both hands from second 2 on: says where they are, so many ticks later.
struct Puppeteer<P> {
    places: P,
    /// Where the right hand was last on the server; how far it has gone in a tick at most, and to the left altogether.
    right: f32,
    most_m: f32,
    back_m: f32,
}

fn puppeteer<P: Fn(u32) -> [f32; 2]>(places: P) -> Puppeteer<P> {
    Puppeteer { places, right: 0.0, most_m: 0.0, back_m: 0.0 }
}

impl<P: Fn(u32) -> [f32; 2]> Driver<Stage> for Puppeteer<P> {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(true)
    }

    fn before_client(&mut self, _player: usize, _at: Moment, client: &mut Client<Stage>) {
        let tick = client.tick();
        let Some(passed) = tick.get().checked_sub(128) else { return };
        if client.holder(PUPPET).is_none() && passed < 4 {
            client.request(PUPPET, Claim::Ownership);
        }
        client.capture(PUPPET, tick, &Puppet { hands: (self.places)(passed).map(|x| [x, 0.0, 0.0]) });
    }

    fn after_server(&mut self, _now: foretell::Instant, server: &Server<Stage>, frame: &ServerFrame<'_>) {
        let Some(puppet) = server.rows().state::<Puppet>(PUPPET).filter(|_| frame.steps > 0) else { return };
        let way_m = puppet.hands[1][0] - self.right;
        (self.right, self.most_m) = (puppet.hands[1][0], self.most_m.max(way_m));
        self.back_m -= way_m.min(0.0);
    }
}

/// A puppet that nobody is to move faster than 6 m/s, and one player over such a network.
fn stage(conditions: Conditions) -> Simulation<Stage> {
    let mut world = Stage::default();
    world.0.insert(unowned(PUPPET), Puppet::default());
    let schema = Stage::schema().with_speed_max::<Puppet>(6.0);
    let mut simulation = Simulation::new(Rules::new(schema), ServerConfig::default(), world, 1);
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Stage::default() });
    simulation
}

/// Four seconds of it: where the hands are then on the server, and what was noted.
fn hold(mps: [f32; 2]) -> (Puppet, Offences) {
    let mut simulation = stage(good());
    #[expect(clippy::cast_precision_loss, reason = "small")]
    simulation.run_until(ms(6000), &mut puppeteer(|passed| mps.map(|mps| mps * passed as f32 / 64.0)));
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    (simulation.server.server.rows().state(PUPPET).expect("it is there"), offences)
}

#[test]
fn each_position_of_an_entity_has_a_bound_of_its_own() {
    // Both as fast as they may: neither takes from the other.
    let (puppet, offences) = hold([5.9, -5.9]);
    assert!(puppet.hands[0][0] > 20.0 && puppet.hands[1][0] < -20.0, "{puppet:?}");
    assert_eq!(offences.total(), 0, "{offences:?}");
    // One that rests lends the other nothing, and one that is too fast takes nothing from the other.
    for mps in [[0.0, 12.0], [5.9, 12.0]] {
        let (puppet, offences) = hold(mps);
        assert!(offences.count(Offence::Speed) > 100, "{mps:?}: {offences:?}");
        let way_m = puppet.hands[1][0];
        assert!(way_m > 20.0 && way_m <= 6.0 * 4.2, "{mps:?}: {way_m} m");
    }
    let [(both, _), (alone, _)] = [hold([5.9, 12.0]), hold([5.9, 0.0])];
    assert_eq!(both.hands[0], alone.hands[0]);
}

#[test]
fn who_holds_something_still_for_long_saves_a_quarter_of_a_second_and_no_leap() {
    let mut puppeteer = puppeteer(|passed| [0.0, if passed < 320 { 0.0 } else { 20.0 }]);
    stage(good()).run_until(ms(9000), &mut puppeteer);
    // 250 ms at 6 m/s, and a centimetre of slack.
    assert!((puppeteer.most_m - 1.51).abs() < 1e-3, "{} m in a tick", puppeteer.most_m);
    assert!(puppeteer.right > 10.0, "and goes on towards it: {} m", puppeteer.right);
}

#[test]
fn what_moves_while_the_server_skips_ticks_is_where_it_says_at_once() {
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let mut puppeteer = puppeteer(|passed| [0.0, 5.9 * passed as f32 / 64.0]);
    let mut simulation = stage(good());
    simulation.run_until(ms(3000), &mut puppeteer);
    let now = simulation.now();
    simulation.server.host.clock_mut().stall(now, Duration::from_millis(220));
    simulation.run_until(ms(3500), &mut puppeteer);
    // 14 ticks, of which it steps the last ones alone.
    assert!(puppeteer.most_m > 1.2, "{} m in an update", puppeteer.most_m);
    let player = simulation.players[0].client.player().expect("it plays");
    let offences = simulation.server.server.stats(player).expect("it plays").offences;
    assert_eq!(offences.total(), 0, "{offences:?}");
}

#[test]
fn rows_of_a_holder_that_overtake_each_other_take_nothing_back() {
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let mut puppeteer = puppeteer(|passed| [0.0, 3.0 * passed as f32 / 64.0]);
    let reordering = Reordering { rate: 0.3, ..Reordering::default() };
    let conditions = Conditions { jitter: Duration::from_millis(120), duplicates: 0.3, reordering, ..good() };
    let mut simulation = stage(conditions);
    simulation.run_until(ms(12_000), &mut puppeteer);
    assert!(simulation.players[0].up.stats().reordered > 200, "{:?}", simulation.players[0].up.stats());
    assert!(puppeteer.right > 25.0, "{} m", puppeteer.right);
    assert!(puppeteer.back_m < 1e-6, "{} m back", puppeteer.back_m);
}

/// Grabs the cube and lets it go again, nine times a second, and says each time that it is far away.
#[derive(Default)]
struct Grabber {
    frames: u32,
    /// Whether a second player grabs in turns with the first.
    two: bool,
    before: Option<[f64; 3]>,
    /// How far the cube has gone, in metres.
    way_m: f64,
    /// In how many ticks it was held, or went on with the last row of a hold.
    ticks: u32,
    holds: u32,
}

impl Driver<Toys> for Grabber {
    fn input(&mut self, _player: usize, _tick: Tick) -> Walk {
        Walk::default()
    }

    fn before_client(&mut self, player: usize, _at: Moment, client: &mut Client<Toys>) {
        if player == 0 {
            self.frames += 1;
        }
        let turn = (self.frames / 7) % if self.two { 2 } else { 1 };
        let frame = self.frames % 7;
        let is_on_turn = usize::try_from(turn).expect("small") == player;
        match frame {
            0 if is_on_turn && self.frames > 120 => client.request(cube(0), Claim::Ownership),
            // With two of them the next takes over what the one before has let go, and still moves.
            4 if is_on_turn && self.frames > 120 => client.release(cube(0)),
            _ => {}
        }
        let toy = Toy::Cube { place: [1000.0, 0.0, 3.0], velocity: [0.0; 3], health: 1 };
        client.capture(cube(0), client.tick(), &toy);
    }

    fn after_server(&mut self, _now: foretell::Instant, server: &Server<Toys>, frame: &ServerFrame<'_>) {
        let held =
            frame.events.iter().filter(|event| matches!(event, foretell::session::server::ServerEvent::Held { .. }));
        self.holds += u32::try_from(held.count()).expect("few");
        let Some(place) = server.rows().state::<Toy>(cube(0)).map(|toy| toy.place()) else { return };
        if let Some(before) = self.before.replace(place).filter(|_| frame.steps > 0) {
            assert_eq!(frame.steps, 1, "the server's frames are its ticks");
            let way_m = length(sub(place, before));
            self.way_m += way_m;
            self.ticks += u32::from(way_m > 0.0 || server.holder(cube(0)).is_some());
        }
    }
}

#[test]
fn who_grabs_an_entity_again_and_again_gets_its_slack_once() {
    for two in [false, true] {
        let mut simulation = session((bounded(), ServerConfig::default()), 2, good(), ClientConfig::default(), 1);
        let mut grabber = Grabber { two, ..Grabber::default() };
        simulation.run_until(ms(12_000), &mut grabber);
        let Grabber { holds, ticks, way_m, .. } = grabber;
        assert!(holds > 40 && ticks > 150, "{holds} holds, {ticks} ticks");
        let free_m = way_m - BOUND_MPS / 64.0 * f64::from(ticks);
        assert!(free_m > 0.0, "it goes as far as it may: {free_m} m");
        // One centimetre, and a millimetre for each of ten seconds.
        assert!(free_m <= 0.01 + 0.001 * 10.0 + 1e-9, "{free_m} m in {holds} holds");
    }
}
