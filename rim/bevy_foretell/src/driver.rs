//! A session with its network, however it was begun.

use crate::game_world::GameWorld;
use crate::held;
use bevy_app::App;
use bevy_ecs::prelude::{Resource, World};
use foretell::{Client, Frame, Host, Input, Instant, Outbox, PeerId, Server, Session, Views};
use foretell_sim::netsim::Link;

/// One end of a session.
pub(crate) enum End<'a, I: Input + Send + Sync> {
    Client(&'a mut Client<GameWorld<I>>),
    Host(&'a mut Host<GameWorld<I>>),
    Server(&'a mut Server<GameWorld<I>>),
}

/// A session with its network.
pub(crate) trait Driver<I: Input + Send + Sync> {
    /// The moment that it is by the clock of the session, when it is `now` by the app's.
    fn now(&self, now: Instant) -> Instant;
    /// Takes in what has come, tells a client where the [held](crate::Held) entities are, runs the ticks that are due, of which each asks for
    /// its `input`, and sends what is to be sent.
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: &mut dyn FnMut() -> I) -> Frame<'_>;
    /// What is to be drawn.
    fn present(&self, now: Instant, views: &mut Views);
    /// The session itself; `None` while there is none yet.
    fn end(&mut self) -> Option<End<'_, I>>;
    /// Why there is no session, and will be none.
    fn failed(&self) -> Option<String> {
        None
    }
    /// Says good-bye, as far as that is possible.
    fn leave(self: Box<Self>, now: Instant, game: &mut GameWorld<I>);
}

/// Datagrams of a session over the game's own network ([`Play::ByHand`](crate::Play::ByHand)).
#[derive(Resource, Default, Debug)]
pub struct Datagrams {
    /// What has come since the last frame, oldest first. Taken out with the next one.
    pub arrived: Vec<(PeerId, Vec<u8>)>,
    /// What is to be sent, in order. The game takes it out.
    pub outgoing: Vec<(PeerId, Vec<u8>)>,
}

/// Gives an app what has arrived from a peer.
pub(crate) fn hand_over(app: &mut App, from: PeerId, link: &mut Link, now: Instant) {
    let mut datagrams = app.world_mut().resource_mut::<Datagrams>();
    while let Some(delivery) = link.receive(now) {
        datagrams.arrived.push((from, delivery.bytes.to_vec()));
    }
}

/// Takes from an app what it wants to send.
pub(crate) fn take_out(app: &mut App) -> Vec<(PeerId, Vec<u8>)> {
    core::mem::take(&mut app.world_mut().resource_mut::<Datagrams>().outgoing)
}

/// What brings the datagrams of a session to the other ends, and theirs to it.
pub(crate) trait Network<I: Input + Send + Sync>: Sized {
    /// The moment that it is by its clock, when it is `now` by the app's.
    fn now(&self, now: Instant) -> Instant {
        now
    }
    /// Hands over what has come.
    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, world: &mut World);
    /// Sends what is to be sent, and takes it out.
    fn send(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, outbox: &mut Outbox, world: &mut World);
    /// Closes, when the last of it has been sent. What it has put into the world it takes out.
    fn close(self, _world: &mut World) {}
}

/// A session, and the network that it is over.
pub(crate) struct Over<I: Input + Send + Sync, N> {
    session: Session<GameWorld<I>>,
    outbox: Outbox,
    network: N,
}

impl<I: Input + Send + Sync, N: Network<I>> Over<I, N> {
    pub fn new(session: Session<GameWorld<I>>, network: N) -> Over<I, N> {
        Over { session, outbox: Outbox::new(), network }
    }
}

/// How often a good-bye is sent, as it may be lost.
const GOOD_BYES: u32 = 3;

impl<I: Input + Send + Sync, N: Network<I>> Driver<I> for Over<I, N> {
    fn now(&self, now: Instant) -> Instant {
        self.network.now(now)
    }

    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: &mut dyn FnMut() -> I) -> Frame<'_> {
        let Over { session, outbox, network } = self;
        network.take_in(network.now(now), session, game.world());
        let now = network.now(now);
        if let Session::Client(client) = session {
            held::hold(client, game.world(), now);
        }
        session.update(now, game, &mut |_| input(), outbox);
        network.send(now, session, outbox, game.world());
        session.frame(now)
    }

    fn present(&self, now: Instant, views: &mut Views) {
        self.session.present(self.network.now(now), views);
    }

    fn end(&mut self) -> Option<End<'_, I>> {
        Some(match &mut self.session {
            Session::Client(client) => End::Client(client),
            Session::Host(host) => End::Host(host),
            Session::Dedicated(server) => End::Server(server),
        })
    }

    fn leave(mut self: Box<Self>, now: Instant, game: &mut GameWorld<I>) {
        (0..GOOD_BYES).for_each(|_| self.session.leave(&mut self.outbox));
        self.network.send(self.network.now(now), &mut self.session, &mut self.outbox, game.world());
        self.network.close(game.world());
    }
}

/// The game moves the datagrams.
pub(crate) struct ByHand;

impl<I: Input + Send + Sync> Network<I> for ByHand {
    fn take_in(&mut self, now: Instant, session: &mut Session<GameWorld<I>>, world: &mut World) {
        for (peer, datagram) in core::mem::take(&mut world.resource_mut::<Datagrams>().arrived) {
            // What is malformed is counted there.
            _ = session.receive(now, peer, &datagram);
        }
    }

    fn send(&mut self, _: Instant, _: &mut Session<GameWorld<I>>, outbox: &mut Outbox, world: &mut World) {
        let datagrams = outbox.iter().map(|(peer, datagram)| (peer, datagram.to_vec()));
        world.resource_mut::<Datagrams>().outgoing.extend(datagrams);
        outbox.clear();
    }
}
