//! Columns of what is rolled back and never told: components, and resources.

use crate::column::{Column, Difference, Saved, write};
use crate::directory::Directory;
use bevy_ecs::change_detection::Tick as ChangeTick;
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::prelude::{Entity, Resource, With, World};
use bevy_ecs::query::QueryState;
use core::marker::PhantomData;

/// A component that is rolled back. In the order of a query, which means nothing.
pub(crate) struct RolledBackColumn<C: Component>(Vec<(Entity, C)>, Option<QueryState<(Entity, &'static C)>>);

impl<C: Component> Default for RolledBackColumn<C> {
    fn default() -> RolledBackColumn<C> {
        RolledBackColumn(Vec::new(), None)
    }
}

impl<C> Column for RolledBackColumn<C>
where
    C: Component<Mutability = Mutable> + Clone + PartialEq,
{
    fn component(&self, world: &mut World) -> ComponentId {
        world.register_component::<C>()
    }

    fn pull(&mut self, world: &mut World, _: ChangeTick) {
        self.0.clear();
        let query = self.1.get_or_insert_with(|| world.query());
        self.0.extend(query.iter(world).map(|(id, value)| (id, value.clone())));
    }

    fn room(&self) -> Saved {
        Box::new(Vec::<(Entity, C)>::new())
    }

    fn save(&self, _: &World, into: &mut Saved) {
        if let Some(into) = into.downcast_mut::<Vec<(Entity, C)>>() {
            into.clone_from(&self.0);
        }
    }

    fn difference(&self, saved: &Saved, _: &World, _: &Directory) -> Option<Difference> {
        let then = saved.downcast_ref::<Vec<(Entity, C)>>()?;
        let is_in = |(id, value): &(Entity, C), list: &[(Entity, C)]| {
            list.iter().any(|(other, known)| other == id && known == value)
        };
        let lost = then.iter().find(|one| !is_in(one, &self.0));
        let (id, _) = lost.or_else(|| self.0.iter().find(|one| !is_in(one, then)))?;
        Some(Difference { what: format!("{} of {id}", core::any::type_name::<C>()), on: Some(*id) })
    }

    fn load(&mut self, from: &Saved, world: &mut World, _: &Directory) {
        let Some(from) = from.downcast_ref::<Vec<(Entity, C)>>() else { return };
        self.0.clone_from(from);
        for (id, value) in from {
            write(world, *id, value, C::eq);
        }
        let mut there = world.query_filtered::<Entity, With<C>>();
        if there.iter(world).count() != from.len() {
            let mut known: Vec<_> = from.iter().map(|(id, _)| *id).collect();
            known.sort_unstable();
            let extra: Vec<_> = there.iter(world).filter(|id| known.binary_search(id).is_err()).collect();
            for id in extra {
                world.entity_mut(id).remove::<C>();
            }
        }
    }
}

/// A resource that is rolled back.
pub(crate) struct ResourceColumn<R>(PhantomData<R>);

impl<R> Default for ResourceColumn<R> {
    fn default() -> ResourceColumn<R> {
        ResourceColumn(PhantomData)
    }
}

impl<R: Resource<Mutability = Mutable> + Clone + PartialEq> Column for ResourceColumn<R> {
    fn component(&self, world: &mut World) -> ComponentId {
        world.register_component::<R>()
    }

    fn pull(&mut self, _: &mut World, _: ChangeTick) {}

    fn room(&self) -> Saved {
        Box::new(None::<R>)
    }

    fn save(&self, world: &World, into: &mut Saved) {
        match (into.downcast_mut::<Option<R>>(), world.get_resource::<R>()) {
            (Some(Some(into)), Some(value)) => into.clone_from(value),
            (Some(into), value) => *into = value.cloned(),
            (None, _) => {}
        }
    }

    fn difference(&self, saved: &Saved, world: &World, _: &Directory) -> Option<Difference> {
        let then = saved.downcast_ref::<Option<R>>()?;
        let is_same = then.as_ref() == world.get_resource::<R>();
        (!is_same).then(|| Difference { what: core::any::type_name::<R>().to_owned(), on: None })
    }

    fn load(&mut self, from: &Saved, world: &mut World, _: &Directory) {
        let Some(from) = from.downcast_ref::<Option<R>>() else { return };
        match (from, world.get_resource_mut::<R>()) {
            (Some(value), Some(known)) if *known == *value => {}
            (Some(value), Some(mut known)) => known.clone_from(value),
            (Some(value), None) => world.insert_resource(value.clone()),
            (None, Some(_)) => _ = world.remove_resource::<R>(),
            (None, None) => {}
        }
    }
}
