//! Rows in whole steps: how they are told to who shows them, and what differences are taken of.
//!
//! A rounded row has a bit for each group of lanes that could not be rounded (not a number, or too far out), then a word for each
//! word of the row: of a rounded lane its number of steps, of any other its bits. Both ends hold rounded rows, so that what is
//! computed from one is the same on both.

use super::{Column, ComponentSchema, Meaning, ROW_WORDS_MAX, Scalar};
use crate::math::f64::sqrt;
use alloc::vec::Vec;

/// Two words of bits: one for each of up to 64 groups.
const MARKS: usize = 2;
/// So many steps from zero, and no more.
const STEPS_MAX: f64 = 2_147_483_000.0;

/// What becomes of the lanes of a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum GroupKind {
    /// They are told as they are.
    Exact,
    /// Each is told in steps.
    Steps { step: f64, motion: Option<Motion> },
    /// A unit quaternion: which of its parts is the largest, and the other three in steps.
    Turn { step: f64 },
}

/// The velocity that a group of positions moves by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Motion {
    /// Which group it is.
    pub group: usize,
    /// Where its first lane stands.
    pub at: usize,
    pub lanes: usize,
    /// How many steps of the position one of its own makes in a second.
    pub steps_per_second: f64,
}

/// The lanes of a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LaneGroup {
    /// Where its first word is in a row.
    pub at: usize,
    pub lanes: usize,
    /// How many words it takes.
    words: usize,
    pub scalar: Scalar,
    pub kind: GroupKind,
}

impl LaneGroup {
    fn of(columns: &[(usize, &Column)], nth: usize, component: &ComponentSchema) -> LaneGroup {
        let (at, column) = columns[nth];
        let kind = match column.precision.step() {
            None => GroupKind::Exact,
            Some(step) if column.meaning == Meaning::Rotation => GroupKind::Turn { step },
            Some(step) => {
                let moving = component.moving().iter().find(|moving| moving.column == nth);
                let velocity =
                    moving.and_then(|moving| moving.velocity).filter(|_| column.meaning == Meaning::Position);
                let motion = velocity.and_then(|group| {
                    let (at, of) = columns[group];
                    let steps_per_second = of.precision.step()? / step;
                    Some(Motion { group, at, lanes: usize::from(of.lanes), steps_per_second })
                });
                GroupKind::Steps { step, motion }
            }
        };
        LaneGroup { at, lanes: usize::from(column.lanes), words: column.words(), scalar: column.scalar, kind }
    }

    /// The words of a row that it takes.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.at..self.at + self.words
    }

    /// How many bits each of its words takes, told as it is.
    pub fn widths(&self) -> impl Iterator<Item = u32> {
        let bits = u32::from(self.scalar.bits());
        core::iter::repeat_n(bits.min(32), self.words)
    }

    fn lane(&self, row: &[u32], lane: usize) -> f64 {
        let at = self.at + lane * self.scalar.words();
        match self.scalar {
            Scalar::F32 => f64::from(f32::from_bits(row[at])),
            _ => f64::from_bits(u64::from(row[at]) | u64::from(row[at + 1]) << 32),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "an f32 holds an f32, and the halves of 64 bits are asked for")]
    #[inline]
    fn set_lanes(&self, row: &mut [u32], values: impl ExactSizeIterator<Item = f64>) {
        if self.scalar == Scalar::F32 {
            let words = row[self.at..self.at + values.len()].iter_mut();
            words.zip(values).for_each(|(word, value)| *word = (value as f32).to_bits());
        } else {
            let words = row[self.range()].chunks_exact_mut(2);
            words
                .zip(values.map(f64::to_bits))
                .for_each(|(words, bits)| (words[0], words[1]) = (bits as u32, (bits >> 32) as u32));
        }
    }

    /// Writes its words. Whether they could be rounded.
    fn round(&self, row: &[u32], into: &mut [u32]) -> bool {
        match self.kind {
            GroupKind::Exact => false,
            GroupKind::Steps { step, .. } if self.scalar == Scalar::F32 => with_lanes(self.lanes, |count| {
                let range = self.at..self.at + count;
                let words = into[range.clone()].iter_mut().zip(&row[range]);
                round_lanes(words.map(|(into, word)| (into, f64::from(f32::from_bits(*word)))), step)
            }),
            GroupKind::Steps { step, .. } => {
                let words = into[self.range()].iter_mut().zip(0..self.lanes);
                round_lanes(words.map(|(into, lane)| (into, self.lane(row, lane))), step)
            }
            GroupKind::Turn { step } => self.round_turn(row, step, into).is_some(),
        }
    }

    fn round_turn(&self, row: &[u32], step: f64, into: &mut [u32]) -> Option<()> {
        let parts: [f64; 4] = core::array::from_fn(|lane| self.lane(row, lane));
        let norm = sqrt(parts.iter().map(|part| part * part).sum());
        // A world that keeps no unit quaternion is told as it is.
        if !(0.5..=2.0).contains(&norm) {
            return None;
        }
        let largest = (1..4).fold(0, |best, nth| if parts[nth].abs() > parts[best].abs() { nth } else { best });
        let scale = if parts[largest] < 0.0 { -1.0 / norm } else { 1.0 / norm };
        into[self.at] = u32::try_from(largest).unwrap_or(0);
        let others = (0..4).filter(|nth| *nth != largest);
        for (nth, word) in others.zip(&mut into[self.at + 1..self.at + 4]) {
            *word = steps_of(parts[nth] * scale, step)?.cast_unsigned();
        }
        Some(())
    }

    fn restore(&self, rounded: &[u32], row: &mut [u32]) {
        match self.kind {
            GroupKind::Exact => {}
            GroupKind::Steps { step, .. } => {
                let steps = &rounded[self.at..self.at + self.lanes];
                with_lanes(self.lanes, |count| {
                    self.set_lanes(row, steps[..count].iter().map(|steps| f64::from(steps.cast_signed()) * step));
                });
            }
            GroupKind::Turn { step } => {
                let largest = rounded[self.at] as usize % 4;
                let (mut parts, mut sum) = ([0.0; 4], 0.0);
                for (nth, steps) in rounded[self.at + 1..self.at + 4].iter().enumerate() {
                    let part = f64::from(steps.cast_signed()) * step;
                    parts[nth + usize::from(nth >= largest)] = part;
                    sum += part * part;
                }
                parts[largest] = sqrt((1.0_f64 - sum).max(0.0));
                self.set_lanes(row, parts.into_iter());
            }
        }
    }
}

