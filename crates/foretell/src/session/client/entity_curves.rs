//! By which curve each of the others is shown: one for all, and others for single entities.

use crate::session::curves::Curve;
use crate::world::{Entity, EntityMap};

/// The curves of all entities.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct EntityCurves {
    /// Of those that are not named.
    pub(super) usual: Curve,
    named: EntityMap<Curve>,
}

impl EntityCurves {
    pub(super) fn new(usual: Curve) -> EntityCurves {
        EntityCurves { usual, named: EntityMap::new() }
    }

    /// The curve of an entity.
    pub(super) fn of(&self, entity: Entity) -> Curve {
        self.named(entity).unwrap_or(self.usual)
    }

    /// The curve of an entity, where it has one of its own.
    pub(super) fn named(&self, entity: Entity) -> Option<Curve> {
        self.named.get(entity).copied()
    }

    /// Whether any may be shown by such a curve.
    pub(super) fn any(&self, is_such: impl Fn(Curve) -> bool) -> bool {
        is_such(self.usual) || self.named.values().iter().any(|curve| is_such(*curve))
    }

    /// Whether any may be shown ahead of the cursor.
    pub(super) fn any_leads(&self) -> bool {
        self.any(Curve::leads)
    }

    pub(super) fn forget(&mut self, gone: Entity) {
        self.named.remove(gone);
    }

    pub(super) fn set(&mut self, entity: Entity, curve: Curve) {
        self.named.insert(entity, curve);
    }
}
