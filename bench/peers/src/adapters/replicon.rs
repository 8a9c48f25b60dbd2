//! bevy_replicon: an `App` of Bevy on each end, its messages carried as they are.
//!
//! One tick is one `App::update`, in which the server's tick is counted up, so that each is sent.

use super::components::{Components, One, Position, Rotation, Three, Velocity, Whole};
use super::first_bodies;
use crate::case::Case;
use crate::crowd::Change;
use crate::link::Links;
use crate::peer::{Costs, Peer, are_same};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bevy_replicon::prelude::*;
use bytes::Bytes;
use core::marker::PhantomData;
use core::time::Duration;
use foretell_crowd::Body;

/// What a backend over datagrams would say that a message may have.
const MESSAGE_MAX: usize = 1_200;

/// What is replicated.
pub trait Replicate: Components {
    fn register(app: &mut App);
}

impl Replicate for One {
    fn register(app: &mut App) {
        app.replicate::<Whole>();
    }
}

impl Replicate for Three {
    fn register(app: &mut App) {
        app.replicate::<Position>().replicate::<Rotation>().replicate::<Velocity>();
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
    /// On the server.
    connection: Entity,
    links: Links<Message>,
}

/// A message and its channel.
struct Message {
    channel: usize,
    bytes: Bytes,
}

impl<C: Replicate> Session<C> {
    /// Everybody is connected.
    pub fn new(case: &Case) -> Session<C> {
        let mut server = app::<C>();
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        server.update();
        let entities = first_bodies(case).map(|body| server.world_mut().spawn((Replicated, C::bundle(body))).id());
        let entities = entities.collect();
        let players = (0..case.clients).map(|_| {
            let mut app = app::<C>();
            app.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
            let connection = server.world_mut().spawn(ConnectedClient { max_size: MESSAGE_MAX }).id();
            Player { app, connection, links: Links::new(case.delay_ticks) }
        });
        let players = players.collect();
        Session { server, entities, players, ticks: 0, components: PhantomData }
    }

    fn run_server(&mut self, costs: &mut Costs) {
        let Session { server, players, ticks, .. } = self;
        let mut messages = server.world_mut().resource_mut::<ServerMessages>();
        for player in &mut *players {
            while let Some(Message { channel, bytes }) = player.links.up.receive(*ticks) {
                messages.insert_received(player.connection, channel, bytes);
            }
        }
        costs.server.time(|| server.update());
        let mut messages = server.world_mut().resource_mut::<ServerMessages>();
        for (connection, channel, bytes) in messages.drain_sent() {
            costs.bytes_down += bytes.len() as u64;
            let player = players.iter_mut().find(|player| player.connection == connection);
            player.expect("a message is for a client").links.down.send(*ticks, Message { channel, bytes });
        }
    }

    fn run_client(&mut self, nth: usize, costs: &mut Costs) {
        let Session { players, ticks, .. } = self;
        let Player { app, links, .. } = &mut players[nth];
        let mut messages = app.world_mut().resource_mut::<ClientMessages>();
        while let Some(Message { channel, bytes }) = links.down.receive(*ticks) {
            messages.insert_received(channel, bytes);
        }
        costs.client.time(|| app.update());
        let mut messages = app.world_mut().resource_mut::<ClientMessages>();
        for (channel, bytes) in messages.drain_sent() {
            links.up.send(*ticks, Message { channel, bytes });
        }
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
fn app<C: Replicate>() -> App {
    let mut app = App::new();
    let replicon = RepliconPlugins.set(ServerPlugin::new(PostUpdate));
    app.add_plugins((MinimalPlugins, StatesPlugin, replicon));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1) / 60));
    C::register(&mut app);
    app.finish();
    app
}
