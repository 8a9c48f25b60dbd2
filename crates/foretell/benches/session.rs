//! What the netcode itself costs: with a world that does nothing, and beyond what the world does.
//!
//! `cargo bench -p foretell`

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use foretell::rollback::Timeline;
use foretell::session::client::Joined;
use foretell::world::{InputStatus, PlayerInput};
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Interest, Outbox, Owned, PeerId, PlayerId, Rows, Rules, Schema,
    Server, ServerConfig, Simulate, State, Step, Table, Tick, TickRate, World,
};
use std::hint::black_box;

const TICK_MICROS: u64 = 15_625;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    right: bool,
}

/// 24 bytes, seen by its owner alone.
#[derive(State, Clone, Copy, Default)]
#[state(audience = owner)]
struct Body {
    #[state(position)]
    position: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// A world without anything in it.
#[derive(Clone, Copy, Default)]
struct Nothing;

impl Simulate for Nothing {
    type Input = Buttons;
    fn step(&mut self, _step: &mut Step<'_, Buttons>) {}
}

impl World for Nothing {
    type Saved = ();
    fn schema() -> Schema {
        Schema::of::<Body>()
    }
    fn save(&self, _into: &mut ()) {}
    fn load(&mut self, _from: &()) {}
    fn publish(&mut self, _rows: &mut Rows) {}
    fn adopt(&mut self, _rows: &Rows) {}
}

/// One body for each player; every one of them moves.
#[derive(World, Default)]
struct Bodies(Table<Body>);

impl Simulate for Bodies {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Body::default());
        }
        for mut body in self.0.simulated(step) {
            let push = step.input(body.owner()).is_some_and(|input| input.input.right);
            body.velocity[0] += if push { 0.5 } else { -0.01 };
            body.position[0] += body.velocity[0] / 64.0;
        }
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
#[derive(World, Default)]
struct Field(Table<Mote>);

impl Simulate for Field {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        let scattered = |nth: u32| {
            let bits = nth.wrapping_mul(0x9e37_79b9);
            let lane = |bits: u32| f32::from((bits & 0x3ff) as u16);
            Mote { position: [lane(bits), 0.0, lane(bits >> 10)], ..Mote::default() }
        };
        for joined in step.joined() {
            self.0.spawn(step, joined.player, scattered(u32::from(joined.player.get()) + 5000));
        }
        while step.is_authority() && self.0.len() < 1000 {
            self.0.spawn(step, PlayerId::SERVER, scattered(self.0.len() as u32));
        }
        for mut mote in self.0.iter_mut().rev().take(128) {
            mote.position[0] += if step.tick().get() & 64 == 0 { 0.1 } else { -0.1 };
        }
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
        Loop::with(clients, Interest::Everything)
    }

    fn with(clients: u16, interest: Interest) -> Loop<W> {
        let rules = Rules::new(W::schema());
        let config = ServerConfig { players_max: clients, interest, ..ServerConfig::default() };
        let mut server = Server::new(rules.clone(), config, 0, Instant::ZERO);
        let client = |number: u16| {
            let player = server.join(PeerId(u64::from(number)));
            let mut world = W::default();
            let client = Client::joined(
                rules.clone(),
                ClientConfig::default(),
                Joined { player, epoch: 0, now: Instant::ZERO },
                &mut world,
            );
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
    let mut timeline = Timeline::<W>::new(&W::schema(), player, rate, 128, 1);
    timeline.begin(&mut world, Tick::ZERO);
    let nobody = Rows::new(&W::schema());
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
        let (mut saved, mut rows) = (W::Saved::default(), Rows::new(&W::schema()));
        bencher.iter_batched_ref(
            || (),
            |()| {
                for tick in 0..AGAIN {
                    let inputs = [neutral];
                    let side = foretell::world::Side::Client(player);
                    world.step(&mut Step::new(Tick::new(tick), rate, side, &inputs));
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
    let near = "a tick, 1000 entities, 64 clients that each see the nearest 100";
    measure(c, near, (Loop::<Field>::with(64, Interest::Nearest(100)), 64));
    let all = "a tick, 1000 entities, 64 clients that see all";
    measure(c, all, (Loop::<Field>::with(64, Interest::Everything), 64));
    resimulation(c, "16 ticks, empty world", Nothing, &Rows::new(&Nothing::schema()));
    let owner = PlayerId::new(1);
    let of = Owned { entity: Entity::new(owner, Tick::ZERO, 0), owner };
    let mut authority = Rows::new(&Bodies::schema());
    authority.set(of, &Body::default());
    let mut bodies = Bodies::default();
    bodies.0.insert(of, Body::default());
    resimulation(c, "16 ticks, one body", bodies, &authority);
}

criterion_group!(benches, all);
criterion_main!(benches);
