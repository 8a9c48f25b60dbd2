//! What has become another thing here, has been put elsewhere or has ended, and is to be predicted no more before that is shown by what is
//! told of it: until then it would be shown as what and where it was.

use crate::rollback::NewestPredictions;
use crate::session::client::snapshots::{Look, Tracks};
use crate::time::{Tick, TickTime};
use crate::world::{Entity, PredictionSet, Row, Rows, Schema};
use alloc::vec::Vec;

/// Lives as long as a session.
pub(super) struct ChangedEntities {
    schema: Schema,
    /// Those that are predicted still, each with the newest predicted state of when it was not wanted any more.
    kept: Vec<(Entity, Tick)>,
    next: Vec<(Entity, Tick)>,
}

impl ChangedEntities {
    pub(super) fn new(schema: &Schema) -> ChangedEntities {
        ChangedEntities { schema: schema.clone(), kept: Vec::new(), next: Vec::new() }
    }

    /// Wants each of them predicted until the point at which others are shown has come to that, or to what was predicted when it was not
    /// wanted any more: what was a mistake is not kept for longer.
    pub(super) fn keep(
        &mut self,
        wanted: &mut PredictionSet,
        told: &Rows,
        shown: (&Tracks, Look),
        states: &NewestPredictions<'_>,
    ) {
        let ChangedEntities { schema, kept, next } = self;
        next.clear();
        let newest = states.newest.into_iter();
        let begun = newest.clone().flat_map(|rows| rows.iter()).filter(|row| is_news(*row, shown, schema));
        let begun = begun.filter(|row| told.owner(row.entity) == Some(row.owner));
        let is_over = |row: &Row<'_>| newest.clone().all(|rows| rows.words(row.key()).is_none());
        for of in begun.chain(told.iter().filter(is_over)).map(|row| row.owned()) {
            let until = kept.iter().find(|(kept, _)| *kept == of.entity).map_or(states.present, |(_, until)| *until);
            if states.players.contains(of) && !wanted.contains(of) && shown.1.at < TickTime::start_of(until) {
                wanted.insert_single(of, true);
                next.push((of.entity, until));
            }
        }
        core::mem::swap(kept, next);
    }
}

/// Whether a predicted row is not shown yet, or not where its entity has been put; or one that says nothing of where that is, not what it
/// says.
fn is_news(row: Row<'_>, (tracks, look): (&Tracks, Look), schema: &Schema) -> bool {
    let of = schema.component(row.component);
    let is_other = |shown: &[u32]| {
        if of.has_pose() {
            of.teleports(shown).differ(of.teleports(row.words))
        } else {
            of.steps_between(shown, row.words)
        }
    };
    tracks.words(row.key(), &look).is_none_or(is_other)
}
