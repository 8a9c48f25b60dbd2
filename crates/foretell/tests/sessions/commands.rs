//! Hundreds that belong to a player and that no client predicts: they are told as what is others' is, each by itself and within the
//! budget.

use crate::budgets::link;
use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::{ClientEvent, PoseSource};
use foretell::{
    Client, ClientConfig, ClientState, Entity, Frame, Host, Instant, Interest, Outbox, PlayerId, Rules, ServerConfig,
    Simulate, State, Step, Table, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeSet;

/// It walks by its player's keys.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Leader {
    #[state(position)]
    place: [f32; 3],
}

/// It walks in a square, as the server says.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(predict = never)]
struct Unit {
    #[state(position)]
    place: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
    #[state(audience = owner)]
    stamina: u32,
}

#[derive(World, Clone, Default)]
struct Army {
    leaders: Table<Leader>,
    units: Table<Unit>,
    /// How many units a player begins with.
    #[world(constant)]
    each: u16,
    /// After this tick they stand.
    #[world(constant)]
    marches_until: u32,
    /// Whether a unit goes over to the other of two players in every tenth tick.
    #[world(constant)]
    deserts: bool,
}

/// How far apart two players begin, in metres.
const APART_M: f32 = 200.0;

impl Army {
    fn of(each: u16, marches_until: u32) -> Army {
        Army { each, marches_until, ..Army::default() }
    }

    fn desert(&mut self, tick: u32) {
        if !self.deserts || !tick.is_multiple_of(10) || tick >= self.marches_until || self.units.is_empty() {
            return;
        }
        let nth = (tick as usize / 10 * 7) % self.units.len();
        let unit = self.units.iter().nth(nth).map(|unit| unit.owned()).expect("there are as many");
        self.units.set_owner(unit.entity, PlayerId::new(3 - unit.owner.get()));
    }
}

impl Simulate for Army {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        let tick = step.tick().get();
        for joined in step.joined() {
            let x = f32::from(joined.player.get()) * APART_M;
            self.leaders.spawn(step, joined.player, Leader { place: [x, 0.0, 0.0] });
            for nth in 0..self.each {
                let place = [x + f32::from(nth % 25), 0.0, f32::from(nth / 25)];
                self.units.spawn(step, joined.player, Unit { place, velocity: [0.0; 3], stamina: 100 });
            }
        }
        for mut leader in self.leaders.simulated(step) {
            let Some(player) = step.input(leader.owner()) else { continue };
            leader.place[2] += f32::from(i8::from(player.input.right) - i8::from(player.input.left)) / 16.0;
        }
        if !step.is_authority() {
            return;
        }
        let marches = tick < self.marches_until;
        for (nth, mut unit) in self.units.iter_mut().enumerate().filter(|_| tick <= self.marches_until) {
            let (sin, cos) = [(0.0, 2.0), (2.0, 0.0), (0.0, -2.0), (-2.0, 0.0)][(tick as usize / 64 + nth) % 4];
            unit.velocity = if marches { [cos, 0.0, sin] } else { [0.0; 3] };
            (0..3).for_each(|axis| unit.place[axis] += unit.velocity[axis] / 64.0);
            unit.stamina += u32::from(marches && tick.is_multiple_of(16));
        }
        self.desert(tick);
    }
}

/// What the first player's client has.
#[derive(Default)]
struct Look {
    plays_ms: Option<u64>,
    has_all_ms: Option<u64>,
    all: usize,
    /// Whether ages are looked at, and what was found: the oldest state that was shown, in ticks.
    looks: bool,
    oldest: u32,
    corrections: usize,
    events: Vec<ClientEvent>,
    sources: BTreeSet<&'static str>,
}

impl Driver<Army> for Look {
    fn input(&mut self, player: usize, tick: foretell::Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 32) * 5 + player as u64)
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Army>, frame: &Frame<'_>) {
        let Some((tick, rows)) = client.newest_snapshot().filter(|_| player == 0) else { return };
        self.events.extend_from_slice(frame.events);
        self.corrections += frame.corrections.len();
        let now_ms = at.now.micros() / 1000;
        if frame.state == ClientState::Playing {
            self.plays_ms.get_or_insert(now_ms);
        }
        if rows.states::<Unit>().filter(|(of, _)| Some(of.owner) == client.player()).count() == self.all {
            self.has_all_ms.get_or_insert(now_ms);
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in views.iter().filter(|view| view.get::<Unit>().is_some()) {
            self.sources.insert(if view.source == PoseSource::Predicted { "predicted" } else { "shown" });
        }
        if self.looks {
            let units = rows.iter().filter(|row| rows.state::<Unit>(row.entity).is_some());
            let ages = units.filter_map(|row| client.told_in(row.key())).map(|told| tick.since(told));
            self.oldest = self.oldest.max(ages.max().unwrap_or(0));
        }
    }
}

fn session(army: &Army, config: ServerConfig, links: &[Conditions], seed: u64) -> Simulation<Army> {
    let mut simulation = Simulation::new(Rules::new(Army::schema()), config, army.clone(), seed);
    for conditions in links {
        let (client, host, conditions) = (ClientConfig::default(), HostOptions::at(60), conditions.clone());
        simulation.add_player(PlayerOptions { client, host, conditions, world: Army::default() });
    }
    simulation
}

