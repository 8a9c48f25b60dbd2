//! Where an entity is at the shown instant without its visual offset, whether it is predicted or not.

use super::curves::Curves;
use super::followers::Followers;
use super::shown::{RowBuffer, pose_of, shown_row, velocity_of};
use super::stage::Stage;
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
    stage: Option<Stage<'a>>,
    curves: &'a Curves,
    followers: &'a Followers,
}

impl<'a, W: World> Scene<'a, W> {
    /// The rows of other entities that are shown, and not predicted.
    pub(super) fn others(&self) -> impl Iterator<Item = (Entity, &'a [u32])> {
        let predicted = self.timeline.predicted();
        self.stage.iter().flat_map(|stage| stage.others(predicted))
    }

    /// The pose of an entity and its velocity; `None` where it is not shown.
    pub(super) fn pose(&self, entity: Entity) -> Option<(Pose, [f64; 3])> {
        let kind = self.schema.kind(entity.kind());
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        if self.timeline.predicted().contains(entity.player()) {
            let words = self.timeline.rows(self.timeline.present()).and_then(|rows: &Rows| rows.words(entity))?;
            shown_row(self.timeline, kind, (entity, words), (self.at, self.config.show), &mut row);
            return Some((pose_of(kind, &row), velocity_of(kind, words)));
        }
        self.stage.as_ref()?.row(kind, entity, (self.curves.of(entity), self.followers), &mut row)?;
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
        let Session { timeline, playout, snapshots, pacing, offsets, curves, followers, .. } = self;
        let points = playout.points_at(now);
        let stage = points.and_then(|points| Stage::new(snapshots, points, timeline.rate()));
        (Scene { timeline, schema, now, at: pacing.at(), config, stage, curves, followers }, offsets)
    }
}
