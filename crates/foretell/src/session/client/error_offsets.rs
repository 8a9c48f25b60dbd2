//! Where predicted entities are shown: between two states, plus the visual offset that hides corrections (R23, R24).

use super::visual_state::VisualState;
use super::{ClientConfig, Show};
use crate::motion::{Pose, VisualOffset, vector};
use crate::rollback::Timeline;
use crate::time::{Instant, TickTime};
use crate::world::{ComponentSchema, Entity, Meaning, Predicted, ROW_WORDS_MAX, Row, Rows, World};
use alloc::vec::Vec;

/// The offset of an entity that is not predicted decays the same way in all directions.
pub(crate) const STANDING: [f64; 3] = [0.0; 3];

/// A row at a shown instant, with room for the largest.
pub(crate) type RowBuffer = [u32; ROW_WORDS_MAX];

/// What was shown of an entity before a correction.
#[derive(Clone, Copy, Debug)]
struct Captured {
    entity: Entity,
    /// Without the offset.
    simulated: Pose,
    shown: Pose,
    predicted: bool,
    /// How far it is simulated from where it was, if it was and is predicted.
    simulated_m: f64,
    /// How far it is simulated from where it was shown.
    moved_m: f64,
    teleport: bool,
}

/// The visual offsets of all entities that have one: predicted ones, and those that were predicted until of late.
#[derive(Clone, Debug)]
pub(crate) struct ErrorOffsets {
    /// Ascending by entity.
    offsets: Vec<(Entity, VisualOffset)>,
    /// The instant that they stand for.
    at: Instant,
    captured: Vec<Captured>,
}

impl ErrorOffsets {
    pub(crate) fn new(now: Instant) -> ErrorOffsets {
        let few = super::FEW;
        ErrorOffsets { offsets: Vec::with_capacity(few), at: now, captured: Vec::with_capacity(few) }
    }

    /// The offset of an entity at `now`, when it moves with `velocity`.
    pub(crate) fn at(&self, entity: Entity, now: Instant, velocity: [f64; 3], config: &ClientConfig) -> VisualOffset {
        let (Some(offset), Some(config)) = (self.find(entity), &config.correction) else { return VisualOffset::NONE };
        offset.decayed(now.since(self.at), velocity, config)
    }

