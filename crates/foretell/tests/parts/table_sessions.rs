//! Tables over whole sessions: a state that becomes another variant, an entity with states of two types, very many that come at
//! once, and fields that are no numbers.

use core::time::Duration;
use foretell::session::client::{ClientEvent, Corrected, PoseSource};
use foretell::{
    Client, ClientConfig, Entity, Field, Frame, Input, Instant, Owned, PlayerId, Rules, ServerConfig, Simulate, State,
    Step, Table, Text, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Nothing(bool);

/// How a plant stands.
#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Plant {
    Seed {
        ticks: u8,
    },
    Stem {
        #[state(position)]
        tip: [f32; 3],
        ticks: u8,
    },
    Wilted,
}

/// What only some plants have.
#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Label {
    by: PlayerId,
    beside: Option<Entity>,
    text: Text<6>,
    mood: Mood,
}

#[derive(Field, Clone, Copy, PartialEq, Default, Debug)]
enum Mood {
    #[default]
    Plain,
    Proud,
}

/// A plant for each player, that grows from seed to seed.
#[derive(World, Default)]
struct Garden {
    plants: Table<Plant>,
    labels: Table<Label>,
    /// In which tick the authority brings so many seeds at once.
    #[world(constant)]
    sows: Option<(u32, u16)>,
    /// In which tick the authority takes all plants away, and in which their labels.
    #[world(constant)]
    clears: Option<[u32; 2]>,
}

const STAGE_TICKS: u8 = 40;

impl Simulate for Garden {
    type Input = Nothing;

    fn step(&mut self, step: &mut Step<'_, Nothing>) {
        for joined in step.joined() {
            let beside = self.plants.iter().next().map(|plant| plant.entity());
            let entity = self.plants.spawn(step, joined.player, Plant::Seed { ticks: 0 });
            let label = Label { by: joined.player, beside, text: Text::new("gr\u{fc}n"), mood: Mood::Proud };
            self.labels.insert(Owned { entity, owner: joined.player }, label);
        }
        if let Some((_, count)) = self.sows.filter(|(at, _)| step.is_authority() && *at == step.tick().get()) {
            for nth in 0..count {
                let seed = self.plants.spawn(step, PlayerId::SERVER, Plant::Wilted);
                assert_eq!((seed.tick(), seed.counter()), (step.tick(), nth));
            }
        }
        let [plants, labels] = self.clears.unwrap_or([u32::MAX; 2]).map(|at| at == step.tick().get());
        self.plants.retain(|_| !plants);
        self.labels.retain(|_| !labels);
        for mut plant in self.plants.simulated(step) {
            *plant = match *plant {
                Plant::Seed { ticks } if ticks < STAGE_TICKS => Plant::Seed { ticks: ticks + 1 },
                Plant::Seed { .. } => Plant::Stem { tip: [1.0, 0.0, 0.0], ticks: 0 },
                Plant::Stem { tip: [x, y, z], ticks } if ticks < STAGE_TICKS => {
                    Plant::Stem { tip: [x, y + 0.01, z], ticks: ticks + 1 }
                }
                Plant::Stem { .. } if plant.owner() != PlayerId::SERVER => Plant::Seed { ticks: 0 },
                Plant::Stem { .. } | Plant::Wilted => continue,
            };
        }
    }
}

/// What the players are told and shown.
#[derive(Default)]
struct Watch {
    from: Option<Instant>,
    events: Vec<(usize, ClientEvent)>,
    corrections: Vec<Corrected>,
    /// By player, entity, and whether it was predicted: which variants were shown.
    shown: BTreeMap<(usize, Entity, bool), BTreeSet<&'static str>>,
    /// How many states a player was shown last.
    states: BTreeMap<usize, usize>,
    /// Those that a player was shown last.
    labels: Vec<Label>,
}

