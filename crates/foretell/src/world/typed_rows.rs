//! Rows by their type of state: what a world needs that publishes and adopts by hand.

use super::{ComponentId, Entity, Owned, RowKey, Rows, State};

impl Rows {
    /// How many entities have a state of this type.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn count<S: State>(&self) -> usize {
        let first = self.first_of::<S>();
        let last = if S::IS_CHOICE { first + S::COMPONENTS } else { first + 1 };
        (first..last).map(|component| self.component(ComponentId::nth(component)).len()).sum()
    }

    /// Whether exactly `count` entities have a state of this type, of which the first component is known, and each all of its components.
    pub(super) fn has_count<S: State>(&self, first: usize, count: usize) -> bool {
        let mut counts = (first..first + S::COMPONENTS).map(|nth| self.component(ComponentId::nth(nth)).len());
        if S::IS_CHOICE { counts.sum::<usize>() == count } else { counts.all(|of_one| of_one == count) }
    }

    /// Every entity that has a row of this type of state, be it not the one that makes it one: a world that adopts it has the others
    /// already. Ascending by component and then by entity, which stands there once for each of its rows.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn with_any<S: State>(&self) -> impl Iterator<Item = Entity> {
        let first = self.first_of::<S>();
        let rows = (first..first + S::COMPONENTS).flat_map(|component| self.component(ComponentId::nth(component)));
        rows.map(|row| row.entity)
    }

    /// Removes the rows of an entity's state of this type, as [`remove`](Rows::remove) does; what it has of other types stays.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn unset<S: State>(&mut self, entity: Entity) {
        let first = self.first_of::<S>();
        (first..first + S::COMPONENTS).for_each(|at| self.remove(RowKey { component: ComponentId::nth(at), entity }));
    }

    /// The entities that have lost their state of this type: a row of it is among the [`removed`](Rows::removed), and there is
    /// none in its place, nor one of another variant.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn lost<S: State>(&self) -> impl Iterator<Item = Owned> {
        // A struct is one by its first component, an enum by any.
        let first = self.first_of::<S>();
        let needed = first..first + if S::IS_CHOICE { S::COMPONENTS } else { 1 };
        let is_needed = {
            let needed = needed.clone();
            move |component: ComponentId| needed.contains(&usize::from(component.0))
        };
        let is_there = move |entity| {
            let mut keys = needed.clone().map(|at| RowKey { component: ComponentId::nth(at), entity });
            keys.any(|key| self.words(key).is_some())
        };
        let removed = self.removed().iter().filter(move |row| is_needed(row.key.component));
        removed.filter(move |row| !is_there(row.key.entity)).map(|row| row.owned())
    }
}

/// The state of which these are the components that are there, each with its number, in order; `None` without any, or without the
/// first where that is needed.
pub(crate) fn read_state<S: State, W: AsRef<[u32]>>(components: impl IntoIterator<Item = (usize, W)>) -> Option<S> {
    let mut components = components.into_iter();
    let (nth, words) = components.next()?;
    let mut state = S::read(nth, words.as_ref())?;
    components.for_each(|(nth, words)| state.adopt(nth, words.as_ref()));
    Some(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{PlayerId, Schema};
    use crate::{State, Tick};

    #[derive(State, Clone, Copy, PartialEq, Debug)]
    enum Door {
        Open { angle: f32 },
        Shut,
    }

    #[derive(State, Clone, Copy, PartialEq, Debug)]
    struct Lock {
        is_locked: bool,
        #[state(audience = owner)]
        code: u32,
    }

    #[test]
    fn an_entity_has_lost_a_state_when_no_row_makes_it_one_any_more() {
        let mut rows = Rows::new(&Schema::of::<Door>().with::<Lock>());
        let [one, other] = [0, 1].map(|nth| {
            let owner = PlayerId::new(1);
            Owned { entity: Entity::new(owner, Tick::ZERO, nth), owner }
        });
        for of in [one, other] {
            rows.set(of, &Door::Open { angle: 1.0 });
            rows.set(of, &Lock { is_locked: true, code: 7 });
        }
        rows.settle();
        rows.set(one, &Door::Shut);
        assert_eq!((rows.lost::<Door>().count(), rows.count::<Door>(), rows.removed().len()), (0, 2, 1));
        assert!(rows.states::<Door>().eq([(other, Door::Open { angle: 1.0 }), (one, Door::Shut)]));
        rows.unset::<Door>(one.entity);
        assert!(rows.lost::<Door>().all(|lost| lost == one) && rows.lost::<Door>().count() > 0);
        assert_eq!((rows.count::<Door>(), rows.count::<Lock>(), rows.lost::<Lock>().count()), (1, 2, 0));
        rows.unset::<Lock>(other.entity);
        assert!(rows.lost::<Lock>().eq([other]));
    }

    #[test]
    fn an_entity_of_which_another_row_than_the_first_is_told_is_named_too() {
        let mut rows = Rows::new(&Schema::of::<Lock>());
        let owner = PlayerId::new(1);
        let [one, other] = [0, 1].map(|nth| Owned { entity: Entity::new(owner, Tick::ZERO, nth), owner });
        rows.set(one, &Lock { is_locked: true, code: 7 });
        rows.set(other, &Lock { is_locked: true, code: 8 });
        rows.remove(RowKey { component: ComponentId::nth(0), entity: one.entity });
        assert!(rows.states::<Lock>().map(|(of, _)| of).eq([other]));
        assert!(rows.with_any::<Lock>().eq([other.entity, one.entity, other.entity]));
    }
}
