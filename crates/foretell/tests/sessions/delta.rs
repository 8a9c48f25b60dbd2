//! Snapshots that are told against earlier ones: whatever the link does, what a client takes for the server's state of a
//! tick is that state, in every bit; and what does not move costs nothing.

use crate::common::Buttons;
use core::time::Duration;
use foretell::session::client::Predict;
use foretell::session::server::ServerEvent;
use foretell::{
    Client, ClientConfig, ComponentId, Entity, Instant, Interest, Outbox, PeerId, PlayerId, Row, Rows, Rules, SendRate,
    Server, ServerConfig, Simulate, State, Step, Table, Tick, World,
};
use foretell_sim::netsim::{Conditions, Link, Loss, Reordering, SplitMix64};
use std::collections::BTreeMap;

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Walker {
    #[state(position)]
    place: [f32; 3],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Crate {
    #[state(position)]
    place: [f32; 3],
    #[state(rotation)]
    turned: [f32; 4],
    #[state(velocity)]
    velocity: [f32; 3],
    #[state(angular_velocity)]
    spin: [f32; 3],
    asleep: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(audience = owner)]
struct Purse(u32);

const WALKER: ComponentId = ComponentId(0);
const CRATE: ComponentId = ComponentId(1);
const PURSE: ComponentId = ComponentId(2);

/// A yard of crates, of which the first so many are always moving, and others now and then.
#[derive(World, Default)]
struct Yard {
    walkers: Table<Walker>,
    crates: Table<Crate>,
    purses: Table<Purse>,
    /// How many crates there are from the start.
    #[world(constant)]
    count: u16,
    #[world(constant)]
    moving: u16,
    /// Whether crates come and go, and rest, by chance.
    #[world(constant)]
    lively: bool,
}

fn crate_at(nth: u16) -> Crate {
    let place = [f32::from(nth % 30), 0.5, f32::from(nth / 30)];
    Crate { place, turned: [0.0, 0.0, 0.0, 1.0], velocity: [0.0; 3], spin: [0.0; 3], asleep: true }
}

impl Yard {
    fn new(count: u16, moving: u16, lively: bool) -> Yard {
        Yard { count, moving, lively, ..Yard::default() }
    }

    fn push_crates(&mut self, tick: Tick) {
        let mut random = SplitMix64::new(u64::from(tick.get()));
        for (nth, mut it) in (0..).zip(self.crates.iter_mut()) {
            if nth < self.moving || self.lively && random.chance(0.05) {
                it.velocity[0] = (random.next_u64() % 5) as f32 - 2.0;
                it.place[0] += it.velocity[0] / 64.0 + 0.001;
            }
        }
        if self.lively && random.chance(0.1) {
            self.crates.retain(|_| !random.chance(0.05));
        }
    }
}

impl Simulate for Yard {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker { place: [f32::from(joined.player.get()), 0.0, 0.0] });
            self.purses.spawn(step, joined.player, Purse(0));
        }
        if step.is_authority() && step.tick() == Tick::ZERO {
            for nth in 0..self.count {
                self.crates.spawn(step, PlayerId::SERVER, crate_at(nth));
            }
        }
        if step.is_authority() && self.lively && step.tick().get().is_multiple_of(7) && step.tick().get() > 300 {
            self.crates.spawn(step, PlayerId::SERVER, crate_at(5));
        }
        if step.is_authority() {
            self.push_crates(step.tick());
            if step.tick().get().is_multiple_of(50) {
                self.purses.iter_mut().for_each(|mut purse| purse.0 += 1);
            }
        }
        for mut walker in self.walkers.simulated(step) {
            let Some(player) = step.input(walker.owner()) else { continue };
            walker.place[0] += f32::from(i8::from(player.input.right) - i8::from(player.input.left)) / 8.0;
        }
    }
}

