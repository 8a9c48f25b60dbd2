//! What the rows of a component are made of: its columns, what each means, who gets it and who writes it.

use super::{Audience, Column, Meaning, RoundedRow, RowPrediction, Writer};
use crate::motion::Pose;
use crate::time::{SendRate, TickRate};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::ops::Range;

/// The most words that one row may have: 64, room for 64 f32 or 32 f64.
pub const ROW_WORDS_MAX: usize = 64;

/// A column of a position or rotation, and that of its velocity: the first velocity is that of the first position, and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moving {
    /// Which columns.
    pub column: usize,
    pub velocity: Option<usize>,
}

/// How often an entity has been put elsewhere, by its row; nothing, where that says nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Teleports(pub Option<u32>);

impl Teleports {
    /// Whether the entity was put elsewhere between two rows; not where either does not say it.
    #[inline]
    pub(crate) fn differ(self, other: Teleports) -> bool {
        self.0.zip(other.0).is_some_and(|(one, other)| one != other)
    }
}

/// Which words of a row change as its entity moves, the first the lowest bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MotionWords {
    /// Where it is, how it stands, how fast it is, how often it has been put elsewhere, and what it is below.
    pub moves: u64,
    /// What is blended besides.
    pub blends: u64,
}

/// One component: its name, its columns, and where each lies in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComponentSchema {
    name: Cow<'static, str>,
    columns: Vec<(usize, Column)>,
    words: usize,
    prediction: RowPrediction,
    /// How often it is told to who shows it, at most, in Hz; 0 for as often as there are states.
    hz_max: u16,
    pub(super) speed_max_mm_s: u32,
    /// The words of its velocities.
    velocities: Vec<Range<usize>>,
    moving: Vec<Moving>,
    has_pose: bool,
    /// The word that says how often an entity has been put elsewhere.
    teleports: Option<usize>,
    motion: MotionWords,
    /// Which words go from value to value by steps, the first the lowest bit.
    stepping: u64,
}

/// What is found out from the columns, to be at hand, is no part of what both ends have to agree on.
impl Hash for ComponentSchema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let RowPrediction { audience, never } = self.prediction;
        (&self.name, &self.columns, self.words, audience, never, self.hz_max, self.speed_max_mm_s).hash(state);
    }
}

