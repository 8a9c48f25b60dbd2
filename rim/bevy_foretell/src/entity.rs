//! What the plugin keeps on the entities of a game.

use crate::NetEntity;
use bevy_derive::Deref;
use bevy_ecs::prelude::{Component, Entity, World};
use foretell::{InputStatus, Owned, PlayerId, PlayerInput, Tick};

/// The name of an entity, the same on both ends, and whose it is. It is on whatever
/// [`StepCommands::spawn`](crate::StepCommands::spawn) has spawned, and on whatever the server tells of.
///
/// Ordered by name. A step in which the order matters in which entities are gone through sorts by it, as a query's own order is
/// another on each end: a query that has `&Networked` by `query.iter_mut().sort::<&Networked>()`.
#[derive(Component, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Networked {
    pub(crate) name: NetEntity,
    pub(crate) owner: PlayerId,
}

impl Networked {
    pub(crate) fn new(of: Owned) -> Networked {
        Networked { name: of.entity, owner: of.owner }
    }

    /// Its name.
    pub fn name(&self) -> NetEntity {
        self.name
    }

    /// Whose inputs drive it; [`PlayerId::SERVER`] for what is nobody's. [`StepCommands::set_owner`](crate::StepCommands::set_owner)
    /// changes it.
    pub fn owner(&self) -> PlayerId {
        self.owner
    }

    /// Both.
    pub fn owned(&self) -> Owned {
        Owned { entity: self.name, owner: self.owner }
    }
}

/// This step moves the entity: on a server everything that no client [holds](crate::Held), on a client what it predicts. What has it not is written before the step,
/// from what the server has told, and not to be moved. Set before each step.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simulated;

/// The input of an entity's owner in this step. Only on entities that are [`Simulated`], and whose owner is stepped: a system that
/// asks for it moves what it has to move, on both ends and in re-simulations. Set before each step.
#[derive(Component, Deref, Clone, Copy, PartialEq, Debug)]
pub struct Driven<I: Send + Sync + 'static> {
    #[deref]
    input: I,
    status: InputStatus,
}

impl<I: Copy + Send + Sync + 'static> Driven<I> {
    pub(crate) fn new(of: &PlayerInput<I>) -> Driven<I> {
        Driven { input: of.input, status: of.status }
    }

    /// How the input came about.
    pub fn status(&self) -> InputStatus {
        self.status
    }
}

/// A networked entity that is not in the state that the world is in: it was despawned, or is not spawned yet in a state that was
/// gone back to. No query finds it that does not name this component. It keeps its id and its components, which are not added again
/// when it comes back, and is despawned when no state that may come back has it.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gone {
    /// The newest tick that was simulated when it went.
    pub(crate) since: Tick,
}

/// The entity has this component, or none of its type.
pub(crate) fn set<C: Component>(world: &mut World, id: Entity, component: Option<C>) {
    let mut entity = world.entity_mut(id);
    _ = match component {
        Some(component) => entity.insert(component),
        None => entity.remove::<C>(),
    };
}
