//! The session of a program: one system runs it in each frame, whatever it is.

use crate::display::Shown;
use crate::driver::{Driver, End};
use crate::events::{self, Connection, NotConnected, ServerSaid};
use crate::game_world::GameWorld;
use crate::held;
use crate::messages;
use crate::play::Play;
use crate::schedules::ReadInput;
use crate::settings::{config_of, horizon_ticks};
use crate::start::start;
use bevy_app::AppExit;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::{Event, On, ResMut, Resource, World};
use bevy_time::{Real, Time};
use foretell::session::client::ClientStats;
use foretell::{Client, ClientState, Frame, Input, Instant, PlayerId, Reason};

/// Ends the session, when it is inserted, and says good-bye: what was there of it stays until another begins, with a
/// [`Play`] that is inserted later or at once. The end of the program ([`AppExit`]) does so by itself.
#[derive(Resource, Debug)]
pub struct Leave;

/// Removes a player for good, by the server or host: `commands.trigger(RemovePlayer { player, reason: "away for too long".into() })`. Their app
/// is told why ([`NotConnected`](crate::NotConnected)), and the next step that they have left ([`StepCommands::left`](crate::StepCommands::left)).
/// Who asks to join again is kept out by [`admit`](crate::ForetellPlugin::admit) alone. Nothing happens to who plays at the host, and in
/// the app of a client.
#[derive(Event, Clone, Debug)]
pub struct RemovePlayer {
    /// Whom.
    pub player: PlayerId,
    /// What their client is told, in at most 120 bytes.
    pub reason: Reason,
}

/// Those that the session is still to remove.
#[derive(Resource, Default)]
pub(crate) struct Removals(Vec<RemovePlayer>);

/// What the own player presses: the input of the ticks of a frame. Written in [`ReadInput`] in each frame: what is held by `=`, what is
/// pressed for a moment (`just_pressed`) by `|=`. In a frame in which no tick is due nothing is read, and it stays as it is; after ticks
/// it is the default again, as it is where nobody plays yet. The ticks of a frame all get the same.
#[derive(Resource, Deref, DerefMut, Clone, Copy, Debug, Default)]
pub struct Pressed<I: Send + Sync + 'static>(pub I);

/// The player of this program; `None` before they have joined, and where nobody plays.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LocalPlayer(pub Option<PlayerId>);

/// What the client of this program has counted and measured: round trip, corrections, how far behind others are shown. `None` while it
/// has no session, and on a server or a host, which predict nothing.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats(pub Option<ClientStats>);

/// The session, and the game's world while it is not Bevy's.
struct Engine<I: Input + Send + Sync> {
    driver: Box<dyn Driver<I>>,
    game: GameWorld<I>,
}

/// Runs the session of this program for a frame. While it does, the game has Bevy's world and Bevy an empty one.
pub(crate) fn run<I: Input + Send + Sync>(world: &mut World) {
    let now = now(world);
    if world.remove_resource::<Leave>().is_some() {
        end::<I>(world, now);
    }
    if let Some(play) = world.remove_resource::<Play>() {
        end::<I>(world, now);
        begin::<I>(world, play, now);
    }
    let Some(mut engine) = world.remove_non_send::<Engine<I>>() else {
        held::forget_requests::<I>(world);
        return messages::send_waiting::<I>(None, world);
    };
    if !matches!(engine.driver.end(), Some(End::Server(_))) {
        world.run_schedule(ReadInput);
    }
    let refused = update(world, &mut engine, now);
    let failed = refused.or_else(|| engine.driver.failed());
    world.insert_non_send(engine);
    if let Some(why) = failed {
        end::<I>(world, now);
        world.trigger(NotConnected { why });
    }
}