    /// The row of a predicted entity as it is shown at `now`, when the clock stands at `at`. Returns the offset in it.
    pub(crate) fn show<W: World>(
        &self,
        timeline: &Timeline<W>,
        (component, row): (&ComponentSchema, Row<'_>),
        ((now, at), config): ((Instant, TickTime), &ClientConfig),
        into: &mut RowBuffer,
    ) -> VisualOffset {
        shown_row(timeline, component, row, (at, config.show), into);
        if !component.has_pose() {
            return VisualOffset::NONE;
        }
        let offset = self.at(row.entity, now, velocity_of(component, row.words), config);
        apply(offset, component, into);
        offset
    }

    /// Lets the offsets decay to `now`, and remembers what is shown of every predicted entity.
    pub(super) fn capture<W: World>(&mut self, visual: &VisualState<'_, W>) {
        self.captured.clear();
        let Some(newest) = visual.timeline.rows(visual.timeline.present()) else { return };
        for index in 0..self.offsets.len() {
            let (entity, _) = self.offsets[index];
            if !newest.has(entity) {
                self.offsets[index].1 = self.at(entity, visual.now, STANDING, visual.config);
            }
        }
        for row in newest.iter().filter(|row| visual.schema.component(row.component).has_pose()) {
            self.capture_one(row.entity, visual);
        }
        let is_there = |entity: Entity| newest.has(entity) || visual.other(entity).is_some();
        self.offsets.retain(|(entity, offset)| !offset.is_none() && is_there(*entity));
        self.at = visual.now;
    }

    /// Remembers what is shown of entities that are not predicted and will be: those of `players`. After
    /// [`capture`](ErrorOffsets::capture).
    pub(super) fn capture_others<W: World>(&mut self, visual: &VisualState<'_, W>, players: &Predicted) {
        let has_pose = |row: &Row<'_>| visual.schema.component(row.component).has_pose();
        for row in visual.others().filter(has_pose).filter(|row| players.contains(row.owned())) {
            self.capture_one(row.entity, visual);
        }
    }

    fn capture_one<W: World>(&mut self, entity: Entity, visual: &VisualState<'_, W>) {
        let Some((simulated, velocity)) = visual.pose(entity) else { return };
        let predicted = visual.predicted(entity).is_some();
        let offset = self.at(entity, visual.now, if predicted { velocity } else { STANDING }, visual.config);
        let shown = offset.shown(simulated);
        let (simulated_m, moved_m, teleport) = (0.0, 0.0, false);
        self.captured.push(Captured { entity, simulated, shown, predicted, simulated_m, moved_m, teleport });
        self.set(entity, offset);
    }

    /// Nothing was corrected since the capture.
    pub(crate) fn keep(&mut self) {
        self.captured.clear();
    }

    /// Gives every entity whose pose a correction has moved the offset that hides it.
    pub(super) fn land<W: World>(&mut self, visual: &VisualState<'_, W>) {
        self.at = visual.now;
        let mut captured = core::mem::take(&mut self.captured);
        for before in &mut captured {
            let Some((simulated, velocity)) = visual.pose(before.entity) else { continue };
            before.moved_m = vector::length(vector::sub(before.shown.position, simulated.position));
            if before.predicted && visual.predicted(before.entity).is_some() {
                before.simulated_m = vector::length(vector::sub(before.simulated.position, simulated.position));
            }
            if simulated == before.simulated {
                continue;
            }
            let Some(config) = &visual.config.correction else { continue };
            let (offset, snapped) = VisualOffset::capture(before.shown, simulated, vector::length(velocity), config);
            before.teleport = snapped;
            self.set(before.entity, offset);
        }
        self.captured = captured;
    }

    /// How far the correction that has just landed moved an entity from where it was shown, and whether it snapped.
    pub(crate) fn landed(&self, entity: Entity) -> (f64, bool) {
        let found = self.captured.iter().find(|captured| captured.entity == entity);
        found.map_or((0.0, false), |captured| (captured.moved_m, captured.teleport))
    }

    /// The entities that are simulated elsewhere since something has landed, and how far, in metres.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (Entity, f64)> {
        let moved = self.captured.iter().filter(|captured| captured.simulated_m > 0.0);
        moved.map(|captured| (captured.entity, captured.simulated_m))
    }

    fn find(&self, entity: Entity) -> Option<VisualOffset> {
        let index = self.offsets.binary_search_by_key(&entity, |(entity, _)| *entity).ok()?;
        Some(self.offsets[index].1)
    }

    /// Replaces the offset of an entity, as of the instant that all stand for.
    pub(super) fn set(&mut self, entity: Entity, offset: VisualOffset) {
        match self.offsets.binary_search_by_key(&entity, |(entity, _)| *entity) {
            Ok(index) => self.offsets[index].1 = offset,
            Err(_) if offset.is_none() => {}
            Err(index) => self.offsets.insert(index, (entity, offset)),
        }
    }
}

/// Moves a row by an offset.
pub(super) fn apply(offset: VisualOffset, kind: &ComponentSchema, row: &mut RowBuffer) {
    if !offset.is_none() {
        set_rotation(kind, offset.shown(pose_of(kind, row)).rotation, row);
        move_position(kind, offset.position(), row);
    }
}

/// The row of a predicted entity as it is simulated at the point `at`; `words` is its newest one.
pub(crate) fn shown_row<W: World>(
    timeline: &Timeline<W>,
    component: &ComponentSchema,
    row: Row<'_>,
    (at, show): (TickTime, Show),
    into: &mut RowBuffer,
) {
    let newest = timeline.present();
    let before = newest.back(1).and_then(|tick| timeline.rows(tick).map(|rows| (tick, rows)));
    let words_before = before.and_then(|(_, rows): (_, &Rows)| rows.words(row.key()));
    let (kind, words) = (component, row.words);
    let fraction = before.map_or(1.0, |(tick, _)| (at - TickTime::start_of(tick)).as_ticks().clamp(0.0, 1.0));
    match (show, words_before) {
        (Show::Between, Some(words_before)) => blend(kind, words_before, words, fraction, into),
        (Show::Ahead, _) => ahead(kind, words, fraction * timeline.rate().seconds(), into),
        _ => into[..words.len()].copy_from_slice(words),
    }
}

