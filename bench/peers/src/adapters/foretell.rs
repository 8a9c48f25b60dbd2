//! Foretell: the whole session, `receive` and `update` of both ends, with an empty input of each player.
//!
//! The state is written between two updates, as it is with the other libraries, so that the step has nothing to do.

use super::first_bodies;
use crate::case::Case;
use crate::crowd::Change;
use crate::link::Links;
use crate::peer::{Costs, Peer, bits};
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Outbox, Owned, PeerId, PlayerId, Rows, Rules, Server, ServerConfig,
    Simulate, State, Step, Table, Tick, TickRate, World,
};
use foretell_crowd::Body;

const TICK_HZ: u16 = 60;

/// Nobody presses anything.
#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Nothing {}

/// A world that only has bodies.
pub trait BodyWorld: World + Simulate<Input = Nothing> + Default {
    /// Gives one its state; where it is new it is there from now on.
    fn put(&mut self, of: Owned, body: Body);

    /// Whether a client that was told the rows has something else of an entity.
    fn diverges(rows: &Rows, entity: Entity, truth: &Body) -> bool;
}

/// Told to 1 mm, 0.001 of a rotation and 0.01 m/s.
#[derive(World, Default)]
pub struct Rounded {
    bodies: Table<Body>,
}

/// Told all bits.
#[derive(World, Default)]
pub struct Exact {
    bodies: Table<ExactBody>,
}

/// A body without precisions.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct ExactBody {
    #[state(position)]
    position: [f32; 3],
    #[state(rotation)]
    rotation: [f32; 4],
    #[state(velocity)]
    velocity: [f32; 3],
}

impl Simulate for Rounded {
    type Input = Nothing;

    fn step(&mut self, _: &mut Step<'_, Nothing>) {}
}

impl Simulate for Exact {
    type Input = Nothing;

    fn step(&mut self, _: &mut Step<'_, Nothing>) {}
}

impl BodyWorld for Rounded {
    fn put(&mut self, of: Owned, body: Body) {
        match self.bodies.get_mut(of.entity) {
            Some(mut known) => *known = body,
            None => self.bodies.insert(of, body),
        }
    }

    fn diverges(rows: &Rows, entity: Entity, truth: &Body) -> bool {
        // And a little for the arithmetic of f32 at some 100 m.
        let differs = |off_max: f32, a: &[f32], b: &[f32]| {
            a.iter().zip(b).any(|(a, b)| (a - b).abs() > off_max + 4.0 * f32::EPSILON * a.abs().max(1.0))
        };
        rows.state::<Body>(entity).is_none_or(|held| {
            // Three parts of a quaternion are told, half a step off at most, and up to the sign of all: the largest follows
            // from them, three times as far off.
            let turned_back = held.rotation.map(|part| -part);
            differs(0.0005, &held.position, &truth.position)
                || [held.rotation, turned_back].iter().all(|rotation| differs(0.0015, rotation, &truth.rotation))
                || differs(0.005, &held.velocity, &truth.velocity)
        })
    }
}

impl BodyWorld for Exact {
    fn put(&mut self, of: Owned, Body { position, rotation, velocity }: Body) {
        let body = ExactBody { position, rotation, velocity };
        match self.bodies.get_mut(of.entity) {
            Some(mut known) => *known = body,
            None => self.bodies.insert(of, body),
        }
    }

    fn diverges(rows: &Rows, entity: Entity, truth: &Body) -> bool {
        rows.state(entity).is_none_or(|ExactBody { position, rotation, velocity }| {
            bits(&Body { position, rotation, velocity }) != bits(truth)
        })
    }
}

/// A server and its clients.
pub struct Session<W: BodyWorld> {
    server: Server<W>,
    world: W,
    players: Vec<Player<W>>,
    outbox: Outbox,
    /// How many ticks there were.
    ticks: u32,
}

struct Player<W: BodyWorld> {
    client: Client<W>,
    world: W,
    links: Links<Vec<u8>>,
}

impl<W: BodyWorld> Session<W> {
    /// Nobody has said hello yet.
    pub fn new(case: &Case) -> Session<W> {
        let rules = || Rules { tick_rate: TickRate::hz(TICK_HZ), ..Rules::new(W::schema()) };
        let config = ServerConfig { budget: u32::MAX, players_max: case.clients, ..ServerConfig::default() };
        let player = |nth: u16| Player {
            client: Client::new(rules(), ClientConfig::default(), u64::from(nth) + 1),
            world: W::default(),
            links: Links::new(case.delay_ticks),
        };
        let mut world = W::default();
        (0..).map(named).zip(first_bodies(case)).for_each(|(of, body)| world.put(of, body));
        Session {
            server: Server::new(rules(), config, 0, Instant::ZERO),
            world,
            players: (0..case.clients).map(player).collect(),
            outbox: Outbox::new(),
            ticks: 0,
        }
    }

    /// When a tick begins.
    fn now(&self) -> Instant {
        Instant::from_micros((u64::from(self.ticks) * 1_000_000).div_ceil(u64::from(TICK_HZ)))
    }

    fn run_server(&mut self, costs: &mut Costs) {
        let now = self.now();
        let Session { server, world, players, outbox, ticks } = self;
        let mut arrived = Vec::new();
        for (peer, player) in (0..).map(PeerId).zip(&mut *players) {
            arrived.extend(core::iter::from_fn(|| player.links.up.receive(*ticks)).map(|datagram| (peer, datagram)));
        }
        costs.server.time(|| {
            for (peer, datagram) in &arrived {
                server.receive(now, *peer, datagram).expect("a client's datagrams are well-formed");
            }
            server.update(now, world, outbox);
        });
        for (PeerId(peer), datagram) in outbox.iter() {
            costs.bytes_down += datagram.len() as u64;
            players[peer as usize].links.down.send(*ticks, datagram.to_vec());
        }
        outbox.clear();
    }

    fn run_client(&mut self, nth: usize, costs: &mut Costs) {
        let now = self.now();
        let Session { players, outbox, ticks, .. } = self;
        let Player { client, world, links } = &mut players[nth];
        let arrived: Vec<_> = core::iter::from_fn(|| links.down.receive(*ticks)).collect();
        costs.client.time(|| {
            for datagram in &arrived {
                client.receive(now, datagram).expect("the server's datagrams are well-formed");
            }
            client.update(now, world, &mut |_| Nothing {}, outbox);
        });
        for (_, datagram) in outbox.iter() {
            links.up.send(*ticks, datagram.to_vec());
        }
        outbox.clear();
    }
}

impl<W: BodyWorld> Peer for Session<W> {
    fn write(&mut self, changes: &[Change]) {
        for change in changes {
            self.world.put(named(change.nth), change.body);
        }
    }

    fn tick(&mut self, costs: &mut Costs) {
        self.run_server(costs);
        (0..self.players.len()).for_each(|nth| self.run_client(nth, costs));
        self.ticks += 1;
    }

    fn all_have(&mut self, count: usize) -> bool {
        self.players.iter().all(|player| player.client.newest_snapshot().is_some_and(|(_, rows)| rows.len() == count))
    }

    fn diverges(&mut self, truth: &[Body]) -> bool {
        self.players.iter().any(|player| {
            let Some((_, rows)) = player.client.newest_snapshot() else { return true };
            truth.iter().enumerate().any(|(nth, body)| W::diverges(rows, named(nth).entity, body))
        })
    }
}

/// The nth of the crowd.
fn named(nth: usize) -> Owned {
    let counter = u16::try_from(nth).expect("a crowd is counted in 16 bits");
    Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, counter), owner: PlayerId::SERVER }
}
