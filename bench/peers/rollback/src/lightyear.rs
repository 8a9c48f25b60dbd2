//! lightyear: a server and a client over a raw connection. A rollback is asked for, as its documents say for such a purpose; what it
//! takes is what that update of the client takes longer than the one before it.

use crate::{Client, Spent, TICKS, fly};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bytes::BytesMut;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use cpu_time::ThreadTime;
use lightyear::prelude::client::{ClientPlugins, InputDelayConfig, InputTimelineConfig, RawClient};
use lightyear::prelude::server::{RawServer, ServerPlugins};
use lightyear::prelude::*;
use mock_instant::global::MockClock;
use serde::{Deserialize, Serialize};

/// A tick, and a frame.
const TICK: Duration = Duration::from_micros(15_625);
/// How many ticks each way takes: so that a client predicts more than it rolls back.
const WAY: usize = 6;

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Default, Debug)]
struct Position([f32; 2]);

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Default, Debug)]
struct Velocity([f32; 2]);

fn app(plugins: impl PluginGroup) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin)).add_plugins(plugins);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    app.component::<Position>().replicate().predict();
    app.component::<Velocity>().replicate().predict();
    app
}

fn ready(app: &mut App) {
    app.finish();
    app.cleanup();
}

fn step_on_server(mut bodies: Query<'_, '_, (&mut Position, &mut Velocity)>) {
    bodies.iter_mut().for_each(|(position, velocity)| step(position, velocity));
}

fn step_on_client(mut bodies: Query<'_, '_, (&mut Position, &mut Velocity), With<Predicted>>) {
    bodies.iter_mut().for_each(|(position, velocity)| step(position, velocity));
}

fn step(mut position: Mut<'_, Position>, mut velocity: Mut<'_, Velocity>) {
    let [x, v] = fly([position.0, velocity.0]);
    (*position, *velocity) = (Position(x), Velocity(v));
}

/// A server, a client, and what is on the way between them.
pub struct Session {
    server: App,
    client: App,
    on_server: Entity,
    on_client: Entity,
    up: Vec<Vec<BytesMut>>,
    down: Vec<Vec<BytesMut>>,
}

impl Session {
    /// One in which everything has come, and is predicted.
    pub fn with(entities: u16) -> Session {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 10_000));
        let mut server = app(ServerPlugins { tick_duration: TICK });
        server.add_systems(FixedUpdate, step_on_server);
        ready(&mut server);
        let listening = server.world_mut().spawn((RawServer, Linked)).id();
        let from_here = (LinkOf { server: listening }, Link::default(), PeerAddr(address), ReplicationSender);
        let on_server = server.world_mut().spawn(from_here).id();
        server.world_mut().entity_mut(on_server).insert(Linked);
        let mut client = app(ClientPlugins { tick_duration: TICK });
        client.insert_resource(PredictionManager::default());
        let delay = InputTimelineConfig::default().with_input_delay(InputDelayConfig::no_input_delay());
        // A plugin of inputs would bring it; here nobody presses anything.
        client.insert_resource(delay).init_resource::<LastConfirmedInput>().add_systems(FixedUpdate, step_on_client);
        ready(&mut client);
        let on_client = client.world_mut().spawn((RawClient, LocalAddr(address), ReplicationReceiver)).id();
        client.world_mut().entity_mut(on_client).insert(Linked);
        let mut session = Session { server, client, on_server, on_client, up: Vec::new(), down: Vec::new() };
        for nth in 0..entities {
            session.server.world_mut().spawn((
                Position([f32::from(nth) / 100.0; 2]),
                Velocity([3.0, 1.0]),
                Replicate::to_clients(NetworkTarget::All),
                PredictionTarget::to_clients(NetworkTarget::All),
            ));
        }
        (0..600).for_each(|_| _ = session.frame());
        let world = session.client.world_mut();
        let predicted = world.query_filtered::<(), (With<Predicted>, With<Position>)>().iter(world).count();
        assert_eq!(predicted, usize::from(entities), "everything has come");
        session
    }

    /// A frame of both; what the client's takes, in microseconds.
    fn frame(&mut self) -> f64 {
        let Session { server, client, on_server, on_client, up, down } = self;
        MockClock::advance(TICK);
        if up.len() >= WAY {
            up.remove(0).into_iter().for_each(|packet| link(server, *on_server).recv.push_raw(packet));
        }
        server.update();
        down.push(link(server, *on_server).send.drain().map(|packet| BytesMut::from(&packet[..])).collect());
        if down.len() >= WAY {
            down.remove(0).into_iter().for_each(|packet| link(client, *on_client).recv.push_raw(packet));
        }
        let began = ThreadTime::now();
        client.update();
        let took = began.elapsed().as_secs_f64() * 1e6;
        up.push(link(client, *on_client).send.drain().map(|packet| BytesMut::from(&packet[..])).collect());
        took
    }

    fn resimulated(&self) -> u32 {
        self.client.world().resource::<PredictionMetrics>().rollback_ticks
    }
}

impl Client for Session {
    fn rollback(&mut self) -> Spent {
        // Some frames roll back by themselves; what they take is not counted.
        let mut beside = f64::MAX;
        for _ in 0..4 {
            let before = self.resimulated();
            let took = self.frame();
            beside = if self.resimulated() == before { beside.min(took) } else { beside };
        }
        let before = self.resimulated();
        let world = self.client.world_mut();
        let from = world.resource::<LocalTimeline>().tick() - u32::from(TICKS);
        world.resource_mut::<StateRollbackMetadata>().request_forced_rollback(from);
        let took = self.frame();
        assert_eq!(self.resimulated() - before, u32::from(TICKS), "it has rolled back, as far as it was asked to");
        Spent { all: took, beside }
    }
}

fn link(app: &mut App, connection: Entity) -> Mut<'_, Link> {
    app.world_mut().get_mut(connection).expect("a connection has a link")
}
