//! Who is whose child, told to other players: `ChildOf` between entities with names.
//!
//! What travels, is saved and goes back is [`Parent`], by name. It follows `ChildOf` before a step is taken in, and `ChildOf` follows it
//! when a state was written.

use crate::NetEntity;
use crate::directory::Directory;
use crate::entity::{Networked, set};
use crate::tree::is_below;
use bevy_ecs::change_detection::{DetectChanges, Ref, Tick as ChangeTick};
use bevy_ecs::hierarchy::ChildOf;
use bevy_ecs::prelude::{Component, Entity, With, Without, World};
use bevy_ecs::query::QueryState;
use foretell::State;

/// Whose child an entity is.
#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
pub(crate) struct Parent {
    #[state(parent)]
    of: NetEntity,
}

/// Each with whose child it is, by Bevy and by what is told.
type Child = (Entity, Ref<'static, ChildOf>, Option<Ref<'static, Parent>>);
/// What has a name, is told to be a child, and is none.
type Orphan = (With<Networked>, Without<ChildOf>);

/// What is looked through for children, where they are told.
pub(crate) struct Hierarchy {
    children: QueryState<Child, With<Networked>>,
    orphans: QueryState<(Entity, &'static Parent), Orphan>,
    /// What has not changed after this is as it was put.
    put: ChangeTick,
}

impl Hierarchy {
    pub fn new(world: &mut World) -> Hierarchy {
        Hierarchy { children: world.query_filtered(), orphans: world.query_filtered(), put: ChangeTick::new(0) }
    }

    /// What systems have made of `ChildOf` after `since` is told from now on.
    pub fn take_in(&mut self, world: &mut World, directory: &Directory, since: ChangeTick) {
        let (now, mut changed) = (world.change_tick(), Vec::new());
        for (id, child_of, known) in self.children.iter(world) {
            if known.is_some() && !child_of.last_changed().is_newer_than(since, now) {
                continue;
            }
            let parent = world.get::<Networked>(child_of.parent()).map(|parent| Parent { of: parent.name() });
            if parent.as_ref() != known.as_deref() {
                changed.push((id, parent));
            }
        }
        // Whose parent is not there has it still; else a system has taken it away.
        let is_free = |id: Entity, parent: &Parent| {
            directory.there(world, parent.of).is_some_and(|parent| !is_below(world, parent, id))
        };
        let orphans = self.orphans.iter(world).filter(|(id, parent)| is_free(*id, parent));
        changed.extend(orphans.map(|(id, _)| (id, None)));
        changed.into_iter().for_each(|(id, parent)| set(world, id, parent));
    }

    /// `ChildOf` is as a state says that was written. An entity that has no name may have a child that has one: that stays.
    pub fn put(&mut self, world: &mut World, directory: &Directory) {
        let (now, since) = (world.change_tick(), self.put);
        let is_new = |changed: ChangeTick| changed.is_newer_than(since, now);
        let (mut freed, mut given) = (Vec::new(), Vec::new());
        for (id, child_of, known) in self.children.iter(world) {
            let is_put = known.as_ref().is_some_and(|known| !is_new(known.last_changed()));
            if is_put && !is_new(child_of.last_changed()) {
                continue;
            }
            let parent = known.and_then(|parent| directory.there(world, parent.of));
            let is_told = world.get::<Networked>(child_of.parent()).is_some();
            if parent != Some(child_of.parent()) && (is_told || parent.is_some()) {
                freed.push(id);
                given.extend(parent.map(|parent| (id, parent)));
            }
        }
        let orphans = self.orphans.iter(world);
        given.extend(orphans.filter_map(|(id, parent)| Some((id, directory.there(world, parent.of)?))));
        for id in freed {
            world.entity_mut(id).remove::<ChildOf>();
        }
        for (id, parent) in given {
            // Rows come one by one: until they agree, an entity may be told to be its own child's.
            if !is_below(world, parent, id) {
                world.entity_mut(id).insert(ChildOf(parent));
            }
        }
        self.put = world.increment_change_tick();
    }
}
