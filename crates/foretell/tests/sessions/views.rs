//! What is shown as a collection: found by entity, by place, sorted, kept.

use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::PoseSource;
use foretell::{
    Client, ClientConfig, Entity, Frame, Instant, Owned, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table,
    Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// A component that everybody sees, and one that the owner sees.
#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Ship {
    #[state(position)]
    position: [f64; 3],
    #[state(audience = owner)]
    fuel: u32,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Cargo {
    crates: u32,
}

/// Every player's ship, which has cargo, and five derelicts that have none.
#[derive(World, Default)]
struct Harbour {
    ships: Table<Ship>,
    cargo: Table<Cargo>,
}

impl Simulate for Harbour {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            let number = joined.player.get();
            let position = [f64::from(number), 0.0, 0.0];
            let entity = self.ships.spawn(step, joined.player, Ship { position, fuel: u32::from(number) });
            self.cargo.insert(Owned { entity, owner: joined.player }, Cargo { crates: 10 * u32::from(number) });
        }
    }
}

struct Idle;

impl Driver<Harbour> for Idle {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }
}

fn derelict(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

/// Two seconds of two players.
fn session() -> Simulation<Harbour> {
    let mut harbour = Harbour::default();
    for nth in 0..5 {
        let position = [-f64::from(nth), 0.0, 0.0];
        harbour.ships.insert(Owned { entity: derelict(nth), owner: PlayerId::SERVER }, Ship { position, fuel: 77 });
    }
    let mut simulation = Simulation::new(Rules::new(Harbour::schema()), ServerConfig::default(), harbour, 1);
    for _ in 0..2 {
        let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
        let (client, host, world) = (ClientConfig::default(), HostOptions::at(60), Harbour::default());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation.run_until(Instant::from_micros(2_000_000), &mut Idle);
    simulation
}

fn shown_to(simulation: &Simulation<Harbour>, player: usize) -> Views {
    let (mut views, host) = (Views::new(), &simulation.players[player]);
    host.client.present(host.host.local(simulation.now()), &mut views);
    views
}

#[test]
fn every_entity_is_found_by_its_name_with_all_of_its_state_that_is_told() {
    let simulation = session();
    let (views, client) = (shown_to(&simulation, 0), &simulation.players[0].client);
    // Five derelicts, and of each player a ship and its cargo.
    assert_eq!(views.len(), 5 + 2 * 2);
    for nth in 0..5 {
        let view = views.get(derelict(nth)).expect("shown");
        assert_eq!((view.owner, view.source), (PlayerId::SERVER, PoseSource::Interpolated));
        let position = [-f64::from(nth), 0.0, 0.0];
        assert_eq!(view.get::<Ship>(), Some(Ship { position, fuel: 0 }), "its fuel is told to nobody");
        assert_eq!(view.get::<Cargo>(), None);
        assert_eq!(views.of(derelict(nth)).count(), 1);
    }
    for player in [1, 2] {
        let owner = PlayerId::new(player);
        let entity = views.iter().find(|view| view.owner == owner).expect("shown").entity;
        let is_own = Some(owner) == client.player();
        let [ship, cargo] = views.of(entity).collect::<Vec<_>>()[..] else { panic!("a ship and its cargo") };
        assert_eq!(ship.source, if is_own { PoseSource::Predicted } else { PoseSource::Interpolated });
        let fuel = if is_own { u32::from(player) } else { 0 };
        assert_eq!(ship.get(), Some(Ship { position: [f64::from(player), 0.0, 0.0], fuel }));
        assert_eq!(cargo.get(), Some(Cargo { crates: 10 * u32::from(player) }));
        assert_eq!(views.get(entity).expect("shown").pose(), ship.pose());
    }
    assert!(views.get(derelict(5)).is_none());
}

#[test]
fn sorted_views_are_gone_through_in_their_order_and_found_as_before() {
    let simulation = session();
    let mut views = shown_to(&simulation, 0);
    let x = |views: &Views| views.iter().map(|view| view.pose().position[0]).collect::<Vec<_>>();
    let before = x(&views);
    assert!(!before.is_sorted());
    views.sort_by(|a, b| a.pose().position[0].total_cmp(&b.pose().position[0]));
    let after = x(&views);
    assert!(after.is_sorted() && after.len() == before.len(), "{after:?}");
    assert_eq!(
        after,
        (0..views.len()).map(|place| views.nth(place).expect("there").pose().position[0]).collect::<Vec<_>>()
    );
    assert!(views.nth(views.len()).is_none());
    assert!(views.iter().rev().map(|view| view.pose().position[0]).eq(after.into_iter().rev()));
    assert_eq!(views.get(derelict(3)).expect("shown").pose().position[0], -3.0);
    let host = &simulation.players[0];
    host.client.present(host.host.local(simulation.now()), &mut views);
    assert_eq!(x(&views), before, "filled anew they are not sorted");
}

#[test]
fn a_client_that_does_not_play_shows_nothing_of_what_was_shown_before() {
    let mut views = shown_to(&session(), 0);
    assert!(!views.is_empty());
    let fresh = Client::<Harbour>::new(Rules::new(Harbour::schema()), ClientConfig::default(), 7);
    fresh.present(Instant::ZERO, &mut views);
    assert!(views.is_empty() && views.iter().next().is_none() && views.get(derelict(0)).is_none());
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Buoy {
    #[state(position)]
    position: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
}

/// Six that go in circles of their own, and one that rests.
#[derive(World, Default)]
struct Bay {
    buoys: Table<Buoy>,
}

impl Simulate for Bay {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        let seconds = step.seconds();
        for mut buoy in self.buoys.simulated(step) {
            let ([x, _, z], speed) = (buoy.position, f64::from(buoy.entity().counter()));
            let velocity = [-z, 0.0, x].map(|lane| lane * speed / f64::hypot(x, z));
            buoy.velocity = velocity;
            buoy.position = core::array::from_fn(|lane| buoy.position[lane] + velocity[lane] * seconds);
        }
    }
}

/// Looks at each frame twice: at the instant of the update, and a microsecond later.
#[derive(Default)]
struct TwoLooks {
    frames: u32,
    moved_m: f64,
}

impl Driver<Bay> for TwoLooks {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Bay>, _frame: &Frame<'_>) {
        let [at_once, later, much_later] = [0, 1, 5_000].map(|us| {
            let mut views = Views::new();
            client.present(at.local + Duration::from_micros(us), &mut views);
            views
        });
        self.frames += u32::from(!at_once.is_empty());
        assert_eq!(at_once.len(), later.len());
        for ((one, other), moved) in at_once.iter().zip(later.iter()).zip(much_later.iter()) {
            assert_eq!((one.entity, one.owner), (other.entity, other.owner));
            let [one, other, moved] = [one, other, moved].map(|view| view.pose().position);
            let away = |from: [f64; 3], to: [f64; 3]| (0..3).map(|lane| (from[lane] - to[lane]).abs()).sum::<f64>();
            assert!(away(one, other) < 1e-4, "{one:?} and {other:?} at {:?}", at.local);
            self.moved_m = self.moved_m.max(away(one, moved));
        }
    }
}

/// What is drawn for the step of a tick is shown again in a frame of the same instant.
#[test]
fn a_frame_at_the_instant_of_its_update_shows_what_one_a_microsecond_later_does() {
    let mut bay = Bay::default();
    for nth in 0..7 {
        let buoy = Buoy { position: [f64::from(nth) + 1.0, 0.0, 0.0], velocity: [0.0; 3] };
        bay.buoys.insert(Owned { entity: derelict(nth), owner: PlayerId::SERVER }, buoy);
    }
    let mut simulation = Simulation::new(Rules::new(Bay::schema()), ServerConfig::default(), bay, 1);
    let link = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    for loss in [0.0, 0.2] {
        let jitter = Duration::from_millis(150).mul_f64(loss);
        let conditions = Conditions { loss: Loss::Uniform(loss), jitter, ..link.clone() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Bay::default() });
    }
    let mut looks = TwoLooks::default();
    simulation.run_until(Instant::from_micros(5_000_000), &mut looks);
    assert!(looks.frames > 500 && looks.moved_m > 0.01, "{} frames, {} m", looks.frames, looks.moved_m);
}
