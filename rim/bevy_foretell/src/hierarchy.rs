//! Who is whose child, told to other players: `ChildOf` between entities with names.
//!
//! What travels, is saved and goes back is [`Parent`], by name. It follows `ChildOf` before a step is taken in, and `ChildOf` follows it
//! when a state was written.

use crate::NetEntity;
use crate::directory::Directory;
use crate::entity::{Gone, Networked};
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::prelude::{Component, Entity, With, Without, World};
use bevy_ecs::query::QueryState;
use foretell::State;

/// Whose child an entity is.
#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
pub(crate) struct Parent {
    of: NetEntity,
}

/// Each with whose child it is, by Bevy and by what is told.
type Child = (Entity, &'static ChildOf, Option<&'static Parent>);
/// What has a name, is told to be a child, and is none.
type Orphan = (With<Networked>, Without<ChildOf>);

/// What is looked through for children, where they are told.
pub(crate) struct Hierarchy {
    children: QueryState<Child, With<Networked>>,
    orphans: QueryState<(Entity, &'static Parent), Orphan>,
}

impl Hierarchy {
    pub fn new(world: &mut World) -> Hierarchy {
        Hierarchy { children: world.query_filtered(), orphans: world.query_filtered() }
    }

    /// What systems have made of `ChildOf` is told from now on.
    pub fn take_in(&mut self, world: &mut World, directory: &Directory) {
        let mut changed = Vec::new();
        for (id, child_of, known) in self.children.iter(world) {
            let parent = world.get::<Networked>(child_of.parent()).map(|parent| Parent { of: parent.name() });
            if parent.as_ref() != known {
                changed.push((id, parent));
            }
        }
        // Whose parent is not there has it still; else a system has taken it away.
        let is_free = |parent: &Parent| directory.there(world, parent.of).is_some();
        let orphans = self.orphans.iter(world).filter(|(_, parent)| is_free(parent));
        changed.extend(orphans.map(|(id, _)| (id, None)));
        for (id, parent) in changed {
            let mut entity = world.entity_mut(id);
            _ = match parent {
                Some(parent) => entity.insert(parent),
                None => entity.remove::<Parent>(),
            };
        }
    }

    /// `ChildOf` is as a state says that was written. An entity that has no name may have a child that has one: that stays.
    pub fn put(&mut self, world: &mut World, directory: &Directory) {
        let mut changed = Vec::new();
        for (id, child_of, known) in self.children.iter(world) {
            let parent = known.and_then(|parent| directory.there(world, parent.of));
            let is_told = world.get::<Networked>(child_of.parent()).is_some();
            if parent != Some(child_of.parent()) && (is_told || parent.is_some()) {
                changed.push((id, parent));
            }
        }
        let orphans = self.orphans.iter(world).map(|(id, parent)| (id, directory.there(world, parent.of)));
        changed.extend(orphans.filter(|(_, parent)| parent.is_some()));
        for (id, parent) in changed {
            let mut entity = world.entity_mut(id);
            _ = match parent {
                Some(parent) => entity.insert(ChildOf(parent)),
                None => entity.remove::<ChildOf>(),
            };
        }
    }
}

/// An entity, and what is below it and has no name of its own.
pub(crate) fn with_unnamed_below(world: &World, id: Entity) -> Vec<Entity> {
    let mut all = vec![id];
    let mut next = 0;
    while let Some(id) = all.get(next) {
        let children = world.get::<Children>(*id).into_iter().flatten();
        let unnamed: Vec<_> = children.copied().filter(|child| world.get::<Networked>(*child).is_none()).collect();
        all.extend(unnamed);
        next += 1;
    }
    all
}

/// The entities with a name below this one, and it.
pub(crate) fn named_from(world: &World, id: Entity) -> Vec<Entity> {
    let mut all = vec![id];
    let mut next = 0;
    while let Some(id) = all.get(next) {
        all.extend(world.get::<Children>(*id).into_iter().flatten().copied().collect::<Vec<_>>());
        next += 1;
    }
    all.retain(|one| *one == id || world.get::<Networked>(*one).is_some() && world.get::<Gone>(*one).is_none());
    all
}
