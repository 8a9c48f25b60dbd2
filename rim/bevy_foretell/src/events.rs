//! What happens, for observers and states.

use crate::NetEntity;
use crate::directory::Directory;
use bevy_ecs::prelude::{Entity, EntityEvent, Event, World};
use bevy_state::prelude::{NextState, States};
use foretell::motion::Pose;
use foretell::session::HitReceipt;
use foretell::session::client::{self, ClientEvent};
use foretell::session::server::ServerEvent;
use foretell::{ClientState, Effect, Tick};

/// How the program is connected.
#[derive(States, Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Connection {
    /// There is no session: none was begun, or it has ended.
    #[default]
    Offline,
    /// It waits for a server, or for the first state.
    Joining,
    /// The game is played, or served.
    Playing,
    /// It is so far behind that it waits for a state to start again from.
    Resyncing,
    /// Nothing comes from the server any more. It asks for its place by itself.
    Lost,
}

impl From<ClientState> for Connection {
    fn from(state: ClientState) -> Connection {
        match state {
            ClientState::Joining => Connection::Joining,
            ClientState::Playing | ClientState::Starved | ClientState::Behind => Connection::Playing,
            ClientState::Resyncing => Connection::Resyncing,
            ClientState::Lost => Connection::Lost,
            ClientState::Refused(_) => Connection::Offline,
        }
    }
}

/// The prediction of an entity was corrected: by how much, in which field, and why.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Corrected {
    /// Which entity.
    pub entity: Entity,
    /// What is known of it.
    pub correction: client::Corrected,
}

/// The server has an entity that was predicted, or had it; or one of another's is there for the first time.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Confirmed {
    /// Which entity.
    pub entity: Entity,
}

/// A predicted entity that the server never had is gone.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Withdrawn {
    /// Which entity.
    pub entity: Entity,
    /// Where it was shown last.
    pub pose: Pose,
}

/// An entity has left the view of this player, who is told nothing more of it. Not for one that was despawned.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Hidden {
    /// Which entity.
    pub entity: Entity,
    /// Where it was shown last.
    pub pose: Pose,
}

/// One that was hidden is in view again.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Appeared {
    /// Which entity.
    pub entity: Entity,
}

/// The server has made a change, too, that was made ahead of it ([`StepCommands::change`](crate::StepCommands::change)).
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ChangeConfirmed {
    /// What was changed.
    pub entity: Entity,
    /// In which tick.
    pub tick: Tick,
}

/// The server has not: somebody else was first, or the input came too late. What followed from it is corrected.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ChangeRefused {
    /// What was changed, and is as it was.
    pub entity: Entity,
    /// In which tick.
    pub tick: Tick,
}

/// An effect is to be seen or heard now: once on each end, however often its tick is simulated.
#[derive(Event, Clone, Copy, Debug)]
pub struct EffectHappened {
    /// Which.
    pub effect: Effect,
    /// Of which entity; `None` where it is not known here any more.
    pub entity: Option<Entity>,
    /// How many ticks it is late.
    pub late: u32,
}

/// An effect that was told did not happen.
#[derive(Event, Clone, Copy, Debug)]
pub struct EffectCancelled {
    /// Which.
    pub effect: Effect,
}

/// What else an update of a client has to say; each of its events, those with an event of their own among them.
#[derive(Event, Clone, Copy, Debug)]
pub struct ClientSaid(pub ClientEvent);

/// What an update of a server has to say.
#[derive(Event, Clone, Copy, Debug)]
pub struct ServerSaid(pub ServerEvent);

/// The server has judged that a player has hit an entity ([`StepCommands::hit`](crate::StepCommands::hit)).
#[derive(Event, Clone, Copy, Debug)]
pub struct HitJudged(pub HitReceipt);

/// There is no session, and will be none: nobody answers at the address, the server does not admit the player, or their
/// [`JoinData`](crate::JoinData) is too long. Or one in play is over that was
/// not [left](crate::Leave): the player was removed, the server has ended, or has not answered for too long.
#[derive(Event, Clone, Debug)]
pub struct NotConnected {
    /// Why, in words for a person.
    pub why: String,
}

/// The state of the connection is this one from the next transition on.
pub(crate) fn set_connection(world: &mut World, connection: Connection) {
    world.resource_mut::<NextState<Connection>>().set_if_different(connection);
}

/// Tells what was corrected.
pub(crate) fn tell_corrections(world: &mut World, corrections: &[client::Corrected]) {
    for correction in corrections {
        if let Some(entity) = find(world, correction.entity) {
            world.trigger(Corrected { entity, correction: *correction });
        }
    }
}

/// Tells what has happened on a client.
pub(crate) fn tell_events(world: &mut World, events: &[ClientEvent]) {
    for event in events {
        tell_of_entity(world, event);
        world.trigger(ClientSaid(*event));
    }
}

fn tell_of_entity(world: &mut World, event: &ClientEvent) {
    match *event {
        ClientEvent::Confirmed(name) => with(world, name, |entity| Confirmed { entity }),
        ClientEvent::Withdrawn { entity, pose } => with(world, entity, |entity| Withdrawn { entity, pose }),
        ClientEvent::Hidden { entity, pose } => with(world, entity, |entity| Hidden { entity, pose }),
        ClientEvent::Shown(name) => with(world, name, |entity| Appeared { entity }),
        ClientEvent::ChangeConfirmed { tick, entity } => with(world, entity, |entity| ChangeConfirmed { entity, tick }),
        ClientEvent::ChangeRefused { tick, entity } => with(world, entity, |entity| ChangeRefused { entity, tick }),
        ClientEvent::Effect { effect, late } => {
            let entity = find(world, effect.entity);
            world.trigger(EffectHappened { effect, entity, late });
        }
        ClientEvent::EffectCancelled(effect) => world.trigger(EffectCancelled { effect }),
        _ => {}
    }
}

fn find(world: &World, name: NetEntity) -> Option<Entity> {
    world.resource::<Directory>().find(name).filter(|id| world.get_entity(*id).is_ok())
}

pub(crate) fn with<'a, E: EntityEvent<Trigger<'a>: Default>>(
    world: &mut World,
    name: NetEntity,
    event: impl FnOnce(Entity) -> E,
) {
    if let Some(entity) = find(world, name) {
        world.trigger(event(entity));
    }
}
