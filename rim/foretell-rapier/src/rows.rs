//! Rows out of bodies, and bodies out of rows.

use crate::blueprint::Made;
use crate::physics::Changed;
use crate::{Blueprint, Body, Physics};
use foretell::{Entity, Owned, PlayerId, Rows};

impl Physics {
    /// Names the bodies that may have changed since the last step: those that are awake or have just fallen asleep, those
    /// that the game has had in its hands, and those that rows have changed. `state` puts the game's own columns beside a
    /// body.
    ///
    /// An entity of which only the game's own columns have changed the game names itself, after this; and one that goes on
    /// without a body.
    pub fn publish<S: Blueprint>(&self, rows: &mut Rows, mut state: impl FnMut(Owned, Body) -> S) {
        for (entity, _) in self.gone.iter().filter(|(entity, _)| !self.contains(*entity)) {
            let goes_on = rows.state::<S>(*entity).is_some_and(|state| state.body().is_none());
            if !goes_on {
                rows.unset::<S>(*entity);
            }
        }
        // The first time there are no rows yet.
        let all = rows.count::<S>() < self.slots.len();
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| all || slot.changed != Changed::No) {
            rows.set(slot.owned(), &state(slot.owned(), self.state_at(at)));
        }
    }

    /// The states of the bodies that may have changed, as [`publish`](Physics::publish) names them; ascending by entity.
    pub fn changed(&self) -> impl Iterator<Item = (Entity, Body)> {
        let changed = self.slots.iter().enumerate().filter(|(_, slot)| slot.changed != Changed::No);
        changed.map(|(at, slot)| (slot.entity, self.state_at(at)))
    }

    /// Takes over the bodies that rows name, and whose they are. One that has all bits of its row already is not touched, so that
    /// it sleeps on and its contacts stay warm; one that there is not yet is made by its plan, and one of another
    /// [design](Blueprint::design) or variant is made anew; those that are removed go.
    pub fn adopt<S: Blueprint>(&mut self, rows: &Rows) {
        for lost in rows.lost::<S>() {
            self.take_out(lost.entity);
        }
        // What wakes by this is put to sleep again below, where its row says so.
        let mut next = 0;
        for (of, state) in rows.states::<S>() {
            let Ok(at) = self.find_next(&mut next, of.entity) else { continue };
            if state.body().is_none() {
                self.take_out(of.entity);
            } else if self.redesign(of.entity, &state) {
                self.rapier.place_colliders(self.slots[at].handle, &self.parameters);
            }
        }
        let mut next = 0;
        for (of, state) in rows.states::<S>() {
            let Some(body) = state.body() else { continue };
            match self.find_next(&mut next, of.entity) {
                Ok(at) => self.adopt_body(at, of.owner, &body),
                Err(_) => Made::of(of.entity, &state).into_iter().for_each(|made| self.put_in(of, made, true)),
            }
        }
    }

    fn adopt_body(&mut self, at: usize, owner: PlayerId, body: &Body) {
        if self.slots[at].owner != owner {
            (self.slots[at].owner, self.slots[at].changed) = (owner, Changed::Outside);
        }
        if self.state_at(at).same_bits(body) {
            return;
        }
        self.slots[at].changed = Changed::Outside;
        match &mut self.slots[at].proxy {
            // It is put there when the next tick is prepared.
            Some(proxy) => *proxy = *body,
            None => self.put(at, body),
        }
    }

    /// Where an entity's body is: mostly at `next`, as rows of one component and bodies both ascend; from there on the next is looked for.
    fn find_next(&self, next: &mut usize, entity: Entity) -> Result<usize, usize> {
        let is_next = self.slots.get(*next).is_some_and(|slot| slot.entity == entity);
        let found = if is_next { Ok(*next) } else { self.find(entity) };
        let (Ok(at) | Err(at)) = found;
        *next = at + 1;
        found
    }
}
