//! lightyear: an `App` of Bevy on each end, over raw connections whose packets are carried as they are, as its examples use it:
//! the own body is predicted, with the correction that it hides mistakes by, the other's is interpolated.

use super::protocol::{self, Clocks, Position, Pressed, Velocity};
use super::settings::Settings;
use crate::case::Case;
use crate::peer::{At, Counts, Datagram, Frame, Peer, Shown};
use crate::run::FRAME_US;
use crate::scene::{Body, PLAYERS, TICK_US};
use crate::script::Push;
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bytes::BytesMut;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use foretell::Instant;
use foretell_bench::Spent;
use lightyear::prelude::client::{ClientPlugins, InputDelayConfig, InputTimelineConfig, RawClient};
use lightyear::prelude::server::{RawServer, ServerPlugins};
use lightyear::prelude::{
    ControlledBy, FrameInterpolationHistory, Interpolated, InterpolationConfig, InterpolationTarget, Link, LinkOf,
    Linked, LocalAddr, LocalTimeline, NetworkTarget, PeerAddr, PeerId, Predicted, PredictionManager, PredictionMetrics,
    PredictionTarget, Replicate, ReplicationMetadata, ReplicationReceiver, ReplicationSender, RollbackPolicy,
};
use mock_instant::global::MockClock;

/// A tick.
const TICK: Duration = Duration::from_micros(TICK_US);
/// What its examples send states by.
const SPARSE: Duration = Duration::from_millis(100);
/// As far as it predicts without a delay of inputs.
const DEEP_TICKS: u16 = 100;

/// A server and its clients.
pub struct Session {
    server: App,
    players: [Player; PLAYERS],
    /// When the clock was set last: all of it have the same one.
    clock_us: u64,
}

struct Player {
    app: App,
    /// The connection on the client.
    connection: Entity,
    /// And on the server.
    on_server: Entity,
    /// The body on the server.
    body: Entity,
}

impl Session {
    /// Everybody is connected.
    pub fn new(settings: Settings) -> Session {
        let mut server = app(ServerPlugins { tick_duration: TICK }, TICK, |app| {
            if settings.is_sparse {
                app.insert_resource(ReplicationMetadata::new(SPARSE));
            }
            protocol::register_server(app);
        });
        let listening = server.world_mut().spawn(RawServer).id();
        server.world_mut().entity_mut(listening).insert(Linked);
        let players = core::array::from_fn(|nth| Player::new(nth, &mut server, listening, settings));
        Session { server, players, clock_us: 0 }
    }

    fn set_clock(&mut self, now: Instant) {
        MockClock::advance(Duration::from_micros(now.micros() - self.clock_us));
        self.clock_us = now.micros();
    }

    fn body(&self, player: usize) -> Body {
        let body = self.server.world().entity(self.players[player].body);
        let position = body.get::<Position>().expect("a body has a position").0;
        Body { position, velocity: body.get::<Velocity>().expect("and a velocity").0 }
    }
}

impl Player {
    /// One whose connection is there on both ends.
    fn new(nth: usize, server: &mut App, listening: Entity, settings: Settings) -> Player {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 10_000 + nth as u16));
        let from_here = (LinkOf { server: listening }, Link::default(), PeerAddr(address), ReplicationSender);
        let on_server = server.world_mut().spawn(from_here).id();
        server.world_mut().entity_mut(on_server).insert(Linked);
        let peer = PeerId::Raw(address);
        let Body { position, velocity } = Body::at_start(nth);
        let body = (
            Position(position),
            Velocity(velocity),
            Replicate::to_clients(NetworkTarget::All),
            PredictionTarget::to_clients(NetworkTarget::Single(peer)),
            InterpolationTarget::to_clients(NetworkTarget::AllExceptSingle(peer)),
            ControlledBy { owner: on_server, lifetime: Default::default() },
        );
        let body = server.world_mut().spawn(body).id();
        let mut app = app(ClientPlugins { tick_duration: TICK }, Duration::from_micros(FRAME_US), |app| {
            configure(app, settings);
            protocol::register_client(app);
        });
        let connection = app.world_mut().spawn((RawClient, LocalAddr(address), ReplicationReceiver)).id();
        app.world_mut().entity_mut(connection).insert(Linked);
        Player { app, connection, on_server, body }
    }

    /// A component of the entity that is marked so.
    fn marked<M: Component, C: Component + Clone>(&mut self) -> Option<C> {
        let world = self.app.world_mut();
        world.query_filtered::<&C, With<M>>().iter(world).next().cloned()
    }
}