impl ComponentSchema {
    /// A component with these columns, in this order.
    ///
    /// # Panics
    /// When a row would have more than [`ROW_WORDS_MAX`] words, or a column's type does not fit its meaning; or where
    /// [`Meaning::Teleports`] is there twice, or without a position.
    pub fn new(name: &'static str, columns: Vec<Column>, audience: Audience) -> ComponentSchema {
        let mut words = 0;
        let columns: Vec<_> = columns
            .into_iter()
            .map(|column| {
                column.check();
                let at = words;
                words += column.words();
                (at, column)
            })
            .collect();
        assert!(words <= ROW_WORDS_MAX, "{name}: a row of {words} words; at most {ROW_WORDS_MAX} are possible");
        let is_velocity = |column: &Column| matches!(column.meaning, Meaning::Velocity | Meaning::AngularVelocity);
        let velocities = columns.iter().filter(|(_, column)| is_velocity(column));
        let velocities = velocities.map(|(at, column)| *at..at + column.words()).collect();
        let moving = moving(&columns);
        let has_pose = |column: &Column| matches!(column.meaning, Meaning::Position | Meaning::Rotation);
        let has_pose = columns.iter().any(|(_, column)| has_pose(column));
        let teleports = teleports(name, &columns);
        let moves = words_of(&columns, |meaning| !matches!(meaning, Meaning::Plain | Meaning::Blended));
        let blends = words_of(&columns, |meaning| meaning == Meaning::Blended);
        let goes_by_steps = |meaning| matches!(meaning, Meaning::Plain | Meaning::Parent | Meaning::Teleports);
        let stepping = words_of(&columns, goes_by_steps);
        ComponentSchema {
            motion: MotionWords { moves, blends },
            stepping,
            name: Cow::Borrowed(name),
            columns,
            words,
            prediction: RowPrediction { audience, never: false },
            hz_max: 0,
            speed_max_mm_s: 0,
            velocities,
            moving,
            has_pose,
            teleports,
        }
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many words a row has.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Who gets its rows.
    pub fn audience(&self) -> Audience {
        self.prediction.audience
    }

    /// The same, of a kind of entity that no client predicts, whosever it is: its player sees it as others do.
    #[must_use]
    pub fn never_predicted(mut self) -> ComponentSchema {
        self.prediction.never = true;
        self
    }

    /// Whether no client predicts an entity that has it.
    pub fn is_never_predicted(&self) -> bool {
        self.prediction.never
    }

    /// Whether a client that predicts an entity predicts its rows of this component.
    pub(crate) fn prediction(&self) -> RowPrediction {
        self.prediction
    }

    /// The same, told at most `hz` times per second to who shows it: to the nearest number of ticks, as a [`SendRate`] is. What a
    /// client predicts comes with every state nevertheless.
    ///
    /// # Panics
    /// When `hz` is 0.
    #[must_use]
    pub fn at_most_hz(mut self, hz: u16) -> ComponentSchema {
        assert!(hz > 0, "{}: a rate is at least 1 Hz", self.name);
        self.hz_max = hz;
        self
    }

    /// How often it is told to who shows it, at most; [`SendRate::EveryTick`] by default, for as often as there are states.
    pub fn rate_max(&self) -> SendRate {
        if self.hz_max == 0 { SendRate::EveryTick } else { SendRate::Hz(self.hz_max) }
    }

    /// How many ticks one telling is after the other at least, where a state is sent every `sent` ticks.
    pub(crate) fn interval_ticks(&self, rate: TickRate, sent: u32) -> u32 {
        self.rate_max().interval_ticks(rate).next_multiple_of(sent.max(1))
    }

    /// By how many ticks later than at the cursor its rows are shown, where states are sent `sent` ticks apart: as much longer as
    /// they are told apart.
    pub(crate) fn later_ticks(&self, rate: TickRate, sent: u32) -> u32 {
        self.interval_ticks(rate, sent) - sent.max(1)
    }

    /// The fastest that a client may move an entity with this component while it has authority over it, in m/s; `None` (the
    /// default) where the game states no bound.
    pub fn speed_max(&self) -> Option<f64> {
        (self.speed_max_mm_s > 0).then(|| f64::from(self.speed_max_mm_s) / 1000.0)
    }

    /// Whether a client may have authority over it: it has a field that the owner writes.
    pub fn is_shared(&self) -> bool {
        self.columns().any(|column| column.writer == Writer::Owner)
    }

    /// Whether it says where or how its entity stands: it has a position or a rotation.
    pub fn has_pose(&self) -> bool {
        self.has_pose
    }

    /// Whether anything that goes from value to value by steps is another in two rows, of these words: the first is the lowest bit.
    pub(crate) fn steps_between(&self, one: &[u32], other: &[u32], of: u64) -> bool {
        let words = self.stepping & of;
        (0..self.words).any(|at| words >> at & 1 == 1 && one[at] != other[at])
    }

    /// Whether its entity has been put elsewhere between two rows; of a component that says nothing of where that is, whether anything that
    /// goes by steps is another. What moves may have fields that are others in every state.
    pub(crate) fn turns_between(&self, one: &[u32], other: &[u32]) -> bool {
        if self.has_pose {
            self.teleports(one).differ(self.teleports(other))
        } else {
            self.steps_between(one, other, u64::MAX)
        }
    }

    /// Which of its words change as an entity moves.
    pub(crate) fn motion_words(&self) -> MotionWords {
        self.motion
    }

    /// How often a row says that its entity has been put elsewhere.
    #[inline]
    pub(crate) fn teleports(&self, row: &[u32]) -> Teleports {
        Teleports(self.teleports.map(|at| row[at]))
    }

    /// Whether its rows say how often their entities have been put elsewhere.
    #[inline]
    pub(crate) fn says_teleports(&self) -> bool {
        self.teleports.is_some()
    }

    /// The columns of positions and rotations, in order, each with that of its velocity.
    pub(crate) fn moving(&self) -> &[Moving] {
        &self.moving
    }

    /// A column with the place of its first word in a row.
    pub(crate) fn column_at(&self, index: usize) -> (usize, &Column) {
        let (place, column) = &self.columns[index];
        (*place, column)
    }

    /// Whether each of its positions and rotations has a velocity beside it.
    #[inline]
    pub(crate) fn has_all_velocities(&self) -> bool {
        self.moving.iter().all(|moving| moving.velocity.is_some())
    }

    /// Whether a row says that nothing of it moves: the words of its velocities are all zero.
    #[inline]
    pub(crate) fn says_no_velocity(&self, row: &[u32]) -> bool {
        self.velocities.iter().all(|words| row[words.clone()].iter().all(|word| *word == 0))
    }

    /// Copies what the owner writes from one row into another.
    pub(crate) fn copy_owned(&self, from: &[u32], into: &mut [u32]) {
        for (place, column) in self.places().filter(|(_, column)| column.writer == Writer::Owner) {
            let range = place..place + column.words();
            into[range.clone()].copy_from_slice(&from[range]);
        }
    }

    /// The columns in order.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().map(|(_, column)| column)
    }

