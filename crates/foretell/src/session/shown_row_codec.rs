//! Shown rows on the wire: the difference of a rounded row to one that the receiver has.
//!
//! A field that is told exactly is the same as before, or there are all of its bits. Of one that is told in steps there is by how many
//! each lane differs, all in as many bits as the largest needs; a position from where its velocity has taken it meanwhile.

use crate::time::TickRate;
use crate::wire::{BitBatch, BitReader, BitWriter, Malformed};
use crate::world::{ComponentId, GroupKind, LaneGroup, Motion, ROW_WORDS_MAX, RoundedRow, Schema, with_lanes};
use alloc::vec::Vec;

/// In how many bits the differences of the lanes of a group are told, by a code of four bits. The code after the last one says
/// that they are told as they are.
const WIDTHS: [u32; 15] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 18, 32];
const AS_THEY_ARE: u32 = 15;
/// By how many bits a value has: the code of the narrowest width that holds it.
const CODES: [u32; 33] = codes();
/// How many lanes of each width are read together: 56 bits are read fast.
const AT_ONCE: [usize; 15] = [64, 28, 18, 14, 11, 9, 8, 7, 6, 5, 5, 4, 3, 3, 1];
const CODE_BITS: u32 = 4;
/// Which of the four parts of a unit quaternion is the largest.
const PART_BITS: u32 = 2;

/// No row: what is told against it is told by itself.
const NOTHING: [u32; RoundedRow::WORDS_MAX] = [0; RoundedRow::WORDS_MAX];

const fn codes() -> [u32; 33] {
    let (mut codes, mut code, mut bits) = ([0; 33], 0, 0);
    while bits <= 32 {
        if WIDTHS[code as usize] < bits {
            code += 1;
        } else {
            codes[bits as usize] = code;
            bits += 1;
        }
    }
    codes
}

/// A rounded row that the receiver has, and for how many ticks it may have gone on since: as many as it is older, or 0 where it has
/// rested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base<'a> {
    pub rounded: &'a [u32],
    pub age_ticks: u32,
}

impl Base<'_> {
    /// Where it has none.
    pub(crate) const NONE: Base<'static> = Base { rounded: &NOTHING, age_ticks: 0 };
}

/// A base of which the rows of one component are told.
#[derive(Clone, Copy)]
struct Before<'a> {
    marks: u64,
    words: &'a [u32],
    seconds: f64,
}

impl Before<'_> {
    fn is_rounded(&self, group: usize) -> bool {
        self.marks >> group & 1 == 0
    }

    /// The lanes of a group that is told in steps, where its velocity has taken them since; 0 where they could not be rounded.
    #[inline(always)]
    fn expect(&self, nth: usize, group: &LaneGroup, motion: Option<Motion>, lanes: &mut [u32]) {
        if self.is_rounded(nth) {
            lanes.copy_from_slice(&self.words[group.at..group.at + lanes.len()]);
        } else {
            lanes.fill(0);
        }
        let Some(motion) = motion.filter(|motion| self.is_rounded(motion.group)) else { return };
        let move_on = |lanes: &mut [u32], velocities: &[u32]| {
            for (lane, velocity) in lanes.iter_mut().zip(velocities) {
                let steps = f64::from(velocity.cast_signed()) * motion.steps_per_second * self.seconds;
                let nearest = if steps < 0.0 { steps - 0.5 } else { steps + 0.5 };
                #[expect(clippy::cast_possible_truncation, reason = "what does not fit becomes the nearest that does")]
                let moved = nearest as i32;
                *lane = lane.wrapping_add(moved.cast_unsigned());
            }
        };
        let (velocities, count) = (&self.words[motion.at..motion.at + motion.lanes], lanes.len());
        // As many as there are lanes, mostly, and then how many is known when this is compiled.
        match velocities.get(..count) {
            Some(velocities) => move_on(lanes, velocities),
            None => move_on(lanes, velocities),
        }
    }

    /// The same of a rotation: which part was the largest, and the others, where it still is.
    fn expect_turn(&self, nth: usize, group: &LaneGroup, largest: u32, others: &mut [u32; 3]) {
        let is_same = self.largest(nth, group) == largest && self.is_rounded(nth);
        others.fill(0);
        if is_same {
            others.copy_from_slice(&self.words[group.at + 1..group.at + 4]);
        }
    }

    /// Which part of a rotation was the largest.
    fn largest(&self, nth: usize, group: &LaneGroup) -> u32 {
        if self.is_rounded(nth) { self.words[group.at] } else { 0 }
    }
}

