//! Which entity of Bevy's has which name, and which of them are there.
//!
//! Invariants: `entries` ascend by name, each once; an entity that is not there has [`Gone`].

use crate::NetEntity;
use crate::entity::{Gone, Networked};
use crate::tree::{named_below, with_unnamed_below};
use bevy_ecs::component::ComponentId;
use bevy_ecs::hierarchy::ChildOf;
use bevy_ecs::prelude::{Entity, Resource, With, World};
use bevy_ecs::query::Allow;
use foretell::{Owned, Tick};

/// The entities with a name, those that are gone among them.
#[derive(Resource, Default)]
pub(crate) struct Directory {
    entries: Vec<(NetEntity, Entity)>,
    /// The components that an entity has not before it is given them: those that are saved, and those that are set before each step.
    saved: Vec<ComponentId>,
    /// Whether it is told whose child an entity is.
    tells_children: bool,
    /// Those that were gone and are there again, with all that they had.
    back: Vec<(NetEntity, Entity)>,
    /// The newest tick that was simulated.
    pub newest: Tick,
}

impl Directory {
    /// Of a session that begins with no entities.
    pub fn new(saved: Vec<ComponentId>, tells_children: bool) -> Directory {
        Directory { saved, tells_children, ..Directory::default() }
    }

    /// The entity of this name, whether it is there or gone.
    pub fn find(&self, name: NetEntity) -> Option<Entity> {
        self.place(name).ok().map(|at| self.entries[at].1)
    }

    /// The same, where it is there.
    pub fn there(&self, world: &World, name: NetEntity) -> Option<Entity> {
        self.find(name).filter(|id| world.get_entity(*id).is_ok_and(|entity| !entity.contains::<Gone>()))
    }

    fn place(&self, name: NetEntity) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&name, |(known, _)| *known)
    }

    /// The entity of this name is there, and this player's: the same one as ever, or a new one. One that was gone has what it had
    /// in a state that was gone back from, or before it went: it is [back](Directory::take_back).
    pub fn ensure(&mut self, world: &mut World, of: Owned) -> Entity {
        let known = self.find(of.entity).filter(|id| world.get_entity(*id).is_ok());
        let id = known.unwrap_or_else(|| world.spawn_empty().id());
        if world.get::<Gone>(id).is_some() {
            revive(world, id);
            self.back.push((of.entity, id));
        }
        self.name(world, id, of);
        id
    }

    /// Those that have come back since it was asked last, for who knows what they are to have.
    pub fn take_back(&mut self) -> Vec<(NetEntity, Entity)> {
        core::mem::take(&mut self.back)
    }

    /// `id` has this name from now on, and is this player's.
    pub fn name(&mut self, world: &mut World, id: Entity, of: Owned) {
        if world.get::<Networked>(id).is_none_or(|known| known.owned() != of) {
            world.entity_mut(id).insert(Networked::new(of));
        }
        match self.place(of.entity) {
            Ok(at) => self.entries[at].1 = id,
            Err(at) => self.entries.insert(at, (of.entity, id)),
        }
    }

    /// Takes from an entity what is saved, but for what it is about to be given.
    pub fn forget(&self, world: &mut World, id: Entity, given: &[ComponentId]) {
        let forgotten: Vec<_> = self.saved.iter().filter(|component| !given.contains(component)).copied().collect();
        world.entity_mut(id).remove_by_ids(&forgotten);
    }

    /// It is not in the state any more, nor what is below it and has no name. Where it is told whose child an entity is, it is in no list of
    /// children any more, and has none: that comes back with them.
    pub fn remove(&self, world: &mut World, id: Entity) {
        if world.get_entity(id).is_err() {
            return;
        }
        if self.tells_children {
            let named = named_below(world, id);
            named.into_iter().chain([id]).for_each(|id| _ = world.entity_mut(id).remove::<ChildOf>());
        }
        let gone = Gone { since: self.newest };
        with_unnamed_below(world, id).into_iter().for_each(|id| _ = world.entity_mut(id).insert(gone));
    }

    /// The same, and what is below it.
    pub fn remove_all(&self, world: &mut World, id: Entity) {
        let below = named_below(world, id);
        below.into_iter().chain([id]).for_each(|id| self.remove(world, id));
    }

    /// Despawns these, for good, and forgets who is not there any more.
    pub fn despawn(&mut self, world: &mut World, gone: &[Entity]) {
        for id in gone {
            // A child that is there goes on without it.
            for child in named_below(world, *id) {
                world.entity_mut(child).remove::<ChildOf>();
            }
            // Its parent may have taken it along.
            _ = world.try_despawn(*id);
        }
        self.entries.retain(|(_, id)| world.get_entity(*id).is_ok());
    }

    /// How many names are known.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Despawns whatever has a name, be it there or gone.
pub(crate) fn despawn_all(world: &mut World) {
    let mut named = world.query_filtered::<Entity, (With<Networked>, Allow<Gone>)>();
    for id in named.iter(world).collect::<Vec<_>>() {
        // Its parent may have taken it along.
        _ = world.try_despawn(id);
    }
}

/// It is there again, with what is below it and has no name.
pub(crate) fn revive(world: &mut World, id: Entity) {
    if world.get::<Gone>(id).is_some() {
        with_unnamed_below(world, id).into_iter().for_each(|id| _ = world.entity_mut(id).remove::<Gone>());
    }
}
