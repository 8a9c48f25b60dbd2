//! Columns: what is saved of one type, for all entities together, and how it gets into Bevy's world and out of it.
//!
//! Invariant: after [`pull`](Column::pull), [`load`](Column::load) and [`adopt`](Column::adopt) a column has what the world has.

use crate::NetEntity;
use crate::directory::Directory;
use crate::entity::Networked;
use bevy_ecs::change_detection::{DetectChanges, Ref, Tick as ChangeTick};
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::prelude::{Entity, With, World};
use bevy_ecs::query::{QueryFilter, QueryState};
use core::any::Any;
use foretell::world::{ROW_WORDS_MAX, SavedTable};
use foretell::{Rows, State, Table, WorldPart};

/// What is saved of a column.
pub(crate) type Saved = Box<dyn Any + Send + Sync>;

/// Where a column is not what was saved of it.
pub(crate) struct Difference {
    /// In words: component, field and entity.
    pub what: String,
    /// On which entity, where that is known.
    pub on: Option<Entity>,
}

/// All values of one type.
pub(crate) trait Column: Send + Sync {
    /// Its component; a resource is one as well.
    fn component(&self, world: &mut World) -> ComponentId;
    /// Takes in what has changed in the world after `since`.
    fn pull(&mut self, world: &mut World, since: ChangeTick);
    /// Room for what is saved.
    fn room(&self) -> Saved;
    /// Saves what was pulled; in the world nothing has changed since.
    fn save(&self, world: &World, into: &mut Saved);
    /// Goes back to what was saved, and writes into the world what differs from it. All entities are there that were then.
    fn load(&mut self, from: &Saved, world: &mut World, directory: &Directory);
    /// The first difference between what was pulled and what was saved; `None` where there is none.
    fn difference(&self, saved: &Saved, world: &World, directory: &Directory) -> Option<Difference>;
    /// As [`foretell::World::publish`].
    fn publish(&mut self, _rows: &mut Rows) {}
    /// As [`foretell::World::adopt`], but for what is removed; entities that come are made.
    fn adopt(&mut self, _rows: &Rows, _world: &mut World, _directory: &mut Directory) {}
    /// Takes what is removed from entities that are there still. What is gone keeps it until it is despawned, or comes back.
    fn take_removed(&self, _rows: &Rows, _world: &mut World, _directory: &Directory) {}
    /// Whether an entity has a value that is told.
    fn tells(&self, _name: NetEntity) -> bool {
        false
    }
}

/// Writes a value where it differs from the one that is there, so that nothing else counts as changed.
pub(crate) fn write<C>(world: &mut World, id: Entity, value: &C, same: impl Fn(&C, &C) -> bool)
where
    C: Component<Mutability = Mutable> + Clone,
{
    match world.get_mut::<C>(id) {
        Some(known) if same(&known, value) => {}
        Some(mut known) => *known = value.clone(),
        None => {
            if let Ok(mut entity) = world.get_entity_mut(id) {
                entity.insert(value.clone());
            }
        }
    }
}

/// Takes a component from what has it and is not to be `kept`, where there are not as many by the filter `F` as there should be.
pub(crate) fn remove_others<C: Component, F: QueryFilter>(
    world: &mut World,
    count: usize,
    kept: impl Fn(&World, Entity) -> bool,
) {
    let mut there = world.query_filtered::<Entity, F>();
    if there.iter(world).count() != count {
        let others: Vec<_> = there.iter(world).filter(|id| !kept(world, *id)).collect();
        others.into_iter().for_each(|id| _ = world.entity_mut(id).remove::<C>());
    }
}

/// Whether two states have the same bits: what travels and what is compared.
fn same_bits<C: State>(one: &C, other: &C) -> bool {
    (0..C::COMPONENTS).all(|nth| {
        let (mut a, mut b) = ([0; ROW_WORDS_MAX], [0; ROW_WORDS_MAX]);
        one.write(nth, &mut a) == other.write(nth, &mut b) && a == b
    })
}

/// The first field in which two states differ.
fn differing_field<C: State>(one: &C, other: &C) -> Option<String> {
    C::components().iter().enumerate().find_map(|(nth, component)| {
        let (mut a, mut b) = ([0; ROW_WORDS_MAX], [0; ROW_WORDS_MAX]);
        if one.write(nth, &mut a) != other.write(nth, &mut b) {
            return Some(component.name().to_owned());
        }
        let words = ..component.words();
        let mut fields = component.fields(&a[words]).zip(component.fields(&b[words]));
        let ((differing, _), _) = fields.find(|((_, one), (_, other))| one != other)?;
        Some(format!("{}.{}", component.name(), differing.name))
    })
}

