//! `EntityMap`: values by entity, in the order of the entities' names.

use super::Entity;
use alloc::vec::Vec;

/// A map from entities to values, as two sorted lists: iteration goes through the entities in ascending order, on every
/// machine alike, and a lookup is a binary search. To insert or to remove moves what comes after.
///
/// Invariants: `entities` is ascending, each once; `values` is as long, and has their values in the same order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct EntityMap<T> {
    entities: Vec<Entity>,
    values: Vec<T>,
}

impl<T: Clone> Clone for EntityMap<T> {
    fn clone(&self) -> EntityMap<T> {
        EntityMap { entities: self.entities.clone(), values: self.values.clone() }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, from: &EntityMap<T>) {
        self.entities.clone_from(&from.entities);
        self.values.clone_from(&from.values);
    }
}

impl<T> EntityMap<T> {
    /// An empty map without memory.
    pub(crate) const fn new() -> EntityMap<T> {
        EntityMap { entities: Vec::new(), values: Vec::new() }
    }

    /// An empty map with memory for `count` entities.
    pub(crate) fn with_capacity(count: usize) -> EntityMap<T> {
        EntityMap { entities: Vec::with_capacity(count), values: Vec::with_capacity(count) }
    }

    /// How many entities there are.
    pub(crate) fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// The value of an entity; `None` where it has none.
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Option<&T> {
        // Many are mostly empty, and asked for each entity.
        if self.is_empty() { None } else { self.find(entity).ok().map(|at| &self.values[at]) }
    }