/// A player's client, and the links to the server and from it.
struct Player {
    client: Client<Yard>,
    world: Yard,
    links: [Link; 2],
    /// The newest snapshot that was looked at.
    looked_at: Option<Tick>,
    looks: u32,
    /// How many were not what the server had.
    wrong: u32,
    /// How many entities of others the server tells of, and those the nearest, where nothing is lost.
    sees_at_most: Option<usize>,
    /// Crates in the newest.
    crates: Vec<Entity>,
    /// How many have come into it since the start.
    came: u32,
}

/// A session in steps of a millisecond, whose every snapshot is compared with what the server had.
struct Session {
    server: Server<Yard>,
    world: Yard,
    players: Vec<Player>,
    conditions: Conditions,
    truth: BTreeMap<Tick, Rows>,
    random: SplitMix64,
    ms: u64,
    outbox: Outbox,
    /// Sent to the clients.
    bytes: u64,
    /// Whether bits of rows are turned on the way to the clients.
    bends: bool,
    /// How often the server has said so.
    too_large: u32,
}

impl Session {
    fn new(world: Yard, config: ServerConfig, conditions: Conditions, seeds: (u64, u64)) -> Session {
        Session::with(ClientConfig::default(), world, config, conditions, seeds)
    }

    fn with(
        client: ClientConfig,
        world: Yard,
        config: ServerConfig,
        conditions: Conditions,
        (seed, players): (u64, u64),
    ) -> Session {
        let rules = Rules::new(Yard::schema());
        let player = |nth: u64| Player {
            client: Client::new(rules.clone(), client, nth + 1),
            world: Yard::default(),
            links: [Link::new(seed + nth, seed + 7 * nth), Link::new(seed + 3 * nth, seed + 5 * nth)],
            looked_at: None,
            looks: 0,
            wrong: 0,
            sees_at_most: None,
            crates: Vec::new(),
            came: 0,
        };
        Session {
            server: Server::new(rules.clone(), config, 1, Instant::ZERO),
            world,
            players: (0..players).map(player).collect(),
            conditions,
            truth: BTreeMap::new(),
            random: SplitMix64::new(seed),
            ms: 0,
            outbox: Outbox::new(),
            bytes: 0,
            bends: false,
            too_large: 0,
        }
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.ms += 1;
            let now = Instant::from_micros(self.ms * 1000);
            self.update_server(now);
            for nth in 0..self.players.len() {
                self.update_client(now, nth);
            }
        }
    }

    fn update_server(&mut self, now: Instant) {
        for (nth, player) in self.players.iter_mut().enumerate() {
            while let Some(delivery) = player.links[0].receive(now) {
                self.server.receive(now, PeerId(nth as u64), delivery.bytes).expect("nothing is bent");
            }
        }
        if self.world.lively && self.random.chance(0.02) {
            // The game itself changes something outside of a step.
            let at = (self.random.next_u64() % (self.world.crates.len() as u64).max(1)) as usize;
            if let Some(mut it) = self.world.crates.iter_mut().nth(at) {
                it.spin[1] += 1.0;
            }
        }
        let frame = self.server.update(now, &mut self.world, &mut self.outbox);
        let is_too_large = |event: &&ServerEvent| matches!(event, ServerEvent::SnapshotTooLarge(_));
        self.too_large += frame.events.iter().filter(is_too_large).count() as u32;
        self.deliver(now);
    }

    /// What the server has sent goes its way, and what it has is remembered.
    fn deliver(&mut self, now: Instant) {
        for (to, datagram) in self.outbox.iter() {
            self.bytes += datagram.len() as u64;
            let nth = usize::try_from(to.0).expect("few");
            self.players[nth].links[1].send(now, datagram, &self.conditions);
        }
        self.outbox.clear();
        self.truth.entry(self.server.tick()).or_insert_with(|| self.server.rows().clone());
    }

    fn update_client(&mut self, now: Instant, nth: usize) {
        let Session { players, truth, random, conditions, outbox, bends, .. } = self;
        let player = &mut players[nth];
        while let Some(delivery) = player.links[1].receive(now) {
            let mut bytes = delivery.bytes.to_vec();
            if *bends && bytes.len() > 200 && random.chance(0.3) {
                // The header is left as it is.
                let at = 100 + (random.next_u64() % (bytes.len() as u64 - 150)) as usize;
                bytes[at] ^= 1 << (random.next_u64() % 8);
            }
            let understood = player.client.receive(now, &bytes).is_ok();
            assert!(understood || *bends);
            player.look(truth);
        }
        if self.ms % 15 == nth as u64 % 15 {
            let bits = random.next_u64();
            player.client.update(now, &mut player.world, &mut |_| Buttons::from_bits(bits & 12), outbox);
            player.look(truth);
            for (_, datagram) in outbox.iter() {
                player.links[0].send(now, datagram, conditions);
            }
            outbox.clear();
        }
    }
}

