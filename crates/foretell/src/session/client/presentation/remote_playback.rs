//! Others as they are shown: the playout cursor, their curves, and the proxies that a step sees of them.
//!
//! Between two states that are known when the cursor comes to the first nothing changes. But a state that comes while
//! others are extrapolated, or between two that they are shown between, says that they are elsewhere; one that comes after
//! those two bends a curve that goes by neighbours, and each new one moves who is shown ahead of the cursor. So do a jump
//! of the cursor, and another curve. All that is hidden by an offset, as a correction is.

use super::error_offsets::{ErrorOffsets, STANDING};
use super::followers::Followers;
use super::playout::{Playout, Points};
use super::snapshot_window::{Pace, RowRange, Seen, ShownRows, SnapshotWindow, WindowPlaces};
use super::visual_state::{Sources, VisualState};
use crate::motion::{Pose, VisualOffset, vector};
use crate::rollback::Timeline;
use crate::session::client::curves::{Curve, Curves};
use crate::session::client::row_math::{RowBuffer, pose_of, velocity_of};
use crate::session::client::snapshots::Snapshots;
use crate::time::{Instant, TickRate, TickTime};
use crate::world::{ComponentId, ComponentSchema, Entity, Predicted, ROW_WORDS_MAX, Row, RowKey, Rows, Schema, World};

/// How many rows are looked at together, whether they all rest.
const RESTING_ROWS: usize = 32;

/// Everything about others that is shown, from the start of a session to its end.
pub(crate) struct RemotePlayback {
    pub playout: Playout,
    rate: TickRate,
    /// By which curves they were shown in the last update, and by which states.
    pub curves: Curves,
    seen: Option<Seen>,
    followers: Followers,
    /// Their rows at the cursor, written before each step.
    proxies: Rows,
}

impl RemotePlayback {
    pub(crate) fn new(schema: &Schema, rate: TickRate, curve: Curve) -> RemotePlayback {
        RemotePlayback {
            playout: Playout::new(rate),
            rate,
            curves: Curves::new(curve),
            seen: None,
            followers: Followers::new(),
            proxies: Rows::new(schema),
        }
    }

