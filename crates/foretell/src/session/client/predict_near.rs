//! Which entities are predicted because they are near (`Predict::Near`).

use super::Session;
use crate::motion::vector::squared_distance;
use crate::time::Tick;
use crate::world::{Meaning, PlayerId, Row, Schema, World};

impl<W: World> Session<W> {
    /// Wants those predicted that stand near to where an own entity is by now, in the snapshot of `tick`; what is predicted
    /// already until it is farther off.
    pub(super) fn choose_near(
        &mut self,
        tick: Tick,
        (within_m, until_m): (f64, f64),
        schema: &Schema,
        wishes: &[(PlayerId, bool)],
    ) {
        let Session { timeline, snapshots, wanted, near, player, .. } = self;
        let (Some(snapshot), Some(newest)) = (snapshots.get(tick), timeline.rows(timeline.present())) else { return };
        let place = |row: Row<'_>| -> Option<[f64; 3]> {
            let field = schema.component(row.component).field(Meaning::Position, row.words);
            field.map(|(column, words)| column.lanes::<3>(words))
        };
        near.clear();
        near.extend(newest.iter().filter(|row| row.owner == *player).filter_map(place));
        for row in snapshot.rows.iter() {
            let owner = row.owner;
            let is_known = || owner == PlayerId::SERVER || timeline.knows_inputs_of(owner);
            let is_unwanted = wishes.contains(&(owner, false));
            if owner == *player || is_unwanted || !is_known() {
                continue;
            }
            let is_predicted = timeline.predicted().contains(row.owned());
            // Where it is by now it is known best where it is predicted.
            let now = newest.get(row.key()).filter(|_| is_predicted).unwrap_or(row);
            let Some(at) = place(now) else { continue };
            let radius_m = if is_predicted { until_m.max(within_m) } else { within_m };
            if near.iter().any(|own| squared_distance(*own, at) <= radius_m * radius_m) {
                wanted.insert_single(row.owned(), true);
            }
        }
    }
}
