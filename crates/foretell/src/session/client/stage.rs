//! Where others are shown at one point: the states around the playout cursor, and the newest for whom is shown ahead of it.

use super::drawn::{Knot, Knots};
use super::followers::Followers;
use super::playout::Points;
use super::shown::{RowBuffer, set_position};
use super::snapshots::{Snapshot, Snapshots};
use super::view::Source;
use super::{Curve, Session};
use crate::motion::curve::Extrapolation;
use crate::rollback::{Entity, KindSchema, Predicted, World};
use crate::time::{Instant, Tick, TickRate, TickTime};

/// How far those go on that are shown ahead of the cursor: their states are older by the way down and an interval, so
/// longer than others (D18).
pub(super) const AHEAD: Extrapolation = Extrapolation::FAR;

/// By which snapshots others are shown: the two up to the cursor and the two after it, and the newest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub around: [Option<Tick>; 4],
    pub newest: Tick,
}

/// All that is known where others are shown.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    /// Two up to the cursor, of which the second is there, and two after it.
    around: [Option<&'a Snapshot>; 4],
    newest: Tick,
    snapshots: &'a Snapshots,
    points: Points,
    rate: TickRate,
}

impl<'a> Stage<'a> {
    /// The snapshots around these points; `None` where there is none up to the cursor.
    pub(super) fn new(snapshots: &'a Snapshots, points: Points, rate: TickRate) -> Option<Stage<'a>> {
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
        Some(Stage { around, newest, snapshots, points, rate })
    }

    /// The same as it was seen before, at other points; `None` where it is not remembered.
    pub(super) fn as_seen(&self, seen: Seen, points: Points) -> Option<Stage<'a>> {
        let around = seen.around.map(|tick| tick.and_then(|tick| self.snapshots.get(tick)));
        around[1]?;
        Some(Stage { around, newest: seen.newest, points, ..*self })
    }

    pub(super) fn seen(&self) -> Seen {
        Seen { around: self.around.map(|snapshot| snapshot.map(|snapshot| snapshot.tick)), newest: self.newest }
    }

    pub(super) fn points(&self) -> Points {
        self.points
    }

    /// The rows up to the cursor of all entities that are not predicted, ascending.
    pub(super) fn others(&self, predicted: &Predicted) -> impl Iterator<Item = (Entity, &'a [u32])> {
        let rows = self.around[1].into_iter().flat_map(|before| before.rows.iter());
        rows.filter(|(entity, _)| !predicted.contains(entity.player()))
    }

    pub(super) fn has(&self, entity: Entity) -> bool {
        self.around[1].is_some_and(|before| before.rows.words(entity).is_some())
    }

    /// The row of an entity as its curve shows it; `None` where it is not there.
    pub(super) fn row(
        &self,
        kind: &KindSchema,
        entity: Entity,
        (curve, followers): (Curve, &Followers),
        into: &mut RowBuffer,
    ) -> Option<Source> {
        if curve.leads() {
            self.has(entity).then_some(())?;
            let knots = self.told(entity)?;
            let source = knots.reckon(kind, Some(AHEAD), self.age_s(&knots), into);
            if let Some(position) = followers.position(entity, self.points.now) {
                set_position(kind, position, into);
            }
            return Some(source);
        }
        let of = self.around.map(|snapshot| snapshot.and_then(|snapshot| knot(snapshot, entity)));
        of[1]?;
        Some(Knots { of, at: self.points.cursor, rate: self.rate }.draw(kind, curve, into))
    }

    /// The newest state that an entity was told of, and the one before it.
    pub(super) fn told(&self, entity: Entity) -> Option<Knots<'a>> {
        let until = |snapshot: &&Snapshot| snapshot.tick <= self.newest;
        let mut told = self.snapshots.complete().rev().filter(until).filter_map(|snapshot| knot(snapshot, entity));
        let (newest, earlier) = (told.next()?, told.next());
        Some(Knots { of: [earlier, Some(newest), None, None], at: self.points.front, rate: self.rate })
    }

    /// How old the second of these states is on the server by now, in seconds.
    pub(super) fn age_s(&self, knots: &Knots<'_>) -> f64 {
        let told = knots.of[1].map_or(self.points.front, |(tick, _)| TickTime::start_of(tick));
        (self.points.front - told).as_ticks().max(0.0) * self.rate.seconds()
    }
}

fn knot(snapshot: &Snapshot, entity: Entity) -> Option<Knot<'_>> {
    Some((snapshot.tick, snapshot.rows.words(entity)?))
}

impl<W: World> Session<W> {
    /// Where others are shown at `now`; `None` where nothing of them is known.
    pub(super) fn stage(&self, now: Instant) -> Option<Stage<'_>> {
        Stage::new(&self.snapshots, self.playout.points_at(now)?, self.pacing.rate())
    }
}
