//! naia: its server and its clients as they are without an engine, over sockets in memory.
//!
//! Its limit of 64,000 bytes per second and client is lifted, as it would not tell everything. All else is as it is by default.
//! One tick is one turn of the loop that its documentation shows, and one tick of its own clock.

mod transport;
mod world;

use self::transport::{ClientSocket, Door, Mailbox, Packet, ServerSocket};
use self::world::{NetworkBody, World};
use super::first_bodies;
use crate::case::Case;
use crate::crowd::Change;
use crate::link::Links;
use crate::peer::{Costs, Peer, are_same};
use core::time::Duration;
use foretell_crowd::Body;
use naia_client::{Client, ClientConfig};
use naia_server::{ConnectEvent, RoomKey, Server, ServerConfig};
use naia_shared::{Instant, Protocol, TestClock};
use std::net::{Ipv4Addr, SocketAddr};

/// A tick. Its clock counts in whole milliseconds; were two turns of the loop in one of its ticks, its client might take in the
/// older packets last.
const TICK_MS: u64 = 16;

/// A server and its clients.
pub struct Session {
    server: Server<u32>,
    world: World,
    mailbox: Mailbox,
    /// In which all are.
    room: RoomKey,
    /// The crowd on the server.
    entities: Vec<u32>,
    players: Vec<Player>,
    /// How many ticks there were.
    ticks: u32,
}

struct Player {
    client: Client<u32>,
    world: World,
    mailbox: Mailbox,
    address: SocketAddr,
    links: Links<Packet>,
}

impl Session {
    /// Everybody has asked to come in.
    pub fn new(case: &Case) -> Session {
        TestClock::init(0);
        let mut config = ServerConfig { require_auth: false, ..ServerConfig::default() };
        config.connection.bandwidth.target_bytes_per_sec = u32::MAX;
        let mut server = Server::new(config, protocol());
        let (mailbox, door) = (Mailbox::default(), Door::default());
        server.listen(ServerSocket { mailbox: mailbox.clone(), door: door.clone() });
        let players = (0..case.clients).map(|nth| Player::new(nth, &door, case.delay_ticks)).collect();
        let mut world = World::default();
        let room = server.create_room().key();
        let entities = first_bodies(case).map(|body| {
            let entity = server.spawn_entity(&mut world).insert_component(NetworkBody::of(body)).id();
            server.room_mut(&room).add_entity(&entity);
            entity
        });
        let entities = entities.collect();
        Session { server, world, mailbox, room, entities, players, ticks: 0 }
    }

    fn run_server(&mut self, costs: &mut Costs) {
        let Session { server, world, mailbox, room, players, ticks, .. } = self;
        for player in &mut *players {
            mailbox.open().arrived.extend(core::iter::from_fn(|| player.links.up.receive(*ticks)));
        }
        costs.server.time(|| {
            let now = Instant::now();
            server.receive_all_packets();
            server.process_all_packets(&mut *world, &now);
            let mut events = server.take_world_events();
            server.take_tick_events(&now);
            for user in events.read::<ConnectEvent>() {
                server.room_mut(room).add_user(&user);
            }
            server.send_all_packets(&*world);
        });
        for packet in mailbox.open().sent.drain(..) {
            costs.bytes_down += packet.bytes.len() as u64;
            let player = players.iter_mut().find(|player| player.address == packet.client);
            player.expect("a packet is for a client").links.down.send(*ticks, packet);
        }
    }

    fn run_client(&mut self, nth: usize, costs: &mut Costs) {
        let Session { players, ticks, .. } = self;
        let Player { client, world, mailbox, links, .. } = &mut players[nth];
        mailbox.open().arrived.extend(core::iter::from_fn(|| links.down.receive(*ticks)));
        costs.client.time(|| {
            let now = Instant::now();
            client.receive_all_packets();
            client.process_all_packets(&mut *world, &now);
            client.take_world_events();
            client.take_tick_events(&now);
            client.send_all_packets(&*world);
        });
        for packet in mailbox.open().sent.drain(..) {
            links.up.send(*ticks, packet);
        }
    }
}

impl Player {
    /// One who asks to come in.
    fn new(nth: u16, door: &Door, delay_ticks: u32) -> Player {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 10_000 + nth));
        let mailbox = Mailbox::default();
        let mut client = Client::new(ClientConfig::default(), protocol());
        client.connect(ClientSocket { mailbox: mailbox.clone(), door: door.clone(), address });
        Player { client, world: World::default(), mailbox, address, links: Links::new(delay_ticks) }
    }
}

impl Peer for Session {
    fn write(&mut self, changes: &[Change]) {
        for change in changes {
            let mut entity = self.server.entity_mut(&mut self.world, &self.entities[change.nth]);
            let mut component = entity.component::<NetworkBody>().expect("it has one");
            *component.position = change.body.position;
            *component.rotation = change.body.rotation;
            *component.velocity = change.body.velocity;
        }
    }

    fn tick(&mut self, costs: &mut Costs) {
        TestClock::advance(TICK_MS);
        self.run_server(costs);
        (0..self.players.len()).for_each(|nth| self.run_client(nth, costs));
        self.ticks += 1;
    }

    fn all_have(&mut self, count: usize) -> bool {
        self.players.iter().all(|player| player.world.bodies().count() == count)
    }

    fn diverges(&mut self, truth: &[Body]) -> bool {
        self.players.iter().any(|player| !are_same(player.world.bodies(), truth.iter()))
    }
}

/// What both ends agree on.
fn protocol() -> Protocol {
    Protocol::builder().tick_interval(Duration::from_millis(TICK_MS)).add_component::<NetworkBody>().build()
}