/// A row between two: motion and blended fields are on the line, rotations turn the shorter way, everything else is as in
/// the first.
pub(crate) fn blend(kind: &ComponentSchema, from: &[u32], to: &[u32], t: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(if t < 1.0 { from } else { to });
    if t >= 1.0 || from == to {
        return;
    }
    for (place, column) in kind.places() {
        let range = place..place + column.words();
        let (a, b) = (&from[range.clone()], &to[range.clone()]);
        let values: [f64; 4] = match column.meaning {
            Meaning::Plain => continue,
            // What is infinite and stays it has no line.
            Meaning::Blended if a == b => continue,
            Meaning::Blended => {
                for lane in 0..usize::from(column.lanes) {
                    let [value] = vector::lerp([column.lane(a, lane)], [column.lane(b, lane)], t);
                    column.set_lane(&mut into[range.clone()], lane, value);
                }
                continue;
            }
            Meaning::Rotation => crate::motion::rotation::slerp(column.lanes(a), column.lanes(b), t),
            _ => vector::lerp(column.lanes(a), column.lanes(b), t),
        };
        write_lanes(column, &values, &mut into[range]);
    }
}

/// A row moved on along its velocity, by so many seconds.
pub(crate) fn ahead(kind: &ComponentSchema, from: &[u32], seconds: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(from);
    let velocity = velocity_of(kind, from);
    move_position(kind, vector::scale(velocity, seconds), into);
}

/// Adds to the position of a row, where it has one.
pub(crate) fn move_position(kind: &ComponentSchema, by: [f64; 3], row: &mut RowBuffer) {
    for (place, column) in kind.places().filter(|(_, column)| column.meaning == Meaning::Position) {
        let words = &mut row[place..place + column.words()];
        let moved: [f64; 3] = vector::add(column.lanes(words), by);
        write_lanes(column, &moved, words);
    }
}

/// Sets the rotation of a row, where it has one.
pub(crate) fn set_rotation(kind: &ComponentSchema, rotation: [f64; 4], row: &mut RowBuffer) {
    for (place, column) in kind.places().filter(|(_, column)| column.meaning == Meaning::Rotation) {
        write_lanes(column, &rotation, &mut row[place..place + column.words()]);
    }
}

pub(super) fn write_lanes(column: &crate::world::Column, values: &[f64], words: &mut [u32]) {
    for (lane, value) in values.iter().enumerate().take(usize::from(column.lanes)) {
        column.set_lane(words, lane, *value);
    }
}

/// Puts the first position of a row elsewhere.
pub(super) fn set_position(kind: &ComponentSchema, position: [f64; 3], row: &mut RowBuffer) {
    if let Some((place, column)) = kind.nth(Meaning::Position, 0) {
        let [x, y, z] = position;
        write_lanes(column, &[x, y, z, 0.0], &mut row[place..place + column.words()]);
    }
}

/// The pose in a row; the origin, upright, where it has none.
pub(crate) fn pose_of(kind: &ComponentSchema, row: &[u32]) -> Pose {
    let position = kind.field(Meaning::Position, row).map_or([0.0; 3], |(column, words)| column.lanes(words));
    let rotation =
        kind.field(Meaning::Rotation, row).map_or(Pose::IDENTITY.rotation, |(column, words)| column.lanes(words));
    Pose { position, rotation }
}

/// The velocity in a row in m/s; zero where it has none.
pub(crate) fn velocity_of(kind: &ComponentSchema, row: &[u32]) -> [f64; 3] {
    kind.field(Meaning::Velocity, row).map_or([0.0; 3], |(column, words)| column.lanes(words))
}