    /// What is known of others where they are shown at `now`; `None` where nothing is.
    pub(crate) fn window<'a>(&self, snapshots: &'a Snapshots, now: Instant) -> Option<SnapshotWindow<'a>> {
        let pace = Pace { rate: self.rate, interval: self.playout.interval_ticks() };
        SnapshotWindow::new(snapshots, self.playout.points_at(now)?, pace)
    }

    /// What is shown.
    pub(crate) fn visual<'a, W: World>(&'a self, sources: &'a Sources<'a, W>) -> VisualState<'a, W> {
        let remote = self.window(sources.snapshots, sources.now);
        VisualState { sources, remote, curves: &self.curves, followers: &self.followers }
    }

    pub(crate) fn proxies(&self) -> &Rows {
        &self.proxies
    }

    /// Other entities will be predicted: who is not any more is a proxy from now on, who may be gone when the cursor does not
    /// see them.
    pub(crate) fn note_switch(&mut self, newest: &Rows, wanted: &Predicted) {
        newest.iter().filter(|row| !wanted.contains(row.owned())).for_each(|row| self.proxies.set_words(row));
        self.proxies.drop_predicted(wanted);
    }

    /// Writes the rows of others at the cursor. Returns where it stands, when there are any.
    pub(crate) fn write_proxies<W: World>(&mut self, sources: &Sources<'_, W>) -> Option<TickTime> {
        let remote = self.window(sources.snapshots, sources.now)?;
        let RemotePlayback { curves, followers, proxies, .. } = self;
        proxies.settle();
        let may_rest = sources.authority.is_empty() && !curves.any_leads();
        let visual = VisualState { sources, remote: Some(remote), curves, followers };
        let mut writer = ProxyWriter { visual: &visual, remote, proxies, next: 0, count: 0 };
        for component in sources.schema.ids() {
            writer.write_component(component, may_rest && remote.is_aligned(component));
        }
        let count = writer.count;
        if proxies.len() > count {
            proxies.retain(|key, _| remote.has(key));
        }
        (!proxies.is_empty()).then_some(remote.points().cursor)
    }

    /// Keeps what is shown of others where it was, where something has changed about them; from now on they are shown by the
    /// curves `wanted`. After the offsets were captured.
    pub(crate) fn hide_changes<W: World>(
        &mut self,
        sources: &Sources<'_, W>,
        wanted: &Curves,
        offsets: &mut ErrorOffsets,
    ) {
        let Some(remote) = self.window(sources.snapshots, sources.now) else { return };
        let last = self.seen.replace(remote.seen()).unwrap_or(remote.seen());
        let change = Change::new(remote, last, self.playout.leapt_from());
        let curves_change = self.curves != *wanted;
        let is_new = |change: &Change<'_>| change.at_cursor || curves_change || change.ahead && wanted.any_leads();
        let predicted = sources.timeline.predicted();
        self.followers.advance(sources.now);
        let has_pose = |row: &Row<'_>| sources.schema.component(row.component).has_pose();
        let is_held = |entity: Entity| sources.authority.has_begun(entity);
        if let Some(change) = change.as_ref().filter(|change| is_new(change)) {
            let is_changed = |entity: Entity| !is_held(entity) && change.concerns(entity, &self.curves, wanted);
            for row in remote.others(predicted).filter(has_pose).filter(|row| is_changed(row.entity)) {
                let mut hiding = Hiding { sources, change, offsets, followers: &mut self.followers };
                hiding.hide(row.key(), self.curves.of(row.entity), wanted.of(row.entity));
            }
        }
        // Who was told last long ago was shown beyond that, and is told elsewhere now.
        let overdue =
            remote.as_seen(last, remote.points()).filter(|before| before.seen().newest != remote.seen().newest);
        if let (Some(before), false) = (overdue, change.as_ref().is_some_and(is_new)) {
            let change = Change { before, remote, at_cursor: true, ahead: false };
            let mut next = 0;
            let told = remote.told_since(last).filter_map(|key| remote.rows().get_near(key, &mut next));
            let others = told.filter(|row| !predicted.contains(row.owned()) && !is_held(row.entity));
            let mut nexts = WindowPlaces::default();
            for row in others.filter(has_pose).filter(|row| before.is_overdue(row.key(), &mut nexts)) {
                let curve = self.curves.of(row.entity);
                if !curve.leads() {
                    let mut hiding = Hiding { sources, change: &change, offsets, followers: &mut self.followers };
                    hiding.hide(row.key(), curve, curve);
                }
            }
        }
        self.followers.retain(|entity| {
            let is_other = |row: Row<'_>| !predicted.contains(row.owned());
            wanted.of(entity).following().is_some() && remote.placed(entity, sources.schema).is_some_and(is_other)
        });
        if curves_change {
            self.curves.clone_from(wanted);
        }
    }
}

/// Writes proxies, component by component.
struct ProxyWriter<'a, W: World> {
    visual: &'a VisualState<'a, W>,
    remote: SnapshotWindow<'a>,
    proxies: &'a mut Rows,
    /// Where the next row of the component mostly is: how many of it are written.
    next: usize,
    count: usize,
}

