//! What an update tells of entities and effects: the lists of `appearances.rs` and `effects.rs`, fed and read.

use super::effects::Now;
use super::error_offsets::pose_of;
use super::remote_window::{AHEAD, placed};
use super::sample_window::SampleWindow;
use super::snapshots::Snapshots;
use super::update::Update;
use super::{ClientEvent, Session};
use crate::motion::Pose;
use crate::rollback::Timeline;
use crate::time::{Tick, TickTime};
use crate::world::{Entity, Owned, ROW_WORDS_MAX, Row, Rows, Schema, World};
use alloc::vec::Vec;

impl<W: World> Update<'_, W> {
    /// Which entities the authority has had, by what has come since the last update.
    pub(super) fn confirm(&mut self) {
        for snapshot in self.session.snapshots.open() {
            self.session.lifecycles.confirm(snapshot, self.events);
        }
    }

    /// Tells what the update has brought: at its end, when the world stands at the present.
    pub(super) fn tell(&mut self) {
        let cursor = self.session.playout.at_instant(self.now);
        let compared = self.session.reconciler.compared();
        let (session, schema) = (&mut *self.session, &self.rules.schema);
        if let Some(snapshot) = session.snapshots.get(compared) {
            session.lifecycles.confirm(snapshot, self.events);
        }
        if let Some(cursor) = cursor {
            session.pass(cursor, schema, self.events);
        }
        {
            let now = Session::present_and_cursor(&session.timeline, &session.snapshots, cursor);
            self.stats.effects_cancelled += session.effects.settle(&now, self.events);
        }
        if let Some(snapshot) = session.snapshots.get(compared) {
            self.stats.withdrawn += session.lifecycles.end(compared, &snapshot.rows, self.events);
        }
        self.note_shown();
        self.session.told_at = self.session.playout.points_at(self.now);
    }

    /// Remembers where predicted entities are shown now.
    fn note_shown(&mut self) {
        let Session { lifecycles, timeline, offsets, pacing, .. } = &mut *self.session;
        let when = (self.now, pacing.at());
        let Some(newest) = timeline.rows(timeline.present()) else { return };
        let mut row = [0; ROW_WORDS_MAX];
        for life in lifecycles.predicted() {
            let Some(shown) = placed(newest, life.entity, &self.rules.schema) else { continue };
            let component = self.rules.schema.component(shown.component);
            offsets.show(timeline, (component, shown), (when, self.config), &mut row);
            life.pose = pose_of(component, &row);
        }
    }
}

impl<W: World> Session<W> {
    /// Takes in what the steps of these ticks have said, where it is remembered.
    pub(super) fn note_runs(&mut self, from: Tick, until: Tick) {
        for tick in from.max(self.timeline.oldest()).until(until) {
            self.effects.note_run(tick, self.timeline.effects(tick));
        }
    }

    /// Takes in the newest predicted state.
    pub(super) fn note_predicted(&mut self, schema: &Schema, events: &mut Vec<ClientEvent>) {
        let Some(newest) = self.timeline.rows(self.timeline.present()) else { return };
        self.lifecycles.note_predicted(newest, |row| pose_in(row, schema), events);
    }

    /// The client starts again from a full state: what it has not seen of what was before, it will not be told.
    pub(super) fn skip_effects(&mut self, cursor: Option<TickTime>) {
        let now = Session::present_and_cursor(&self.timeline, &self.snapshots, cursor);
        self.effects.skip(&now);
    }

    fn present_and_cursor(
        timeline: &Timeline<W>,
        snapshots: &Snapshots,
        cursor: Option<TickTime>,
    ) -> Now<impl Fn(Entity) -> bool> {
        let (predicted, newest) = (timeline.predicted(), snapshots.newest());
        let predicts = move |entity: Entity| {
            let owner = newest.and_then(|newest| newest.rows.owner(entity)).unwrap_or(entity.spawned_for());
            predicted.contains(Owned { entity, owner })
        };
        Now { present: timeline.present(), cursor, predicts }
    }

    /// Others that the cursor has come to, or left behind.
    fn pass(&mut self, cursor: TickTime, schema: &Schema, events: &mut Vec<ClientEvent>) {
        let (told_at, rate) = (self.told_at, self.pacing.rate());
        let Session { lifecycles, snapshots, timeline, curves, .. } = self;
        let predicted = timeline.predicted();
        // What an entity's next state lacks is extrapolated up to there.
        let last = |entity: Entity, tick: Tick, rows: &Rows| -> Option<Pose> {
            let row = placed(rows, entity, schema)?;
            let (words, kind) = (row.words, schema.component(row.component));
            let mut row = [0; ROW_WORDS_MAX];
            let (told_at, curve) = (told_at?, curves.of(entity));
            let at = if curve.leads() { told_at.front } else { told_at.cursor };
            let samples = SampleWindow { of: [None, Some((tick, words)), None, None], at, rate };
            if curve.leads() {
                let seconds = (at - TickTime::start_of(tick)).as_ticks().max(0.0) * rate.seconds();
                samples.reckon(kind, Some(AHEAD), seconds, &mut row);
            } else {
                samples.draw(kind, curve, &mut row);
            }
            Some(pose_of(kind, &row))
        };
        lifecycles.pass((snapshots, cursor), predicted, last, events);
    }
}

/// The pose that a row says; `None` where it says none.
fn pose_in(row: Row<'_>, schema: &Schema) -> Option<Pose> {
    let component = schema.component(row.component);
    component.has_pose().then(|| pose_of(component, row.words))
}