impl Driver<Garden> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(true)
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Garden>, frame: &Frame<'_>) {
        assert!(client.stats().prediction.outcomes.add_up(), "{:?}", client.stats().prediction.outcomes);
        self.corrections.extend(frame.corrections);
        if self.from.is_none_or(|from| at.now < from) {
            return;
        }
        let lives = frame.events.iter().filter(|event| !matches!(event, ClientEvent::Substituted { .. }));
        self.events.extend(lives.map(|event| (player, *event)));
        self.labels.clear();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            let name = match view.get::<Plant>() {
                Some(Plant::Seed { .. }) => "seed",
                Some(Plant::Stem { tip, .. }) => {
                    assert_eq!(view.pose().position[0], f64::from(tip[0]));
                    "stem"
                }
                Some(Plant::Wilted) => "wilted",
                None => {
                    self.labels.push(view.get::<Label>().expect("one of the two"));
                    continue;
                }
            };
            assert_eq!(view.get::<Label>(), None, "another view");
            let key = (player, view.entity, view.source == PoseSource::Predicted);
            self.shown.entry(key).or_default().insert(name);
        }
        self.states.insert(player, views.len());
    }
}

fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// Two players on links that lose some.
fn session(world: Garden) -> (Simulation<Garden>, Watch) {
    let mut simulation = Simulation::new(Rules::new(Garden::schema()), ServerConfig::default(), world, 3);
    for latency in [20, 70] {
        let latency = Duration::from_millis(latency);
        let conditions = Conditions { latency, loss: Loss::Uniform(0.02), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Garden::default() });
    }
    (simulation, Watch { from: Some(seconds(3)), ..Watch::default() })
}

#[test]
fn a_state_that_becomes_another_variant_is_the_same_entity_predicted_or_not() {
    let (mut simulation, mut watch) = session(Garden::default());
    simulation.run_until(seconds(13), &mut watch);
    assert_eq!(watch.events, [], "nobody comes and nobody goes");
    assert!(watch.corrections.len() <= 2, "{:?}", watch.corrections);
    let all = BTreeSet::from(["seed", "stem"]);
    let plants: Vec<_> = simulation.server.world.plants.iter().map(|plant| plant.owned()).collect();
    assert_eq!(plants.len(), 2);
    for (player, host) in simulation.players.iter().enumerate() {
        for plant in &plants {
            let is_own = host.client.player() == Some(plant.owner);
            assert_eq!(watch.shown.get(&(player, plant.entity, is_own)), Some(&all), "{player} {plant:?}");
            assert_eq!(watch.shown.get(&(player, plant.entity, !is_own)), None);
        }
    }
}

#[test]
fn an_entity_is_there_as_long_as_it_is_in_any_table() {
    let (mut simulation, mut watch) = session(Garden { clears: Some([400, 600]), ..Garden::default() });
    simulation.run_until(seconds(6), &mut watch);
    // A plant and a label of each of the two.
    assert_eq!(watch.states, BTreeMap::from([(0, 4), (1, 4)]));
    let labels: Vec<_> = simulation.server.world.labels.iter().map(|label| *label).collect();
    assert_eq!(watch.labels.len(), 2);
    assert!(labels.iter().all(|label| watch.labels.contains(label)), "{labels:?} {:?}", watch.labels);
    assert!(labels[1].beside.is_some() && &*labels[1].text == "gr\u{fc}n" && labels[1].mood == Mood::Proud);
    simulation.run_until(seconds(9), &mut watch);
    assert_eq!((watch.events.len(), &watch.states), (0, &BTreeMap::from([(0, 2), (1, 2)])), "{:?}", watch.events);
    simulation.run_until(seconds(12), &mut watch);
    assert_eq!(watch.states, BTreeMap::from([(0, 0), (1, 0)]));
    let gone = watch.events.iter().filter(|(_, event)| matches!(event, ClientEvent::Despawned { .. }));
    assert_eq!((gone.count(), watch.events.len()), (4, 4), "{:?}", watch.events);
}

#[test]
fn a_thousand_entities_that_come_in_one_tick_have_names_of_their_own_and_are_all_shown() {
    let (mut simulation, mut watch) = session(Garden { sows: Some((300, 1000)), ..Garden::default() });
    simulation.run_until(seconds(9), &mut watch);
    assert_eq!(simulation.server.world.plants.len(), 1002);
    // And two labels.
    assert_eq!(watch.states, BTreeMap::from([(0, 1004), (1, 1004)]));
    let spawned = watch.events.iter().filter(|(_, event)| matches!(event, ClientEvent::Spawned(_))).count();
    assert_eq!(spawned, 2000, "once for each player");
    for host in &simulation.players {
        let (tick, rows) = host.client.newest_snapshot().expect("a state");
        assert!(simulation.server.server.tick().since(tick) < 20 && rows.states::<Plant>().count() == 1002);
    }
}
