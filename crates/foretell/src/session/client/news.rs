//! What news of others changes about what is shown of them: hidden by an offset, as a correction is.
//!
//! Between two states that are known when the cursor comes to the first nothing changes. But a state that comes while
//! others are extrapolated, or between two that they are shown between, says that they are elsewhere. So does a jump of
//! the cursor.

use super::playout::Playout;
use super::shown::{RowBuffer, STANDING, pose_of, velocity_of};
use super::view::proxy_row;
use super::{ClientConfig, Session};
use crate::motion::{VisualOffset, vector};
use crate::rollback::{ROW_WORDS_MAX, Schema, World};
use crate::time::{Instant, Tick, TickTime};

/// Between which two states others are shown; beyond the newest there is no second one.
pub(super) type Between = (Tick, Option<Tick>);

impl<W: World> Session<W> {
    /// Keeps what is shown of others where it was, if they are not shown between the same two states as in the update
    /// before. After the offsets were captured for `now`.
    pub(super) fn hide_news(&mut self, now: Instant, (schema, config): (&Schema, &ClientConfig)) {
        let Some(at) = self.playout.at_instant(now) else { return };
        let (before, after) = Playout::around(&self.snapshots, at);
        let between = before.map(|before| (before.tick, after.map(|after| after.tick)));
        let (Some(last), Some(_)) = (core::mem::replace(&mut self.between, between), between) else { return };
        let leapt_from = self.playout.leapt_from();
        let has_passed = last.1.is_some_and(|next| TickTime::start_of(next) <= at);
        let is_ordinary = leapt_from.is_none() && (has_passed || Some(last) == between);
        let (false, Some(correction)) = (is_ordinary, &config.correction) else { return };
        let (Some(last_before), Some(before)) = (self.snapshots.get(last.0), before) else { return };
        let last_after = last.1.and_then(|next| self.snapshots.get(next));
        let rate = self.pacing.rate();
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        for (entity, words) in last_before.rows.iter() {
            let by_cursor = !self.timeline.predicted().contains(entity) && !self.holds.has_begun(entity);
            let known = before.rows.words(entity).filter(|_| by_cursor);
            let Some(known) = known else { continue };
            let kind = schema.kind(entity.kind());
            let next = last_after.and_then(|after| Some((after.tick, after.rows.words(entity)?)));
            proxy_row(kind, (last.0, words), next, (leapt_from.unwrap_or(at), rate), &mut row);
            let shown = self.offsets.at(entity, now, STANDING, config).shown(pose_of(kind, &row));
            let speed_before = vector::length(velocity_of(kind, &row));
            let next = after.and_then(|after| Some((after.tick, after.rows.words(entity)?)));
            proxy_row(kind, (before.tick, known), next, (at, rate), &mut row);
            let pose = pose_of(kind, &row);
            // How far is far goes by the speed; who turned around stood still for a moment.
            let speed = vector::length(velocity_of(kind, &row)).max(speed_before);
            self.offsets.set(entity, VisualOffset::capture(shown, pose, speed, correction).0);
        }
    }
}
