//! Playing alone as if it were over a network: the server in the same program, and a simulated link to it.

use crate::driver::{Network, hand_over, take_out};
use crate::game_world::GameWorld;
use bevy_app::App;
use bevy_ecs::prelude::World;
use bevy_time::TimeUpdateStrategy;
use foretell::{Input, Instant, Outbox, PeerId, Session};
use foretell_sim::netsim::{Conditions, Link};

/// A server in this program, at the other end of a link that is as bad as is asked for.
pub struct LocalServer {
    pub(crate) game: fn(&mut App),
    pub(crate) conditions: Conditions,
}

impl LocalServer {
    /// Over a link of these conditions, up and down. `game` adds the plugin and what the simulation is, and nothing that needs a window.
    pub fn over(game: fn(&mut App), conditions: Conditions) -> LocalServer {
        LocalServer { game, conditions }
    }

    /// Over a network of one of the plans of `foretell lab`: `lan`, `wifi`, `4g`, `transpacific`, `antipodes`, `terrible` and others;
    /// `None` where there is none of this name. Of a plan whose network changes, or is another one down than up, what goes up.
    pub fn with_faults(game: fn(&mut App), plan: &str) -> Option<LocalServer> {
        let plan = foretell_plan::presets().into_iter().find(|known| known.name == plan)?;
        Some(LocalServer::over(game, plan.network.conditions()))
    }
}

/// The way to a server in the same program.
pub(crate) struct Locally {
    server: App,
    conditions: Conditions,
    up: Link,
    down: Link,
    updated: Instant,
}

impl Locally {
    pub fn new(server: App, conditions: Conditions, now: Instant) -> Locally {
        Locally { server, conditions, up: Link::new(1, 1), down: Link::new(2, 2), updated: now }
    }
}

impl<I: Input + Send + Sync> Network<I> for Locally {
    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, _: &mut World) {
        let Locally { server, conditions, up, down, updated } = self;
        server.insert_resource(TimeUpdateStrategy::ManualDuration(now.since(*updated)));
        *updated = now;
        hand_over(server, PeerId(1), up, now);
        server.update();
        for (_, datagram) in take_out(server) {
            down.send(now, &datagram, conditions);
        }
        while let Some(delivery) = down.receive(now) {
            // What is malformed is counted there.
            _ = session.receive(now, PeerId(0), delivery.bytes);
        }
    }

    fn send(&mut self, now: Instant, _: &mut Session<GameWorld<I>>, outbox: &mut Outbox, _: &mut World) {
        outbox.iter().for_each(|(_, datagram)| _ = self.up.send(now, datagram, &self.conditions));
        outbox.clear();
    }
}
