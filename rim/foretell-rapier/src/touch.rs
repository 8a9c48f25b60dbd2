//! What touches what, by entity, and what has begun or ended.

use crate::Physics;
use crate::physics::{Rapier, named};
use foretell::{Entity, Owned, Step};
use rapier3d::geometry::{ColliderHandle, ContactPair};
use rapier3d::pipeline::ActiveEvents;

/// One side of a touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Party {
    /// An entity.
    Entity(Entity),
    /// The scenery of this number, in the order in which [`Physics::new`] was given it.
    Scenery(usize),
}

impl Party {
    /// The entity; `None` for scenery.
    pub fn entity(self) -> Option<Entity> {
        if let Party::Entity(entity) = self { Some(entity) } else { None }
    }
}

/// Two that have begun or ceased to touch. Told where a collider of either has
/// [`ActiveEvents::COLLISION_EVENTS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Touch {
    /// The lesser one.
    pub a: Entity,
    /// The other one.
    pub b: Party,
    /// Whether one of the colliders is a sensor, which notices and does not push.
    pub sensor: bool,
    /// Whether it has begun; else it has ended, also because one of them is gone.
    pub began: bool,
}

/// A contact of an entity in the last step: of one of its colliders with one of the other's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contact {
    /// With whom.
    pub with: Party,
    /// The direction in which the entity is pushed: from the other towards it, of length 1.
    pub normal: [f32; 3],
    /// How hard, along the normal: in N s, over the whole step. 0 where they touch without pressing.
    pub impulse: f32,
    /// Where they touch, in metres: where they are deepest in each other.
    pub point: [f32; 3],
}

/// Two that touch, and whether by a sensor.
pub(crate) type Pair = (Entity, Party, bool);

impl Physics {
    /// What has begun or ended in the last step, ascending: for effects. It is the difference between what touched in one
    /// step and in the next, and knows nothing of rebuilds. What an entity touches in the first step after rows have
    /// brought it is taken to have begun before.
    ///
    /// No row tells what touched before: a state that counts beginnings can't be continued from rows. Let it depend on
    /// [`touching`](Physics::touching), and on a column of its own for what was.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// What touched in the last step, ascending: the lesser entity, the other party, and whether one of their colliders is
    /// a sensor. As far as colliders have [`ActiveEvents::COLLISION_EVENTS`].
    pub fn touching(&self) -> impl Iterator<Item = (Entity, Party, bool)> {
        self.touching.iter().copied()
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
        let mut inside: Vec<_> = pairs.filter_map(|other| self.party(other)?.entity()).collect();
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    fn contact_of(&self, collider: ColliderHandle, pair: &ContactPair) -> Option<Contact> {
        let is_first = pair.collider1 == collider;
        let with = self.party(if is_first { pair.collider2 } else { pair.collider1 })?;
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
        let owned = |collider| {
            let entity = self.party(collider)?.entity()?;
            self.owner(entity).map(|owner| Owned { entity, owner })
        };
        let mut tell = |pair: &ContactPair| {
            if !pair.has_any_active_contact() {
                return;
            }
            if let (Some(a), Some(b)) = (owned(pair.collider1), owned(pair.collider2)) {
                step.touch(a, b);
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

    /// What touches now, and how it differs from before.
    pub(crate) fn note_touches(&mut self) {
        let (before, mut now) = (core::mem::take(&mut self.touching), Vec::new());
        let listening = self.slots.iter().filter(|slot| slot.listens);
        let of_entities = listening.flat_map(|slot| self.rapier.bodies[slot.handle].colliders());
        for collider in of_entities.chain(&self.scenery).copied() {
            if self.rapier.colliders[collider].active_events().contains(ActiveEvents::COLLISION_EVENTS) {
                self.note_touches_of(collider, &mut now);
            }
        }
        now.sort_unstable();
        now.dedup();
        let told = |(a, b, sensor): Pair, began| Touch { a, b, sensor, began };
        let ended = before.iter().filter(|pair| now.binary_search(pair).is_err()).map(|pair| told(*pair, false));
        let began = now.iter().filter(|pair| before.binary_search(pair).is_err() && !self.is_strange(pair));
        let began = began.map(|pair| told(*pair, true));
        let mut touches: Vec<_> = ended.chain(began).collect();
        touches.sort_unstable();
        (self.touches, self.touching) = (touches, now);
        self.slots.iter_mut().for_each(|slot| slot.stranger = false);
    }

    fn is_strange(&self, (a, b, _): &Pair) -> bool {
        let strange = |entity: Entity| self.find(entity).is_ok_and(|at| self.slots[at].stranger);
        strange(*a) || matches!(b, Party::Entity(b) if strange(*b))
    }

    fn note_touches_of(&self, collider: ColliderHandle, pairs: &mut Vec<Pair>) {
        let narrow_phase = &self.rapier.narrow_phase;
        let contacts = narrow_phase.contact_pairs_with(collider).filter(|pair| pair.has_any_active_contact());
        let contacts = contacts.map(|pair: &ContactPair| (pair.collider1, pair.collider2, false));
        let sensed = narrow_phase.intersection_pairs_with(collider).filter(|(_, _, intersect)| *intersect);
        let sensed = sensed.map(|(one, other, _)| (one, other, true));
        for (one, other, sensor) in contacts.chain(sensed) {
            match (self.party(one), self.party(other)) {
                (Some(Party::Entity(one)), Some(Party::Entity(other))) => {
                    pairs.push((one.min(other), Party::Entity(one.max(other)), sensor));
                }
                (Some(Party::Entity(one)), Some(scenery)) | (Some(scenery), Some(Party::Entity(one))) => {
                    pairs.push((one, scenery, sensor));
                }
                _ => {}
            }
        }
    }

    /// Whose collider it is; `None` when it is gone: Rapier's pairs name it until the next step.
    pub(crate) fn party(&self, collider: ColliderHandle) -> Option<Party> {
        let body = self.rapier.colliders.get(collider)?.parent();
        // The scenery was inserted first, and is so after a rebuild.
        let scenery = Party::Scenery(collider.into_raw_parts().0 as usize);
        Some(body.map_or(scenery, |body| Party::Entity(named(self.rapier.bodies[body].user_data))))
    }
}
