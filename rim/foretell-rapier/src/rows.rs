//! Rows out of bodies, and bodies out of rows.

use crate::physics::{Changed, Rapier};
use crate::{Blueprint, Body, Physics};
use foretell::{Entity, Rows, State};
use rapier3d::dynamics::{IntegrationParameters, RigidBodyHandle};

impl Physics {
    /// Names the bodies that may have changed since the last step: those that are awake or have just fallen asleep, those
    /// that the game has had in its hands, and those that rows have changed. `state` puts the game's own columns beside a
    /// body.
    ///
    /// An entity of which only the game's own columns have changed the game names itself.
    pub fn publish<S: State>(&self, rows: &mut Rows, mut state: impl FnMut(Entity, Body) -> S) {
        for (entity, _) in self.gone.iter().filter(|(entity, _)| !self.contains(*entity)) {
            rows.remove(*entity);
        }
        // The first time there are no rows yet.
        let all = rows.len() < self.slots.len();
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| all || slot.changed != Changed::No) {
            rows.set(slot.entity, &state(slot.entity, self.state_at(at)));
        }
    }

    /// Takes over the bodies that rows name. One that has all bits of its row already is not touched, so that it sleeps on
    /// and its contacts stay warm; one that there is not yet is made by its plan, and one of another
    /// [design](Blueprint::design) is made anew; those that are removed go.
    pub fn adopt<S: Blueprint>(&mut self, rows: &Rows) {
        for entity in rows.removed().iter().filter(|entity| rows.words(**entity).is_none()) {
            self.take_out(*entity);
        }
        // What wakes by this is put to sleep again below, where its row says so.
        let mut next = 0;
        for (entity, state) in rows.states::<S>().filter(|(_, state)| state.body().is_some()) {
            if self.find_next(&mut next, entity).is_ok_and(|at| self.slots[at].design != state.design()) {
                self.redesign(entity, &state);
            }
        }
        let mut next = 0;
        for (entity, state) in rows.states::<S>() {
            let Some(body) = state.body() else { continue };
            let Ok(at) = self.find_next(&mut next, entity) else {
                self.insert(entity, (body, state.design()), state.plan(entity), true);
                continue;
            };
            if self.state_at(at).same_bits(&body) {
                continue;
            }
            self.slots[at].changed = Changed::Outside;
            match &mut self.slots[at].proxy {
                // It is put there when the next tick is prepared.
                Some(proxy) => *proxy = body,
                None => self.put(at, &body),
            }
        }
    }

    /// Where an entity's body is: mostly at `next`, as rows and bodies both ascend; from there on the next is looked for.
    fn find_next(&self, next: &mut usize, entity: Entity) -> Result<usize, usize> {
        let is_next = self.slots.get(*next).is_some_and(|slot| slot.entity == entity);
        let found = if is_next { Ok(*next) } else { self.find(entity) };
        let (Ok(at) | Err(at)) = found;
        *next = at + 1;
        found
    }
}

impl Rapier {
    /// Brings the colliders of a body that was put somewhere with it, for queries before the next step.
    pub fn place_colliders(&mut self, body: RigidBodyHandle, parameters: &IntegrationParameters) {
        let pose = *self.bodies[body].position();
        for handle in self.bodies[body].colliders() {
            let Some(collider) = self.colliders.get_mut(*handle) else { continue };
            if let Some(offset) = collider.position_wrt_parent().copied() {
                collider.set_position(pose * offset);
            }
            let aabb = collider.compute_broad_phase_aabb(parameters, &self.bodies);
            self.broad_phase.set_aabb(parameters, *handle, aabb);
        }
    }
}
