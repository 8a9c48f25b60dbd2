//! What a row or an input is made of: fields of exact bits, laid out in 32-bit words.

use super::{Column, Kind, Schema};

/// The type of one lane of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scalar {
    /// `false` or `true`: one bit.
    Bool,
    /// An unsigned integer of this many bits: 8, 16, 32 or 64.
    Unsigned(u8),
    /// A two's complement integer of this many bits: 8, 16, 32 or 64.
    Signed(u8),
    /// An IEEE-754 binary32.
    F32,
    /// An IEEE-754 binary64.
    F64,
}

impl Scalar {
    /// How many bits it takes on the wire.
    pub const fn bits(self) -> u8 {
        match self {
            Scalar::Bool => 1,
            Scalar::Unsigned(bits) | Scalar::Signed(bits) => bits,
            Scalar::F32 => 32,
            Scalar::F64 => 64,
        }
    }

    /// How many 32-bit words it takes in a row: 1 or 2.
    pub const fn words(self) -> usize {
        if self.bits() > 32 { 2 } else { 1 }
    }

    /// Whether it is a floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

/// A value with a fixed layout in 32-bit words: a scalar, or an array of 1 to 64 of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of exact bits",
    note = "a field is a bool, u8 to u64, i8 to i64, f32, f64, or an array of them"
)]
pub trait Field: Copy {
    /// The type of each lane.
    const SCALAR: Scalar;
    /// How many lanes: 1 for a scalar, N for an array.
    const LANES: u8;
    /// How many words it takes.
    const WORDS: usize = Self::SCALAR.words() * Self::LANES as usize;

    /// Writes its exact bits into the first [`WORDS`](Field::WORDS) words.
    ///
    /// # Panics
    /// When there are fewer.
    fn put(self, words: &mut [u32]);

    /// The value of these bits; the inverse of [`put`](Field::put).
    ///
    /// # Panics
    /// When there are fewer than [`WORDS`](Field::WORDS) words.
    fn get(words: &[u32]) -> Self;
}

macro_rules! one_word {
    ($($type:ty, $scalar:expr, $value:ident => $put:expr, $word:ident => $get:expr;)*) => {$(
        impl Field for $type {
            const SCALAR: Scalar = $scalar;
            const LANES: u8 = 1;
            fn put(self, words: &mut [u32]) {
                let $value = self;
                words[0] = $put;
            }
            #[expect(clippy::allow_attributes, reason = "only the narrow integers truncate")]
            #[allow(clippy::cast_possible_truncation, reason = "the word holds what `put` wrote")]
            fn get(words: &[u32]) -> Self {
                let $word = words[0];
                $get
            }
        }
    )*};
}

one_word! {
    bool, Scalar::Bool, v => u32::from(v), w => w != 0;
    u8, Scalar::Unsigned(8), v => u32::from(v), w => w as u8;
    u16, Scalar::Unsigned(16), v => u32::from(v), w => w as u16;
    u32, Scalar::Unsigned(32), v => v, w => w;
    i8, Scalar::Signed(8), v => u32::from(v.cast_unsigned()), w => (w as u8).cast_signed();
    i16, Scalar::Signed(16), v => u32::from(v.cast_unsigned()), w => (w as u16).cast_signed();
    i32, Scalar::Signed(32), v => v.cast_unsigned(), w => w.cast_signed();
    f32, Scalar::F32, v => v.to_bits(), w => f32::from_bits(w);
}

macro_rules! two_words {
    ($($type:ty, $scalar:expr, $value:ident => $put:expr, $bits:ident => $get:expr;)*) => {$(
        impl Field for $type {
            const SCALAR: Scalar = $scalar;
            const LANES: u8 = 1;
            #[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
            fn put(self, words: &mut [u32]) {
                let $value = self;
                let bits: u64 = $put;
                words[0] = bits as u32;
                words[1] = (bits >> 32) as u32;
            }
            fn get(words: &[u32]) -> Self {
                let $bits = u64::from(words[0]) | u64::from(words[1]) << 32;
                $get
            }
        }
    )*};
}

two_words! {
    u64, Scalar::Unsigned(64), v => v, b => b;
    i64, Scalar::Signed(64), v => v.cast_unsigned(), b => b.cast_signed();
    f64, Scalar::F64, v => v.to_bits(), b => f64::from_bits(b);
}