fn seconds(seconds: u64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

/// The units that a client knows of, and those that it is to know: the server's, of another's without what only their owner is told.
fn known_and_true(simulation: &Simulation<Army>, nth: usize) -> [Vec<(Entity, PlayerId, Unit)>; 2] {
    let client = &simulation.players[nth].client;
    let me = client.player().expect("it plays");
    let units = |rows: &foretell::Rows| {
        let all = rows.states::<Unit>();
        all.map(|(of, unit)| {
            let stamina = if of.owner == me { unit.stamina } else { 0 };
            (of.entity, of.owner, Unit { stamina, ..unit })
        })
        .collect()
    };
    let (_, known) = client.newest_snapshot().expect("a state");
    [units(known), units(simulation.server.server.rows())]
}

/// How many events say that something has gone, or is out of view.
fn left(events: &[ClientEvent]) -> usize {
    let has_ended =
        |event: &&ClientEvent| matches!(event, ClientEvent::Despawned { .. } | ClientEvent::Withdrawn { .. });
    let is_hidden = |event: &&ClientEvent| matches!(event, ClientEvent::Hidden { .. });
    events.iter().filter(|event| has_ended(event) || is_hidden(event)).count()
}

#[test]
fn who_commands_hundreds_joins_at_once_and_is_told_all_of_them_within_the_budget() {
    const BUDGET: u32 = 64_000;
    let config = ServerConfig { budget: BUDGET, ..ServerConfig::default() };
    let mut simulation = session(&Army::of(1000, u32::MAX), config, &[link(50)], 3);
    let mut look = Look { all: 1000, ..Look::default() };
    simulation.run_until(seconds(3), &mut look);
    assert!(look.plays_ms.is_some_and(|ms| ms <= 300 + 2 * 100), "{:?}", look.plays_ms);
    assert!(look.has_all_ms.is_some_and(|ms| ms <= 2500), "{:?}", look.has_all_ms);
    look.looks = true;
    let received = |simulation: &Simulation<Army>| simulation.players[0].client.stats().network.bytes_received;
    let before = received(&simulation);
    simulation.run_until(seconds(7), &mut look);
    let used = (received(&simulation) - before) as f64 / 4.0;
    assert!(used < f64::from(BUDGET) * 1.05, "{used} bytes in a second");
    assert!(look.oldest <= 64, "a state of {} ticks ago", look.oldest);
    assert_eq!((look.corrections, &look.sources), (0, &BTreeSet::from(["shown"])));
    let spawned = look.events.iter().filter(|event| matches!(event, ClientEvent::Spawned(_))).count();
    assert_eq!((spawned, left(&look.events)), (1001, 0), "each once, and it stays");
}

#[test]
fn what_a_player_commands_is_known_wherever_it_is_and_whoever_had_it_before() {
    let within = Interest::Within { radius_m: 30.0, leaves_at_m: 33.0 };
    // What goes over looks around for its new player where it is.
    let cases = [(Interest::Everything, true), (within, false), (within, true), (Interest::Nearest(20), true)]
        .into_iter()
        .zip(1..);
    for ((interest, deserts), seed) in cases {
        let army = Army { deserts, ..Army::of(60, 1000) };
        let config = ServerConfig { interest, ..ServerConfig::default() };
        let loss = Loss::Uniform(0.05);
        let rough = Conditions { jitter: Duration::from_millis(15), loss, ..link(50) };
        let mut simulation = session(&army, config, &[rough.clone(), rough], seed);
        let mut look = Look::default();
        simulation.run_until(seconds(20), &mut look);
        for nth in 0..2 {
            let [known, truth] = known_and_true(&simulation, nth);
            let me = simulation.players[nth].client.player();
            let own = |of: &&(Entity, PlayerId, Unit)| Some(of.1) == me;
            assert!(known.iter().filter(own).eq(truth.iter().filter(own)), "{interest:?}: its own, all of them");
            assert!(known.iter().all(|of| truth.contains(of)), "{interest:?}: and nothing that is not so");
            let others = known.len() - known.iter().filter(own).count();
            match interest {
                // The other's leader may be one of the twenty.
                Interest::Nearest(_) => assert!((19..=20).contains(&others), "{others}"),
                Interest::Within { .. } if !deserts => assert_eq!(others, 0),
                _ => assert_eq!(known.len(), 120, "{interest:?}"),
            }
        }
        assert!(!look.sources.contains("predicted"), "{interest:?}");
        let ended =
            |event: &ClientEvent| matches!(event, ClientEvent::Despawned { .. } | ClientEvent::Withdrawn { .. });
        assert!(!look.events.iter().any(ended), "{interest:?}: nothing has ended");
    }
}

#[test]
fn who_sits_at_the_server_sees_all_that_they_command_too() {
    for interest in [Interest::Everything, Interest::Within { radius_m: 5.0, leaves_at_m: 6.0 }, Interest::Nearest(3)] {
        let config = ServerConfig { interest, ..ServerConfig::default() };
        let mut host = Host::<Army>::new(Rules::new(Army::schema()), config, 0, Instant::ZERO);
        let mut army = Army::of(60, 1000);
        let (mut views, mut now) = (Views::new(), Instant::ZERO);
        for _ in 0..120 {
            now = now + Duration::from_micros(16_667);
            host.update(now, &mut army, &mut |_| Buttons::default(), &mut Outbox::new());
        }
        host.present(now, &mut views);
        let units: Vec<Unit> = views.iter().filter_map(|view| view.get()).collect();
        assert_eq!(units.len(), 60, "{interest:?}");
        assert!(units.iter().all(|unit| unit.stamina > 100), "{interest:?}: what is its owner's alone, too");
    }
}
