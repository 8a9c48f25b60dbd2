//! Where others are shown at one point: the states around the playout cursor, and the newest for whom is shown ahead of it.

use super::cubic::{LastSpan, Span};
use super::followers::{AHEAD, Drawing, ToldMotion};
use super::playout::Points;
use super::row_samples::{RowSamples, Sample};
use super::view::Source;
use crate::session::client::row_math::{RowBuffer, placed_row, set_position};
use crate::session::client::snapshots::{SamplePlace, Snapshot, Snapshots};
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
pub(crate) struct RemoteRow<'a, 's> {
    pub row: Row<'a>,
    pub samples: RowSamples<'a>,
    drawing: Drawing,
    span: Option<&'s Span>,
}

/// Where the next of many rows, ascending, mostly is in each of the snapshots around the cursor, and in the newest.
#[derive(Default)]
pub(crate) struct WindowPlaces {
    around: [SamplePlace; 4],
    newest: SamplePlace,
    span: LastSpan,
}

impl WindowPlaces {
    /// The next is this one of its component.
    pub(crate) fn skip_to(&mut self, nth: usize) {
        self.around.iter_mut().for_each(|place| place.row = nth);
    }
}

/// Rows of a component, one after the other.
#[derive(Clone)]
pub(crate) struct RowRange {
    pub component: ComponentId,
    pub range: Range<usize>,
}

/// Rows as they are shown so far, and where the next one mostly stands among those of its component.
#[derive(Clone, Copy)]
pub(crate) struct ShownRows<'a> {
    pub rows: &'a Rows,
    pub next: usize,
}

impl ShownRows<'_> {
    /// Whether a row is the next, as it is.
    fn is_next(self, row: Row<'_>) -> bool {
        self.next < self.rows.count_rows(row.component) && self.rows.nth_of(row.component, self.next) == row
    }
}

/// All that is known where others are shown.
#[derive(Clone, Copy)]
pub(crate) struct SnapshotWindow<'a> {
    /// Two up to the cursor, of which the second is there, and two after it.
    around: [Option<&'a Snapshot>; 4],
    newest: Tick,
    /// The newest, where it is remembered.
    newest_known: Option<&'a Snapshot>,
    snapshots: &'a Snapshots,
    points: Points,
    pace: Pace,
}

/// How fast the ticks are, and how many of them from one snapshot to the next.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub rate: TickRate,
    pub interval: u32,
}

impl<'a> SnapshotWindow<'a> {
    /// The snapshots around these points; `None` where there is none up to the cursor.
    pub(crate) fn new(snapshots: &'a Snapshots, points: Points, pace: Pace) -> Option<SnapshotWindow<'a>> {
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
        let newest = snapshots.newest()?;
        Some(SnapshotWindow { around, newest: newest.tick, newest_known: Some(newest), snapshots, points, pace })
    }

    /// The same as it was seen before, at other points; `None` where it is not remembered.
    pub(crate) fn as_seen(&self, seen: Seen, points: Points) -> Option<SnapshotWindow<'a>> {
        let around = seen.around.map(|tick| tick.and_then(|tick| self.snapshots.get(tick)));
        around[1]?;
        let newest_known = self.snapshots.get(seen.newest);
        Some(SnapshotWindow { around, newest: seen.newest, newest_known, points, ..*self })
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

    /// A row with its states around the cursor, and by what it is drawn. `nexts` is where it mostly is in each of the snapshots, and
    /// becomes where the next one is.
    #[inline]
    pub(crate) fn at<'s>(
        &self,
        component: &ComponentSchema,
        row: Row<'a>,
        drawing: Drawing,
        nexts: &'s mut WindowPlaces,
    ) -> RemoteRow<'a, 's> {
        let Pace { rate, interval } = self.pace;
        let ticks = component.interval_ticks(rate, interval);
        let samples =
            if ticks > interval { self.told_rarely(row.key(), ticks) } else { self.told_always(row.key(), nexts) };
        let span = nexts.span.get(samples.of.map(|of| of.map(|(tick, _)| tick)), drawing.curve, samples.at, rate);
        RemoteRow { row, samples, drawing, span }
    }

