//! Messages that are part of steps: in the same tick on both ends, never lost, and explained where they come late.

use foretell::session::client::{Causes, Client, ClientEvent, Frame};
use foretell::session::server::{Server, ServerFrame};
use foretell::session::{Offence, SendError};
use foretell::{
    ClientConfig, Host, Input, Instant, Message, Messages, Outbox, Rules, ServerConfig, Simulate, State, Step, Table,
    Tick, To, World,
};
use foretell_sim::harness::{Driver, FaultMix, FaultStage, Faults, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use foretell_sim::record::{Recorder, Recording};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    right: bool,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Shopper {
    #[state(position)]
    x: [f32; 1],
    gold: u32,
    /// A hash of all that was bought, in order.
    bought: u32,
    count: u32,
}

/// Something that is said beside it all.
#[derive(Serialize, Deserialize, Message, PartialEq, Debug)]
struct News(u32);

/// Buys something.
#[derive(Serialize, Deserialize, Message, Clone, Copy)]
#[message(in_step)]
struct Buy {
    item: u32,
    number: u32,
}

#[derive(World, Default)]
struct Shop {
    shoppers: Table<Shopper>,
}

impl Simulate for Shop {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.shoppers.remove_left(step);
        for joined in step.joined() {
            self.shoppers.spawn(step, joined.player, Shopper { gold: 1_000_000, ..Shopper::default() });
        }
        for mut shopper in self.shoppers.simulated(step) {
            for buy in step.messages_of::<Buy>(shopper.owner()) {
                assert!(!step.is_authority() || shopper.count == buy.number, "one is lost, or comes twice");
                shopper.gold -= 1 + buy.item % 10;
                shopper.bought = shopper.bought.wrapping_mul(31).wrapping_add(buy.item);
                shopper.count += 1;
            }
            if step.input(shopper.owner()).is_some_and(|player| player.input.right) {
                shopper.x[0] += 0.1;
            }
        }
    }
}

fn rules() -> Rules {
    Rules { messages: Messages::new().with::<Buy>().with::<News>(), ..Rules::new(Shop::schema()) }
}

/// Who buys things now and then.
struct Shopping {
    random: SplitMix64,
    until: Instant,
    /// How often at most, one of so many frames.
    chance: f64,
    /// How many each machine has bought in its session.
    bought: BTreeMap<usize, u32>,
    corrections: Vec<Causes>,
    late: usize,
}

impl Shopping {
    fn new(seed: u64, until: Instant) -> Shopping {
        let (random, bought) = (SplitMix64::new(seed), BTreeMap::new());
        Shopping { random, until, chance: 0.05, bought, corrections: Vec::new(), late: 0 }
    }
}

impl Driver<Shop> for Shopping {
    fn input(&mut self, _: usize, tick: Tick) -> Keys {
        Keys { right: tick.get() % 50 < 25 }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Shop>) {
        if at.now > self.until || !self.random.chance(self.chance) {
            return;
        }
        let number = self.bought.entry(player).or_default();
        let item = (self.random.next_u64() % 1000) as u32;
        match client.send(&Buy { item, number: *number }) {
            Ok(()) => *number += 1,
            Err(why) => assert!(matches!(why, SendError::Full | SendError::NotPlaying), "{why}"),
        }
    }

    fn after_client(&mut self, player: usize, _: Moment, client: &Client<Shop>, frame: &Frame<'_>) {
        if frame.events.iter().any(|event| matches!(event, ClientEvent::Joined(_))) {
            // What is told of a player that the server has kept.
            let own = client.newest_snapshot().and_then(|(_, rows)| {
                rows.states::<Shopper>().find(|(of, _)| Some(of.owner) == client.player()).map(|(_, own)| own.count)
            });
            self.bought.insert(player, own.unwrap_or_default());
        }
        self.corrections.extend(frame.corrections.iter().map(|correction| correction.causes));
    }

    fn after_server(&mut self, _: Instant, _: &Server<Shop>, frame: &ServerFrame<'_>) {
        self.late += frame.late.len();
    }
}

impl FaultStage<Shop> for Shopping {
    fn newcomer(&mut self, _: usize) -> PlayerOptions<Shop> {
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        PlayerOptions { client, host, conditions: Conditions::default(), world: Shop::default() }
    }

    fn event(&mut self, _: &mut Shop, _: u32) {}
}

/// One player over a link, for ten seconds.
fn shop_over(conditions: Conditions, client: ClientConfig) -> (Shopping, Simulation<Shop>) {
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Shop::default(), 5);
    let mut shopping = Shopping::new(5, Instant::from_micros(8_000_000));
    let host = HostOptions::at(60);
    simulation.add_player(PlayerOptions { client, host, conditions, world: Shop::default() });
    simulation.run_until(Instant::from_micros(10_000_000), &mut shopping);
    (shopping, simulation)
}

#[test]
fn what_is_bought_on_a_good_link_is_bought_in_the_same_tick_on_both_ends() {
    let (shopping, simulation) =
        shop_over(Conditions { latency: Duration::from_millis(70), ..Conditions::default() }, ClientConfig::default());
    assert!(shopping.bought[&0] > 15, "{:?}", shopping.bought);
    assert!(shopping.corrections.is_empty(), "{:?}", shopping.corrections);
    let [server, client] = [&simulation.server.world, &simulation.players[0].world];
    let count = |world: &Shop| world.shoppers.iter().next().map(|shopper| shopper.count);
    assert_eq!((count(server), count(client)), (Some(shopping.bought[&0]), Some(shopping.bought[&0])));
}

