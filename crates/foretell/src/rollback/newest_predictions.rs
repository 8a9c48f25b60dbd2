//! The newest states of a timeline, whatever its world and inputs are: code that needs no more is compiled once, and not with each game.

use super::optimistic_changes::FoundChanges;
use super::timeline::Timeline;
use crate::time::{Tick, TickRate};
use crate::world::{PredictionSet, Row, RowPrediction, Rows, World};

/// The two newest states that are predicted, between which the shown instant lies.
#[derive(Clone, Copy)]
pub(crate) struct NewestPredictions<'a> {
    pub rate: TickRate,
    /// Whose entities.
    pub players: &'a PredictionSet,
    /// Which state is the newest.
    pub present: Tick,
    /// Its rows of predicted entities; `None` where nothing has begun.
    pub newest: Option<&'a Rows>,
    /// Those of the state before; `None` where it is not remembered.
    pub before: Option<&'a Rows>,
    /// What of others the own player has changed ahead of the authority.
    pub changes: FoundChanges<'a>,
}

impl<'a> NewestPredictions<'a> {
    pub(crate) fn of<W: World>(timeline: &'a Timeline<W>) -> NewestPredictions<'a> {
        let present = timeline.present();
        NewestPredictions {
            rate: timeline.rate(),
            players: timeline.predicted(),
            present,
            newest: timeline.rows(present),
            before: present.back(1).and_then(|tick| timeline.rows(tick)),
            changes: timeline.changes(),
        }
    }

    /// Whether a row that is known from states is of what is simulated here. One of a kind that no client predicts is what its entity was
    /// for a moment, or was made into here.
    pub(crate) fn simulate(&self, row: &Row<'_>, prediction: RowPrediction) -> bool {
        let is_other = || prediction.never && self.newest.is_some_and(|rows| rows.has(row.entity));
        self.players.contains(row.owned()) && (prediction.is_of(self.players.player(), row.owner) || is_other())
    }
}
