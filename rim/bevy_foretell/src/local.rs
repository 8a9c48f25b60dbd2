//! Playing alone as if it were over a network: the server in the same program, and a simulated link to it.

use crate::driver::{Driver, End, end_of};
use crate::game_world::GameWorld;
use crate::rig::{hand_over, headless, take_out};
use crate::session::Play;
use bevy_app::App;
use bevy_time::TimeUpdateStrategy;
use foretell::{Frame, Input, Instant, Outbox, PeerId, PlayerId, Session, Start, Views};
use foretell_sim::netsim::{Conditions, Link};

/// A server in this program, at the other end of a link that is as bad as is asked for.
pub struct LocalServer {
    game: fn(&mut App),
    conditions: Conditions,
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

/// The client of a server in the same program.
pub(crate) struct Locally<I: Input + Send + Sync> {
    session: Session<GameWorld<I>>,
    outbox: Outbox,
    server: App,
    conditions: Conditions,
    up: Link,
    down: Link,
    updated: Instant,
}

impl<I: Input + Send + Sync> Locally<I> {
    pub fn new(session: Session<GameWorld<I>>, local: LocalServer, now: Instant) -> Locally<I> {
        let server = headless(local.game, Play::ByHand(Start::Dedicated { epoch: 1 }));
        let LocalServer { conditions, .. } = local;
        let (up, down) = (Link::new(1, 1), Link::new(2, 2));
        Locally { session, outbox: Outbox::new(), server, conditions, up, down, updated: now }
    }
}

impl<I: Input + Send + Sync> Driver<I> for Locally<I> {
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_> {
        let Locally { session, outbox, server, conditions, up, down, updated } = self;
        let passed = now.since(*updated);
        *updated = now;
        server.insert_resource(TimeUpdateStrategy::ManualDuration(passed));
        hand_over(server, PeerId(1), up, now);
        server.update();
        for (_, datagram) in take_out(server) {
            down.send(now, &datagram, conditions);
        }
        while let Some(delivery) = down.receive(now) {
            // What is malformed is counted there.
            _ = session.receive(now, PeerId(0), delivery.bytes);
        }
        let frame = session.update(now, game, &mut |_| input, outbox);
        outbox.iter().for_each(|(_, datagram)| _ = up.send(now, datagram, conditions));
        outbox.clear();
        frame
    }

    fn present(&self, now: Instant, views: &mut Views) {
        self.session.present(now, views);
    }

    fn player(&self) -> Option<PlayerId> {
        self.session.player()
    }

    fn end(&mut self) -> Option<End<'_, I>> {
        Some(end_of(&mut self.session))
    }

    fn leave(self: Box<Self>, _: &mut GameWorld<I>) {}
}
