//! What many entities cost where little happens: a server's tick, a client's update, and what is shown.
//!
//! `cargo bench -p foretell --bench entities`

use core::time::Duration;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::session::client::Joined;
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Interest, Outbox, Owned, PeerId, PlayerId, Rules, Server,
    ServerConfig, Simulate, State, Step, Table, Tick, Views, World,
};
use std::hint::black_box;

const TICK_MICROS: u64 = 15_625;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    right: bool,
}

/// 24 bytes, seen by everybody.
#[derive(State, Clone, Copy, Default)]
struct Mote {
    #[state(position)]
    position: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// Motes of the server's, of which the first `moving` move, and one for each player.
#[derive(World, Default)]
struct Field {
    motes: Table<Mote>,
    #[world(constant)]
    moving: usize,
    /// Whether everything is spread over a square kilometre; else it is on a line.
    #[world(constant)]
    is_plain: bool,
}

impl Simulate for Field {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            let nth = joined.player.get();
            let on_plain = [f32::from(nth.wrapping_mul(37) % 1000), 0.0, f32::from(nth.wrapping_mul(91) % 1000)];
            let position = if self.is_plain { on_plain } else { [f32::from(nth), 0.0, 0.0] };
            self.motes.spawn(step, joined.player, Mote { position, ..Mote::default() });
        }
        let forward = step.tick().get() & 64 == 0;
        for mut mote in self.motes.simulated(step).take(self.moving) {
            mote.position[0] += if forward { 0.1 } else { -0.1 };
        }
    }
}

/// The server's world: its motes are there from the start.
fn field(count: u16, moving: usize) -> Field {
    let mut field = Field { moving, ..Field::default() };
    for nth in 0..count {
        let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
        field.motes.insert(of, Mote { position: [f32::from(nth), 0.0, 0.0], ..Mote::default() });
    }
    field
}

/// On a plain of a square kilometre, 10 m from each other where there are 10,000.
fn plain(count: u16, moving: usize) -> Field {
    let mut field = Field { is_plain: true, ..field(count, moving) };
    for (nth, mut mote) in (0_u16..).zip(field.motes.iter_mut()) {
        // Those that move are anywhere.
        let at = nth.wrapping_mul(7919) % 10_000;
        mote.position = [f32::from(at % 100) * 10.0, 0.0, f32::from(at / 100) * 10.0];
    }
    field
}

/// A server and a client that was created joined, tick by tick, without a network between them.
struct Pair {
    server: Server<Field>,
    server_world: Field,
    client: Client<Field>,
    world: Field,
    up: Outbox,
    down: Outbox,
    now: u64,
}

impl Pair {
    fn new(count: u16, moving: usize) -> Pair {
        let rules = Rules::new(Field::schema());
        let mut server = Server::new(rules.clone(), ServerConfig::default(), 0, Instant::ZERO);
        let player = server.join(PeerId(0));
        let mut world = Field::default();
        let client =
            Client::joined(rules, ClientConfig::default(), Joined { player, epoch: 0, now: Instant::ZERO }, &mut world);
        let (up, down) = (Outbox::new(), Outbox::new());
        let mut pair = Pair { server, server_world: field(count, moving), client, world, up, down, now: 0 };
        (0..400).for_each(|_| {
            pair.server_tick();
            pair.client_tick();
        });
        pair
    }

    fn server_tick(&mut self) {
        self.now += TICK_MICROS;
        let now = Instant::from_micros(self.now);
        for (_, datagram) in self.up.iter() {
            self.server.receive(now, PeerId(0), datagram).expect("well-formed");
        }
        self.up.clear();
        self.server.update(now, &mut self.server_world, &mut self.down);
    }

    /// The client's part of a tick, and how long its update took.
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads the clock")]
    fn client_tick(&mut self) -> Duration {
        let now = Instant::from_micros(self.now);
        for (_, datagram) in self.down.iter() {
            self.client.receive(now, datagram).expect("well-formed");
        }
        self.down.clear();
        let start = std::time::Instant::now();
        self.client.update(now, &mut self.world, &mut |_| Buttons { right: true }, &mut self.up);
        start.elapsed()
    }
}

fn server_alone(c: &mut Criterion) {
    for (name, moving) in
        [("a tick, 1000 idle entities, no client", 0), ("a tick, 1000 moving entities, no client", 1000)]
    {
        let mut server = Server::<Field>::new(Rules::new(Field::schema()), ServerConfig::default(), 0, Instant::ZERO);
        let (mut world, mut outbox, mut now) = (field(1000, moving), Outbox::new(), 0);
        c.bench_function(&format!("server/{name}"), |bencher| {
            bencher.iter(|| {
                now += TICK_MICROS;
                server.update(Instant::from_micros(now), &mut world, &mut outbox);
            });
        });
    }
}

fn client(c: &mut Criterion) {
    for (count, moving) in [(1000, 0), (1000, 100), (1000, 1000), (100, 100)] {
        let mut pair = Pair::new(count, moving);
        c.bench_function(
            &format!("client/an update, {count} entities of others, {moving} of them moving"),
            |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..iterations {
                        pair.server_tick();
                        spent += pair.client_tick();
                    }
                    spent
                });
            },
        );
        let (now, mut views) = (Instant::from_micros(pair.now), Views::new());
        pair.client.present(now, &mut views);
        let shown = views.len() as u64;
        let mut group = c.benchmark_group("client");
        group.throughput(Throughput::Elements(shown));
        group.bench_function(format!("present, {shown} entities of others, {moving} of them moving"), |bencher| {
            bencher.iter(|| {
                pair.client.present(now, &mut views);
                for view in &views {
                    black_box(view.pose());
                }
            });
        });
        group.finish();
    }
}

