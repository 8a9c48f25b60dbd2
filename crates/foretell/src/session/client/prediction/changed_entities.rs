//! What has become another thing here, has been put elsewhere or has ended, and is to be predicted no more before the server's states
//! show it so: by them it would be shown as what and where it was until then.

use crate::rollback::NewestPredictions;
use crate::session::client::snapshots::ShownRows;
use crate::time::{Tick, TickTime};
use crate::world::{Owned, PredictionSet, Row, Rows, Schema};
use alloc::vec::Vec;

/// Lives as long as a session.
pub(super) struct ChangedEntities {
    schema: Schema,
    /// Those that are predicted still, each with the newest predicted state of when it was not wanted any more.
    kept: Vec<(Owned, Tick)>,
    next: Vec<(Owned, Tick)>,
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
        shown: ShownRows<'_>,
        states: &NewestPredictions<'_>,
    ) {
        let ChangedEntities { schema, kept, next } = self;
        next.clear();
        let Some(newest) = states.newest else { return };
        let player = wanted.player();
        let is_left = |row: &Row<'_>| states.players.contains(row.owned()) && !wanted.contains(row.owned());
        let begun = newest.iter().filter(is_left).filter(|row| is_news(*row, shown, schema));
        let begun = begun.filter(|row| told.owner(row.entity) == Some(row.owner));
        let is_predicted = |row: &Row<'_>| schema.component(row.component).prediction().is_of(player, row.owner);
        let ended = told.iter().filter(is_left).filter(|row| is_predicted(row) && newest.words(row.key()).is_none());
        next.extend(begun.chain(ended).map(|row| (row.owned(), states.present)));
        next.dedup();
        for (of, until) in &mut *next {
            *until = kept.iter().find(|(kept, _)| kept == of).map_or(*until, |(_, until)| *until);
        }
        next.retain(|(_, until)| shown.look.at < TickTime::start_of(*until));
        next.iter().for_each(|(of, _)| wanted.insert_single(*of, true));
        core::mem::swap(kept, next);
    }
}

/// Whether a predicted row is not shown yet, or is shown with another number of teleports; one of what is nowhere, or as saying
/// something else.
fn is_news(row: Row<'_>, shown: ShownRows<'_>, schema: &Schema) -> bool {
    let is_other = |shown: &[u32]| schema.component(row.component).turns_between(shown, row.words);
    shown.words(row.key()).is_none_or(is_other)
}