/// How rows are rounded and told; made once from a schema.
#[derive(Clone, Debug)]
pub(crate) struct ShownRowCodec {
    forms: Vec<RoundedRow>,
    rate: TickRate,
}

impl ShownRowCodec {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> ShownRowCodec {
        ShownRowCodec { forms: schema.components().iter().map(RoundedRow::new).collect(), rate }
    }

    /// How rows of a component are rounded.
    pub(crate) fn form(&self, component: ComponentId) -> &RoundedRow {
        &self.forms[usize::from(component.0)]
    }

    /// How many bits a row of any component takes at most.
    pub(crate) fn bits_max(&self) -> u64 {
        let bits = |group: &LaneGroup| {
            u64::from(CODE_BITS + PART_BITS) + group.lanes as u64 * u64::from(group.scalar.bits().max(32))
        };
        self.forms.iter().map(|form| form.groups().iter().map(bits).sum()).max().unwrap_or(0)
    }

    fn before<'a>(&self, base: Base<'a>) -> Before<'a> {
        let (marks, words) = RoundedRow::split(base.rounded);
        Before { marks, words, seconds: f64::from(base.age_ticks) / f64::from(self.rate.get()) }
    }

    /// Writes a rounded row.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, component: ComponentId, rounded: &[u32], base: Base<'_>) {
        let before = self.before(base);
        let (marks, words) = RoundedRow::split(rounded);
        let mut bits = BitBatch::new(writer);
        let mut differences = [0; ROW_WORDS_MAX];
        for (nth, group) in self.form(component).groups().iter().enumerate() {
            let lanes = &words[group.range()];
            match group.kind {
                GroupKind::Exact => {
                    let differs = *lanes != before.words[group.range()];
                    bits.put(u32::from(differs), 1);
                    if differs {
                        group.widths().zip(lanes).for_each(|(width, word)| bits.put(*word, width));
                    }
                }
                _ if marks >> nth & 1 == 1 => {
                    bits.put(AS_THEY_ARE, CODE_BITS);
                    group.widths().zip(lanes).for_each(|(width, word)| bits.put(*word, width));
                }
                GroupKind::Steps { motion, .. } => with_lanes(group.lanes, |count| {
                    let differences = &mut differences[..count];
                    before.expect(nth, group, motion, differences);
                    let code = differ(&lanes[..count], differences);
                    put_lanes(&mut bits, differences, Code { code, bits: code, width: CODE_BITS });
                }),
                GroupKind::Turn { .. } => {
                    let mut differences = [0; 3];
                    before.expect_turn(nth, group, lanes[0], &mut differences);
                    let code = differ(&lanes[1..], &mut differences);
                    let part = before.largest(nth, group) ^ lanes[0];
                    let first = Code { code, bits: code | part << CODE_BITS, width: CODE_BITS + PART_BITS };
                    put_lanes(&mut bits, &differences, first);
                }
            }
        }
        bits.finish();
    }

    /// Reads a rounded row; the inverse of [`write`](ShownRowCodec::write).
    #[expect(clippy::cast_possible_truncation, reason = "each is read with 32 bits at most")]
    pub(crate) fn read(
        &self,
        reader: &mut BitReader<'_>,
        component: ComponentId,
        base: Base<'_>,
        rounded: &mut [u32],
    ) -> Result<(), Malformed> {
        let before = self.before(base);
        let mut marks = 0;
        let words = RoundedRow::words_mut(rounded);
        for (nth, group) in self.form(component).groups().iter().enumerate() {
            let lanes = &mut words[group.range()];
            let is_exact = group.kind == GroupKind::Exact;
            let code = reader.take(if is_exact { 1 } else { CODE_BITS })? as u32;
            if is_exact && code == 1 || code == AS_THEY_ARE {
                for (width, word) in group.widths().zip(lanes) {
                    *word = reader.take(width)? as u32;
                }
                marks |= 1 << nth;
                continue;
            }
            match group.kind {
                GroupKind::Exact => {
                    lanes.copy_from_slice(&before.words[group.range()]);
                    marks |= 1 << nth;
                }
                GroupKind::Steps { motion, .. } => with_lanes(group.lanes, |count| {
                    let lanes = &mut lanes[..count];
                    before.expect(nth, group, motion, lanes);
                    take_lanes(reader, lanes, code)
                })?,
                GroupKind::Turn { .. } => {
                    let mut others = [0; 3];
                    let largest = before.largest(nth, group) ^ reader.take(PART_BITS)? as u32;
                    before.expect_turn(nth, group, largest, &mut others);
                    take_lanes(reader, &mut others, code)?;
                    lanes[0] = largest;
                    lanes[1..4].copy_from_slice(&others);
                }
            }
        }
        RoundedRow::set_marks(rounded, marks);
        Ok(())
    }

    /// Reads on to the end of a group: how many bits it takes does not depend on what it is told against.
    #[expect(clippy::cast_possible_truncation, reason = "four bits at most")]
    pub(crate) fn pass(reader: &mut BitReader<'_>, group: &LaneGroup) -> Result<(), Malformed> {
        let is_exact = group.kind == GroupKind::Exact;
        let code = reader.take(if is_exact { 1 } else { CODE_BITS })? as u32;
        let is_as_it_is = if is_exact { code == 1 } else { code == AS_THEY_ARE };
        if is_as_it_is {
            return group.widths().try_for_each(|width| reader.take(width).map(drop));
        }
        let (before, lanes) = match group.kind {
            GroupKind::Exact => return Ok(()),
            GroupKind::Steps { .. } => (0, group.lanes),
            GroupKind::Turn { .. } => (PART_BITS, 3),
        };
        reader.take(before)?;
        (0..lanes).try_for_each(|_| reader.take(WIDTHS[code as usize]).map(drop))
    }
}