impl Player {
    fn look(&mut self, truth: &BTreeMap<Tick, Rows>) {
        let Some((tick, rows)) = self.client.newest_snapshot() else { return };
        if self.looked_at.replace(tick) == Some(tick) {
            return;
        }
        let me = self.client.player();
        let is_own = |row: &Row<'_>| Some(row.owner) == me;
        let is_right = |row: Row<'_>| {
            let told = self.client.told_in(row.key()).expect("it is there");
            truth[&told].get(row.key()) == Some(row) && (is_own(&row) || row.component != PURSE)
        };
        let own_is_right = me.is_none() || rows.iter().filter(is_own).eq(truth[&tick].iter().filter(is_own));
        self.wrong += u32::from(!rows.iter().all(is_right) || !own_is_right);
        self.looks += 1;
        let crates: Vec<Entity> = rows.component(CRATE).map(|row| row.entity).collect();
        self.came += crates.iter().filter(|entity| self.crates.binary_search(entity).is_err()).count() as u32;
        self.crates = crates;
        if let Some(most) = self.sees_at_most {
            let own = rows.iter().filter(is_own).count();
            assert!(me.is_none() || own == 2, "its own always");
            assert!(
                rows.len() - own <= most,
                "{} of {most}: {:?}",
                rows.len() - own,
                rows.iter().map(|row| (row.key(), self.client.told_in(row.key()))).collect::<Vec<_>>()
            );
            self.check_nearest(&truth[&tick], rows);
        }
    }

    /// Whether it has all crates of the server as they are.
    fn has_all_of(&self, truth: &Rows) -> bool {
        let (_, rows) = self.client.newest_snapshot().expect("a state");
        rows.component(CRATE).eq(truth.component(CRATE))
    }
}

fn place_of(row: Row<'_>) -> Option<[f32; 3]> {
    match row.component {
        WALKER => Walker::read(0, row.words).map(|walker| walker.place),
        CRATE => Crate::read(0, row.words).map(|it| it.place),
        _ => None,
    }
}

impl Player {
    /// Nothing that is out of view is nearer by more than a fifth than something of others that is in view.
    fn check_nearest(&self, truth: &Rows, rows: &Rows) {
        let me = self.client.player();
        let own = rows.component(WALKER).find(|row| Some(row.owner) == me);
        let Some(own) = own.and_then(place_of) else { return };
        let far = |place: [f32; 3]| (0..3).map(|axis| f64::from(own[axis] - place[axis]).powi(2)).sum::<f64>().sqrt();
        let others = truth.iter().filter(|row| Some(row.owner) != me);
        let (mut farthest_in, mut nearest_out) = (0.0_f64, f64::INFINITY);
        for row in others {
            let Some(place) = place_of(row) else { continue };
            match rows.words(row.key()) {
                Some(_) => farthest_in = farthest_in.max(far(place)),
                None => nearest_out = nearest_out.min(far(place)),
            }
        }
        assert!(nearest_out >= 0.8 * farthest_in - 1e-6, "{nearest_out} {farthest_in}");
    }
}