    /// The value of an entity, to be changed; `None` where it has none.
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        self.find(entity).ok().map(|at| &mut self.values[at])
    }

    /// The value of an entity, looked for at the index `next` first, which becomes the one after it: to look up many in
    /// ascending order costs a step each. Begin with 0.
    pub(crate) fn find_near(&self, entity: Entity, next: &mut usize) -> Option<&T> {
        self.find_from(entity, next).ok().map(|at| &self.values[at])
    }

    /// The same, to be changed.
    pub(crate) fn find_near_mut(&mut self, entity: Entity, next: &mut usize) -> Option<&mut T> {
        self.find_from(entity, next).ok().map(|at| &mut self.values[at])
    }

    /// Where an entity is in the order of the [entities](EntityMap::entities), looked for as [`find_near`](EntityMap::find_near) does.
    pub(crate) fn index_near(&self, entity: Entity, next: &mut usize) -> Option<usize> {
        self.find_from(entity, next).ok()
    }

    /// Gives an entity this value; the one that it had.
    pub(crate) fn insert(&mut self, entity: Entity, value: T) -> Option<T> {
        match self.find(entity) {
            Ok(at) => Some(core::mem::replace(&mut self.values[at], value)),
            Err(at) => {
                self.insert_at(at, entity, value);
                None
            }
        }
    }

    /// The value of an entity, which is `new` where it had none.
    pub(crate) fn get_or_insert_with(&mut self, entity: Entity, new: impl FnOnce() -> T) -> &mut T {
        let at = self.find(entity).unwrap_or_else(|at| self.insert_at(at, entity, new()));
        &mut self.values[at]
    }

    /// The same, looked for as [`find_near`](EntityMap::find_near) does.
    pub(crate) fn get_or_insert_near(&mut self, entity: Entity, next: &mut usize, new: impl FnOnce() -> T) -> &mut T {
        let at = self.find_from(entity, next).unwrap_or_else(|at| self.insert_at(at, entity, new()));
        *next = at + 1;
        &mut self.values[at]
    }

    /// Takes the value of an entity out; `None` where it has none.
    pub(crate) fn remove(&mut self, entity: Entity) -> Option<T> {
        let at = self.find(entity).ok()?;
        self.entities.remove(at);
        Some(self.values.remove(at))
    }

    /// Keeps those for which `keep` returns true; asks for each once, in ascending order.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Entity, &mut T) -> bool) {
        let mut kept = 0;
        for at in 0..self.entities.len() {
            if keep(self.entities[at], &mut self.values[at]) {
                self.entities.swap(kept, at);
                self.values.swap(kept, at);
                kept += 1;
            }
        }
        self.entities.truncate(kept);
        self.values.truncate(kept);
    }

    /// Removes all; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.entities.clear();
        self.values.clear();
    }

    /// Takes all out, in ascending order; keeps the memory.
    pub(crate) fn drain(&mut self) -> impl ExactSizeIterator<Item = (Entity, T)> {
        self.entities.drain(..).zip(self.values.drain(..))
    }

    /// All entities with their values, in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Entity, &T)> + ExactSizeIterator {
        self.entities.iter().copied().zip(&self.values)
    }

    /// All entities with their values, to be changed, in ascending order.
    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (Entity, &mut T)> + ExactSizeIterator {
        self.entities.iter().copied().zip(&mut self.values)
    }

    /// The entities, ascending.
    pub(crate) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The values, in the order of the [entities](EntityMap::entities).
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, to be changed, in the order of the [entities](EntityMap::entities).
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The index of an entity, or the one where it belongs.
    fn find(&self, entity: Entity) -> Result<usize, usize> {
        match self.entities.last() {
            // What is new has the greatest name.
            Some(last) if *last < entity => Err(self.entities.len()),
            _ => self.entities.binary_search(&entity),
        }
    }

    fn find_from(&self, entity: Entity, next: &mut usize) -> Result<usize, usize> {
        let found = if self.entities.get(*next) == Some(&entity) { Ok(*next) } else { self.find(entity) };
        *next = match found {
            Ok(at) => at + 1,
            Err(at) => at,
        };
        found
    }

    fn insert_at(&mut self, at: usize, entity: Entity, value: T) -> usize {
        self.entities.insert(at, entity);
        self.values.insert(at, value);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Tick;
    use crate::world::PlayerId;

    fn entity(counter: u16) -> Entity {
        Entity::new(PlayerId::new(1), Tick::ZERO, counter)
    }

    fn map(counters: impl IntoIterator<Item = u16>) -> EntityMap<u16> {
        let mut map = EntityMap::new();
        counters.into_iter().for_each(|counter| assert_eq!(map.insert(entity(counter), 10 * counter), None));
        map
    }

    fn listed(map: &EntityMap<u16>) -> Vec<(Entity, u16)> {
        map.iter().map(|(entity, value)| (entity, *value)).collect()
    }

    #[test]
    fn whatever_order_they_come_in_entities_are_ascending_and_keep_their_values() {
        let map = map([5, 1, 9, 3, 7]);
        let expected: Vec<_> = [1, 3, 5, 7, 9].map(|counter| (entity(counter), 10 * counter)).into();
        assert_eq!(listed(&map), expected);
        assert_eq!(map.entities(), [1, 3, 5, 7, 9].map(entity));
        assert_eq!(map.values(), [10, 30, 50, 70, 90]);
        assert_eq!(
            [0, 3, 4, 9, 10].map(|counter| map.get(entity(counter)).copied()),
            [None, Some(30), None, Some(90), None]
        );
    }

    #[test]
    fn a_second_value_replaces_the_first_and_a_removed_one_is_gone() {
        let mut map = map([1, 2]);
        assert_eq!(map.insert(entity(1), 7), Some(10));
        assert_eq!(*map.get_or_insert_with(entity(1), || 99), 7);
        assert_eq!(*map.get_or_insert_with(entity(0), || 99), 99);
        assert_eq!([map.remove(entity(2)), map.remove(entity(2))], [Some(20), None]);
        assert_eq!(listed(&map), [(entity(0), 99), (entity(1), 7)]);
        assert!(map.get(entity(0)).is_some() && map.get(entity(2)).is_none());
    }

    #[test]
    fn what_is_retained_stays_in_order_and_each_is_asked_for_once() {
        let mut map = map(0..10);
        let mut asked = Vec::new();
        map.retain(|entity, value| {
            asked.push(entity);
            *value += 1;
            ![1, 11, 21, 61].contains(value)
        });
        assert_eq!(asked, (0..10).map(entity).collect::<Vec<_>>());
        let expected: Vec<_> = [3, 4, 5, 7, 8, 9].map(|counter| (entity(counter), 10 * counter + 1)).into();
        assert_eq!(listed(&map), expected);
    }

    #[test]
    fn a_lookup_near_a_guess_finds_what_a_search_finds_wherever_the_guess_stands() {
        let map = map([2, 4, 6, 8]);
        for guess in 0..7 {
            for counter in 0..10 {
                let mut next = guess;
                assert_eq!(map.find_near(entity(counter), &mut next), map.get(entity(counter)));
                let after = map.entities().partition_point(|known| *known <= entity(counter));
                assert_eq!(next, after, "{counter} from {guess}");
            }
        }
    }

    #[test]
    fn what_is_inserted_near_a_guess_is_where_it_belongs_and_the_guess_goes_on_after_it() {
        let mut map = map([2, 4]);
        let mut next = 0;
        for counter in 0..6 {
            assert_eq!(*map.get_or_insert_near(entity(counter), &mut next, || 10 * counter), 10 * counter);
            assert_eq!(next, usize::from(counter) + 1);
        }
        assert_eq!(map.entities(), [0, 1, 2, 3, 4, 5].map(entity));
    }

    #[test]
    fn a_map_that_is_copied_into_or_emptied_keeps_its_memory() {
        let (few, mut many) = (map([1]), map(0..100));
        let room = many.values.capacity();
        many.clone_from(&few);
        assert_eq!((listed(&many), many.values.capacity()), (listed(&few), room));
        assert_eq!(many.drain().collect::<Vec<_>>(), listed(&few));
        assert_eq!((many.len(), many.is_empty(), many.values.capacity()), (0, true, room));
    }
}
