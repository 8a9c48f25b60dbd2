//! lightyear: an `App` of Bevy on each end, over raw connections whose packets are carried as they are.
//!
//! Prediction and interpolation are left out: nothing here is predicted, and with them the server would send something in each
//! tick. One tick is one `App::update`, with one step of `FixedUpdate`, after which it replicates.

use super::components::{Components, One, Position, Rotation, Three, Velocity, Whole};
use super::first_bodies;
use crate::case::Case;
use crate::crowd::Change;
use crate::link::Links;
use crate::peer::{Costs, Peer, are_same};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bytes::{Bytes, BytesMut};
use core::marker::PhantomData;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use foretell_crowd::Body;
use lightyear::prelude::client::{ClientPlugins, RawClient};
use lightyear::prelude::server::{RawServer, ServerPlugins};
use lightyear::prelude::{
    AppComponentExt, Link, LinkOf, Linked, LocalAddr, NetworkTarget, PeerAddr, Replicate as ReplicateTo,
    ReplicationReceiver, ReplicationSender,
};
use mock_instant::global::MockClock;

/// A tick.
const TICK: Duration = Duration::from_nanos(16_666_666);

/// What is replicated.
pub trait Replicate: Components {
    fn register(app: &mut App);
}

impl Replicate for One {
    fn register(app: &mut App) {
        app.component::<Whole>().replicate();
    }
}

impl Replicate for Three {
    fn register(app: &mut App) {
        app.component::<Position>().replicate();
        app.component::<Rotation>().replicate();
        app.component::<Velocity>().replicate();
    }
}

/// A server and its clients.
pub struct Session<C> {
    server: App,
    /// The crowd on the server.
    entities: Vec<Entity>,
    players: Vec<Player>,
    /// How many ticks there were.
    ticks: u32,
    components: PhantomData<C>,
}

struct Player {
    app: App,
    /// The connection on the client.
    connection: Entity,
    /// And on the server.
    on_server: Entity,
    links: Links<Bytes>,
}

impl<C: Replicate> Session<C> {
    /// Everybody is connected.
    pub fn new(case: &Case) -> Session<C> {
        let mut server = app::<C>(ServerPlugins { tick_duration: TICK });
        let listening = server.world_mut().spawn(RawServer).id();
        server.world_mut().entity_mut(listening).insert(Linked);
        server.update();
        let players = (0..case.clients).map(|nth| Player::new::<C>(nth, &mut server, listening, case.delay_ticks));
        let players = players.collect();
        server.update();
        let spawn = |body| {
            let replicate = ReplicateTo::to_clients(NetworkTarget::All);
            server.world_mut().spawn((replicate, C::bundle(body))).id()
        };
        let entities = first_bodies(case).map(spawn).collect();
        Session { server, entities, players, ticks: 0, components: PhantomData }
    }

    fn run_server(&mut self, costs: &mut Costs) {
        let Session { server, players, ticks, .. } = self;
        for player in &mut *players {
            deliver(server, player.on_server, core::iter::from_fn(|| player.links.up.receive(*ticks)));
        }
        costs.server.time(|| server.update());
        for player in players {
            for packet in link(server, player.on_server).send.drain() {
                costs.bytes_down += packet.len() as u64;
                player.links.down.send(*ticks, packet);
            }
        }
    }

    fn run_client(&mut self, nth: usize, costs: &mut Costs) {
        let Session { players, ticks, .. } = self;
        let Player { app, connection, links, .. } = &mut players[nth];
        deliver(app, *connection, core::iter::from_fn(|| links.down.receive(*ticks)));
        costs.client.time(|| app.update());
        for packet in link(app, *connection).send.drain() {
            links.up.send(*ticks, packet);
        }
    }
}

impl Player {
    /// One whose connection is there on both ends.
    fn new<C: Replicate>(nth: u16, server: &mut App, listening: Entity, delay_ticks: u32) -> Player {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 10_000 + nth));
        let from_here = (LinkOf { server: listening }, Link::default(), PeerAddr(address), ReplicationSender);
        let on_server = server.world_mut().spawn(from_here).id();
        server.world_mut().entity_mut(on_server).insert(Linked);
        let mut app = app::<C>(ClientPlugins { tick_duration: TICK });
        let connection = app.world_mut().spawn((RawClient, LocalAddr(address), ReplicationReceiver)).id();
        app.world_mut().entity_mut(connection).insert(Linked);
        Player { app, connection, on_server, links: Links::new(delay_ticks) }
    }
}

impl<C: Replicate> Peer for Session<C> {
    fn write(&mut self, changes: &[Change]) {
        let world = self.server.world_mut();
        for change in changes {
            C::write(world.entity_mut(self.entities[change.nth]), change.body);
        }
    }

    fn tick(&mut self, costs: &mut Costs) {
        MockClock::advance(TICK);
        self.run_server(costs);
        (0..self.players.len()).for_each(|nth| self.run_client(nth, costs));
        self.ticks += 1;
    }

    fn all_have(&mut self, count: usize) -> bool {
        self.players.iter_mut().all(|player| C::bodies(player.app.world_mut()).len() == count)
    }

    fn diverges(&mut self, truth: &[Body]) -> bool {
        self.players.iter_mut().any(|player| {
            let held = C::bodies(player.app.world_mut());
            !are_same(held.into_iter(), truth.iter())
        })
    }
}

/// What both ends have in common.
fn app<C: Replicate>(plugins: impl PluginGroup) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin));
    app.add_plugins(plugins);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    C::register(&mut app);
    app.finish();
    app.cleanup();
    app
}

/// What goes in and out of a connection.
fn link(app: &mut App, connection: Entity) -> Mut<'_, Link> {
    app.world_mut().get_mut(connection).expect("a connection has a link")
}

fn deliver(app: &mut App, connection: Entity, packets: impl Iterator<Item = Bytes>) {
    let mut link = link(app, connection);
    for packet in packets {
        link.recv.push_raw(BytesMut::from(packet));
    }
}
