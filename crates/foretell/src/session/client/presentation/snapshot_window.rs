//! Where others are shown at one point: the states around the playout cursor, and the newest for whom is shown ahead of it.

use super::followers::{AHEAD, Drawing, ToldMotion};
use super::playout::Points;
use super::row_samples::{RowSamples, Sample};
use super::view::Source;
use crate::session::client::row_math::{RowBuffer, placed_row, set_position};
use crate::session::client::snapshots::{Snapshot, Snapshots};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{ComponentId, ComponentSchema, Entity, Predicted, Row, RowKey, Rows, Schema};
use core::ops::Range;

/// By which snapshots others are shown: the two up to the cursor and the two after it, and the newest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub around: [Option<Tick>; 4],
    pub newest: Tick,
}

/// A row of another, and its states around the cursor.
#[derive(Clone, Copy)]
pub(crate) struct RemoteRow<'a> {
    pub row: Row<'a>,
    pub samples: RowSamples<'a>,
}

/// Rows of a component, one after the other.
#[derive(Clone)]
pub(crate) struct RowRange {
    pub component: ComponentId,
    pub range: Range<usize>,
}

/// All that is known where others are shown.
#[derive(Clone, Copy)]
pub(crate) struct SnapshotWindow<'a> {
    /// Two up to the cursor, of which the second is there, and two after it.
    around: [Option<&'a Snapshot>; 4],
    newest: Tick,
    snapshots: &'a Snapshots,
    points: Points,
    rate: TickRate,
}

impl<'a> SnapshotWindow<'a> {
    /// The snapshots around these points; `None` where there is none up to the cursor.
    pub(crate) fn new(snapshots: &'a Snapshots, points: Points, rate: TickRate) -> Option<SnapshotWindow<'a>> {
        let mut around = [None; 4];
        for snapshot in snapshots.complete() {
            if TickTime::start_of(snapshot.tick) <= points.cursor {
                (around[0], around[1]) = (around[1], Some(snapshot));
            } else if around[2].is_none() {
                around[2] = Some(snapshot);
            } else {
                around[3] = Some(snapshot);
                break;
            }
        }
        around[1]?;
        let newest = snapshots.newest()?.tick;
        Some(SnapshotWindow { around, newest, snapshots, points, rate })
    }

    /// The same as it was seen before, at other points; `None` where it is not remembered.
    pub(crate) fn as_seen(&self, seen: Seen, points: Points) -> Option<SnapshotWindow<'a>> {
        let around = seen.around.map(|tick| tick.and_then(|tick| self.snapshots.get(tick)));
        around[1]?;
        Some(SnapshotWindow { around, newest: seen.newest, points, ..*self })
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen { around: self.around.map(|snapshot| snapshot.map(|snapshot| snapshot.tick)), newest: self.newest }
    }

