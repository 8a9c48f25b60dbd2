//! What news of others changes about what is shown of them: hidden by an offset, as a correction is.
//!
//! Between two states that are known when the cursor comes to the first nothing changes. But a state that comes while
//! others are extrapolated, or between two that they are shown between, says that they are elsewhere; one that comes after
//! those two bends a curve that goes by neighbours, and each new one moves who is shown ahead of the cursor. So do a jump
//! of the cursor, and another curve.

use super::curves::Curves;
use super::error_offsets::{ErrorOffsets, RowBuffer, STANDING, pose_of, velocity_of};
use super::followers::Followers;
use super::remote_window::{RemoteWindow, Seen};
use super::{ClientConfig, Curve, Session};
use crate::motion::{Correction, Pose, VisualOffset, vector};
use crate::time::{Instant, TickTime};
use crate::world::{Entity, ROW_WORDS_MAX, Row, RowKey, Schema, World};

/// What has changed since the update before.
struct Change<'a> {
    /// As others were shown by what was known then.
    before: RemoteWindow<'a>,
    remote: RemoteWindow<'a>,
    /// Whether those at the cursor are shown by other states, and not just by the next ones.
    at_cursor: bool,
    /// Whether those ahead of it are.
    ahead: bool,
}

impl<'a> Change<'a> {
    /// `last` is what was seen in the update before, `leaps` whether cursor or front have jumped.
    fn new(remote: RemoteWindow<'a>, last: Seen, leapt_from: Option<super::playout::Points>) -> Option<Change<'a>> {
        let (points, seen) = (remote.points(), remote.seen());
        let has_passed = last.around[2].is_some_and(|next| TickTime::start_of(next) <= points.cursor);
        let at_cursor = leapt_from.is_some() || !has_passed && last.around != seen.around;
        let ahead = leapt_from.is_some() || last.newest != seen.newest;
        // The next states begin where the last ones end: as if they had been seen before.
        let around = if at_cursor { last.around } else { seen.around };
        let before = remote.as_seen(Seen { around, ..last }, leapt_from.unwrap_or(points))?;
        Some(Change { before, remote, at_cursor, ahead })
    }

    /// Whether an entity that is shown by these two curves is shown elsewhere.
    fn concerns(&self, entity: Entity, before: &Curves, after: &Curves) -> bool {
        let (before, after) = (before.of(entity), after.of(entity));
        before != after
            || match after {
                // It is nothing but jumps.
                Curve::Hold => false,
                _ if after.leads() => self.ahead,
                _ => self.at_cursor,
            }
    }
}

impl<W: World> Session<W> {
    /// Keeps what is shown of others where it was, where something has changed about them. After the offsets were captured
    /// for `now`.
    pub(super) fn hide_news(&mut self, now: Instant, (schema, config): (&Schema, &ClientConfig), wanted: &Curves) {
        let Session { playout, snapshots, timeline, offsets, followers, authority, curves, seen, pacing, .. } = self;
        let Some(points) = playout.points_at(now) else { return };
        let Some(remote) = RemoteWindow::new(snapshots, points, pacing.rate()) else { return };
        let last = seen.replace(remote.seen()).unwrap_or(remote.seen());
        let change = Change::new(remote, last, playout.leapt_from());
        let curves_change = curves != wanted;
        let is_new = |change: &Change<'_>| change.at_cursor || curves_change || change.ahead && wanted.any_leads();
        let predicted = timeline.predicted();
        followers.advance(now);
        let mut hiding = Hiding { now, schema, config, offsets, followers };
        if let Some(change) = change.filter(is_new) {
            let others = remote.others(predicted);
            let by_curve = |entity: Entity| !authority.has_begun(entity) && change.concerns(entity, curves, wanted);
            let has_pose = |row: &Row<'_>| schema.component(row.component).has_pose();
            for row in others.filter(has_pose).filter(|row| by_curve(row.entity)) {
                hiding.hide(row.key(), &change, (curves, wanted));
            }
        }
        hiding.followers.retain(|entity| {
            let is_other = |row: Row<'_>| !predicted.contains(row.owned());
            wanted.of(entity).following().is_some() && remote.placed(entity, schema).is_some_and(is_other)
        });
        if curves_change {
            curves.clone_from(wanted);
        }
    }
}

/// What hides that an entity is elsewhere.
struct Hiding<'a> {
    now: Instant,
    schema: &'a Schema,
    config: &'a ClientConfig,
    offsets: &'a mut ErrorOffsets,
    followers: &'a mut Followers,
}

impl Hiding<'_> {
    /// Takes in the news of an entity, and leaves it where it was shown.
    fn hide(&mut self, key: RowKey, change: &Change<'_>, (before, after): (&Curves, &Curves)) {
        let shown = self.pose(key, &change.before, before);
        let (kind, entity) = (self.schema.component(key.component), key.entity);
        let correction = self.config.correction.as_ref();
        self.followers.follow((kind, key, after.of(entity)), &change.remote, correction);
        let (Some((from, speed_before)), Some(correction)) = (shown, correction) else { return };
        let Some((to, speed)) = self.pose(key, &change.remote, after) else { return };
        if from == to {
            return;
        }
        let from = self.offsets.at(entity, self.now, STANDING, self.config).shown(from);
        self.offsets.set(entity, offset(from, to, speed.max(speed_before), correction));
    }

    /// Where an entity is and how fast, without its offset.
    fn pose(&self, key: RowKey, remote: &RemoteWindow<'_>, curves: &Curves) -> Option<(Pose, f64)> {
        let kind = self.schema.component(key.component);
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        remote.row(kind, key, (curves.of(key.entity), self.followers), &mut row)?;
        Some((pose_of(kind, &row), vector::length(velocity_of(kind, &row))))
    }
}

/// How far is far goes by the speed; who turned around stood still for a moment.
fn offset(from: Pose, to: Pose, speed: f64, correction: &Correction) -> VisualOffset {
    VisualOffset::capture(from, to, speed, correction).0
}