impl<T: Field, const N: usize> Field for [T; N] {
    const SCALAR: Scalar = T::SCALAR;
    #[expect(clippy::cast_possible_truncation, reason = "asserted first")]
    const LANES: u8 = {
        assert!(N >= 1 && N * T::LANES as usize <= 64, "an array has 1 to 64 lanes");
        T::LANES * N as u8
    };

    fn put(self, words: &mut [u32]) {
        for (lane, words) in self.into_iter().zip(words.chunks_exact_mut(T::WORDS)) {
            lane.put(words);
        }
    }

    fn get(words: &[u32]) -> Self {
        core::array::from_fn(|lane| T::get(&words[lane * T::WORDS..]))
    }
}

/// One player's command for one tick (R7). `Default` is its neutral value: what a player does who does nothing.
///
/// Derive it: `#[derive(Input, Clone, Copy, PartialEq, Default)]` on a struct of bools, integers, floats and arrays of
/// them. A bool takes one bit on the wire, the rest their width.
pub trait Input: Copy + Default + PartialEq + 'static {
    /// Its fields, in the order of their declaration. At most 64 words together.
    fn columns() -> Vec<Column>;
    /// Writes the exact bits of all fields, in order.
    fn write(&self, words: &mut [u32]);
    /// The inverse of [`write`](Input::write).
    fn read(words: &[u32]) -> Self;

    /// What is left of it when it stands in for another player's input of which nothing was heard for a while: the whole
    /// of it at a `fraction` of 0, the neutral one at 1 (the fractions asked for are between). By default it is used as
    /// it is up to the end; an input of throttles may fade out.
    #[must_use]
    fn decayed(self, fraction: f64) -> Self {
        if fraction < 1.0 { self } else { Self::default() }
    }
}

/// The replicated state of one entity.
///
/// Derive it on a struct (one kind of entity) or on an enum (one kind per variant). `#[state(position)]`,
/// `#[state(rotation)]`, `#[state(velocity)]` and `#[state(angular_velocity)]` on a field say what it means to
/// comparison, interpolation and correction; `#[state(owner)]` on the struct or variant sends it to its owner alone.
pub trait State: Sized {
    /// The kinds of entity that this type describes: one for a struct, one per variant for an enum.
    fn schema() -> Schema;
    /// Which of them this value is.
    fn kind(&self) -> Kind;
    /// Writes the exact bits of all fields, in order.
    fn write(&self, words: &mut [u32]);
    /// The inverse of [`write`](State::write).
    ///
    /// # Panics
    /// When `kind` is not one of the schema's.
    fn read(kind: Kind, words: &[u32]) -> Self;

    /// Its part of this type: the first field of it with `#[state(flatten)]`. `None` where this kind has none, and by default,
    /// for states that are written by hand.
    fn part_mut<P: Part + 'static>(&mut self) -> Option<&mut P> {
        None
    }
}

/// Fields that stand together in rows of several kinds: `#[derive(State)]` on a struct makes it one, and
/// `#[state(flatten)]` on a field of another state puts its fields in that field's place, with their meanings.
pub trait Part: Sized {
    /// How many words its fields take.
    const WORDS: usize;
    /// Its fields, in the order of their declaration.
    fn columns() -> Vec<Column>;
    /// Writes the exact bits of all fields, in order.
    ///
    /// # Panics
    /// When there are fewer than [`WORDS`](Part::WORDS) words.
    fn write(&self, words: &mut [u32]);
    /// The inverse of [`write`](Part::write).
    ///
    /// # Panics
    /// When there are fewer than [`WORDS`](Part::WORDS) words.
    fn read(words: &[u32]) -> Self;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Field + PartialEq + core::fmt::Debug>(value: T) {
        let mut words = [0; 64];
        value.put(&mut words);
        assert_eq!(T::get(&words), value);
    }

    #[test]
    fn every_type_of_field_comes_back_as_it_went() {
        for byte in 0..=u8::MAX {
            round_trip(byte);
            round_trip(byte.cast_signed());
        }
        for half in 0..=u16::MAX {
            round_trip(half);
            round_trip(half.cast_signed());
        }
        round_trip([true, false, true]);
        round_trip([u32::MAX, 0]);
        round_trip([i32::MIN, i32::MAX]);
        round_trip([u64::MAX, 1, 1 << 40]);
        round_trip([i64::MIN, -1]);
        round_trip([f32::MIN_POSITIVE, -0.0, f32::MAX]);
        round_trip([[f64::EPSILON, -1.5], [f64::MAX, 0.1]]);
    }
}