/// What a client decides by itself.
fn configure(app: &mut App, settings: Settings) {
    let mut rollback_policy = RollbackPolicy::default();
    if settings.is_tuned {
        rollback_policy.max_rollback_ticks = DEEP_TICKS;
        app.insert_resource(InterpolationConfig::default().with_min_delay(way_down(settings)));
    }
    app.insert_resource(PredictionManager { rollback_policy, ..PredictionManager::default() });
    let delay = if settings.is_delayed { InputDelayConfig::balanced() } else { InputDelayConfig::no_input_delay() };
    app.insert_resource(InputTimelineConfig::default().with_input_delay(delay));
}

/// How old the state is at most, without losses, that comes just before the next one: what it takes to always have two.
fn way_down(settings: Settings) -> Duration {
    let Case { round_trip_ms, jitter_ms, .. } = settings.case;
    let apart = if settings.is_sparse { SPARSE } else { TICK };
    Duration::from_millis(u64::from(round_trip_ms / 2 + jitter_ms)) + apart
}

impl Peer for Session {
    fn serve(&mut self, now: Instant, come: &[Datagram], pushes: &[Push], spent: &mut Spent) -> Vec<Datagram> {
        self.set_clock(now);
        for push in pushes {
            let mut body = self.body(push.player);
            body.push(push.by);
            self.server.world_mut().entity_mut(self.players[push.player].body).insert(Velocity(body.velocity));
        }
        let Session { server, players, .. } = self;
        for (player, datagram) in come {
            link(server, players[*player].on_server).recv.push_raw(BytesMut::from(&datagram[..]));
        }
        spent.time(|| server.update());
        let sent = |(nth, player): (usize, &Player)| {
            let mut link = link(server, player.on_server);
            link.send.drain().map(|packet| (nth, packet.to_vec())).collect::<Vec<_>>()
        };
        players.iter().enumerate().flat_map(sent).collect()
    }

    fn state(&mut self) -> Option<(u32, [Body; PLAYERS])> {
        let tick = self.server.world().resource::<LocalTimeline>().tick();
        (tick.0 > 0).then(|| (tick.0, core::array::from_fn(|player| self.body(player))))
    }

    fn frame(&mut self, at: Frame<'_>, spent: &mut Spent) -> Vec<Datagram> {
        self.set_clock(at.now);
        let Player { app, connection, .. } = &mut self.players[at.player];
        for (_, datagram) in at.come {
            link(app, *connection).recv.push_raw(BytesMut::from(&datagram[..]));
        }
        app.insert_resource(Pressed(at.keys));
        spent.time(|| app.update());
        link(app, *connection).send.drain().map(|packet| (at.player, packet.to_vec())).collect()
    }

    fn shown(&mut self, player: usize) -> Option<Shown> {
        let player = &mut self.players[player];
        let own: Position = player.marked::<Predicted, _>()?;
        let other: Position = player.marked::<Interpolated, _>()?;
        let world = player.app.world_mut();
        let mut histories = world.query_filtered::<&FrameInterpolationHistory<Position>, With<Predicted>>();
        let simulated = histories.iter(world).next()?.current_value?;
        let clocks = world.resource::<Clocks>();
        let (tick, overstep) = clocks.own;
        let at = |state: f64, position: Position| At { state, position: position.0.map(f64::from) };
        clocks.is_synced.then(|| Shown {
            // Between the last two ticks, as frames are interpolated.
            own: at(f64::from(tick) - 1.0 + overstep, own),
            simulated: at(f64::from(tick), simulated),
            other: at(clocks.others, other),
            input_delay_ticks: f64::from(clocks.input_delay),
        })
    }

    fn counts(&mut self, player: usize) -> Counts {
        let metrics = self.players[player].app.world().resource::<PredictionMetrics>();
        Counts { rollbacks: metrics.rollbacks.into(), resimulated: metrics.rollback_ticks.into() }
    }
}

/// What both ends have in common. An update lasts as long as this.
fn app(plugins: impl PluginGroup, update: Duration, own: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin));
    app.add_plugins(plugins);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(update));
    protocol::register(&mut app);
    own(&mut app);
    app.finish();
    app.cleanup();
    app
}

/// What goes in and out of a connection.
fn link(app: &mut App, connection: Entity) -> Mut<'_, Link> {
    app.world_mut().get_mut(connection).expect("a connection has a link")
}