/// Goes through `count` lanes. Three, as most groups have, are a constant to the compiler, which then needs no loop.
#[inline(always)]
pub(crate) fn with_lanes<T>(count: usize, mut through: impl FnMut(usize) -> T) -> T {
    if count == 3 { through(3) } else { through(count) }
}

/// Writes how many steps each value is. Whether all could be rounded.
fn round_lanes<'a>(mut lanes: impl Iterator<Item = (&'a mut u32, f64)>, step: f64) -> bool {
    lanes.all(|(into, value)| {
        let steps = steps_of(value, step);
        *into = steps.unwrap_or(0).cast_unsigned();
        steps.is_some()
    })
}

/// How many steps a value is nearest to; `None` where it is none, or too far out.
fn steps_of(value: f64, step: f64) -> Option<i32> {
    let steps = value / step;
    let nearest = if steps < 0.0 { steps - 0.5 } else { steps + 0.5 };
    #[expect(clippy::cast_possible_truncation, reason = "within the range of it")]
    (nearest.abs() < STEPS_MAX).then_some(nearest as i32)
}

/// How the rows of a component are rounded.
#[derive(Clone, Debug)]
pub(crate) struct RoundedRow {
    groups: Vec<LaneGroup>,
    row_words: usize,
}

impl RoundedRow {
    /// The most words that one may have.
    pub const WORDS_MAX: usize = MARKS + ROW_WORDS_MAX;

    pub fn new(component: &ComponentSchema) -> RoundedRow {
        let columns: Vec<_> = component.places().collect();
        let groups = (0..columns.len()).map(|nth| LaneGroup::of(&columns, nth, component)).collect();
        RoundedRow { groups, row_words: component.words() }
    }

    /// Whether nothing of a row is rounded.
    pub fn is_exact(&self) -> bool {
        self.groups.iter().all(|group| group.kind == GroupKind::Exact)
    }

    /// How many words a rounded row has.
    pub fn words(&self) -> usize {
        MARKS + self.row_words
    }

    /// The fields, in order.
    pub fn groups(&self) -> &[LaneGroup] {
        &self.groups
    }

    /// The words of the row in a rounded one.
    pub fn split(rounded: &[u32]) -> (u64, &[u32]) {
        (u64::from(rounded[0]) | u64::from(rounded[1]) << 32, &rounded[MARKS..])
    }

    /// The same, to be written.
    #[expect(clippy::cast_possible_truncation, reason = "the halves of it")]
    pub fn set_marks(rounded: &mut [u32], marks: u64) {
        (rounded[0], rounded[1]) = (marks as u32, (marks >> 32) as u32);
    }

    /// The words of the row, to be written.
    pub fn words_mut(rounded: &mut [u32]) -> &mut [u32] {
        &mut rounded[MARKS..]
    }

    /// Rounds a row.
    pub fn round(&self, row: &[u32], rounded: &mut [u32]) {
        let mut marks = 0;
        let words = &mut rounded[MARKS..];
        for (nth, group) in self.groups.iter().enumerate() {
            if !group.round(row, words) {
                words[group.range()].copy_from_slice(&row[group.range()]);
                marks |= 1 << nth;
            }
        }
        RoundedRow::set_marks(rounded, marks);
    }

    /// Makes a row of a rounded one.
    pub fn restore(&self, rounded: &[u32], row: &mut [u32]) {
        let (marks, words) = RoundedRow::split(rounded);
        row.copy_from_slice(words);
        let rounded = self.groups.iter().enumerate().filter(|(nth, _)| marks >> nth & 1 == 0);
        rounded.for_each(|(_, group)| group.restore(words, row));
    }
}
