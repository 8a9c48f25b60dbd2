//! What a step here has made of predicted entities that no client predicts: a crate that has left the hand, and is the server's to move. It
//! is told by itself, if it is so, and stays as it is here until it is shown.

use crate::rollback::Timeline;
use crate::session::client::snapshots::{Snapshot, Snapshots};
use crate::time::Tick;
use crate::world::{ComponentId, Entity, EntityMap, PredictionSet, Row, Rows, Schema, World};
use alloc::vec::Vec;

/// Lives as long as the session.
pub(super) struct LetGo {
    /// The components that no client predicts.
    never: Vec<ComponentId>,
    /// Since which state that was compared each of these entities is kept.
    kept: EntityMap<Tick>,
}

impl LetGo {
    pub(super) fn new(schema: &Schema) -> LetGo {
        let never = schema.ids().filter(|id| schema.component(*id).is_never_predicted()).collect();
        LetGo { never, kept: EntityMap::new() }
    }

    /// Adds what stays so in the state of a snapshot to what the authority has of the predicted entities: where it says nothing else of an
    /// entity, and that is there, or may be. A state that is told against none names nothing that is gone, and what is told by itself may be
    /// lost.
    pub(super) fn keep<W: World>(
        &mut self,
        timeline: &Timeline<W>,
        snapshot: &Snapshot,
        snapshots: &Snapshots,
        authority: &mut Rows,
    ) {
        let (tick, horizon) = (snapshot.tick, timeline.horizon());
        let predicted = timeline.rows(tick);
        self.kept.retain(|entity, _| is_let_go(predicted, entity));
        for row in predicted.into_iter().flat_map(|rows| rows_of(rows, &self.never)) {
            if snapshot.rows.has(row.entity) || snapshot.lists.ends(row.entity) {
                self.kept.remove(row.entity);
                continue;
            }
            let since = *self.kept.get_or_insert_with(row.entity, || tick);
            let is_unheard = snapshots.is_hidden(row.entity, tick) || snapshots.heard_of(row.key()) < Some(since);
            // Of what has ended since the player sees the way to its end.
            let stays_for = if is_unheard { horizon } else { horizon / 4 };
            if snapshots.has(row.entity) || tick.since(since) < stays_for {
                authority.set_words(row);
            }
        }
        authority.settle();
    }

    /// Puts what is kept in `authority`, and still wanted, into a full state, in the place of what else that has of these entities.
    pub(super) fn put(&self, authority: &Rows, wanted: &PredictionSet, full: &mut Rows) {
        for row in rows_of(authority, &self.never).filter(|row| wanted.contains(row.owned())) {
            full.remove_entity(row.entity);
            full.set_words(row);
        }
        full.settle();
    }
}

fn rows_of<'a>(rows: &'a Rows, components: &[ComponentId]) -> impl Iterator<Item = Row<'a>> {
    components.iter().flat_map(|id| rows.component(*id))
}

/// Whether an entity is so in a predicted state.
pub(super) fn is_let_go(predicted: Option<&Rows>, entity: Entity) -> bool {
    let mut rows =
        predicted.into_iter().flat_map(|rows| rows.of(entity).map(|row| rows.is_never_predicted(row.component)));
    rows.any(|never| never)
}
