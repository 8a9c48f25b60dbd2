//! Which entities are predicted because they are near (`Predict::Near`).

use super::Session;
use crate::motion::vector::squared_distance;
use crate::rollback::{Entity, Meaning, PlayerId, Schema, World};
use crate::time::Tick;

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
        let place = |entity: Entity, words: &[u32]| -> Option<[f64; 3]> {
            let field = schema.kind(entity.kind()).field(Meaning::Position, words);
            field.map(|(column, words)| column.lanes::<3>(words))
        };
        near.clear();
        let own = newest.iter().filter(|(entity, _)| entity.player() == *player);
        near.extend(own.filter_map(|(entity, words)| place(entity, words)));
        for (entity, words) in snapshot.rows.iter() {
            let is_known = || entity.player() == PlayerId::SERVER || timeline.knows_inputs_of(entity.player());
            let is_unwanted = wishes.contains(&(entity.player(), false));
            if entity.player() == *player || is_unwanted || !is_known() {
                continue;
            }
            let is_predicted = timeline.predicted().contains(entity);
            // Where it is by now it is known best where it is predicted.
            let words = newest.words(entity).filter(|_| is_predicted).unwrap_or(words);
            let Some(at) = place(entity, words) else { continue };
            let radius_m = if is_predicted { until_m.max(within_m) } else { within_m };
            if near.iter().any(|own| squared_distance(*own, at) <= radius_m * radius_m) {
                wanted.insert_single(entity, true);
            }
        }
    }
}
