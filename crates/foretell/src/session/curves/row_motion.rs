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
/// the first. Where the rows say that the entity was put elsewhere between them, all of it is.
pub(crate) fn blend(kind: &ComponentSchema, from: &[u32], to: &[u32], t: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(if t < 1.0 { from } else { to });
    if t < 1.0 && from != to && !kind.teleports(from).differ(kind.teleports(to)) {
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
            Meaning::Plain | Meaning::Parent | Meaning::Teleports => {}
            Meaning::Rotation => {
                let rotation = crate::motion::rotation::slerp(column.lanes(from), column.lanes(to), t);
                column.set_lanes(into, &rotation);
            }
            Meaning::Position | Meaning::Velocity | Meaning::AngularVelocity if column.lanes == 3 => {
                let values: [f64; 3] = vector::lerp(column.lanes(from), column.lanes(to), t);
                set_finite_lanes(column, &values, into);
            }
            _ => {
                for lane in 0..usize::from(column.lanes) {
                    let [from, to] = [from, to].map(|words| column.lane(words, lane));
                    // From what is infinite, and to it, there is no line.
                    if from.is_finite() && to.is_finite() {
                        let [value] = vector::lerp([from], [to], t);
                        column.set_lane(into, lane, value);
                    }
                }
            }
        }
    }
}

/// Writes the lanes that are finite. The others stay as they are: from what is infinite, and to it, there is no way.
#[inline]
pub(super) fn set_finite_lanes<const N: usize>(column: &Column, values: &[f64; N], into: &mut [u32]) {
    if values.iter().all(|value| value.is_finite()) {
        return column.set_lanes(into, values);
    }
    let lanes = values.iter().enumerate().take(usize::from(column.lanes));
    lanes.filter(|(_, value)| value.is_finite()).for_each(|(lane, value)| column.set_lane(into, lane, *value));
}

/// A row moved on along its velocities for this many seconds.
pub(crate) fn ahead(kind: &ComponentSchema, from: &[u32], seconds: f64, into: &mut RowBuffer) {
    into[..from.len()].copy_from_slice(from);
    for moving in kind.moving() {
        let (place, column) = kind.column_at(moving.column);
        if let Some((of_velocity, velocity)) = moving.velocity.map(|at| kind.column_at(at))
            && column.meaning == Meaning::Position
        {
            let way = vector::scale(velocity.lanes(&from[of_velocity..]), seconds);
            move_column(place, column, way, into);
        }
    }
}

/// Adds to the positions of a row.
pub(crate) fn move_position(kind: &ComponentSchema, by: [f64; 3], row: &mut RowBuffer) {
    let positions = kind.places().filter(|(_, column)| column.meaning == Meaning::Position);
    positions.for_each(|(place, column)| move_column(place, column, by, row));
}

fn move_column(place: usize, column: &Column, by: [f64; 3], row: &mut RowBuffer) {
    let words = &mut row[place..place + column.words()];
    let moved: [f64; 3] = vector::add(column.lanes(words), by);
    column.set_lanes(words, &moved);
}

/// Sets the first rotation of a row, where it has one.
pub(crate) fn set_rotation(kind: &ComponentSchema, rotation: [f64; 4], row: &mut RowBuffer) {
    if let Some((place, column)) = kind.nth(Meaning::Rotation, 0) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::rotation;
    use crate::world::{Audience, Field};
    use alloc::vec::Vec;

    fn kind(columns: &[(Column, Meaning)]) -> ComponentSchema {
        let columns = columns.iter().map(|(column, meaning)| Column { meaning: *meaning, ..column.clone() }).collect();
        ComponentSchema::new("thing", columns, Audience::All)
    }

    fn column<T: Field>(meaning: Meaning) -> (Column, Meaning) {
        (Column::of::<T>("field", meaning), meaning)
    }

    fn row(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    fn values(words: &[u32]) -> Vec<f32> {
        words.iter().map(|word| f32::from_bits(*word)).collect()
    }

    #[test]
    fn there_is_no_line_from_what_is_infinite_or_to_it() {
        let kind = kind(&[column::<f32>(Meaning::Blended)]);
        for (from, to, expected) in [
            (f32::INFINITY, 5.0, f32::INFINITY),
            (5.0, f32::INFINITY, 5.0),
            (f32::INFINITY, f32::INFINITY, f32::INFINITY),
            (1.0, 2.0, 1.5),
        ] {
            let mut into = [0; ROW_WORDS_MAX];
            blend(&kind, &row(&[from]), &row(&[to]), 0.5, &mut into);
            assert_eq!(values(&into[..1]), [expected]);
        }
    }

    #[test]
    fn a_position_that_is_infinite_to_one_side_stays_so_while_the_others_go_on() {
        let kind = kind(&[column::<[f32; 3]>(Meaning::Position)]);
        let (from, to) = (row(&[f32::INFINITY, 1.0, 5.0]), row(&[f32::INFINITY, 2.0, f32::INFINITY]));
        let mut into = [0; ROW_WORDS_MAX];
        blend(&kind, &from, &to, 0.5, &mut into);
        assert_eq!(values(&into[..3]), [f32::INFINITY, 1.5, 5.0]);
    }

    #[test]
    fn an_offset_turns_the_first_rotation_and_each_position_goes_ahead_by_its_own_velocity() {
        let kind = kind(&[
            column::<f32>(Meaning::Position),
            column::<f32>(Meaning::Velocity),
            column::<f32>(Meaning::Position),
            column::<f32>(Meaning::Velocity),
            column::<[f32; 4]>(Meaning::Rotation),
            column::<[f32; 4]>(Meaning::Rotation),
        ]);
        let [hull, turret] = [0.1, 0.7].map(|by| rotation::from_vector([0.0, by, 0.0]));
        let words = row(&[&[0.0, 2.0, 10.0, -4.0][..], &hull, &turret].concat());
        let mut into = [0; ROW_WORDS_MAX];
        ahead(&kind, &words, 0.5, &mut into);
        assert_eq!(values(&into[..12]), [&[1.0, 2.0, 8.0, -4.0][..], &hull, &turret].concat());
        set_rotation(&kind, rotation::from_vector([0.0, 0.3, 0.0]), &mut into);
        assert_ne!(values(&into[4..8]), hull);
        assert_eq!(values(&into[8..12]), turret);
    }

    #[test]
    fn there_is_no_line_to_where_something_is_put() {
        let kind = kind(&[
            column::<f32>(Meaning::Position),
            column::<f32>(Meaning::Blended),
            column::<u16>(Meaning::Teleports),
        ]);
        let state = |x: f32, teleports: u32| [row(&[x, x]), Vec::from([teleports])].concat();
        let blended = |to: &[u32], t: f64| {
            let mut into = [0; ROW_WORDS_MAX];
            blend(&kind, &state(1.0, 65_535), to, t, &mut into);
            into[..3].to_vec()
        };
        assert_eq!(blended(&state(2.0, 65_535), 0.5), state(1.5, 65_535));
        assert_eq!(blended(&state(2.0, 0), 0.99), state(1.0, 65_535));
        assert_eq!(blended(&state(2.0, 0), 1.0), state(2.0, 0));
    }
}
