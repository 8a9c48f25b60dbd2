//! A session with its network, however it was begun.

use crate::game_world::GameWorld;
use bevy_ecs::prelude::Resource;
use foretell::{Client, Frame, Host, Input, Instant, Outbox, PeerId, PlayerId, Server, Session, Views};

/// One end of a session.
pub(crate) enum End<'a, I: Input + Send + Sync> {
    Client(&'a mut Client<GameWorld<I>>),
    Host(&'a mut Host<GameWorld<I>>),
    Server(&'a mut Server<GameWorld<I>>),
}

/// A session with its network.
pub(crate) trait Driver<I: Input + Send + Sync> {
    /// Takes in what has come, runs the ticks that are due, and sends what is to be sent.
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_>;
    /// What is to be drawn.
    fn present(&self, now: Instant, views: &mut Views);
    /// Who plays here.
    fn player(&self) -> Option<PlayerId>;
    /// The session itself; `None` while there is none yet.
    fn end(&mut self) -> Option<End<'_, I>>;
    /// Why there is no session, and will be none.
    fn failed(&self) -> Option<String> {
        None
    }
    /// Says good-bye, as far as that is possible.
    fn leave(self: Box<Self>, game: &mut GameWorld<I>);
}

/// The end that a session is.
pub(crate) fn end_of<I: Input + Send + Sync>(session: &mut Session<GameWorld<I>>) -> End<'_, I> {
    match session {
        Session::Client(client) => End::Client(client),
        Session::Host(host) => End::Host(host),
        Session::Dedicated(server) => End::Server(server),
    }
}

/// Datagrams of a session over the game's own network ([`Play::ByHand`](crate::Play::ByHand)).
#[derive(Resource, Default, Debug)]
pub struct Datagrams {
    /// What has come since the last frame, oldest first. Taken out with the next one.
    pub arrived: Vec<(PeerId, Vec<u8>)>,
    /// What is to be sent, in order. The game takes it out.
    pub outgoing: Vec<(PeerId, Vec<u8>)>,
}

impl Datagrams {
    fn take_out(&mut self, outbox: &mut Outbox) {
        self.outgoing.extend(outbox.iter().map(|(peer, datagram)| (peer, datagram.to_vec())));
        outbox.clear();
    }
}

/// A session of which the game moves the datagrams.
pub(crate) struct ByHand<I: Input + Send + Sync> {
    session: Session<GameWorld<I>>,
    outbox: Outbox,
}

impl<I: Input + Send + Sync> ByHand<I> {
    pub fn new(session: Session<GameWorld<I>>) -> ByHand<I> {
        ByHand { session, outbox: Outbox::new() }
    }
}

/// How often a good-bye is sent, as it may be lost.
const GOOD_BYES: u32 = 3;

impl<I: Input + Send + Sync> Driver<I> for ByHand<I> {
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_> {
        let ByHand { session, outbox } = self;
        for (peer, datagram) in core::mem::take(&mut game.ecs.resource_mut::<Datagrams>().arrived) {
            // What is malformed is counted there.
            _ = session.receive(now, peer, &datagram);
        }
        let frame = session.update(now, game, &mut |_| input, outbox);
        game.ecs.resource_mut::<Datagrams>().take_out(outbox);
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

    fn leave(mut self: Box<Self>, game: &mut GameWorld<I>) {
        (0..GOOD_BYES).for_each(|_| self.session.leave(&mut self.outbox));
        game.ecs.resource_mut::<Datagrams>().take_out(&mut self.outbox);
    }
}