    /// Rounds a row as it is told to those who show it: each field as exact as its [`Precision`](super::Precision) says.
    ///
    /// # Panics
    /// When `row` does not have as many words as a row of this component.
    pub fn round(&self, row: &mut [u32]) {
        let mut rounded = [0; RoundedRow::WORDS_MAX];
        let form = RoundedRow::new(self);
        let rounded = &mut rounded[..form.words()];
        form.round(row, rounded);
        form.restore(rounded, row);
    }

    /// Each column with its words in `row`, in order.
    pub fn fields<'a>(&'a self, row: &'a [u32]) -> impl Iterator<Item = (&'a Column, &'a [u32])> {
        self.columns.iter().map(move |(at, column)| (column, &row[*at..*at + column.words()]))
    }

    /// The first column of this meaning with its words in `row`.
    pub fn field<'a>(&'a self, meaning: Meaning, row: &'a [u32]) -> Option<(&'a Column, &'a [u32])> {
        self.fields(row).find(|(column, _)| column.meaning == meaning)
    }

    /// The pose in a row: its first position and rotation; the origin, upright, where it has none.
    ///
    /// # Panics
    /// When `row` is shorter than a row of this component.
    pub fn pose(&self, row: &[u32]) -> Pose {
        let position = self.field(Meaning::Position, row).map_or([0.0; 3], |(column, words)| column.lanes(words));
        let upright = Pose::IDENTITY.rotation;
        let rotation = self.field(Meaning::Rotation, row).map_or(upright, |(column, words)| column.lanes(words));
        Pose { position, rotation }
    }

    /// The column of this meaning that has `nth` of the same before it, with the place of its first word in a row: a
    /// second velocity is that of the second position.
    pub fn nth(&self, meaning: Meaning, nth: usize) -> Option<(usize, &Column)> {
        self.places().filter(|(_, column)| column.meaning == meaning).nth(nth)
    }

    /// Each column with the place of its first word in a row.
    pub fn places(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().map(|(at, column)| (*at, column))
    }

    /// How many bits each word of a row takes on the wire, in order; `len == words()`.
    pub fn word_bits(&self) -> Vec<u8> {
        word_bits(self.columns())
    }
}

fn moving(columns: &[(usize, Column)]) -> Vec<Moving> {
    let nth_of = |meaning: Meaning, nth: usize| {
        let found = columns.iter().enumerate().filter(|(_, (_, column))| column.meaning == meaning);
        found.map(|(index, _)| index).nth(nth)
    };
    let (mut positions, mut rotations) = (0, 0);
    let moving = columns.iter().enumerate().filter_map(|(index, (_, column))| {
        let (count, of_velocity) = match column.meaning {
            Meaning::Position => (&mut positions, Meaning::Velocity),
            Meaning::Rotation => (&mut rotations, Meaning::AngularVelocity),
            _ => return None,
        };
        let velocity = nth_of(of_velocity, *count);
        *count += 1;
        Some(Moving { column: index, velocity })
    });
    moving.collect()
}

/// Where these columns say how often an entity has been put elsewhere.
fn teleports(name: &str, columns: &[(usize, Column)]) -> Option<usize> {
    let mut all = columns.iter().filter(|(_, column)| column.meaning == Meaning::Teleports).map(|(at, _)| *at);
    let first = all.next()?;
    assert!(all.next().is_none(), "{name}: a component counts teleports once");
    let has_position = columns.iter().any(|(_, column)| column.meaning == Meaning::Position);
    assert!(has_position, "{name}: teleports are counted beside a position");
    Some(first)
}

/// Which words are of columns of such a meaning, the first the lowest bit.
fn words_of(columns: &[(usize, Column)], is_such: impl Fn(Meaning) -> bool) -> u64 {
    let columns = columns.iter().filter(|(_, column)| is_such(column.meaning));
    columns.flat_map(|(at, column)| *at..at + column.words()).fold(0, |words, at| words | 1 << at)
}

/// How many bits each word of these columns takes on the wire, in order.
pub fn word_bits<'a>(columns: impl Iterator<Item = &'a Column>) -> Vec<u8> {
    columns
        .flat_map(|column| {
            let words = column.words();
            let bits = column.scalar.bits().min(32);
            core::iter::repeat_n(bits, words)
        })
        .collect()
}