/// One update of it; why the client is refused, if it is.
fn update<I: Input + Send + Sync>(world: &mut World, engine: &mut Engine<I>, now: Instant) -> Option<String> {
    let Engine { driver, game } = engine;
    messages::send_waiting(Some(&mut **driver), world);
    remove_players(world, &mut **driver);
    if client_of(&mut **driver).is_none() {
        held::forget_requests::<I>(world);
    }
    let (input, mut is_taken) = (world.resource::<Pressed<I>>().0, false);
    let mut take = || {
        is_taken = true;
        input
    };
    let frame = game.lent(world, |game| driver.update(now, game, &mut take));
    // What nobody could ask for is not for whenever somebody can.
    if is_taken || matches!(frame.state, ClientState::Joining | ClientState::Resyncing | ClientState::Refused(_)) {
        **world.resource_mut::<Pressed<I>>() = I::default();
    }
    let refused = match frame.state {
        ClientState::Refused(why) => Some(why.to_string()),
        _ => None,
    };
    let changes = held::changes(frame.events);
    tell::<I>(world, frame);
    let moment = driver.now(now);
    held::settle(client_of(&mut **driver).as_deref(), world, changes, moment);
    tell_server(world, &mut **driver);
    driver.present(now, &mut world.resource_mut::<Shown>().views);
    let (player, stats) = match driver.end() {
        Some(End::Client(client)) => (client.player(), Some(client.stats())),
        Some(End::Host(host)) => (host.player(), None),
        Some(End::Server(_)) | None => (None, None),
    };
    world.insert_resource(LocalPlayer(player));
    world.insert_resource(Stats(stats));
    refused
}

/// Says good-bye where the program is about to end.
pub(crate) fn leave_at_exit<I: Input + Send + Sync>(world: &mut World) {
    if world.get_resource::<Messages<AppExit>>().is_some_and(|exits| !exits.is_empty()) {
        let now = now(world);
        end::<I>(world, now);
    }
}

/// The instant of this frame, by the clock of the app.
fn now(world: &World) -> Instant {
    let passed = world.resource::<Time<Real>>().elapsed().as_micros();
    Instant::from_micros(u64::try_from(passed).unwrap_or(u64::MAX))
}

fn begin<I: Input + Send + Sync>(world: &mut World, play: Play, now: Instant) {
    let config = config_of::<I>(world);
    let game = GameWorld::<I>::new(world, if play.is_client() { horizon_ticks(&config) } else { 0 });
    match start(play, world, config, now) {
        Ok(driver) => {
            events::set_connection(world, Connection::Joining);
            world.insert_non_send(Engine { driver, game });
        }
        Err(why) => world.trigger(NotConnected { why }),
    }
}

/// Notes whom a game wants to be removed.
pub(crate) fn note_removal(of: On<RemovePlayer>, mut removals: ResMut<Removals>) {
    removals.0.push(of.event().clone());
}

/// The client of a session, where it is one's.
fn client_of<I: Input + Send + Sync>(driver: &mut dyn Driver<I>) -> Option<&mut Client<GameWorld<I>>> {
    match driver.end() {
        Some(End::Client(client)) => Some(client),
        _ => None,
    }
}

fn remove_players<I: Input + Send + Sync>(world: &mut World, driver: &mut dyn Driver<I>) {
    let removals = core::mem::take(&mut *world.resource_mut::<Removals>());
    let server = match driver.end() {
        Some(End::Server(server)) => server,
        Some(End::Host(host)) => host.server_mut(),
        Some(End::Client(_)) | None => return,
    };
    removals.0.into_iter().for_each(|RemovePlayer { player, reason }| server.remove(player, reason));
}

/// Ends the session, if there is one.
fn end<I: Input + Send + Sync>(world: &mut World, now: Instant) {
    world.insert_resource(Removals::default());
    held::end_all::<I>(world, now);
    let Some(Engine { driver, mut game }) = world.remove_non_send::<Engine<I>>() else { return };
    game.lent(world, |game| driver.leave(now, game));
    world.insert_resource(LocalPlayer(None));
    world.insert_resource(Stats(None));
    world.insert_resource(Shown::default());
    **world.resource_mut::<Pressed<I>>() = I::default();
    events::set_connection(world, Connection::Offline);
}

/// Tells what an update has done.
fn tell<I: Input + Send + Sync>(world: &mut World, frame: Frame<'_>) {
    events::set_connection(world, frame.state.into());
    events::tell_corrections(world, frame.corrections);
    events::tell_events(world, frame.events);
    messages::tell_all::<I>(world, frame.messages);
}

fn tell_server<I: Input + Send + Sync>(world: &mut World, driver: &mut dyn Driver<I>) {
    let server = match driver.end() {
        Some(End::Server(server)) => &*server,
        Some(End::Host(host)) => host.server(),
        Some(End::Client(_)) | None => return,
    };
    let frame = server.frame();
    frame.events.iter().for_each(|event| world.trigger(ServerSaid(*event)));
    frame.receipts.iter().for_each(|receipt| world.trigger(events::HitJudged(*receipt)));
    messages::tell_all::<I>(world, frame.messages);
}
