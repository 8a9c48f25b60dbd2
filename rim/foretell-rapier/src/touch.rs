//! What touches what, by entity, and what has begun or ended.

use crate::sets::{Rapier, named};
use foretell::Entity;
use rapier3d::geometry::{ColliderHandle, ContactPair};
use rapier3d::pipeline::ActiveEvents;

/// One side of a touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Party {
    /// An entity.
    Entity(Entity),
    /// The scenery of this number, in the order in which [`Physics::new`](crate::Physics::new) was given it.
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

/// Two that touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Pair {
    /// The lesser one.
    pub a: Entity,
    pub b: Party,
    /// Whether one of the colliders is a sensor.
    pub sensor: bool,
}

impl Pair {
    fn told(self, began: bool) -> Touch {
        let Pair { a, b, sensor } = self;
        Touch { a, b, sensor, began }
    }
}

/// What touched in the last step, and what began or ended in it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Touches {
    /// Ascending.
    touching: Vec<Pair>,
    /// Ascending.
    changes: Vec<Touch>,
}

impl Touches {
    /// What touched in the last step, ascending.
    pub fn touching(&self) -> &[Pair] {
        &self.touching
    }

    /// What began or ended in it, ascending.
    pub fn changes(&self) -> &[Touch] {
        &self.changes
    }

    /// Takes in what touches now. What a stranger touches, whom rows have brought since the last step, has begun before.
    pub fn note(&mut self, mut now: Vec<Pair>, is_stranger: impl Fn(Entity) -> bool) {
        now.sort_unstable();
        now.dedup();
        let before = core::mem::replace(&mut self.touching, now);
        let now = &self.touching;
        let is_strange = |pair: &Pair| is_stranger(pair.a) || pair.b.entity().is_some_and(&is_stranger);
        let ended = before.iter().filter(|pair| now.binary_search(pair).is_err()).map(|pair| pair.told(false));
        let began = now.iter().filter(|pair| before.binary_search(pair).is_err() && !is_strange(pair));
        self.changes.clear();
        self.changes.extend(ended.chain(began.map(|pair| pair.told(true))));
        self.changes.sort_unstable();
    }
}

/// Whose collider it is; `None` when it is gone: Rapier's pairs name it until the next step.
pub(crate) fn party(rapier: &Rapier, collider: ColliderHandle) -> Option<Party> {
    let body = rapier.colliders.get(collider)?.parent();
    // The scenery was inserted first, and is so after a rebuild.
    let scenery = Party::Scenery(collider.into_raw_parts().0 as usize);
    Some(body.map_or(scenery, |body| Party::Entity(named(rapier.bodies[body].user_data))))
}

/// Adds what a collider touches now, if it reports touches.
pub(crate) fn add_pairs(rapier: &Rapier, collider: ColliderHandle, pairs: &mut Vec<Pair>) {
    if !rapier.colliders[collider].active_events().contains(ActiveEvents::COLLISION_EVENTS) {
        return;
    }
    let narrow_phase = &rapier.narrow_phase;
    let contacts = narrow_phase.contact_pairs_with(collider).filter(|pair| pair.has_any_active_contact());
    let contacts = contacts.map(|pair: &ContactPair| (pair.collider1, pair.collider2, false));
    let sensed = narrow_phase.intersection_pairs_with(collider).filter(|(_, _, intersect)| *intersect);
    let sensed = sensed.map(|(one, other, _)| (one, other, true));
    for (one, other, sensor) in contacts.chain(sensed) {
        match (party(rapier, one), party(rapier, other)) {
            (Some(Party::Entity(one)), Some(Party::Entity(other))) => {
                pairs.push(Pair { a: one.min(other), b: Party::Entity(one.max(other)), sensor });
            }
            (Some(Party::Entity(one)), Some(scenery)) | (Some(scenery), Some(Party::Entity(one))) => {
                pairs.push(Pair { a: one, b: scenery, sensor });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::{PlayerId, Tick};

    fn entity(counter: u16) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::ZERO, counter)
    }

    fn pair(a: u16, b: u16) -> Pair {
        Pair { a: entity(a), b: Party::Entity(entity(b)), sensor: false }
    }

    /// What changes when these touch next; the fourth entity is a stranger.
    fn changes(touches: &mut Touches, now: &[Pair]) -> Vec<(Pair, bool)> {
        touches.note(now.to_vec(), |of| of == entity(4));
        touches.changes().iter().map(|&Touch { a, b, sensor, began }| (Pair { a, b, sensor }, began)).collect()
    }

    #[test]
    fn what_touches_in_one_step_and_not_in_the_other_has_begun_or_ended() {
        let mut touches = Touches::default();
        assert_eq!(
            changes(&mut touches, &[pair(2, 3), pair(1, 2), pair(2, 3)]),
            [(pair(1, 2), true), (pair(2, 3), true)]
        );
        assert_eq!(touches.touching(), [pair(1, 2), pair(2, 3)]);
        assert_eq!(changes(&mut touches, &[pair(2, 3), pair(0, 9)]), [(pair(0, 9), true), (pair(1, 2), false)]);
        assert_eq!(changes(&mut touches, &[pair(0, 9), pair(2, 3)]), []);
    }

    #[test]
    fn what_a_stranger_touches_has_begun_before_and_ends_as_any_other() {
        let mut touches = Touches::default();
        let on_scenery = Pair { a: entity(4), b: Party::Scenery(0), sensor: true };
        assert_eq!(changes(&mut touches, &[pair(1, 4), on_scenery]), []);
        assert_eq!(touches.touching().len(), 2);
        assert_eq!(changes(&mut touches, &[]), [(pair(1, 4), false), (on_scenery, false)]);
    }
}