/// Makes of what was expected of some lanes by how much each differs. Returns the code of the bits that this takes.
#[inline(always)]
fn differ(lanes: &[u32], expected: &mut [u32]) -> u32 {
    let mut all = 0;
    for (expected, lane) in expected.iter_mut().zip(lanes) {
        *expected = zigzag(lane.wrapping_sub(*expected));
        all |= *expected;
    }
    CODES[(u32::BITS - all.leading_zeros()) as usize]
}

/// What stands before the differences of a group.
struct Code {
    code: u32,
    bits: u32,
    width: u32,
}

/// Writes a code, and behind it differences in as many bits each as it says: all together where they fit in.
#[inline(always)]
fn put_lanes(to: &mut BitBatch<'_, '_>, differences: &[u32], Code { code, bits, width: len }: Code) {
    let (width, at_once) = (WIDTHS[code as usize], AT_ONCE[code as usize]);
    let join = |bits: u64, len: u32, differences: &[u32]| {
        let next = |(bits, len), difference: &u32| (bits | u64::from(*difference) << len, len + width);
        differences.iter().fold((bits, len), next)
    };
    if differences.len() <= at_once {
        let (bits, len) = join(u64::from(bits), len, differences);
        return to.put(bits, len);
    }
    to.put(bits, len);
    for differences in differences.chunks(at_once) {
        let (bits, len) = join(0, 0, differences);
        to.put(bits, len);
    }
}

/// Reads them, and adds them to what was expected.
#[inline(always)]
fn take_lanes(reader: &mut BitReader<'_>, lanes: &mut [u32], code: u32) -> Result<(), Malformed> {
    let (width, at_once) = (WIDTHS[code as usize], AT_ONCE[code as usize]);
    if lanes.len() <= at_once {
        return take_together(reader, lanes, width);
    }
    lanes.chunks_mut(at_once).try_for_each(|lanes| take_together(reader, lanes, width))
}

/// As many as are read at once.
#[expect(clippy::cast_possible_truncation, reason = "the width of each is at most 32")]
#[inline(always)]
fn take_together(reader: &mut BitReader<'_>, lanes: &mut [u32], width: u32) -> Result<(), Malformed> {
    let (mask, mut bits) = ((1_u64 << width) - 1, reader.take(width * lanes.len() as u32)?);
    for lane in lanes {
        *lane = lane.wrapping_add(unzigzag((bits & mask) as u32));
        bits >>= width;
    }
    Ok(())
}

/// Small for what is near zero, on either side of it.
fn zigzag(value: u32) -> u32 {
    value << 1 ^ (value.cast_signed() >> 31).cast_unsigned()
}

fn unzigzag(value: u32) -> u32 {
    value >> 1 ^ (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests;
