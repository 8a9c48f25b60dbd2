//! Items that are taken by `change` and become their taker's by `set_owner`, are thrown, and taken again before their taker's client knows
//! that they were theirs.

use core::time::Duration;
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, TickRate, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// How many items there are.
const ITEMS: u16 = 3;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    press: bool,
    moves: i8,
}

#[derive(State, Clone, Copy, Default, Debug)]
struct Hero {
    #[state(position)]
    at: [f32; 1],
    item: Option<Entity>,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Item {
    #[state(position)]
    at: [f32; 1],
    holder: Option<Entity>,
    throws: u32,
    /// How often it was taken.
    #[state(audience = owner)]
    wear: u8,
}

/// When an item changes hands.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Gives {
    /// When it is taken, on both ends.
    #[default]
    OnBothEnds,
    /// The same on the server alone.
    OnTheServer,
    /// On both ends, and back to nobody when it is thrown.
    AndBack,
}

#[derive(World, Default)]
struct Camp {
    heroes: Table<Hero>,
    items: Table<Item>,
    #[world(constant)]
    gives: Gives,
}

/// The last one was spawned for the first player, and is nobody's.
fn item(nth: u16) -> Owned {
    let spawned_for = if nth + 1 == ITEMS { PlayerId::new(1) } else { PlayerId::SERVER };
    Owned { entity: Entity::new(spawned_for, Tick::ZERO, nth), owner: PlayerId::SERVER }
}

impl Camp {
    fn new(gives: Gives) -> Camp {
        let mut camp = Camp { gives, ..Camp::default() };
        (0..ITEMS).for_each(|nth| camp.items.insert(item(nth), Item::default()));
        camp
    }
}

impl Simulate for Camp {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.heroes.spawn(step, joined.player, Hero::default());
        }
        let gives = self.gives != Gives::OnTheServer || step.is_authority();
        for mut hero in self.heroes.simulated(step) {
            let by = hero.owned();
            let Some(keys) = step.input(by.owner).map(|player| player.input) else { continue };
            hero.at[0] += f32::from(keys.moves);
            if !keys.press {
                continue;
            }
            // The one that was thrown least.
            let lying = self.items.iter().filter(|one| one.holder.is_none());
            let free = || lying.min_by_key(|one| one.throws).map(|one| one.entity());
            let Some(wanted) = hero.item.or_else(free) else { continue };
            let Some(mut item) = self.items.change(step, by, wanted) else { continue };
            let takes = hero.item.is_none();
            hero.item = takes.then_some(wanted);
            item.holder = takes.then_some(by.entity);
            item.throws += u32::from(!takes);
            item.wear = item.wear.wrapping_add(u8::from(takes));
            if takes && gives {
                self.items.set_owner(wanted, by.owner);
            } else if !takes && self.gives == Gives::AndBack {
                self.items.set_owner(wanted, PlayerId::SERVER);
            }
        }
        for mut item in self.items.simulated(step) {
            if let Some(hero) = item.holder.and_then(|hero| self.heroes.get(hero)) {
                item.at = hero.at;
            }
        }
    }
}

/// Players who press by their seeds, until tick 500.
struct Play {
    seed: u32,
    /// How many ticks there are for each press, on average.
    every: u32,
    refused: u32,
    confirmed: u32,
}

impl Driver<Camp> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        let number = tick.get();
        let salt = (u32::try_from(player).expect("few") + 7 * self.seed) * 0x9e37;
        let chance = (number.wrapping_add(salt)).wrapping_mul(0x9e37_79b9) >> 16;
        let plays = number < 500;
        let moves = if (number / 10).is_multiple_of(2) { 1 } else { -1 };
        Keys { press: plays && chance.is_multiple_of(self.every), moves: if plays { moves } else { 0 } }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Camp>, frame: &Frame<'_>) {
        for event in frame.events {
            match event {
                ClientEvent::ChangeRefused { .. } => self.refused += 1,
                ClientEvent::ChangeConfirmed { .. } => self.confirmed += 1,
                ClientEvent::Despawned { entity, .. } => panic!("{entity} is gone"),
                _ => {}
            }
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        if client.tick().get() < 60 || views.is_empty() {
            return;
        }
        for nth in 0..ITEMS {
            let shown = views.iter().filter(|view| view.entity == item(nth).entity).count();
            assert_eq!(shown, 1, "player {player} sees item {nth} once in tick {}", client.tick().get());
            let predicted = client.predicted(client.tick()).expect("it plays");
            let is_whole = predicted.state::<Item>(item(nth).entity).is_some();
            assert!(
                is_whole || !predicted.has(item(nth).entity),
                "player {player} predicts all of item {nth} or nothing"
            );
        }
    }
}

fn run(players: usize, gives: Gives, every: u32, loss: f64, seed: u64) -> (Play, Simulation<Camp>) {
    let rules = Rules { tick_rate: TickRate::hz(30), ..Rules::new(Camp::schema()) };
    let config = ServerConfig { snapshot_rate: SendRate::Hz(15), ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Camp::new(gives), seed);
    for _ in 0..players {
        let latency = Duration::from_millis(50);
        let conditions = Conditions { latency, loss: Loss::Uniform(loss), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Camp::new(gives) });
    }
    let mut play = Play { seed: u32::try_from(seed).expect("small"), every, refused: 0, confirmed: 0 };
    simulation.run_until(Instant::from_micros(20_000_000), &mut play);
    (play, simulation)
}

fn items(camp: &Camp) -> Vec<(Owned, Item)> {
    camp.items.iter().map(|one| (one.owned(), Item { wear: 0, ..*one })).collect()
}

#[test]
fn what_one_takes_and_throws_at_any_pace_is_there_once_in_every_frame_and_nothing_of_it_is_refused() {
    for gives in [Gives::OnBothEnds, Gives::OnTheServer] {
        for (every, seed) in [(1, 1), (2, 2), (5, 3), (60, 4), (150, 5)] {
            let (play, simulation) = run(1, gives, every, 0.0, seed);
            let of = format!("{gives:?}, one press in {every} ticks");
            assert!(play.confirmed > 0, "{of}: something is taken");
            assert_eq!(play.refused, 0, "{of}");
            assert_eq!(items(&simulation.players[0].world), items(&simulation.server.world), "{of}");
        }
    }
}

#[test]
fn when_several_take_and_throw_everybody_sees_each_item_once_and_in_the_end_where_it_is() {
    for gives in [Gives::OnBothEnds, Gives::OnTheServer, Gives::AndBack] {
        for (every, seed) in [(3, 1), (10, 2), (40, 3), (40, 4)] {
            let (play, simulation) = run(3, gives, every, 0.03, seed);
            assert!(play.confirmed > 0, "{gives:?}, seed {seed}");
            for player in &simulation.players {
                assert_eq!(items(&player.world), items(&simulation.server.world), "{gives:?}, seed {seed}");
            }
        }
    }
}
