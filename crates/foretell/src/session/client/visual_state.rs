//! Where an entity is at the shown instant without its visual offset, whether it is predicted or not.

use super::authority_table::AuthorityTable;
use super::curves::Curves;
use super::error_offsets::{RowBuffer, pose_of, shown_row, velocity_of};
use super::followers::Followers;
use super::remote_window::{RemoteWindow, placed};
use super::{ClientConfig, Session};
use crate::motion::Pose;
use crate::rollback::Timeline;
use crate::time::{Instant, TickTime};
use crate::world::{Entity, ROW_WORDS_MAX, Row, Schema, World};

/// Everything that is shown at one instant.
pub(super) struct VisualState<'a, W: World> {
    pub(super) timeline: &'a Timeline<W>,
    pub(super) schema: &'a Schema,
    pub(super) now: Instant,
    /// Where the client's clock stands.
    pub(super) at: TickTime,
    pub(super) config: &'a ClientConfig,
    remote: Option<RemoteWindow<'a>>,
    curves: &'a Curves,
    followers: &'a Followers,
    authority: &'a AuthorityTable,
}

impl<'a, W: World> VisualState<'a, W> {
    /// The rows of other entities that are shown, and not predicted.
    pub(super) fn others(&self) -> impl Iterator<Item = Row<'a>> {
        let predicted = self.timeline.predicted();
        self.remote.iter().flat_map(|remote| remote.others(predicted))
    }

    /// The pose of an entity and its velocity; `None` where it is not shown.
    pub(super) fn pose(&self, entity: Entity) -> Option<(Pose, [f64; 3])> {
        let mut into: RowBuffer = [0; ROW_WORDS_MAX];
        if let Some(row) = self.predicted(entity) {
            let component = self.schema.component(row.component);
            shown_row(self.timeline, component, row, (self.at, self.config.show), &mut into);
            return Some((pose_of(component, &into), velocity_of(component, row.words)));
        }
        let row = self.other(entity)?;
        let component = self.schema.component(row.component);
        self.remote.as_ref()?.row(component, row.key(), (self.curves.of(entity), self.followers), &mut into)?;
        self.authority.put_shown(component, row.key(), &mut into);
        Some((pose_of(component, &into), velocity_of(component, &into)))
    }

    /// The predicted row by which an entity is placed; `None` where it is not predicted, or gone.
    pub(super) fn predicted(&self, entity: Entity) -> Option<Row<'a>> {
        placed(self.timeline.rows(self.timeline.present())?, entity, self.schema)
    }

    /// The shown row by which an entity is placed that is not predicted; `None` where it is predicted, or not there.
    pub(super) fn other(&self, entity: Entity) -> Option<Row<'a>> {
        let row = self.remote.as_ref()?.placed(entity, self.schema)?;
        Some(row).filter(|row| !self.timeline.predicted().contains(row.owned()))
    }
}

impl<W: World> Session<W> {
    /// What is shown now, and the offsets that hide how it came there.
    pub(super) fn visual_state<'a>(
        &'a mut self,
        now: Instant,
        (schema, config): (&'a Schema, &'a ClientConfig),
    ) -> (VisualState<'a, W>, &'a mut super::error_offsets::ErrorOffsets) {
        let Session { timeline, playout, snapshots, pacing, offsets, curves, followers, authority, .. } = self;
        let points = playout.points_at(now);
        let remote = points.and_then(|points| RemoteWindow::new(snapshots, points, timeline.rate()));
        (VisualState { timeline, schema, now, at: pacing.at(), config, remote, curves, followers, authority }, offsets)
    }
}
