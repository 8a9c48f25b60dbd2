//! Where an entity is at the shown instant without its visual offset, whether it is predicted or not.

use super::holds::Holds;
use super::playout::Playout;
use super::shown::{RowBuffer, pose_of, shown_row, velocity_of};
use super::snapshots::Snapshots;
use super::view::proxy_row;
use super::{ClientConfig, Session};
use crate::motion::Pose;
use crate::rollback::{Entity, ROW_WORDS_MAX, Rows, Schema, Timeline, World};
use crate::time::{Instant, TickTime};

/// Everything that is shown at one instant.
pub(super) struct Scene<'a, W: World> {
    pub(super) timeline: &'a Timeline<W>,
    pub(super) schema: &'a Schema,
    pub(super) now: Instant,
    /// Where the client's clock stands.
    pub(super) at: TickTime,
    pub(super) config: &'a ClientConfig,
    playout: &'a Playout,
    snapshots: &'a Snapshots,
    holds: &'a Holds,
}

impl<'a, W: World> Scene<'a, W> {
    /// The rows of other entities that are shown, and not predicted.
    pub(super) fn others(&self) -> impl Iterator<Item = (Entity, &'a [u32])> {
        let predicted = self.timeline.predicted();
        let before = self.playout.at_instant(self.now).and_then(|at| Playout::around(self.snapshots, at).0);
        let rows = before.into_iter().flat_map(|before| before.rows.iter());
        rows.filter(|(entity, _)| !predicted.contains(*entity))
    }

    /// The pose of an entity and its velocity; `None` where it is not shown.
    pub(super) fn pose(&self, entity: Entity) -> Option<(Pose, [f64; 3])> {
        let kind = self.schema.kind(entity.kind());
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        if self.timeline.predicted().contains(entity) {
            let words = self.timeline.rows(self.timeline.present()).and_then(|rows: &Rows| rows.words(entity))?;
            shown_row(self.timeline, kind, (entity, words), (self.at, self.config.show), &mut row);
            return Some((pose_of(kind, &row), velocity_of(kind, words)));
        }
        let cursor = self.playout.at_instant(self.now)?;
        let (before, after) = Playout::around(self.snapshots, cursor);
        let before = before.and_then(|before| Some((before.tick, before.rows.words(entity)?)))?;
        let after = after.and_then(|after| Some((after.tick, after.rows.words(entity)?)));
        proxy_row(kind, before, after, (cursor, self.timeline.rate()), &mut row);
        self.holds.put_shown(kind, entity, &mut row);
        Some((pose_of(kind, &row), velocity_of(kind, &row)))
    }
}

impl<W: World> Session<W> {
    /// What is shown now, and the offsets that hide how it came there.
    pub(super) fn scene<'a>(
        &'a mut self,
        now: Instant,
        (schema, config): (&'a Schema, &'a ClientConfig),
    ) -> (Scene<'a, W>, &'a mut super::shown::Offsets) {
        let Session { timeline, playout, snapshots, pacing, offsets, holds, .. } = self;
        (Scene { timeline, schema, now, at: pacing.at(), config, playout, snapshots, holds }, offsets)
    }
}
