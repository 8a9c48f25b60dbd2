//! What the netcode itself costs: with a world that does nothing, and beyond what the world does.
//!
//! `cargo bench -p foretell`

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use foretell::rollback::{InputStatus, PlayerInput, Timeline};
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Kind, Outbox, PeerId, PlayerId, Rows, Rules, Server, ServerConfig,
    State, Step, Tick, TickRate, World,
};
use std::hint::black_box;

const TICK_MICROS: u64 = 15_625;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    right: bool,
}

/// 24 bytes, seen by its owner alone.
#[derive(State, Clone, Copy, Default)]
#[state(owner)]
struct Body {
    #[state(position)]
    position: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// A world without anything in it.
#[derive(Clone, Copy, Default)]
struct Nothing;

impl World for Nothing {
    type Input = Buttons;
    type Saved = ();
    fn step(&mut self, _step: &Step<'_, Buttons>) {}
    fn save(&self, _into: &mut ()) {}
    fn load(&mut self, _from: &()) {}
    fn publish(&self, _rows: &mut Rows) {}
    fn adopt(&mut self, _rows: &Rows) {}
}

/// One body for each player; every one of them moves.
#[derive(Clone, Default)]
struct Bodies(Vec<(Entity, Body)>);

impl World for Bodies {
    type Input = Buttons;
    type Saved = Vec<(Entity, Body)>;

    fn step(&mut self, step: &Step<'_, Buttons>) {
        for player in step.joined() {
            self.0.push((step.spawn(Kind(0), *player), Body::default()));
        }
        for (entity, body) in &mut self.0 {
            let push = step.input(entity.player()).is_some_and(|input| input.input.right);
            body.velocity[0] += if push { 0.5 } else { -0.01 };
            body.position[0] += body.velocity[0] / 64.0;
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.0);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.0.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.publish_all(&self.0);
    }

    fn adopt(&mut self, rows: &Rows) {
        rows.adopt_into(&mut self.0);
    }
}

/// 24 bytes, seen by everybody.
#[derive(State, Clone, Copy, Default)]
struct Mote {
    #[state(position)]
    position: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// A thousand motes on a square of a kilometre; those of the players move, and as many others.
#[derive(Clone, Default)]
struct Field(Vec<(Entity, Mote)>);

impl World for Field {
    type Input = Buttons;
    type Saved = Vec<(Entity, Mote)>;

    fn step(&mut self, step: &Step<'_, Buttons>) {
        let scattered = |nth: u32| {
            let bits = nth.wrapping_mul(0x9e37_79b9);
            let lane = |bits: u32| f32::from((bits & 0x3ff) as u16);
            Mote { position: [lane(bits), 0.0, lane(bits >> 10)], ..Mote::default() }
        };
        for player in step.joined() {
            self.0.push((step.spawn(Kind(0), *player), scattered(u32::from(player.get()) + 5000)));
        }
        while step.is_authority() && self.0.len() < 1000 {
            let nth = self.0.len() as u32;
            self.0.push((Entity::new(Kind(0), PlayerId::SERVER, Tick::new(nth), 0), scattered(nth)));
        }
        self.0.sort_unstable_by_key(|(entity, _)| *entity);
        for (_, mote) in self.0.iter_mut().rev().take(128) {
            mote.position[0] += if step.tick().get() & 64 == 0 { 0.1 } else { -0.1 };
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.0);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.0.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        self.0.iter().for_each(|(entity, mote)| rows.set(*entity, mote));
    }

    fn adopt(&mut self, rows: &Rows) {
        rows.adopt_into(&mut self.0);
    }
}

/// A server and clients that were created joined, tick by tick, without a network between them.
struct Loop<W: World> {
    server: Server<W>,
    server_world: W,
    clients: Vec<(Client<W>, W)>,
    outbox: Outbox,
    now: u64,
}

impl<W: World + Default> Loop<W> {
    fn new(clients: u16) -> Loop<W> {
        Loop::with(clients, Rules::new(Body::schema()), None)
    }

    fn with(clients: u16, rules: Rules, nearest: Option<u16>) -> Loop<W> {
        let config = ServerConfig { players_max: clients, nearest, ..ServerConfig::default() };
        let mut server = Server::new(rules.clone(), config, 0, Instant::ZERO);
        let client = |number: u16| {
            let player = server.join(PeerId(u64::from(number)));
            let world = W::default();
            let client = Client::joined(rules.clone(), ClientConfig::default(), (player, 0), Instant::ZERO, &world);
            (client, world)
        };
        let clients = (0..clients).map(client).collect();
        let mut all = Loop { server, server_world: W::default(), clients, outbox: Outbox::new(), now: 0 };
        (0..200).for_each(|_| {
            all.clients_tick();
            all.server_tick();
        });
        all
    }

    fn clients_tick(&mut self) {
        self.now += TICK_MICROS;
        let now = Instant::from_micros(self.now);
        for (index, (client, world)) in self.clients.iter_mut().enumerate() {
            client.update(
                now,
                world,
                &mut |tick| Buttons { right: tick.get() & 32 == 0 }.into_input(),
                &mut self.outbox,
            );
            for (_, datagram) in self.outbox.iter() {
                self.server.receive(now, PeerId(index as u64), datagram).expect("well-formed");
            }
            self.outbox.clear();
        }
    }