    /// The states of a row around the cursor.
    #[inline]
    fn told_always(&self, key: RowKey, nexts: &mut WindowPlaces) -> RowSamples<'a> {
        let mut are_of_now = true;
        let of = [0, 1, 2, 3].map(|nth| {
            let snapshot = self.around[nth]?;
            let sample = snapshot.sample(key, &mut nexts.around[nth])?;
            are_of_now &= sample.0 == snapshot.tick;
            Some(sample)
        });
        let of = match of[1] {
            Some(before) if !are_of_now => self.told_around(key, before, nexts.around[1].before()),
            _ => of,
        };
        RowSamples { of, at: self.points.cursor, rate: self.pace.rate }
    }

    /// The states around the point at which a row is shown that is told every so many ticks: by what that is more than from one
    /// snapshot to the next behind the cursor, so that mostly there is one on each side. Before the first one, that.
    fn told_rarely(&self, key: RowKey, ticks: u32) -> RowSamples<'a> {
        let Pace { rate, interval } = self.pace;
        let at = self.points.cursor - TickTime::ticks(f64::from(ticks - interval));
        let earliest = at - TickTime::ticks(f64::from(2 * ticks));
        let known = self.snapshots.complete().filter(|snapshot| snapshot.tick <= self.newest);
        let shown = self.around[1].map_or(self.newest, |snapshot| snapshot.tick);
        let (mut of, mut near) = ([None; 4], SamplePlace::default());
        for snapshot in known.skip_while(|snapshot| TickTime::start_of(snapshot.tick) < earliest) {
            let Some(told) = snapshot.sample(key, &mut near) else {
                if snapshot.tick > shown {
                    break;
                }
                of = [None; 4];
                continue;
            };
            match of {
                [_, None, ..] => of[1] = Some(told),
                [_, Some(before), None, _] if told.0 <= before.0 => {}
                [_, Some(_), None, _] if TickTime::start_of(told.0) <= at => (of[0], of[1]) = (of[1], Some(told)),
                [_, _, None, _] => of[2] = Some(told),
                [_, _, Some(next), _] if told.0 > next.0 => {
                    of[3] = Some(told);
                    break;
                }
                _ => {}
            }
        }
        let last = || self.around[1].and_then(|snapshot| snapshot.sample(key, &mut near));
        of[1] = of[1].or_else(last);
        RowSamples { of, at, rate }
    }

    /// The states in which a row was told around the cursor, of which the second is given. `near` is where the row mostly is.
    fn told_around(&self, key: RowKey, before: Sample<'a>, near: SamplePlace) -> [Option<Sample<'a>>; 4] {
        let [next, last] =
            self.told_back_to(key, before.0, near).unwrap_or_else(|| self.told_from(key, before.0, near));
        [self.told_before(before.0, key, near), Some(before), next, last]
    }

    /// How a row was told last before the state of `tick`: the snapshot before it has it so.
    fn told_before(&self, tick: Tick, key: RowKey, mut near: SamplePlace) -> Option<Sample<'a>> {
        self.snapshots.complete().rfind(|snapshot| snapshot.tick < tick)?.sample(key, &mut near)
    }

    /// The two states after that of `tick` in which a row was told next, found from the newest back; `None` where it is not there
    /// all the time.
    fn told_back_to(&self, key: RowKey, tick: Tick, near: SamplePlace) -> Option<[Option<Sample<'a>>; 2]> {
        let (mut next, mut last) = (None, None);
        let mut told = self.newest_known?.sample(key, &mut near.clone())?;
        while told.0 > tick {
            (next, last) = (Some(told), next);
            told = self.told_before(told.0, key, near)?;
        }
        Some([next, last])
    }

    /// The same, one snapshot after the other.
    fn told_from(&self, key: RowKey, tick: Tick, near: SamplePlace) -> [Option<Sample<'a>>; 2] {
        let cursor = self.around[1].map_or(tick, |snapshot| snapshot.tick);
        let later = self.snapshots.complete().filter(|snapshot| snapshot.tick > cursor && snapshot.tick <= self.newest);
        let mut after =
            later.filter_map(|snapshot| snapshot.sample(key, &mut near.clone())).filter(|told| told.0 > tick);
        let next = after.next();
        let last = next.and_then(|next| after.find(|told| told.0 > next.0));
        [next, last]
    }

    /// Whether all snapshots around the cursor have the same entities of a component.
    pub(crate) fn is_aligned(&self, component: ComponentId) -> bool {
        let rows = self.rows();
        self.around.iter().flatten().all(|snapshot| snapshot.rows.has_same_entities(component, rows))
    }

    /// Whether these rows rest, of whose component the snapshots are [aligned](SnapshotWindow::is_aligned), and are shown as they
    /// are.
    pub(crate) fn rest(&self, of: &RowRange, schema: &ComponentSchema, shown: ShownRows<'_>) -> bool {
        let (rows, RowRange { component, range }) = (self.rows(), of.clone());
        let (first, last) = (rows.nth_of(component, range.start).key(), rows.nth_of(component, range.end - 1).key());
        let are_of_now = |snapshot: &Snapshot| snapshot.are_of_now(first, last);
        if !self.around.iter().flatten().all(|snapshot| are_of_now(snapshot)) {
            return false;
        }
        let words = rows.words_in(component, range.clone());
        let mut others = [0, 2, 3].into_iter().filter_map(|nth| self.around[nth]);
        rows.has_same_rows(component, range.clone(), shown.rows, shown.next)
            && others.all(|other| other.rows.words_in(component, range.clone()) == words)
            && schema.say_no_velocity(words)
    }

    /// Whether one row rests and is shown as it is: it was told to rest before the first of the snapshots around the cursor, and not
    /// told again up to the last.
    pub(crate) fn row_rests(
        &self,
        row: Row<'_>,
        schema: &ComponentSchema,
        shown: ShownRows<'_>,
        nexts: &mut WindowPlaces,
    ) -> bool {
        let first = usize::from(self.around[0].is_none());
        let last = (2..4).rev().find(|nth| self.around[*nth].is_some()).unwrap_or(1);
        let mut behind = nexts.around;
        let mut resting = |nth: usize| self.around[nth]?.rests_since(row.key(), &mut behind[nth]);
        let since = resting(first);
        let rests =
            since.is_some() && since == resting(last) && shown.is_next(row) && schema.say_no_velocity(row.words);
        if rests {
            nexts.around = behind;
        }
        rests
    }

    /// Draws a row as its curve shows it. Returns where it comes from; `None` where nothing is known of it.
    pub(crate) fn draw(
        &self,
        component: &ComponentSchema,
        remote: &RemoteRow<'_, '_>,
        into: &mut RowBuffer,
    ) -> Option<Source> {
        let RemoteRow { row, samples, drawing, span } = remote;
        if drawing.curve.leads() {
            return self.draw_ahead(component, row.key(), *drawing, into);
        }
        if samples.rests(component) {
            into[..row.words.len()].copy_from_slice(samples.before().1);
            return Some(samples.source());
        }
        Some(samples.draw(component, drawing.curve, *span, into))
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
        self.draw(component, &self.at(component, row, drawing, &mut WindowPlaces::default()), into)
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

    /// The rows that were told since this was seen.
    pub(crate) fn told_since(&self, seen: Seen) -> impl Iterator<Item = RowKey> + use<'a> {
        self.snapshots.newest().into_iter().flat_map(move |newest| newest.told_since(seen.newest))
    }

    /// Whether a row was shown beyond the state in which it was told last. `nexts` is as in [`at`](SnapshotWindow::at).
    pub(crate) fn is_overdue(&self, key: RowKey, nexts: &mut WindowPlaces) -> bool {
        let Some(cursor) = self.around[1] else { return false };
        // What was told later is in the newest, unless it is gone.
        let newest = self.newest_known.and_then(|newest| newest.sample(key, &mut nexts.newest));
        if newest.is_some_and(|newest| newest.0 > cursor.tick) {
            return false;
        }
        let Some(before) = cursor.sample(key, &mut nexts.around[1]) else { return false };
        match newest {
            Some(newest) => newest.0 <= before.0,
            None => self.told_around(key, before, nexts.around[1].before())[2].is_none(),
        }
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
        let mut told = self
            .snapshots
            .complete()
            .rev()
            .filter(until)
            .filter_map(|snapshot| snapshot.sample(key, &mut SamplePlace::default()));
        let newest = told.next()?;
        let earlier = told.find(|earlier| earlier.0 < newest.0);
        Some(RowSamples { of: [earlier, Some(newest), None, None], at: self.points.front, rate: self.pace.rate })
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
        (self.points.front - told).as_ticks().max(0.0) * self.pace.rate.seconds()
    }
}
