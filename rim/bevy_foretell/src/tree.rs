//! Who is below whom in Bevy's hierarchy, whether it has a name or not.

use crate::entity::{Gone, Networked};
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::prelude::{Entity, World};

/// How deep entities are below each other at most.
const DEPTH_MAX: usize = 1_000;

/// Whether an entity is another, or below it.
pub(crate) fn is_below(world: &World, id: Entity, other: Entity) -> bool {
    let parents = core::iter::successors(Some(id), |id| world.get::<ChildOf>(*id).map(ChildOf::parent));
    parents.take(DEPTH_MAX).any(|one| one == other)
}

/// An entity, and what is below it and has no name of its own.
pub(crate) fn with_unnamed_below(world: &World, id: Entity) -> Vec<Entity> {
    walk(world, id, |child| world.get::<Networked>(child).is_none())
}

/// The entities that are there, have a name and are below this one.
pub(crate) fn named_below(world: &World, id: Entity) -> Vec<Entity> {
    let is_named = |id: &Entity| world.get::<Networked>(*id).is_some() && world.get::<Gone>(*id).is_none();
    walk(world, id, |_| true).into_iter().skip(1).filter(is_named).collect()
}

/// An entity and what is below it, each before its children; those that are not `followed` are left out with what is below them.
fn walk(world: &World, id: Entity, followed: impl Fn(Entity) -> bool) -> Vec<Entity> {
    let mut all = vec![id];
    let mut next = 0;
    while let Some(id) = all.get(next).copied() {
        let children = world.get::<Children>(id).into_iter().flatten().copied();
        all.extend(children.filter(|child| followed(*child)));
        next += 1;
    }
    all
}
