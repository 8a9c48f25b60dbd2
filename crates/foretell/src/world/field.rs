//! What a row or an input is made of: fields of exact bits, laid out in 32-bit words.

use super::{Column, ComponentSchema, Entity, Flatten, PlayerId};
use crate::time::Tick;
use alloc::vec::Vec;

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

    /// Whether it is an unsigned integer of one word.
    pub(crate) const fn is_count(self) -> bool {
        matches!(self, Scalar::Unsigned(8 | 16 | 32))
    }
}

/// A value with a fixed layout in 32-bit words: a scalar, or an array of 1 to 64 of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of exact bits",
    note = "a field is a bool, u8 to u64, i8 to i64, f32, f64, an Entity, a PlayerId, a Tick, a Text, an enum without data with #[derive(Field)], an Option or an array of them"
)]
pub trait Field: Copy {
    /// The type of each lane.
    const SCALAR: Scalar;
    /// How many lanes: 1 for a scalar, N for an array.
    const LANES: u8;
    /// Whether there may be none. Such a field is held between snapshots, whatever it is made of: there is nothing between some and none.
    const IS_OPTION: bool = false;
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
    PlayerId, Scalar::Unsigned(16), v => u32::from(v.get()), w => PlayerId::new(w as u16);
    Tick, Scalar::Unsigned(32), v => v.get(), w => Tick::new(w);
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
    Entity, Scalar::Unsigned(64), v => v.bits(), b => Entity::from_bits(b);
}

impl<T: Field, const N: usize> Field for [T; N] {
    const SCALAR: Scalar = T::SCALAR;
    #[expect(clippy::cast_possible_truncation, reason = "asserted first")]
    const LANES: u8 = {
        assert!(N >= 1 && N * T::LANES as usize <= 64, "an array has 1 to 64 lanes");
        T::LANES * N as u8
    };
    const IS_OPTION: bool = T::IS_OPTION;

    fn put(self, words: &mut [u32]) {
        for (lane, words) in self.into_iter().zip(words.chunks_exact_mut(T::WORDS)) {
            lane.put(words);
        }
    }

    fn get(words: &[u32]) -> Self {
        core::array::from_fn(|lane| T::get(&words[lane * T::WORDS..]))
    }
}

/// A lane before those of the value says whether there is one: 1 or 0. Without one all lanes are 0.
impl<T: Field> Field for Option<T> {
    const SCALAR: Scalar = T::SCALAR;
    const LANES: u8 = {
        assert!(T::LANES < 64, "an optional field has at most 63 lanes");
        T::LANES + 1
    };
    const IS_OPTION: bool = true;

    fn put(self, words: &mut [u32]) {
        words[..Self::WORDS].fill(0);
        if let Some(value) = self {
            words[0] = 1;
            value.put(&mut words[T::SCALAR.words()..]);
        }
    }

    fn get(words: &[u32]) -> Option<T> {
        (words[0] != 0).then(|| T::get(&words[T::SCALAR.words()..]))
    }
}