/// What a column looks through.
type Told<C> = (Ref<'static, Networked>, Ref<'static, C>);

/// A component that is told to other players.
pub(crate) struct NetworkedColumn<C: Component> {
    table: Table<C>,
    told: QueryState<Told<C>>,
}

impl<C: Component> NetworkedColumn<C> {
    pub fn new(world: &mut World) -> NetworkedColumn<C> {
        NetworkedColumn { table: Table::new(), told: world.query() }
    }
}

impl<C> Column for NetworkedColumn<C>
where
    C: Component<Mutability = Mutable> + State + Clone + Send + Sync,
{
    fn component(&self, world: &mut World) -> ComponentId {
        world.register_component::<C>()
    }

    fn pull(&mut self, world: &mut World, since: ChangeTick) {
        let (now, mut count, mut rest) = (world.change_tick(), 0, Vec::new());
        let is_new = |changed: ChangeTick| changed.is_newer_than(since, now);
        // Mostly both are in the same order.
        let mut known = self.table.iter_mut().peekable();
        for (of, state) in self.told.iter(world) {
            count += 1;
            while known.next_if(|one| one.entity() < of.name()).is_some() {}
            let place = known.next_if(|one| one.entity() == of.name());
            if !is_new(state.last_changed()) && !is_new(of.last_changed()) {
                continue;
            }
            match place.filter(|one| one.owner() == of.owner()) {
                Some(mut one) => *one = C::clone(&state),
                None => rest.push((of.owned(), C::clone(&state))),
            }
        }
        drop(known);
        rest.into_iter().for_each(|(of, state)| self.table.insert(of, state));
        if self.table.len() != count {
            let mut there: Vec<_> = self.told.iter(world).map(|(of, _)| of.name()).collect();
            there.sort_unstable();
            self.table.retain(|one| there.binary_search(&one.entity()).is_ok());
        }
    }

    fn room(&self) -> Saved {
        Box::new(SavedTable::<C>::default())
    }

    fn save(&self, _: &World, into: &mut Saved) {
        if let Some(into) = into.downcast_mut() {
            self.table.save(into);
        }
    }

    fn load(&mut self, from: &Saved, world: &mut World, directory: &Directory) {
        let Some(from) = from.downcast_ref() else { return };
        self.table.load(from);
        for one in self.table.iter() {
            if let Some(id) = directory.find(one.entity()) {
                write(world, id, &*one, same_bits);
            }
        }
        let is_saved = |world: &World, id: Entity| {
            world.get::<Networked>(id).is_some_and(|of| self.table.get(of.name()).is_some())
        };
        remove_others::<C, (With<C>, With<Networked>)>(world, self.table.len(), is_saved);
    }

    fn difference(&self, saved: &Saved, _: &World, directory: &Directory) -> Option<Difference> {
        let mut then = Table::new();
        then.load(saved.downcast_ref::<SavedTable<C>>()?);
        let names = then.iter().chain(self.table.iter()).map(|one| one.entity());
        let mut differing = names.filter_map(|name| {
            let what = match (then.get(name), self.table.get(name)) {
                (Some(one), Some(other)) => format!("{} of {name:?}", differing_field(&*one, &*other)?),
                _ => format!("whether {name:?} has {}", core::any::type_name::<C>()),
            };
            Some(Difference { what, on: directory.find(name) })
        });
        differing.next()
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.table.publish(rows);
    }

    fn adopt(&mut self, rows: &Rows, world: &mut World, directory: &mut Directory) {
        self.table.adopt(rows);
        let removed = rows.removed().iter().map(|row| row.key.entity);
        for name in rows.with_any::<C>().chain(removed) {
            // The table has adopted them, and knows whose it is; what has no state of this type is not in it.
            if let Some(state) = self.table.get(name) {
                let id = directory.ensure(world, state.owned());
                write(world, id, &*state, same_bits);
            }
        }
    }

    fn take_removed(&self, rows: &Rows, world: &mut World, directory: &Directory) {
        for removed in rows.removed().iter().filter(|row| !self.tells(row.key.entity)) {
            if let Some(id) = directory.there(world, removed.key.entity) {
                world.entity_mut(id).remove::<C>();
            }
        }
    }

    fn tells(&self, name: NetEntity) -> bool {
        self.table.get(name).is_some()
    }
}