fn good_link() -> Conditions {
    Conditions { latency: Duration::from_millis(30), ..Conditions::default() }
}

fn bad_link(random: &mut SplitMix64) -> Conditions {
    let ms = |random: &mut SplitMix64, most: u64| Duration::from_millis(random.next_u64() % most);
    let latency = ms(random, 400);
    let jitter = ms(random, 120);
    let rate = (random.next_u64() % 40) as f64 / 100.0;
    let loss = if random.chance(0.5) { Loss::Uniform(rate) } else { Loss::Bursts { rate, mean_length: 6.0 } };
    let reordering = Reordering { rate: 0.1, hold: ms(random, 600) };
    Conditions { latency, jitter, loss, duplicates: 0.1, reordering, ..Conditions::default() }
}

#[test]
fn over_any_link_what_a_client_has_as_the_state_of_a_tick_is_the_servers_bit_by_bit() {
    let mut looks = 0;
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let conditions = bad_link(&mut random);
        let rate = if random.chance(0.4) { SendRate::Hz(21) } else { SendRate::EveryTick };
        let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
        // More than one datagram's worth, and of more than one.
        let mut session = Session::new(Yard::new(40, 3, true), config, conditions, (seed, 3));
        session.run(6000);
        // The link changes under way, and there is a silence.
        session.conditions = bad_link(&mut random);
        session.run(4000);
        session.conditions = Conditions { loss: Loss::Uniform(1.0), ..Conditions::default() };
        session.run(2600);
        session.conditions = bad_link(&mut random);
        session.run(4000);
        for player in &session.players {
            assert_eq!(player.wrong, 0, "seed {seed}");
            assert!(player.looks > 20, "seed {seed}: {} {:?}", player.looks, session.conditions);
            looks += player.looks;
        }
        // When nothing moves any more, and the link is good, everybody has everything.
        (session.world.lively, session.world.moving, session.conditions) = (false, 0, good_link());
        session.run(3000);
        let has_all = |player: &Player| player.has_all_of(session.server.rows());
        assert!(session.players.iter().all(has_all), "seed {seed}");
    }
    assert!(looks > 8000, "{looks}");
}

#[test]
fn a_client_that_sees_the_nearest_alone_has_of_these_what_the_server_has_over_any_link() {
    for seed in 100..108 {
        let mut random = SplitMix64::new(seed);
        let nearest = 5 + (random.next_u64() % 20) as u16;
        let config = ServerConfig { interest: Interest::Nearest(nearest), ..ServerConfig::default() };
        let mut session = Session::new(Yard::new(60, 3, true), config, bad_link(&mut random), (seed, 3));
        session.run(8000);
        session.conditions = bad_link(&mut random);
        session.run(5000);
        for player in &session.players {
            assert!(player.looks > 20 && player.came > 5, "seed {seed}: {} {}", player.looks, player.came);
            assert_eq!(player.wrong, 0, "seed {seed}");
        }
        session.conditions = good_link();
        session.run(3000);
        session.players.iter_mut().for_each(|player| player.sees_at_most = Some(2 * usize::from(nearest)));
        session.run(3000);
    }
}

#[test]
fn what_is_at_the_edge_of_the_view_does_not_come_and_go() {
    let config = ServerConfig { interest: Interest::Nearest(20), ..ServerConfig::default() };
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
    let mut session = Session::new(Yard::new(200, 0, false), config, conditions, (3, 1));
    // The player shuffles to and fro.
    session.run(8000);
    let player = &session.players[0];
    let x = |world: &Yard| world.walkers.iter().next().expect("a walker").place[0];
    assert!(x(&session.world) != 1.0 && player.crates.len() == 20);
    assert!(player.came < 200, "{} have come into view", player.came);
}

