//! Bodies as the page gets them: of each only when it is elsewhere than it was told to be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretell::motion::Pose;
use foretell::{Entity, PlayerId};
use serde::Serialize;
use std::collections::BTreeMap;

/// The first number of a small cube; below it stand those of players.
const FIRST_SMALL: u64 = 256;
/// Units of a metre, and of a quaternion's component.
const PER_M: f64 = 1000.0;
const PER_ONE: f64 = 32_767.0;

/// How a body is that is gone.
pub const GONE: i16 = -1;

/// A body as it is told: number, position in mm, the x, y and z of a rotation whose w is not negative, and how it comes to be there.
pub type BodyRow = [i16; 8];

/// The bodies of a screen in one frame. Each list is base64 of rows of eight 16-bit numbers, little-endian, of those bodies
/// that were told otherwise before: that moved, or are new.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bodies {
    /// The number of the screen's own cube.
    pub own: u16,
    /// Whether this is the first that is told: the lists hold all bodies that there are.
    pub whole: bool,
    /// As the screen shows them.
    pub client: String,
    /// As the server has them by now.
    pub server: String,
    /// As the newest snapshot has them that has come.
    pub ghost: String,
    /// Corrections of this frame: a row of number, from where and to where in mm, and 0.
    pub corrected: String,
}

/// The number of an entity.
pub fn body_number(entity: Entity) -> i16 {
    let number = match entity.spawned_for() {
        PlayerId::SERVER => FIRST_SMALL * (1 + u64::from(entity.tick().get())) + u64::from(entity.counter()),
        player => u64::from(player.get()),
    };
    i16::try_from(number).unwrap_or(i16::MAX)
}

/// A body as it is told. `flag` is 0 for one that is predicted or true, 1 for one that is shown between snapshots.
pub fn row(entity: Entity, Pose { position, rotation }: Pose, flag: i16) -> BodyRow {
    let [x, y, z] = position.map(|lane| rounded(lane * PER_M));
    let [i, j, k, w] = rotation;
    let sign = if w < 0.0 { -PER_ONE } else { PER_ONE };
    let [i, j, k] = [i, j, k].map(|lane| rounded(lane * sign));
    [body_number(entity), x, y, z, i, j, k, flag]
}

/// A correction as it is told.
pub fn correction_row(number: i16, from: [f64; 3], to: [f64; 3]) -> BodyRow {
    let [[a, b, c], [d, e, f]] = [from, to].map(|point| point.map(|lane| rounded(lane * PER_M)));
    [number, a, b, c, d, e, f, 0]
}

#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn rounded(value: f64) -> i16 {
    value.round() as i16
}

/// Rows as text.
pub fn text(rows: &[BodyRow]) -> String {
    STANDARD.encode(rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
}

/// What the page has been told of one list.
#[derive(Debug, Default)]
pub struct BodyDelta {
    known: BTreeMap<i16, BodyRow>,
}

impl BodyDelta {
    /// What is to be told: all that differs, and with [`GONE`] what is not there any more.
    pub fn encode(&mut self, rows: &[BodyRow]) -> String {
        let before = core::mem::take(&mut self.known);
        self.known = rows.iter().map(|row| (row[0], *row)).collect();
        let mut told: Vec<BodyRow> = rows.iter().copied().filter(|row| before.get(&row[0]) != Some(row)).collect();
        let gone = before.into_keys().filter(|number| !self.known.contains_key(number));
        told.extend(gone.map(|number| [number, 0, 0, 0, 0, 0, 0, GONE]));
        text(&told)
    }
}