    fn server_tick(&mut self) {
        let now = Instant::from_micros(self.now);
        self.server.update(now, &mut self.server_world, &mut self.outbox);
        for (peer, datagram) in self.outbox.iter() {
            let index = usize::try_from(peer.0).expect("small");
            self.clients[index].0.receive(now, datagram).expect("well-formed");
        }
        self.outbox.clear();
    }
}

/// Both worlds have the same input.
trait IntoInput<I> {
    fn into_input(self) -> I;
}

impl<I: Input> IntoInput<I> for Buttons {
    fn into_input(self) -> I {
        I::read(&[u32::from(self.right)])
    }
}

/// The server's part of a tick: inputs received, one step, snapshots written; the clients' parts are outside.
fn server_tick<W: World + Default>(c: &mut Criterion, name: &str, clients: u16) {
    measure(c, name, (Loop::<W>::new(clients), clients));
}

fn measure<W: World + Default>(c: &mut Criterion, name: &str, (mut all, clients): (Loop<W>, u16)) {
    let mut group = c.benchmark_group("server");
    group.throughput(Throughput::Elements(u64::from(clients)));
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|iterations| {
            let mut spent = std::time::Duration::ZERO;
            for _ in 0..iterations {
                spent += all.timed_server_tick();
            }
            spent
        });
    });
    group.finish();
}

impl<W: World + Default> Loop<W> {
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads the clock")]
    fn timed_server_tick(&mut self) -> std::time::Duration {
        self.now += TICK_MICROS;
        let now = Instant::from_micros(self.now);
        let mut sent = Outbox::new();
        let mut from = Vec::new();
        for (index, (client, world)) in self.clients.iter_mut().enumerate() {
            client.update(now, world, &mut |tick| Buttons { right: tick.get() & 32 == 0 }.into_input(), &mut sent);
            from.resize(sent.len(), PeerId(index as u64));
        }
        let start = std::time::Instant::now();
        for (peer, (_, datagram)) in from.iter().zip(sent.iter()) {
            self.server.receive(now, *peer, datagram).expect("well-formed");
        }
        self.server.update(now, &mut self.server_world, &mut self.outbox);
        let spent = start.elapsed();
        for (peer, datagram) in self.outbox.iter() {
            let index = usize::try_from(peer.0).expect("small");
            self.clients[index].0.receive(now, datagram).expect("well-formed");
        }
        self.outbox.clear();
        spent
    }
}

/// The client's part of a tick: a snapshot received and compared, one step, a datagram of inputs written.
fn client_tick(c: &mut Criterion) {
    let mut all = Loop::<Nothing>::new(1);
    c.bench_function("client/tick, empty world, with the server's tick", |bencher| {
        bencher.iter(|| {
            all.clients_tick();
            all.server_tick();
        });
    });
}

const AGAIN: u32 = 16;

/// 16 ticks simulated again, against the world's own step, save and publish as often.
fn resimulation<W: World<Input = Buttons> + Default>(c: &mut Criterion, name: &str, mut world: W, authority: &Rows) {
    let player = PlayerId::new(1);
    let rate = TickRate::default();
    let neutral = PlayerInput { player, input: Buttons::default(), status: InputStatus::Received, presented: None };
    let mut timeline = Timeline::<W>::new(&Body::schema(), player, rate, 128, 1);
    timeline.begin(&world, Tick::ZERO);
    let nobody = Rows::new(&Body::schema());
    for _ in 0..100 {
        timeline.give(timeline.present(), neutral);
        timeline.advance(&mut world, &nobody);
    }
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(u64::from(AGAIN)));
    group.bench_function("rolled back and simulated again", |bencher| {
        bencher.iter(|| {
            timeline.rewrite(&mut world, Tick::new(100 - AGAIN), authority);
            black_box(timeline.resimulate(&mut world, AGAIN));
        });
    });
    group.bench_function("the world's own step, save and publish", |bencher| {
        let (mut saved, mut rows) = (W::Saved::default(), Rows::new(&Body::schema()));
        bencher.iter_batched_ref(
            || (),
            |()| {
                for tick in 0..AGAIN {
                    let inputs = [neutral];
                    let side = foretell::rollback::Side::Client(player);
                    world.step(&Step::new(Tick::new(tick), rate, side, &inputs));
                    world.publish(black_box(&mut rows));
                    rows.settle();
                    world.save(&mut saved);
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn all(c: &mut Criterion) {
    client_tick(c);
    server_tick::<Nothing>(c, "a tick, empty world, 1 client", 1);
    server_tick::<Nothing>(c, "a tick, empty world, 100 clients", 100);
    server_tick::<Bodies>(c, "a tick, 1000 clients that each see one entity", 1000);
    let field = || Rules::new(Mote::schema());
    let near = "a tick, 1000 entities, 64 clients that each see the nearest 100";
    measure(c, near, (Loop::<Field>::with(64, field(), Some(100)), 64));
    let all = "a tick, 1000 entities, 64 clients that see all";
    measure(c, all, (Loop::<Field>::with(64, field(), None), 64));
    resimulation(c, "16 ticks, empty world", Nothing, &Rows::new(&Body::schema()));
    let entity = Entity::new(Kind(0), PlayerId::new(1), Tick::ZERO, 0);
    let mut authority = Rows::new(&Body::schema());
    authority.set(entity, &Body::default());
    resimulation(c, "16 ticks, one body", Bodies(vec![(entity, Body::default())]), &authority);
}

criterion_group!(benches, all);
criterion_main!(benches);