#[test]
fn what_comes_late_is_bought_later_and_each_correction_of_it_is_explained() {
    let conditions =
        Conditions { latency: Duration::from_millis(60), loss: Loss::Uniform(0.4), ..Conditions::default() };
    let in_the_nick_of_time = ClientConfig { lead_max: Some(Duration::ZERO), ..ClientConfig::default() };
    let (shopping, simulation) = shop_over(conditions, in_the_nick_of_time);
    let server = simulation.server.world.shoppers.iter().next().expect("the only one").count;
    assert_eq!(server, shopping.bought[&0], "nothing is lost");
    assert!(shopping.corrections.len() > 3, "{:?}", shopping.corrections);
    let unexplained = shopping.corrections.iter().filter(|causes| !causes.contains(Causes::OWN_INPUT)).count();
    assert_eq!(unexplained, 0, "{:?}", shopping.corrections);
}

#[test]
fn no_more_is_taken_than_fits_into_a_datagram_of_inputs() {
    let (_, mut simulation) = shop_over(Conditions::default(), ClientConfig::default());
    let client = &mut simulation.players[0].client;
    let taken = (0..40).take_while(|number| client.send(&Buy { item: 1, number: *number }).is_ok()).count();
    assert_eq!(taken, 16);
    assert_eq!(client.send(&Buy { item: 1, number: 0 }), Err(SendError::Full));
}

const LENGTH_MS: u32 = 14_000;

#[test]
fn whatever_goes_wrong_each_is_bought_once_and_in_order() {
    for seed in 0..30 {
        let mut simulation = Simulation::new(rules(), ServerConfig::default(), Shop::default(), seed);
        let mut shopping = Shopping::new(seed, Instant::from_micros(9_000_000));
        let mut faults = Faults::new(FaultMix::network().draw(seed, 2, LENGTH_MS), 2);
        while faults.next_ms().is_some_and(|moment| moment < LENGTH_MS) {
            faults.begin(&mut simulation, &mut shopping);
            faults.hold(&mut simulation, |_| [Conditions::default(), Conditions::default()]);
            let until = faults.next_ms().unwrap_or(LENGTH_MS).min(LENGTH_MS);
            simulation.run_until(Instant::from_micros(u64::from(until) * 1000), &mut shopping);
        }
        for (machine, host) in simulation.players.iter().enumerate() {
            let player = host.client.player().expect("they play");
            let server = simulation.server.world.shoppers.iter().find(|shopper| shopper.owner() == player);
            assert_eq!(server.map(|shopper| shopper.count), shopping.bought.get(&machine).copied(), "seed {seed}");
            let offences = simulation.server.server.offences(player).expect("they are there");
            assert_eq!(offences.count(Offence::Message), 0, "seed {seed}");
        }
    }
}

#[test]
fn a_recorded_session_with_messages_runs_again_to_the_same() {
    let (to, from) = channel();
    let recorder = |end: &'static str| {
        let to = to.clone();
        Recorder::new(Box::new(move |bytes: &[u8]| drop(to.send((end, bytes.to_vec())))))
    };
    let mut simulation = Simulation::new(rules(), ServerConfig::default(), Shop::default(), 7);
    simulation.server.server.set_tap(Box::new(recorder("server")));
    let conditions =
        Conditions { latency: Duration::from_millis(50), loss: Loss::Uniform(0.1), ..Conditions::default() };
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Shop::default() });
    simulation.players[0].client.set_tap(Box::new(recorder("client")));
    let mut shopping = Shopping::new(7, Instant::from_micros(5_000_000));
    simulation.run_until(Instant::from_micros(6_000_000), &mut shopping);
    assert!(shopping.bought[&0] > 10);
    drop(simulation);
    let all: Vec<_> = from.try_iter().collect();
    let of = |end| all.iter().filter(|(of, _)| *of == end).flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<u8>>();
    let replay = Recording::open(&of("client")).expect("it is one").replay_client(rules(), Shop::default());
    let client = replay.expect("it runs again").agreement;
    let replay = Recording::open(&of("server")).expect("it is one").replay_server(rules(), Shop::default());
    let server = replay.expect("it runs again").agreement;
    for agreement in [client, server] {
        assert!(agreement.holds() && agreement.digests > 4, "{agreement:?}");
    }
}

#[test]
fn who_sits_at_the_server_buys_in_the_next_step_and_is_told_what_the_server_says() {
    let mut host = Host::<Shop>::new(rules(), ServerConfig::default(), 0, Instant::ZERO);
    let (mut world, mut outbox) = (Shop::default(), Outbox::new());
    let mut update = |host: &mut Host<Shop>, tick: u64| {
        let frame = host.update(Instant::from_micros(tick * 15_625), &mut world, &mut |_| Keys::default(), &mut outbox);
        let news: Vec<_> = frame.messages.iter().filter_map(|message| Some(message.get::<News>()?.0)).collect();
        (world.shoppers.iter().next().map(|shopper| shopper.count), news)
    };
    assert_eq!(host.send(&Buy { item: 1, number: 0 }), Err(SendError::NotPlaying), "nobody has joined");
    update(&mut host, 1);
    let player = host.player().expect("they play");
    host.send(&Buy { item: 1, number: 0 }).expect("it is small");
    host.send(&News(5)).expect("it is small");
    host.server_mut().send(To::Player(player), &News(7)).expect("they are there");
    assert_eq!(update(&mut host, 2), (Some(1), vec![7]));
    let told: Vec<_> = host.server().frame().messages.iter().map(|message| message.get::<News>().is_some()).collect();
    assert_eq!(told, [true]);
    assert_eq!(update(&mut host, 3), (Some(1), vec![]));
}
