//! Rows on the wire: an entity's name, how long ago something happened to it, and the exact bits of its row.

use crate::rollback::{Entity, Kind, PlayerId, ROW_WORDS_MAX, Rows, Schema};
use crate::time::Tick;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};

/// Server events are named until acknowledged, but no longer than for so many ticks.
pub(crate) const EVENT_TICKS_BACK: u32 = 1000;
const AGE_BITS: u32 = 10;

/// How many ticks before a state something last happened to an entity that its owner can't foresee.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ages {
    /// The server changed it outside of a step.
    pub event: Option<u32>,
    /// An entity of another player touched it.
    pub contact: Option<u32>,
}

impl Ages {
    /// Of an entity at `tick`, by when entities were last changed and touched (the second list ascending by entity); a
    /// touch that the client knows of is not told again.
    pub(crate) fn of(entity: Entity, tick: Tick, (changed, touched): (&[Past], &[Past]), known: Tick) -> Ages {
        let event = changed.iter().find(|(to, _)| *to == entity).map(|(_, at)| tick.since(*at));
        let found = touched.binary_search_by_key(&entity, |(to, _)| *to).ok();
        let contact = found.map(|found| touched[found].1).filter(|at| *at >= known).map(|at| tick.since(at));
        Ages { event, contact }
    }
}

/// In which tick something last happened to an entity.
pub(crate) type Past = (Entity, Tick);

/// The half of a digest that stands in a proof.
#[expect(clippy::cast_possible_truncation, reason = "half of it is enough")]
pub(crate) fn proof_of(rows: &Rows) -> u32 {
    rows.digest() as u32
}

/// The widths of all columns, made once from a schema.
#[derive(Clone, Debug)]
pub(crate) struct RowCode {
    kind_bits: u32,
    widths: Vec<Vec<u8>>,
}

impl RowCode {
    pub(crate) fn new(schema: &Schema) -> RowCode {
        let kinds = schema.kinds().len();
        let kind_bits = usize::BITS - kinds.saturating_sub(1).leading_zeros();
        RowCode { kind_bits, widths: schema.kinds().iter().map(|kind| kind.word_bits()).collect() }
    }

    /// Whether there is such a kind.
    pub(crate) fn knows(&self, kind: Kind) -> bool {
        usize::from(kind.0) < self.widths.len()
    }

    /// Writes the name of an entity.
    pub(crate) fn write_name(&self, writer: &mut BitWriter<'_>, entity: Entity) {
        let name = "writing never fails";
        writer.put(u64::from(entity.kind().0), self.kind_bits);
        writer.small(&mut u32::from(entity.player().get())).expect(name);
        writer.small(&mut entity.tick().get()).expect(name);
        writer.small(&mut u32::from(entity.counter())).expect(name);
    }

    /// The inverse of [`write_name`](RowCode::write_name).
    #[expect(clippy::cast_possible_truncation, reason = "the widths of what is read fit")]
    pub(crate) fn read_name(&self, reader: &mut BitReader<'_>) -> Result<Entity, Malformed> {
        let kind = reader.take(self.kind_bits)? as usize;
        if kind >= self.widths.len() {
            return Err(Malformed::OutOfRange("kind"));
        }
        let (mut player, mut tick, mut counter) = (0, 0, 0);
        reader.small(&mut player)?;
        reader.small(&mut tick)?;
        reader.small(&mut counter)?;
        let player = u16::try_from(player).map_err(|_| Malformed::OutOfRange("player"))?;
        let counter = u8::try_from(counter).map_err(|_| Malformed::OutOfRange("entity counter"))?;
        Ok(Entity::new(Kind(kind as u8), PlayerId::new(player), Tick::new(tick), counter))
    }

    /// Writes one row.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, entity: Entity, ages: Ages, words: &[u32]) {
        self.write_name(writer, entity);
        // As many at once as fit.
        let (mut joined, mut bits) = (0_u64, 0_u32);
        let mut put = |value: u32, width: u32| {
            if bits + width > u64::BITS {
                writer.put(joined, bits);
                (joined, bits) = (0, 0);
            }
            joined |= (u64::from(value) & ((1 << width) - 1)) << bits;
            bits += width;
        };
        for age in [ages.event, ages.contact] {
            let age = age.filter(|age| *age <= EVENT_TICKS_BACK);
            put(u32::from(age.is_some()), 1);
            if let Some(age) = age {
                put(age, AGE_BITS);
            }
        }
        for (word, width) in words.iter().zip(&self.widths[usize::from(entity.kind().0)]) {
            put(*word, u32::from(*width));
        }
        writer.put(joined, bits);
    }

    /// How many bits one row takes at most.
    pub(crate) fn bits_max(&self, kind: Kind) -> u64 {
        let words: u64 = self.widths[usize::from(kind.0)].iter().map(|width| u64::from(*width)).sum();
        // A bit before it; the name is of 16, 32 and 8 bits at most, with one more for each group of four.
        1 + u64::from(self.kind_bits) + 21 + 41 + 11 + 2 * u64::from(1 + AGE_BITS) + words
    }

    /// Reads one row into `rows`.
    #[expect(clippy::cast_possible_truncation, reason = "the widths of what is read fit")]
    pub(crate) fn read(&self, reader: &mut BitReader<'_>, rows: &mut Rows) -> Result<(Entity, Ages), Malformed> {
        let entity = self.read_name(reader)?;
        let widths = &self.widths[usize::from(entity.kind().0)];
        let mut age = || Ok(if reader.take(1)? == 1 { Some(reader.take(AGE_BITS)? as u32) } else { None });
        let ages = Ages { event: age()?, contact: age()? };
        let mut words = [0; ROW_WORDS_MAX];
        for (word, width) in words.iter_mut().zip(widths) {
            *word = reader.take(u32::from(*width))? as u32;
        }
        rows.set_words(entity, &words[..widths.len()]);
        Ok((entity, ages))
    }
}
