//! One field of a row: its type, what it means, who writes it, and how exactly it is told.

use super::{Field, Precision, Scalar};
use alloc::borrow::Cow;

/// What a column means to comparison, interpolation and correction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Meaning {
    /// Nothing in particular: compared by its bits, held between snapshots.
    #[default]
    Plain,
    /// A position in metres, 1 to 3 lanes of f32 or f64. Blended between snapshots; the visual offset is added to it.
    Position,
    /// A unit quaternion, 4 lanes in the order x, y, z, w.
    Rotation,
    /// The velocity of the position, in metres per second.
    Velocity,
    /// The angular velocity in radians per second.
    AngularVelocity,
    /// Any other quantity that goes from value to value without steps, such as fuel, a charge or a colour: lanes of f32 or
    /// f64. Compared as a plain one, and shown on the straight line between two snapshots, so that it never leaves what
    /// was told; beyond the newest it is held, and so it is where the curve holds the whole entity. An angle that wraps has
    /// to be told as its sine and cosine.
    Blended,
    /// The name of the entity that this one is below, a field of the type `Entity` or `Option<Entity>`: to
    /// [interest](crate::Interest) it is where that is, or where what that is below is. Else as a plain one.
    ///
    /// Where a client writes it (`#[state(writer = owner)]`), it also says from where its player sees: let the game refuse what can't be.
    Parent,
    /// How often the entity has been put elsewhere, by a respawn, a portal or a kickoff: a `u8`, `u16` or `u32` beside a position, to which
    /// the step adds 1 with each (`wrapping_add`). Between two states in which it differs nothing is shown, however near they are, and
    /// a correction that changes it is shown at once; where it is the same, the entity has gone there, however far it is. Any
    /// other value will do: the two are compared for being equal, always in every bit.
    Teleports,
}

/// Who may write a field of an entity that a client has authority over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Writer {
    /// The server alone.
    #[default]
    Server,
    /// The client that has the authority.
    Owner,
}

/// One field of a row: `lanes` values of one scalar type.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Column {
    /// Its name, for messages.
    pub name: Cow<'static, str>,
    /// The type of each lane.
    pub scalar: Scalar,
    /// How many lanes, 1 to 64.
    pub lanes: u8,
    /// What it means.
    pub meaning: Meaning,
    /// Who may write it.
    pub writer: Writer,
    /// How exactly it is told to who shows the entity and does not predict it.
    pub precision: Precision,
}

impl Column {
    /// The column of a field of type `T`, which the server alone writes and which is told exactly.
    pub fn of<T: Field>(name: &'static str, meaning: Meaning) -> Column {
        let (writer, precision) = (Writer::Server, Precision::EXACT);
        Column { name: Cow::Borrowed(name), scalar: T::SCALAR, lanes: T::LANES, meaning, writer, precision }
    }

    /// The same, written by the client that has authority over the entity.
    #[must_use]
    pub fn by_owner(self) -> Column {
        Column { writer: Writer::Owner, ..self }
    }

    /// The same, told in whole multiples of `step` (m, m/s, a part of a unit quaternion, ...) to who shows the entity: what is shown is
    /// off by half a step at most. What a client predicts is told exactly nevertheless.
    ///
    /// # Panics
    /// When `step` is not above zero and finite.
    #[must_use]
    pub fn to_nearest(self, step: f64) -> Column {
        Column { precision: Precision::to_nearest(step), ..self }
    }

    /// How many words it takes in a row.
    pub fn words(&self) -> usize {
        self.scalar.words() * usize::from(self.lanes)
    }

    /// Reads lane `lane` as a number, from the words of this column: exact for all but 64-bit integers above 2^53.
    ///
    /// # Panics
    /// When there is no such lane.
    #[expect(clippy::cast_precision_loss, reason = "stated above")]
    pub fn lane(&self, words: &[u32], lane: usize) -> f64 {
        let words = &words[lane * self.scalar.words()..];
        match self.scalar {
            Scalar::F32 => f64::from(f32::get(words)),
            Scalar::F64 => f64::get(words),
            Scalar::Unsigned(64) => u64::get(words) as f64,
            Scalar::Signed(64) => i64::get(words) as f64,
            Scalar::Signed(8) => f64::from(i8::get(words)),
            Scalar::Signed(16) => f64::from(i16::get(words)),
            Scalar::Signed(_) => f64::from(i32::get(words)),
            Scalar::Bool | Scalar::Unsigned(_) => f64::from(words[0]),
        }
    }

    /// Writes a number into lane `lane` of a floating-point column; leaves any other column as it is.
    ///
    /// # Panics
    /// When there is no such lane.
    #[expect(clippy::cast_possible_truncation, reason = "an f32 column holds an f32")]
    pub fn set_lane(&self, words: &mut [u32], lane: usize, value: f64) {
        let words = &mut words[lane * self.scalar.words()..];
        match self.scalar {
            Scalar::F32 => (value as f32).put(words),
            Scalar::F64 => value.put(words),
            _ => {}
        }
    }

    /// The first lanes as numbers, from the words of this column and whatever comes behind them; zero beyond the last one.
    ///
    /// # Panics
    /// When there are fewer words than this column has.
    #[inline]
    pub fn lanes<const N: usize>(&self, words: &[u32]) -> [f64; N] {
        // Without a place in memory, from which a processor would have to wait for what it has just written.
        match words.first_chunk::<N>() {
            Some(first) if self.scalar == Scalar::F32 && usize::from(self.lanes) >= N => {
                first.map(|word| f64::from(f32::from_bits(word)))
            }
            _ => {
                let lanes = usize::from(self.lanes);
                core::array::from_fn(|lane| if lane < lanes { self.lane(words, lane) } else { 0.0 })
            }
        }
    }

    /// Writes the first lanes; integers stay as they are.
    ///
    /// # Panics
    /// When there are fewer words than this column has.
    #[expect(clippy::cast_possible_truncation, reason = "an f32 column holds an f32")]
    #[inline]
    pub(crate) fn set_lanes<const N: usize>(&self, words: &mut [u32], values: &[f64; N]) {
        match words.first_chunk_mut::<N>() {
            Some(first) if self.scalar == Scalar::F32 && usize::from(self.lanes) >= N => {
                *first = values.map(|value| (value as f32).to_bits());
            }
            _ => {
                for (lane, value) in values.iter().enumerate().take(usize::from(self.lanes)) {
                    self.set_lane(words, lane, *value);
                }
            }
        }
    }

    pub(super) fn check(&self) {
        let fits = match self.meaning {
            Meaning::Plain => true,
            Meaning::Parent => self.scalar == Scalar::Unsigned(64) && self.lanes <= 2,
            Meaning::Teleports => self.scalar.is_count() && self.lanes == 1,
            Meaning::Blended => self.scalar.is_float(),
            Meaning::Rotation => self.scalar.is_float() && self.lanes == 4,
            _ => self.scalar.is_float() && (1..=3).contains(&self.lanes),
        };
        assert!(
            fits,
            "column {}: a {:?} has 1 to 3 lanes (a rotation 4, what is blended any) of f32 or f64, a parent is an Entity, and \
             teleports are a u8, u16 or u32",
            self.name, self.meaning
        );
        let is_exact = self.precision.step().is_none();
        assert!(is_exact || self.scalar.is_float(), "column {}: a precision is for f32 and f64", self.name);
    }
}
