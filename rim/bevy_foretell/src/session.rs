//! The session of a program: one system runs it in each frame, whatever it is.

use crate::Shown;
use crate::events::{self, Connection, ServerSaid};
use crate::game_world::{GameWorld, config_of, horizon_ticks};
use crate::plugin::ReadInput;
use bevy_ecs::prelude::{Resource, World};
use bevy_time::{Real, Time};
use core::ops::{Deref, DerefMut};
use foretell::session::server::ServerEvent;
use foretell::{Frame, Input, Instant, Outbox, PeerId, PlayerId, Server, Session, Start, Views};

/// How this program plays: insert it, and the session begins with the next frame. While there is one, another replaces it: what was
/// there of the former is despawned. [`Leave`] ends it.
#[derive(Resource, Debug)]
pub enum Play {
    /// Over a network that the game has itself: it moves [`Datagrams`].
    ByHand(Start),
}

/// Ends the session, when it is inserted: what was there of it stays until another begins.
#[derive(Resource, Debug)]
pub struct Leave;

/// What the own player presses: the input of the ticks of the next frame. Written in [`ReadInput`].
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Pressed<I: Send + Sync + 'static>(pub I);

impl<I: Send + Sync + 'static> Deref for Pressed<I> {
    type Target = I;

    fn deref(&self) -> &I {
        &self.0
    }
}

impl<I: Send + Sync + 'static> DerefMut for Pressed<I> {
    fn deref_mut(&mut self) -> &mut I {
        &mut self.0
    }
}

/// Datagrams of a session over the game's own network ([`Play::ByHand`]).
#[derive(Resource, Default, Debug)]
pub struct Datagrams {
    /// What has come since the last frame, oldest first. Taken out with the next one.
    pub arrived: Vec<(PeerId, Vec<u8>)>,
    /// What is to be sent, in order. The game takes it out.
    pub outgoing: Vec<(PeerId, Vec<u8>)>,
}

/// The player of this program; `None` before they have joined, and where nobody plays.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LocalPlayer(pub Option<PlayerId>);

/// A session with its network, however it was begun.
pub(crate) trait Driver<I: Input + Send + Sync> {
    /// Takes in what has come, runs the ticks that are due, and sends what is to be sent.
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_>;
    /// What is to be drawn.
    fn present(&self, now: Instant, views: &mut Views);
    /// The session's player here.
    fn player(&self) -> Option<PlayerId>;
    /// The authority, where it is here.
    fn server(&mut self) -> Option<&mut Server<GameWorld<I>>>;
}

/// The session, and the game's world while it is not Bevy's.
pub(crate) struct Engine<I> {
    pub driver: Box<dyn Driver<I>>,
    game: GameWorld<I>,
}

/// A session of which the game moves the datagrams.
struct ByHand<I: Input + Send + Sync> {
    session: Session<GameWorld<I>>,
    outbox: Outbox,
}

impl<I: Input + Send + Sync> Driver<I> for ByHand<I> {
    fn update(&mut self, now: Instant, game: &mut GameWorld<I>, input: I) -> Frame<'_> {
        let ByHand { session, outbox } = self;
        for (peer, datagram) in core::mem::take(&mut game.ecs.resource_mut::<Datagrams>().arrived) {
            // What is malformed is counted there.
            _ = session.receive(now, peer, &datagram);
        }
        let frame = session.update(now, game, &mut |_| input, outbox);
        let outgoing = outbox.iter().map(|(peer, datagram)| (peer, datagram.to_vec()));
        game.ecs.resource_mut::<Datagrams>().outgoing.extend(outgoing);
        outbox.clear();
        frame
    }

    fn present(&self, now: Instant, views: &mut Views) {
        self.session.present(now, views);
    }

    fn player(&self) -> Option<PlayerId> {
        self.session.player()
    }

    fn server(&mut self) -> Option<&mut Server<GameWorld<I>>> {
        self.session.server()
    }
}

/// Runs the session of this program for a frame. While it does, the game has Bevy's world and Bevy an empty one.
pub(crate) fn run<I: Input + Send + Sync>(world: &mut World) {
    let now = now(world);
    if let Some(play) = world.remove_resource::<Play>() {
        begin::<I>(world, play, now);
    }
    if world.remove_resource::<Leave>().is_some() && world.remove_non_send::<Engine<I>>().is_some() {
        world.insert_resource(LocalPlayer(None));
        events::set_connection(world, Connection::Offline);
    }
    if !world.contains_non_send::<Engine<I>>() {
        return;
    }
    world.run_schedule(ReadInput);
    let input = world.resource::<Pressed<I>>().0;
    let Some(mut engine) = world.remove_non_send::<Engine<I>>() else { return };
    let Engine { driver, game } = &mut engine;
    core::mem::swap(world, &mut game.ecs);
    let frame = driver.update(now, game, input);
    core::mem::swap(world, &mut game.ecs);
    tell(world, frame);
    tell_server(world, &mut **driver);
    driver.present(now, &mut world.resource_mut::<Shown>().views);
    world.insert_resource(LocalPlayer(driver.player()));
    world.insert_non_send(engine);
}

/// The instant of this frame, by the clock of the app.
fn now(world: &World) -> Instant {
    let passed = world.resource::<Time<Real>>().elapsed().as_micros();
    Instant::from_micros(u64::try_from(passed).unwrap_or(u64::MAX))
}

fn begin<I: Input + Send + Sync>(world: &mut World, play: Play, now: Instant) {
    drop(world.remove_non_send::<Engine<I>>());
    let config = config_of(world);
    let horizon_ticks = match &play {
        Play::ByHand(Start::Client { .. }) => horizon_ticks(&config),
        Play::ByHand(_) => 0,
    };
    let game = GameWorld::<I>::new(world, horizon_ticks);
    let driver: Box<dyn Driver<I>> = match play {
        Play::ByHand(start) => Box::new(ByHand { session: Session::start(start, config, now), outbox: Outbox::new() }),
    };
    events::set_connection(world, Connection::Joining);
    world.insert_non_send(Engine { driver, game });
}

/// Tells what an update has done.
fn tell(world: &mut World, frame: Frame<'_>) {
    events::set_connection(world, frame.state.into());
    events::tell_corrections(world, frame.corrections);
    events::tell_events(world, frame.events);
    events::tell_messages(world, frame.messages);
}

fn tell_server<I: Input + Send + Sync>(world: &mut World, driver: &mut dyn Driver<I>) {
    let Some(server) = driver.server() else { return };
    let frame = server.frame();
    let events: Vec<ServerEvent> = frame.events.to_vec();
    events.into_iter().for_each(|event| world.trigger(ServerSaid(event)));
    events::tell_messages(world, frame.messages);
}
