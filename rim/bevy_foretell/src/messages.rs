//! Messages of the game's own: sent by a trigger, received by an observer.

use crate::driver::{Driver, End};
use crate::registry::Registry;
use crate::step_messages;
use bevy_app::App;
use bevy_ecs::prelude::{Event, On, ResMut, Resource, World};
use foretell::session::SendError;
use foretell::{Delivery, Input, Message, PlayerId, ReceivedMessage, To};

/// Sends a message: `commands.trigger(Say::to_server(Chat("hi")))`. It goes with the next frame, or is [`Unsent`] then: without a
/// session, too.
#[derive(Event, Clone, Debug)]
pub struct Say<M: Send + Sync + 'static> {
    to: Option<To>,
    message: M,
}

impl<M: Send + Sync + 'static> Say<M> {
    /// To the server, by who plays here.
    pub fn to_server(message: M) -> Say<M> {
        Say { to: None, message }
    }

    /// To players, by the server.
    pub fn to(to: To, message: M) -> Say<M> {
        Say { to: Some(to), message }
    }
}

/// A message was not sent; nothing of it is under way.
#[derive(Event, Clone, Debug)]
pub struct Unsent<M: Send + Sync + 'static> {
    /// Which.
    pub message: M,
    /// Why.
    pub why: SendError,
}

/// A message has come.
#[derive(Event, Clone, Debug)]
pub struct Received<M: Send + Sync + 'static> {
    /// From whom; [`PlayerId::SERVER`] for the server.
    pub from: PlayerId,
    /// What.
    pub message: M,
}

/// Sends one message, where there is a session.
type Sending<I> = Box<dyn FnOnce(Option<End<'_, I>>, &mut World) + Send + Sync>;

/// What is known of the types of messages that are told, and what waits to be sent.
#[derive(Resource)]
pub(crate) struct MessageTypes<I: Input + Send + Sync> {
    tell: Vec<fn(&ReceivedMessage, &mut World)>,
    waiting: Vec<Sending<I>>,
}

impl<I: Input + Send + Sync> Default for MessageTypes<I> {
    fn default() -> MessageTypes<I> {
        MessageTypes { tell: Vec::new(), waiting: Vec::new() }
    }
}

/// Makes a type known: to both ends, to what is told, or to steps, and to what sends.
pub(crate) fn register<I: Input + Send + Sync, M: Message + Clone>(app: &mut App) {
    let mut registry = app.world_mut().resource_mut::<Registry>();
    registry.messages = core::mem::take(&mut registry.messages).with::<M>();
    if M::DELIVERY == Delivery::InStep {
        step_messages::register::<I, M>(app);
    } else {
        app.world_mut().resource_mut::<MessageTypes<I>>().tell.push(tell::<M>);
    }
    app.add_observer(|said: On<Say<M>>, mut types: ResMut<MessageTypes<I>>| {
        let Say { to, message } = said.event().clone();
        types.waiting.push(Box::new(move |end, world| {
            if let Err(why) = send(end, to, &message) {
                world.trigger(Unsent { message, why });
            }
        }));
    });
}

fn send<I: Input + Send + Sync, M: Message>(
    end: Option<End<'_, I>>,
    to: Option<To>,
    message: &M,
) -> Result<(), SendError> {
    match (end, to) {
        (Some(End::Client(client)), None) => client.send(message),
        (Some(End::Host(host)), None) => host.send(message),
        (Some(End::Host(host)), Some(to)) => host.server_mut().send(to, message),
        (Some(End::Server(server)), Some(to)) => server.send(to, message),
        (Some(End::Client(_)), Some(_)) | (Some(End::Server(_)), None) | (None, _) => Err(SendError::NotPlaying),
    }
}

fn tell<M: Message + Clone>(received: &ReceivedMessage, world: &mut World) {
    if let Some(message) = received.get::<M>() {
        world.trigger(Received { from: received.from(), message: message.clone() });
    }
}

/// Sends what waits, where there is a session, or says that it is not sent.
pub(crate) fn send_waiting<I: Input + Send + Sync>(mut driver: Option<&mut dyn Driver<I>>, world: &mut World) {
    for sending in core::mem::take(&mut world.resource_mut::<MessageTypes<I>>().waiting) {
        sending(driver.as_mut().and_then(|driver| driver.end()), world);
    }
}

/// Tells each message that has come.
pub(crate) fn tell_all<I: Input + Send + Sync>(world: &mut World, messages: &[ReceivedMessage]) {
    for message in messages {
        let known = world.resource::<MessageTypes<I>>().tell.clone();
        known.iter().for_each(|tell| tell(message, world));
    }
}
