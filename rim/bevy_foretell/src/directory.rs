//! Which entity of Bevy's has which name, and which of them are there.
//!
//! Invariants: `entries` ascend by name, each once; an entity that is not there has [`Gone`].

use crate::NetEntity;
use crate::entity::{Gone, Networked};
use bevy_ecs::hierarchy::Children;
use bevy_ecs::prelude::{Entity, Resource, World};
use bevy_ecs::query::Allow;
use foretell::{Owned, Tick};

/// The entities with a name, those that are gone among them.
#[derive(Resource, Default)]
pub(crate) struct Directory {
    entries: Vec<(NetEntity, Entity)>,
    /// The newest tick that was simulated.
    pub newest: Tick,
}

impl Directory {
    /// The entity of this name, whether it is there or gone.
    pub fn find(&self, name: NetEntity) -> Option<Entity> {
        self.place(name).ok().map(|at| self.entries[at].1)
    }

    fn place(&self, name: NetEntity) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&name, |(known, _)| *known)
    }

    fn set(&mut self, name: NetEntity, id: Entity) {
        match self.place(name) {
            Ok(at) => self.entries[at].1 = id,
            Err(at) => self.entries.insert(at, (name, id)),
        }
    }

    /// The entity of this name is there, and this player's: the same one as ever, or a new one.
    pub fn ensure(&mut self, world: &mut World, of: Owned) -> Entity {
        let known = self.find(of.entity).filter(|id| world.get_entity(*id).is_ok());
        let Some(id) = known else {
            let id = world.spawn(Networked::new(of)).id();
            self.set(of.entity, id);
            return id;
        };
        revive(world, id);
        self.name(world, id, of);
        id
    }

    /// `id` has this name from now on, and is this player's.
    pub fn name(&mut self, world: &mut World, id: Entity, of: Owned) {
        if world.get::<Networked>(id).is_none_or(|known| known.owned() != of) {
            world.entity_mut(id).insert(Networked::new(of));
        }
        self.set(of.entity, id);
    }

    /// It is not in the state any more.
    pub fn remove(&self, world: &mut World, id: Entity) {
        if let Ok(mut entity) = world.get_entity_mut(id) {
            entity.insert_recursive::<Children>(Gone { since: self.newest });
        }
    }

    /// Despawns these, for good, and forgets who is not there any more.
    pub fn despawn(&mut self, world: &mut World, gone: &[Entity]) {
        gone.iter().for_each(|id| _ = world.despawn(*id));
        self.entries.retain(|(_, id)| world.get_entity(*id).is_ok());
    }

    /// How many names are known.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Despawns all of them, and forgets their names.
    pub fn clear(&mut self, world: &mut World) {
        let mut all = world.query_filtered::<Entity, (bevy_ecs::query::With<Networked>, Allow<Gone>)>();
        for id in all.iter(world).collect::<Vec<_>>() {
            world.despawn(id);
        }
        *self = Directory::default();
    }
}

/// It is there again, with its children.
pub(crate) fn revive(world: &mut World, id: Entity) {
    if world.get::<Gone>(id).is_some() {
        world.entity_mut(id).remove_recursive::<Children, Gone>();
    }
}