    /// The state up to the cursor.
    pub(crate) fn rows(&self) -> &'a Rows {
        &self.around[1].expect("there is one up to the cursor").rows
    }

    pub(crate) fn points(&self) -> Points {
        self.points
    }

    /// The rows up to the cursor of all entities that are not predicted, ascending.
    pub(crate) fn others(&self, predicted: &Predicted) -> impl Iterator<Item = Row<'a>> {
        let rows = self.around[1].into_iter().flat_map(|before| before.rows.iter());
        rows.filter(|row| !predicted.contains(row.owned()))
    }

    /// A row with its states around the cursor. `nexts` is where it mostly is in each of the snapshots, and becomes where the
    /// next one is.
    pub(crate) fn at(&self, row: Row<'a>, nexts: &mut [usize; 4]) -> RemoteRow<'a> {
        let sample = |nth: usize| match self.around[nth] {
            Some(before) if nth == 1 => Some((before.tick, row.words)),
            Some(snapshot) => Some((snapshot.tick, snapshot.rows.words_near(row.key(), &mut nexts[nth])?)),
            None => None,
        };
        let samples = RowSamples { of: [0, 1, 2, 3].map(sample), at: self.points.cursor, rate: self.rate };
        RemoteRow { row, samples }
    }

    /// Whether all snapshots around the cursor have the same entities of a component.
    pub(crate) fn is_aligned(&self, component: ComponentId) -> bool {
        let rows = self.rows();
        self.around.iter().flatten().all(|snapshot| snapshot.rows.has_same_entities(component, rows))
    }

    /// Whether these rows rest, of whose component the snapshots are [aligned](SnapshotWindow::is_aligned), and `shown` has them
    /// as they are, from `shown_start` on.
    pub(crate) fn rest(&self, of: &RowRange, schema: &ComponentSchema, shown: &Rows, shown_start: usize) -> bool {
        let (rows, RowRange { component, range }) = (self.rows(), of.clone());
        let others = [0, 2, 3].map(|nth| self.around[nth]);
        rows.has_same_rows(component, range.clone(), shown, shown_start)
            && others
                .into_iter()
                .flatten()
                .all(|snapshot| rows.has_same_rows(component, range.clone(), &snapshot.rows, range.start))
            && range.into_iter().all(|nth| schema.says_no_velocity(rows.nth_of(component, nth).words))
    }

    /// Draws a row as its curve shows it. Returns where it comes from; `None` where nothing is known of it.
    pub(crate) fn draw(
        &self,
        component: &ComponentSchema,
        remote: &RemoteRow<'_>,
        drawing: Drawing,
        into: &mut RowBuffer,
    ) -> Option<Source> {
        let RemoteRow { row, samples } = remote;
        if drawing.curve.leads() {
            return self.draw_ahead(component, row.key(), drawing, into);
        }
        if samples.rests(component) {
            into[..row.words.len()].copy_from_slice(row.words);
            return Some(samples.source());
        }
        Some(samples.draw(component, drawing.curve, into))
    }

    /// The same of a row that is found by its key.
    pub(crate) fn draw_row(
        &self,
        component: &ComponentSchema,
        key: RowKey,
        drawing: Drawing,
        into: &mut RowBuffer,
    ) -> Option<Source> {
        let row = self.around[1]?.rows.get(key)?;
        let of = self.around.map(|snapshot| snapshot.and_then(|snapshot| sample(snapshot, key)));
        let samples = RowSamples { of, at: self.points.cursor, rate: self.rate };
        self.draw(component, &RemoteRow { row, samples }, drawing, into)
    }

    fn draw_ahead(
        &self,
        component: &ComponentSchema,
        key: RowKey,
        drawing: Drawing,
        into: &mut RowBuffer,
    ) -> Option<Source> {
        let told = self.told(key)?;
        let source = told.reckon(component, Some(AHEAD), self.age_s(&told), into);
        if let Some(position) = drawing.follower {
            set_position(component, position, into);
        }
        Some(source)
    }

    pub(crate) fn has(&self, key: RowKey) -> bool {
        self.around[1].is_some_and(|before| before.rows.words(key).is_some())
    }

    /// The row of an entity by which it is placed, up to the cursor; any, where it has no place.
    pub(crate) fn placed(&self, entity: Entity, schema: &Schema) -> Option<Row<'a>> {
        placed_row(&self.around[1]?.rows, entity, schema)
    }

    /// The newest state in which a row was told, and the one before it.
    fn told(&self, key: RowKey) -> Option<RowSamples<'a>> {
        let until = |snapshot: &&Snapshot| snapshot.tick <= self.newest;
        let mut told = self.snapshots.complete().rev().filter(until).filter_map(|snapshot| sample(snapshot, key));
        let (newest, earlier) = (told.next()?, told.next());
        Some(RowSamples { of: [earlier, Some(newest), None, None], at: self.points.front, rate: self.rate })
    }

    /// Where an entity was in that state, and how fast.
    pub(crate) fn told_motion(&self, component: &ComponentSchema, key: RowKey) -> Option<ToldMotion> {
        let told = self.told(key)?;
        let (position, velocity) = told.motion(component);
        let (tick, _) = told.of[1]?;
        Some(ToldMotion { tick, position, velocity, age_s: self.age_s(&told) })
    }

    /// How old the second of these states is on the server by now, in seconds.
    fn age_s(&self, samples: &RowSamples<'_>) -> f64 {
        let told = samples.of[1].map_or(self.points.front, |(tick, _)| TickTime::start_of(tick));
        (self.points.front - told).as_ticks().max(0.0) * self.rate.seconds()
    }
}

fn sample(snapshot: &Snapshot, key: RowKey) -> Option<Sample<'_>> {
    Some((snapshot.tick, snapshot.rows.words(key)?))
}
