//! What touches what, as a game asks for it.

use crate::sets::Rapier;
use crate::touch::{add_pairs, party};
use crate::{Contact, Party, Physics, Touch};
use foretell::{Entity, Owned, Step};
use rapier3d::geometry::{ColliderHandle, ContactPair};

impl Physics {
    /// What has begun or ended in the last step, ascending: for effects. It is the difference between what touched in one
    /// step and in the next, and knows nothing of rebuilds. What an entity touches in the first step after rows have
    /// brought it is taken to have begun before.
    ///
    /// No row tells what touched before: a state that counts beginnings can't be continued from rows. Let it depend on
    /// [`touching`](Physics::touching), and on a column of its own for what was.
    pub fn touches(&self) -> &[Touch] {
        self.touches.changes()
    }

    /// What touched in the last step, ascending: the lesser entity, the other party, and whether one of their colliders is
    /// a sensor. As far as colliders have [`ActiveEvents::COLLISION_EVENTS`](rapier3d::prelude::ActiveEvents::COLLISION_EVENTS).
    pub fn touching(&self) -> impl Iterator<Item = (Entity, Party, bool)> {
        self.touches.touching().iter().map(|pair| (pair.a, pair.b, pair.sensor))
    }

    /// What an entity was in contact with in the last step, ascending by the other, and how hard; whatever events its colliders
    /// have. Nothing for an entity without a body, and of sensors.
    pub fn contacts(&self, entity: Entity) -> Vec<Contact> {
        let mut contacts = Vec::new();
        let colliders = self.body(entity).map_or(&[][..], |body| body.colliders());
        for collider in colliders {
            let pairs = self.rapier.narrow_phase.contact_pairs_with(*collider);
            contacts.extend(pairs.filter_map(|pair| self.contact_of(*collider, pair)));
        }
        contacts.sort_by_key(|contact| contact.with);
        contacts
    }

    /// The entities inside of a sensor in the last step, ascending, whatever events it has: a sensor of the scenery, or one that an
    /// entity has.
    pub fn inside(&self, sensor: Party) -> Vec<Entity> {
        let colliders = match sensor {
            Party::Entity(entity) => self.body(entity).map_or(&[][..], |body| body.colliders()),
            Party::Scenery(nth) => self.scenery.get(nth..=nth).unwrap_or_default(),
        };
        let pairs = colliders.iter().flat_map(|sensor| {
            let pairs = self.rapier.narrow_phase.intersection_pairs_with(*sensor).filter(|(_, _, inside)| *inside);
            pairs.map(|(one, other, _)| if one == *sensor { other } else { one })
        });
        let mut inside: Vec<_> = pairs.filter_map(|other| party(&self.rapier, other)?.entity()).collect();
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    fn contact_of(&self, collider: ColliderHandle, pair: &ContactPair) -> Option<Contact> {
        let is_first = pair.collider1 == collider;
        let with = party(&self.rapier, if is_first { pair.collider2 } else { pair.collider1 })?;
        let (manifold, deepest) = pair.find_deepest_contact().filter(|_| pair.has_any_active_contact())?;
        let place = self.rapier.colliders.get(pair.collider1)?.position();
        // Rapier's normal points from the first to the second.
        let away = if is_first { -1.0 } else { 1.0 };
        let (total, pressed) = (pair.total_impulse(), pair.total_impulse_magnitude());
        let normal = if total.length() > 0.0 { total.normalize() } else { manifold.data.normal };
        Some(Contact {
            with,
            normal: (normal * away).to_array(),
            impulse: pressed,
            point: (*place * deepest.local_p1).to_array(),
        })
    }

    /// Says to [`Step::touch`] which entities of different players are in contact: what explains that one player's cube is
    /// not where it was predicted, because another's has pushed it. Call it after [`advance`](Physics::advance); of what
    /// has been despawned since then nothing is said, and where most bodies sleep nothing of two that do.
    pub fn tell_touches<I>(&self, step: &mut Step<'_, I>) {
        self.each_contact(|a, b| step.touch(a, b));
    }

    /// Names the entities that are in contact, two at a time, as [`tell_touches`](Physics::tell_touches) tells them.
    pub fn each_contact(&self, mut each: impl FnMut(Owned, Owned)) {
        let owned = |collider| {
            let entity = party(&self.rapier, collider)?.entity()?;
            self.owner(entity).map(|owner| Owned { entity, owner })
        };
        let mut tell = |pair: &ContactPair| {
            if !pair.has_any_active_contact() {
                return;
            }
            if let (Some(a), Some(b)) = (owned(pair.collider1), owned(pair.collider2)) {
                each(a, b);
            }
        };
        let Rapier { islands, bodies, narrow_phase, .. } = &self.rapier;
        if 2 * islands.active_bodies().count() < self.slots.len() {
            let active = islands.active_bodies().filter_map(|handle| bodies.get(handle));
            let colliders = active.flat_map(|body| body.colliders());
            colliders.flat_map(|collider| narrow_phase.contact_pairs_with(*collider)).for_each(&mut tell);
        } else {
            narrow_phase.contact_pairs().for_each(&mut tell);
        }
    }

    /// Takes in what touches now.
    pub(crate) fn note_touches(&mut self) {
        let mut now = Vec::new();
        let listening = self.slots.iter().filter(|slot| slot.listens);
        let of_entities = listening.flat_map(|slot| self.rapier.bodies[slot.handle].colliders());
        for collider in of_entities.chain(&self.scenery) {
            add_pairs(&self.rapier, *collider, &mut now);
        }
        let mut touches = core::mem::take(&mut self.touches);
        touches.note(now, |entity| self.find(entity).is_ok_and(|at| self.slots[at].stranger));
        self.touches = touches;
        self.slots.iter_mut().for_each(|slot| slot.stranger = false);
    }
}