/// Nine hundred crates and more, of which thirty move.
#[test]
fn a_field_of_901_bodies_comes_in_the_order_of_their_distance_and_within_the_budget() {
    let config = ServerConfig { budget: 64_000, ..ServerConfig::default() };
    let mut session = Session::new(Yard::new(901, 30, false), config, good_link(), (4, 1));
    session.run(400);
    // What does not fit yet is farther away.
    session.players[0].sees_at_most = Some(901);
    session.run(100);
    session.players[0].sees_at_most = None;
    let first = session.players[0].crates.len();
    assert!((100..600).contains(&first), "{first}");
    session.run(2000);
    assert_eq!(session.players[0].crates.len(), 901);
    assert_eq!((session.players[0].came, session.players[0].wrong, session.too_large), (901, 0, 0));
    session.bytes = 0;
    session.run(1000);
    assert!((30_000..50_000).contains(&session.bytes), "{} bytes in a second", session.bytes);
    session.server.config_mut().budget = 256_000;
    session.run(500);
    session.bytes = 0;
    session.run(1000);
    assert_eq!((session.players[0].wrong, session.too_large), (0, 0));
    let each = session.bytes / 64;
    assert!((680..780).contains(&each), "{each} bytes for a state of which thirty move");
}

#[test]
fn a_view_allocates_nothing_in_a_steady_state() {
    let config = ServerConfig { interest: Interest::Nearest(30), ..ServerConfig::default() };
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
    let mut session = Session::new(Yard::new(120, 40, false), config, conditions, (6, 2));
    session.run(10_000);
    let mut used = 0;
    for _ in 0..2000 {
        session.ms += 1;
        let now = Instant::from_micros(session.ms * 1000);
        for nth in 0..2 {
            session.update_client(now, nth);
        }
        while let Some(delivery) = session.players[0].links[0].receive(now) {
            session.server.receive(now, PeerId(0), delivery.bytes).expect("nothing is bent");
        }
        while let Some(delivery) = session.players[1].links[0].receive(now) {
            session.server.receive(now, PeerId(1), delivery.bytes).expect("nothing is bent");
        }
        let Session { server, world, outbox, .. } = &mut session;
        used += allocation_counter::measure(|| {
            server.update(now, world, outbox);
        })
        .count_total;
        session.deliver(now);
    }
    assert_eq!(used, 0, "in two seconds of a server");
}

#[test]
fn what_rests_costs_nothing_and_what_moves_costs_what_it_did() {
    // A second of a good link, when all is told: bytes down to one of two clients.
    let spent = |moving| {
        let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
        let config = ServerConfig { budget: 1_000_000, ..ServerConfig::default() };
        let mut session = Session::new(Yard::new(100, moving, false), config, conditions, (5, 2));
        session.run(3000);
        session.bytes = 0;
        session.run(1000);
        session.bytes / 64 / 2
    };
    let (asleep, some, all) = (spent(0), spent(10), spent(100));
    assert!(asleep < 100, "{asleep} bytes for a snapshot of two walkers, and a hundred crates that rest");
    assert!((asleep + 10 * 21..asleep + 10 * 25).contains(&some), "{asleep} {some}");
    assert!((2200..2500).contains(&all), "{all}");
}

#[test]
fn rows_of_whole_states_that_nobody_sent_are_found_out_and_healed() {
    let (mut wrong, mut lacking) = (0, 0);
    for seed in 0..30 {
        let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::default() };
        let client = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
        let config = ServerConfig::default();
        let mut session = Session::with(client, Yard::new(20, 1, false), config, conditions, (seed, 1));
        // While the first states come, complete ones, bits of their rows are turned on the way.
        session.bends = true;
        session.run(400);
        session.bends = false;
        wrong += session.players[0].wrong;
        session.run(300);
        session.players[0].wrong = 0;
        session.run(1000);
        assert_eq!(session.players[0].wrong, 0, "seed {seed}");
        lacking += session.players[0].client.stats().network.baselines_lacking;
        assert!(session.players[0].looks > 60, "seed {seed}");
    }
    assert!(wrong > 20 && lacking > 20, "{wrong} were believed, {lacking} did not fit");
}