/// A server and so many clients, tick by tick, without networks between them.
struct Crowd {
    server: Server<Field>,
    world: Field,
    clients: Vec<(Client<Field>, Field)>,
    up: Outbox,
    down: Outbox,
    now: u64,
}

impl Crowd {
    fn new(case: &CrowdCase) -> Crowd {
        let rules = Rules::new(Field::schema());
        let CrowdCase { count, moving, budget, interest, is_plain, .. } = *case;
        let config = ServerConfig { budget, interest, players_max: u16::MAX, ..ServerConfig::default() };
        let world = if is_plain { plain(count, moving) } else { field(count, moving) };
        let mut server = Server::new(rules.clone(), config, 0, Instant::ZERO);
        let mut joined = |nth| {
            let (player, mut world) = (server.join(PeerId(nth)), Field::default());
            let joined = Joined { player, epoch: 0, now: Instant::ZERO };
            (Client::joined(rules.clone(), ClientConfig::default(), joined, &mut world), world)
        };
        let clients = (0..case.clients).map(&mut joined).collect();
        let (up, down) = (Outbox::new(), Outbox::new());
        let mut crowd = Crowd { server, world, clients, up, down, now: 0 };
        (0..300).for_each(|_| _ = crowd.tick());
        crowd
    }

    /// A tick of everybody, and how long the server's update took.
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads the clock")]
    fn tick(&mut self) -> Duration {
        self.now += TICK_MICROS;
        let now = Instant::from_micros(self.now);
        let start = std::time::Instant::now();
        self.server.update(now, &mut self.world, &mut self.down);
        let spent = start.elapsed();
        for (to, datagram) in self.down.iter() {
            self.clients[usize::try_from(to.0).expect("few")].0.receive(now, datagram).expect("well-formed");
        }
        self.down.clear();
        for (nth, (client, world)) in (0..).zip(&mut self.clients) {
            client.update(now, world, &mut |_| Buttons { right: true }, &mut self.up);
            for (_, datagram) in self.up.iter() {
                self.server.receive(now, PeerId(nth), datagram).expect("well-formed");
            }
            self.up.clear();
        }
        spent
    }
}

/// What a crowd consists of, and what each client is sent.
struct CrowdCase {
    /// Motes of the server's, beside one for each client.
    count: u16,
    /// How many move: the server's first.
    moving: usize,
    clients: u64,
    /// In bytes per second.
    budget: u32,
    interest: Interest,
    /// Whether everything is spread over a square kilometre.
    is_plain: bool,
}

impl CrowdCase {
    const fn of_motes(count: u16, moving: usize, clients: u64, budget: u32) -> CrowdCase {
        CrowdCase { count, moving, clients, budget, interest: Interest::Everything, is_plain: false }
    }

    /// Players alone, who all move.
    const fn of_players(clients: u64, interest: Interest) -> CrowdCase {
        CrowdCase { count: 0, moving: usize::MAX, clients, budget: 40_000, interest, is_plain: false }
    }

    /// 10,000 on a plain, of which each client sees a part.
    const fn of_views(moving: usize, clients: u64, interest: Interest) -> CrowdCase {
        CrowdCase { count: 10_000, moving, clients, budget: 128_000, interest, is_plain: true }
    }

    fn name(&self) -> String {
        let CrowdCase { count, moving, clients, budget, interest, is_plain } = self;
        let what = if *count == 0 { "players alone".into() } else { format!("{count} entities, {moving} moving") };
        let place = if *is_plain { " on a plain" } else { "" };
        let seen = match interest {
            Interest::Everything => String::new(),
            Interest::Nearest(most) => format!(" who see {most}"),
            Interest::Within { radius_m, .. } => format!(" who see {radius_m} m"),
        };
        format!("a tick, {what}{place}, {clients} clients{seen} at {} kB/s", budget / 1000)
    }
}

const CROWDS: [CrowdCase; 7] = [
    CrowdCase::of_motes(1000, 0, 16, 64_000),
    CrowdCase::of_motes(1000, 1000, 16, 64_000),
    CrowdCase::of_motes(1000, 1000, 16, 10_000_000),
    CrowdCase::of_motes(100, 100, 64, 10_000_000),
    CrowdCase::of_motes(1000, 1000, 64, 10_000_000),
    CrowdCase::of_players(200, Interest::Everything),
    CrowdCase::of_players(1000, Interest::Nearest(100)),
];

const NEAR: Interest = Interest::Within { radius_m: 50.0, leaves_at_m: 60.0 };

const VIEWS: [CrowdCase; 8] = [
    CrowdCase::of_views(0, 0, NEAR),
    CrowdCase::of_views(1000, 0, NEAR),
    CrowdCase::of_views(0, 200, NEAR),
    CrowdCase::of_views(1000, 200, NEAR),
    CrowdCase::of_views(1000, 200, Interest::Within { radius_m: 100.0, leaves_at_m: 120.0 }),
    CrowdCase::of_views(1000, 16, NEAR),
    CrowdCase::of_views(1000, 16, Interest::Nearest(80)),
    CrowdCase::of_views(1000, 16, Interest::Everything),
];

fn crowds(c: &mut Criterion) {
    let mut group = c.benchmark_group("crowds");
    group.sample_size(10);
    for case in CROWDS.into_iter().chain(VIEWS) {
        // Only what is asked for is made: it takes a while.
        let mut crowd = None;
        group.bench_function(case.name(), |bencher| {
            let crowd = crowd.get_or_insert_with(|| Crowd::new(&case));
            bencher.iter_custom(|iterations| (0..iterations).map(|_| crowd.tick()).sum());
        });
    }
}

criterion_group!(benches, server_alone, client, crowds);
criterion_main!(benches);
