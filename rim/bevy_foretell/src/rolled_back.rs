//! Columns of what is rolled back and never told: components, and resources, each of which is a component of an entity of its own.

use crate::column::{Column, Difference, Saved, remove_others, write};
use crate::directory::Directory;
use bevy_ecs::change_detection::Tick as ChangeTick;
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::prelude::{Entity, With, World};
use bevy_ecs::query::QueryState;
use bevy_ecs::resource::IsResource;

/// A component that is rolled back. What the world has is what it has itself: values are saved from there.
pub(crate) struct RolledBackColumn<C: Component>(QueryState<(Entity, &'static C)>);

impl<C: Component> RolledBackColumn<C> {
    pub fn new(world: &mut World) -> RolledBackColumn<C> {
        RolledBackColumn(world.query())
    }
}

/// What is saved, in the order of a query, which means nothing.
type Values<C> = Vec<(Entity, C)>;

impl<C> Column for RolledBackColumn<C>
where
    C: Component<Mutability = Mutable> + Clone + PartialEq,
{
    fn component(&self, world: &mut World) -> ComponentId {
        world.register_component::<C>()
    }

    fn pull(&mut self, world: &mut World, _: ChangeTick) {
        self.0.update_archetypes(world);
    }

    fn room(&self) -> Saved {
        Box::new(Values::<C>::new())
    }

    fn save(&self, world: &World, into: &mut Saved) {
        let Some(into) = into.downcast_mut::<Values<C>>() else { return };
        let mut count = 0;
        for (id, value) in self.0.iter_manual(world) {
            match into.get_mut(count) {
                // Its memory is used again.
                Some((known, into)) => {
                    *known = id;
                    into.clone_from(value);
                }
                None => into.push((id, value.clone())),
            }
            count += 1;
        }
        into.truncate(count);
    }

    fn difference(&self, saved: &Saved, world: &World, _: &Directory) -> Option<Difference> {
        let then = saved.downcast_ref::<Values<C>>()?;
        let now = self.0.query_manual(world);
        let is_same = |(id, value): &(Entity, C)| now.get(*id).is_ok_and(|(_, now)| now == value);
        let is_new = |(id, _): &(Entity, &C)| !then.iter().any(|(known, _)| known == id);
        let differing = then.iter().find(|one| !is_same(one)).map(|(id, _)| *id);
        let id = differing.or_else(|| Some(now.iter().find(is_new)?.0))?;
        let name = core::any::type_name::<C>();
        let what = if world.get::<IsResource>(id).is_some() { name.to_owned() } else { format!("{name} of {id}") };
        Some(Difference { what, on: Some(id) })
    }

    fn load(&mut self, from: &Saved, world: &mut World, _: &Directory) {
        let Some(from) = from.downcast_ref::<Values<C>>() else { return };
        for (id, value) in from {
            write(world, *id, value, C::eq);
        }
        let mut known: Vec<_> = from.iter().map(|(id, _)| *id).collect();
        known.sort_unstable();
        remove_others::<C, With<C>>(world, known.len(), |_, id| known.binary_search(&id).is_ok());
        self.0.update_archetypes(world);
    }
}