impl<W: World> ProxyWriter<'_, W> {
    /// Writes the rows of a component, of which those that rest are mostly there already.
    fn write_component(&mut self, component: ComponentId, may_rest: bool) {
        let (schema, count) =
            (self.visual.sources.schema.component(component), self.remote.rows().count_rows(component));
        let (mut nexts, mut start) = (WindowPlaces::default(), 0);
        self.next = 0;
        while start < count {
            let end = (start + RESTING_ROWS).min(count);
            let of = RowRange { component, range: start..end };
            if may_rest && self.remote.rest(&of, schema, self.shown()) {
                self.pass(end - start);
                nexts.skip_to(end);
            } else {
                (start..end).for_each(|nth| self.write_row(component, nth, may_rest, &mut nexts));
            }
            start = end;
        }
    }

    /// Writes the nth row of a component, unless it rests and is there already.
    fn write_row(&mut self, component: ComponentId, nth: usize, may_rest: bool, nexts: &mut WindowPlaces) {
        let (row, Sources { timeline, schema, authority, .. }) =
            (self.remote.rows().nth_of(component, nth), self.visual.sources);
        let schema = schema.component(component);
        if is_predicted(row, schema, timeline) {
            return;
        }
        if may_rest && self.remote.row_rests(row, schema, self.shown(), nexts) {
            nexts.skip_to(nth + 1);
            return self.pass(1);
        }
        let mut into: RowBuffer = [0; ROW_WORDS_MAX];
        let other = self.remote.at(schema, row, self.visual.drawing(row.entity), nexts);
        self.remote.draw(schema, &other, &mut into);
        authority.put_captured(schema, row.key(), &mut into);
        self.proxies.set_words(Row { words: &into[..row.words.len()], ..row });
        self.pass(1);
    }

    fn shown(&self) -> ShownRows<'_> {
        ShownRows { rows: self.proxies, next: self.next }
    }

    /// The next rows of the component are written, or were.
    fn pass(&mut self, count: usize) {
        (self.next, self.count) = (self.next + count, self.count + count);
    }
}

/// Whether a row is simulated here, or is of an entity that another player has by now, as whose it is.
fn is_predicted<W: World>(row: Row<'_>, component: &ComponentSchema, timeline: &Timeline<W>) -> bool {
    let predicted = timeline.predicted();
    let owner = || timeline.rows(timeline.present()).and_then(|rows| rows.owner(row.entity));
    predicted.contains(row.owned())
        && (component.prediction().is_of(predicted.player(), row.owner)
            || owner().is_some_and(|owner| owner != row.owner))
}

/// What has changed about others since the update before.
struct Change<'a> {
    /// As they were shown by what was known then.
    before: SnapshotWindow<'a>,
    remote: SnapshotWindow<'a>,
    /// Whether those at the cursor are shown by other states, and not just by the next ones.
    at_cursor: bool,
    /// Whether those ahead of it are.
    ahead: bool,
}

impl<'a> Change<'a> {
    /// `last` is what was seen in the update before; `leapt_from` is where cursor and front would stand, if one has jumped.
    fn new(remote: SnapshotWindow<'a>, last: Seen, leapt_from: Option<Points>) -> Option<Change<'a>> {
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

/// What hides that an entity is elsewhere.
struct Hiding<'a, W: World> {
    sources: &'a Sources<'a, W>,
    change: &'a Change<'a>,
    offsets: &'a mut ErrorOffsets,
    followers: &'a mut Followers,
}

impl<W: World> Hiding<'_, W> {
    /// Takes in what has changed about an entity that was shown by one curve and will be by another, and leaves it where it
    /// was shown.
    fn hide(&mut self, key: RowKey, before: Curve, after: Curve) {
        let shown = self.pose(key, &self.change.before, before);
        let Sources { now, schema, config, .. } = self.sources;
        let (component, entity) = (schema.component(key.component), key.entity);
        let correction = config.correction.as_ref();
        match after.following() {
            Some(following) => {
                if let Some(told) = self.change.remote.told_motion(component, key) {
                    self.followers.follow(entity, following, told, correction);
                }
            }
            None => self.followers.remove(entity),
        }
        let (Some((from, speed_before)), Some(correction)) = (shown, correction) else { return };
        let Some((to, speed)) = self.pose(key, &self.change.remote, after) else { return };
        if from == to {
            return;
        }
        let from = self.offsets.at(entity, *now, STANDING, config).shown(from);
        // How far is far goes by the speed; who turned around stood still for a moment.
        self.offsets.set(entity, VisualOffset::capture(from, to, speed.max(speed_before), correction).0);
    }

    /// Where an entity is and how fast, without its offset.
    fn pose(&self, key: RowKey, remote: &SnapshotWindow<'_>, curve: Curve) -> Option<(Pose, f64)> {
        let component = self.sources.schema.component(key.component);
        let drawing = self.followers.drawing(key.entity, curve, self.sources.now);
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        remote.draw_row(component, key, drawing, &mut row)?;
        Some((pose_of(component, &row), vector::length(velocity_of(component, &row))))
    }
}
