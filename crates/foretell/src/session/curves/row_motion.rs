//! Rows as motions: the pose and the velocity in a row, rows between two, and rows moved on.

use crate::motion::{VisualOffset, vector};
use crate::world::{Column, ComponentSchema, Entity, Meaning, ROW_WORDS_MAX, Row, Rows, Schema};

/// A row at a shown instant, with room for the largest.
pub(crate) type RowBuffer = [u32; ROW_WORDS_MAX];

/// The row of an entity by which it is placed; any, where it has no place.
pub(crate) fn placed_row<'a>(rows: &'a Rows, entity: Entity, schema: &Schema) -> Option<Row<'a>> {
    let has_place = |row: &Row<'_>| schema.component(row.component).has_pose();
    rows.of(entity).find(has_place).or_else(|| rows.of(entity).next())
}

/// Moves a row by an offset.
pub(crate) fn apply(offset: VisualOffset, kind: &ComponentSchema, row: &mut RowBuffer) {
    if !offset.is_none() {
        set_rotation(kind, offset.shown(kind.pose(row)).rotation, row);
        move_position(kind, offset.position(), row);
    }
}

/// A row between two: motion and blended fields are on the line, rotations turn the shorter way, everything else is as in
/// the first.
pub(crate) fn blend(kind: &ComponentSchema, from: &[u32], to: &[u32], t: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(if t < 1.0 { from } else { to });
    if t < 1.0 && from != to {
        let line = RowLine { from, to, t };
        kind.places().for_each(|(place, column)| line.blend(place, column, into));
    }
}

/// The same, but positions and rotations are as in the first.
pub(crate) fn blend_but_poses(kind: &ComponentSchema, from: &[u32], to: &[u32], t: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(from);
    let is_pose = |meaning| matches!(meaning, Meaning::Position | Meaning::Rotation);
    let line = RowLine { from, to, t };
    let others = kind.places().filter(|(_, column)| !is_pose(column.meaning));
    others.for_each(|(place, column)| line.blend(place, column, into));
}

/// A point on the line between two rows.
struct RowLine<'a> {
    from: &'a [u32],
    to: &'a [u32],
    /// From 0, the first, to 1, the second.
    t: f64,
}

impl RowLine<'_> {
    /// Writes one column as it is there; what has no line stays as it is.
    fn blend(&self, place: usize, column: &Column, into: &mut RowBuffer) {
        let range = place..place + column.words();
        let (from, to, t) = (&self.from[range.clone()], &self.to[range.clone()], self.t);
        let into = &mut into[range];
        match column.meaning {
            Meaning::Plain | Meaning::Parent => {}
            // What is infinite and stays it has no line.
            Meaning::Blended if from == to => {}
            Meaning::Rotation => {
                let rotation = crate::motion::rotation::slerp(column.lanes(from), column.lanes(to), t);
                column.set_lanes(into, &rotation);
            }
            Meaning::Position | Meaning::Velocity | Meaning::AngularVelocity if column.lanes == 3 => {
                let values: [f64; 3] = vector::lerp(column.lanes(from), column.lanes(to), t);
                column.set_lanes(into, &values);
            }
            _ => {
                for lane in 0..usize::from(column.lanes) {
                    let [value] = vector::lerp([column.lane(from, lane)], [column.lane(to, lane)], t);
                    column.set_lane(into, lane, value);
                }
            }
        }
    }
}

/// A row moved on along its velocity for this many seconds.
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
        column.set_lanes(words, &moved);
    }
}

/// Sets the rotation of a row, where it has one.
pub(crate) fn set_rotation(kind: &ComponentSchema, rotation: [f64; 4], row: &mut RowBuffer) {
    for (place, column) in kind.places().filter(|(_, column)| column.meaning == Meaning::Rotation) {
        column.set_lanes(&mut row[place..place + column.words()], &rotation);
    }
}

/// Puts the first position of a row elsewhere.
pub(crate) fn set_position(kind: &ComponentSchema, position: [f64; 3], row: &mut RowBuffer) {
    if let Some((place, column)) = kind.nth(Meaning::Position, 0) {
        let [x, y, z] = position;
        column.set_lanes(&mut row[place..place + column.words()], &[x, y, z]);
    }
}

/// The velocity in a row in m/s; zero where it has none.
pub(crate) fn velocity_of(kind: &ComponentSchema, row: &[u32]) -> [f64; 3] {
    kind.field(Meaning::Velocity, row).map_or([0.0; 3], |(column, words)| column.lanes(words))
}