/// A short text as a field: at most `N` bytes of UTF-8, without the character U+0000. Names, chat words, labels; what is
/// longer is no state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Text<N> = Text([0; N]);

    /// The text, cut to `N` bytes at a character, and before the first U+0000.
    pub fn new(text: &str) -> Text<N> {
        let text = text.split('\0').next().unwrap_or_default();
        let end = (0..=N.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let mut bytes = [0; N];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        Text(bytes)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        core::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Text<N> {
        Text::EMPTY
    }
}

/// The text, cut as [`Text::new`] does.
impl<const N: usize> From<&str> for Text<N> {
    fn from(text: &str) -> Text<N> {
        Text::new(text)
    }
}

impl<const N: usize> core::ops::Deref for Text<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> core::fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> core::fmt::Display for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Four bytes to a lane, the first in its lowest bits. What came from elsewhere ends before the first byte that is no UTF-8, or zero: of
/// what stands behind that nothing is kept, so that texts that read the same are the same.
impl<const N: usize> Field for Text<N> {
    const SCALAR: Scalar = Scalar::Unsigned(32);
    #[expect(clippy::cast_possible_truncation, reason = "asserted first")]
    const LANES: u8 = {
        assert!(N >= 1 && N <= 256, "a text has 1 to 256 bytes");
        N.div_ceil(4) as u8
    };

    fn put(self, words: &mut [u32]) {
        for (bytes, word) in self.0.chunks(4).zip(words) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
    }

    fn get(words: &[u32]) -> Text<N> {
        let bytes: [u8; N] = core::array::from_fn(|at| words[at / 4].to_le_bytes()[at % 4]);
        Text::new(bytes.utf8_chunks().next().map_or("", |first| first.valid()))
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

/// The replicated state of an entity, or a part of it: what one [`Table`](super::Table) holds.
///
/// Derive it on a struct or on an enum. What is sent, compared and saved as a unit is a *component*: a struct is one, and one
/// more for each other [audience](super::Audience) that its fields have (`#[state(audience = owner)]`); an enum has one for each variant, of
/// which a value has exactly one. `#[state(position)]`, `#[state(rotation)]`, `#[state(velocity)]`, `#[state(angular_velocity)]`,
/// `#[state(blended)]` and `#[state(teleports)]` on a field say what it [means](crate::Meaning) to comparison, interpolation and correction, and
/// `#[state(parent)]` on a name that the entity is below the one of that name: to [interest](crate::Interest) it is where that is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    note = "write #[derive(State)] on it: a struct of fields with exact bits, or an enum of such variants"
)]
pub trait State: Sized + 'static {
    /// How many components it has.
    const COMPONENTS: usize;

    /// Whether a value has exactly one of its components, as that of an enum does; that of a struct has all of them.
    const IS_CHOICE: bool;

    /// Its components, in order; `len == COMPONENTS`.
    fn components() -> Vec<ComponentSchema>;

    /// Writes the exact bits of its component `nth`, in the order of its columns. `false` where this value does not have it,
    /// which then writes nothing.
    ///
    /// # Panics
    /// When there is no such component, or `words` is shorter than it.
    fn write(&self, nth: usize, words: &mut [u32]) -> bool;

    /// A value that has this component, of these words; the fields of other components have their default. `None` where it
    /// can't be without another component: a struct without its first.
    ///
    /// # Panics
    /// When there is no such component, or `words` is shorter than it.
    fn read(nth: usize, words: &[u32]) -> Option<Self>;

    /// Takes over one component from its words; the others stay, but of an enum, which becomes that variant.
    ///
    /// # Panics
    /// As [`read`](State::read) does.
    fn adopt(&mut self, nth: usize, words: &[u32]);

    /// A component besides the first is told no more: its fields have their default. They stay in states written by hand.
    fn forget(&mut self, _nth: usize) {}

    /// Whether no client predicts what has this state: `#[state(predict = never)]`. By default it may.
    fn is_never_predicted(&self) -> bool {
        false
    }

    /// Its part of this type: the first field of it with `#[state(flatten)]`, of a struct among those that all see who see any of it;
    /// `None` without, and by default.
    fn part_mut<P: Flatten + 'static>(&mut self) -> Option<&mut P> {
        None
    }
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
        round_trip([PlayerId::SERVER, PlayerId::new(u16::MAX)]);
        round_trip([Tick::ZERO, Tick::new(u32::MAX)]);
        round_trip(Entity::from_bits(u64::MAX - 1));
        round_trip([None, Some(0.0_f32), Some(-1.5)]);
        round_trip([Some(u64::MAX), None]);
        round_trip([Some([true, false]), None]);
    }

    #[test]
    fn a_text_is_cut_at_a_character_and_comes_back_as_it_went() {
        for (text, kept) in
            [("", ""), ("Ada", "Ada"), ("Grace Hopper", "Grace"), ("a\u{20ac}\u{20ac}", "a\u{20ac}"), ("a\0b", "a")]
        {
            assert_eq!(&*Text::<5>::new(text), kept);
            round_trip(Text::<5>::new(text));
        }
    }
}
