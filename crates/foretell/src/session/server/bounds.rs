//! What an owner may write, and how far an entity may go by it.

use crate::motion::vector;
use crate::rollback::{KindSchema, Meaning, Writer};
use crate::validation::Offence;

/// What an entity may make up for of ticks in which no row came, in seconds of its greatest speed.
pub(super) const CATCH_UP_S: f64 = 0.25;
/// What is allowed beyond the greatest speed, in metres: rounding (D27).
pub(super) const SLACK_M: f64 = 0.01;
/// A row so far beyond what may be made up for, from the one before, is no movement any more.
const TELEPORT_M: f64 = 2.0;

/// What is wrong with what an owner has written, whatever was there before.
pub(super) fn offence_of(kind: &KindSchema, words: &[u32]) -> Option<Offence> {
    for (column, words) in kind.fields(words).filter(|(column, _)| column.writer == Writer::Owner) {
        let lanes = 0..usize::from(column.lanes);
        if column.scalar.is_float() && !lanes.into_iter().all(|lane| column.lane(words, lane).is_finite()) {
            return Some(Offence::NotFinite);
        }
        let length = vector::length(column.lanes::<4>(words));
        if column.meaning == Meaning::Rotation && (length - 1.0).abs() > 0.01 {
            return Some(Offence::Direction);
        }
    }
    None
}

/// Keeps an entity to the way that it may have gone: beyond it, it is left on the straight line to where it is said to
/// be (D27).
pub(super) fn hold_back(
    kind: &KindSchema,
    before: &[u32],
    row: &mut [u32],
    (allowed_m, claimed): (&mut f64, &mut Option<[f64; 3]>),
) -> Option<Offence> {
    let speed_max = kind.speed_max()?;
    let mut offence = None;
    for (place, column) in kind.places().filter(|(_, column)| column.writer == Writer::Owner) {
        let words = place..place + column.words();
        let set = |to: [f64; 3], row: &mut [u32]| {
            for (lane, value) in to.into_iter().enumerate().take(usize::from(column.lanes)) {
                column.set_lane(&mut row[words.clone()], lane, value);
            }
        };
        let to: [f64; 3] = column.lanes(&row[words.clone()]);
        match column.meaning {
            Meaning::Position => {
                let from: [f64; 3] = column.lanes(&before[words.clone()]);
                let way_m = vector::length(vector::sub(to, from));
                // Who is held back is far from where they say that they are, and has not teleported.
                let leap_m = vector::length(vector::sub(to, claimed.replace(to).unwrap_or(from)));
                if way_m > *allowed_m {
                    let teleports = leap_m > speed_max * CATCH_UP_S + TELEPORT_M;
                    offence = Some(if teleports { Offence::Teleport } else { Offence::Speed });
                    set(vector::lerp(from, to, *allowed_m / way_m), row);
                }
                *allowed_m -= way_m.min(*allowed_m);
            }
            Meaning::Velocity => {
                let speed = vector::length(to);
                // An f32 says a little more or less.
                if speed > speed_max * 1.001 {
                    offence = offence.or(Some(Offence::Speed));
                    set(vector::scale(to, speed_max / speed), row);
                }
            }
            _ => {}
        }
    }
    offence
}
