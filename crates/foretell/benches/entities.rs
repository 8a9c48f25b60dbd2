//! What many entities cost where little happens: a server's tick, a client's update, and what is shown.
//!
//! `cargo bench -p foretell --bench entities`

use core::time::Duration;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::session::client::Joined;
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Outbox, Owned, PeerId, PlayerId, Rules, Server, ServerConfig,
    Simulate, State, Step, Table, Tick, Views, World,
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
}

impl Simulate for Field {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for player in step.joined() {
            self.motes.spawn(step, *player, Mote::default());
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
    for (count, moving) in [(1000, 0), (1000, 100), (100, 100)] {
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

criterion_group!(benches, server_alone, client);
criterion_main!(benches);
