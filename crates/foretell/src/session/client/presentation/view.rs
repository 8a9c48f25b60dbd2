//! What a player sees of an entity at the shown instant, and where it comes from.

use crate::motion::{Pose, VisualOffset};
use crate::session::curves::{PoseSource, velocity_of};
use crate::world::{ComponentId, ComponentSchema, Entity, PlayerId, Row, Schema, State};

/// One state of one entity as it is to be drawn: an entity of several tables has as many views.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Which entity.
    pub entity: Entity,
    /// Whose it is.
    pub owner: PlayerId,
    /// Where its pose comes from.
    pub source: PoseSource,
    /// The visual offset in it; none for an entity that is not predicted, but for a while after it was.
    pub offset: VisualOffset,
    pub(super) schema: &'a Schema,
    pub(super) component: ComponentId,
    /// Of its first component, at the shown instant.
    pub(super) row: &'a [u32],
    /// The other components of the same state, each with its number before its words.
    pub(super) rest: &'a [u32],
}

impl View<'_> {
    /// Its state at the shown instant, with the position and rotation that are to be shown; `None` where it is of another
    /// type.
    pub fn get<S: State>(&self) -> Option<S> {
        let first = self.schema.first_of::<S>()?;
        let nth = usize::from(self.component.0).checked_sub(first).filter(|nth| *nth < S::COMPONENTS)?;
        let mut state = S::read(nth, self.row)?;
        let mut rest = self.rest;
        while let [component, after @ ..] = rest {
            let component = ComponentId::nth(*component as usize);
            let (words, after) = after.split_at(self.schema.component(component).words());
            state.adopt(usize::from(component.0) - first, words);
            rest = after;
        }
        Some(state)
    }

    /// Where it is to be shown: metres, and a unit quaternion. The origin, upright, where its kind has no position or
    /// rotation.
    pub fn pose(&self) -> Pose {
        self.component().pose(self.row)
    }

    /// Its velocity in m/s; zero where its kind has none.
    pub fn velocity(&self) -> [f64; 3] {
        velocity_of(self.component(), self.row)
    }

    /// The row of its first component at the shown instant.
    pub fn row(&self) -> Row<'_> {
        Row { component: self.component, entity: self.entity, owner: self.owner, words: self.row }
    }

    /// The description of its first component.
    pub fn component(&self) -> &ComponentSchema {
        self.schema.component(self.component)
    }
}
