//! One row: a component of an entity, as words.

use super::{ComponentId, Entity, Owned, PlayerId, RowKey};

/// A row that is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemovedRow {
    /// Which one it was.
    pub key: RowKey,
    /// Whose it was.
    pub owner: PlayerId,
}

impl RemovedRow {
    /// The entity, and whose it was.
    pub fn owned(&self) -> Owned {
        Owned { entity: self.key.entity, owner: self.owner }
    }
}

/// One row: a component of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row<'a> {
    /// Which component it is.
    pub component: ComponentId,
    /// Of which entity.
    pub entity: Entity,
    /// Whose it is.
    pub owner: PlayerId,
    /// Its exact bits; as many words as the component has.
    pub words: &'a [u32],
}

impl Row<'_> {
    /// Which one it is.
    pub fn key(&self) -> RowKey {
        RowKey { component: self.component, entity: self.entity }
    }

    /// The entity, and whose it is.
    pub fn owned(&self) -> Owned {
        Owned { entity: self.entity, owner: self.owner }
    }

    /// This row as one that is gone.
    pub(crate) fn removed(self) -> RemovedRow {
        RemovedRow { key: self.key(), owner: self.owner }
    }

    /// Component, entity and owner, for hashes.
    #[expect(clippy::cast_possible_truncation, reason = "both halves")]
    pub(crate) fn name_words(&self) -> [u32; 3] {
        let entity = self.entity.bits();
        let rest = u32::from(self.component.0) << 16 | u32::from(self.owner.get());
        [entity as u32, (entity >> 32) as u32, rest]
    }
}
