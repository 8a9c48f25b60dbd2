//! Which entities of others are near to an own one: those that [`Predict::Near`](crate::session::client::Predict::Near) predicts.

use crate::motion::vector::squared_distance;
use crate::rollback::NewestPredictions;
use crate::session::client::client_settings::ClientSettings;
use crate::session::client::config::Predict;
use crate::session::client::snapshots::Snapshot;
use crate::time::Tick;
use crate::world::{Entity, Meaning, PlayerId, PredictionSet, Row, Schema};
use alloc::vec::Vec;

/// What is predicted, and could be.
pub(crate) struct Predictable<'a> {
    pub states: NewestPredictions<'a>,
    /// How many ticks of it are remembered.
    pub horizon: u32,
    /// Whether it is known what a player does; the server's own need no inputs.
    pub is_known: &'a dyn Fn(PlayerId) -> bool,
}

/// Lives as long as a session.
#[derive(Default)]
pub(super) struct NearEntities {
    /// Where the own entities are.
    own: Vec<[f64; 3]>,
    /// What was predicted to be farther off than it is predicted, and in which state. Those before that tell of where it was.
    left: Vec<(Entity, Tick)>,
}

impl NearEntities {
    /// Wants those predicted that stand near to where an own entity is by now; what is predicted already until it is farther
    /// off.
    pub(super) fn choose(
        &mut self,
        wanted: &mut PredictionSet,
        snapshot: &Snapshot,
        predictable: &Predictable<'_>,
        settings: &ClientSettings,
    ) {
        let Predict::Near { within_m, until_m } = settings.config.predict else { return };
        let NewestPredictions { players, newest: Some(newest), present, .. } = predictable.states else { return };
        let (schema, player) = (&settings.rules.schema, wanted.player());
        self.own.clear();
        self.own.extend(newest.iter().filter(|row| row.owner == player).filter_map(|row| place(row, schema)));
        self.left.retain(|(_, left)| snapshot.tick < *left);
        for row in snapshot.rows.iter() {
            if row.owner == player || settings.excludes(row.owner) || !(predictable.is_known)(row.owner) {
                continue;
            }
            let is_predicted = players.contains(row.owned());
            // Where it is by now it is known best where it is predicted.
            let predicted = newest.get(row.key()).filter(|_| is_predicted);
            let Some(at) = place(predicted.unwrap_or(row), schema) else { continue };
            let radius_m = if is_predicted { until_m.max(within_m) } else { within_m };
            let is_near = self.own.iter().any(|own| squared_distance(*own, at) <= radius_m * radius_m);
            if is_near && (is_predicted || !self.left.iter().any(|(left, _)| *left == row.entity)) {
                wanted.insert_single(row.owned(), true);
            } else if predicted.is_some() && !is_near && !wanted.contains(row.owned()) {
                self.left.retain(|(left, _)| *left != row.entity);
                self.left.push((row.entity, present));
            }
        }
    }
}

fn place(row: Row<'_>, schema: &Schema) -> Option<[f64; 3]> {
    let field = schema.component(row.component).field(Meaning::Position, row.words);
    field.map(|(column, words)| column.lanes::<3>(words))
}
