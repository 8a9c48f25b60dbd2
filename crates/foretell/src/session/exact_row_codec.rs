//! Rows on the wire: an entity's name, how long ago something happened to it, and the exact bits of its row.

use crate::time::Tick;
use crate::wire::{BitBatch, BitReader, BitWriter, Malformed, Stream, small_bits};
use crate::world::{ComponentId, ComponentSchema, Entity, PlayerId, ROW_WORDS_MAX, Row, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// For how many ticks server events are named at most; less where they are acknowledged.
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

/// The half of a digest that stands in a proof.
#[expect(clippy::cast_possible_truncation, reason = "half of it is enough")]
pub(crate) fn proof_of(rows: &Rows) -> u32 {
    rows.digest() as u32
}

/// Writes the name of an entity.
pub(crate) fn write_entity(writer: &mut BitWriter<'_>, entity: Entity) {
    let name = "writing never fails";
    writer.small(&mut entity.tick().get()).expect(name);
    writer.small(&mut u32::from(entity.spawned_for().get())).expect(name);
    writer.small(&mut u32::from(entity.counter())).expect(name);
}

/// The inverse of [`write_entity`].
pub(crate) fn read_entity(reader: &mut BitReader<'_>) -> Result<Entity, Malformed> {
    let (mut tick, mut counter) = (0, 0);
    reader.small(&mut tick)?;
    let player = read_player(reader)?;
    reader.small(&mut counter)?;
    let counter = u16::try_from(counter).map_err(|_| Malformed::OutOfRange("entity counter"))?;
    Ok(Entity::new(player, Tick::new(tick), counter))
}

/// A player as `small`.
pub(crate) fn read_player(reader: &mut BitReader<'_>) -> Result<PlayerId, Malformed> {
    let mut player = 0;
    reader.small(&mut player)?;
    u16::try_from(player).map(PlayerId::new).map_err(|_| Malformed::OutOfRange("player"))
}

/// A row that is gone, as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoneRecord {
    pub key: RowKey,
    /// It is there still, for others.
    pub is_hidden: bool,
}

/// The widths of all columns, made once from a schema.
#[derive(Clone, Debug)]
pub(crate) struct ExactRowCodec {
    component_bits: u32,
    widths: Vec<Vec<u8>>,
}

impl ExactRowCodec {
    pub(crate) fn new(schema: &Schema) -> ExactRowCodec {
        let count = schema.components().len();
        let component_bits = usize::BITS - count.saturating_sub(1).leading_zeros();
        ExactRowCodec { component_bits, widths: schema.components().iter().map(ComponentSchema::word_bits).collect() }
    }

    /// Writes which row it is.
    pub(crate) fn write_key(&self, writer: &mut BitWriter<'_>, key: RowKey) {
        writer.put(u64::from(key.component.0), self.component_bits);
        write_entity(writer, key.entity);
    }

    /// How many bits that takes.
    pub(crate) fn key_bits(&self, key: RowKey) -> usize {
        let entity = key.entity;
        let numbers = [entity.tick().get(), u32::from(entity.spawned_for().get()), u32::from(entity.counter())];
        (self.component_bits + numbers.into_iter().map(small_bits).sum::<u32>()) as usize
    }

    /// The inverse of [`write_key`](ExactRowCodec::write_key).
    #[expect(clippy::cast_possible_truncation, reason = "eight bits at most")]
    pub(crate) fn read_key(&self, reader: &mut BitReader<'_>) -> Result<RowKey, Malformed> {
        let component = reader.take(self.component_bits)?;
        if component as usize >= self.widths.len() {
            return Err(Malformed::OutOfRange("component"));
        }
        Ok(RowKey { component: ComponentId(component as u8), entity: read_entity(reader)? })
    }

    /// Writes one row.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, row: Row<'_>, ages: Ages) {
        self.write_key(writer, row.key());
        let is_given = row.owner != row.entity.spawned_for();
        writer.put(u64::from(is_given), 1);
        if is_given {
            writer.small(&mut u32::from(row.owner.get())).expect("writing never fails");
        }
        let mut joined = BitBatch::new(writer);
        for age in [ages.event, ages.contact] {
            let age = age.filter(|age| *age <= EVENT_TICKS_BACK);
            joined.put(u32::from(age.is_some()), 1);
            if let Some(age) = age {
                joined.put(age, AGE_BITS);
            }
        }
        for (word, width) in row.words.iter().zip(&self.widths[usize::from(row.component.0)]) {
            joined.put(*word, u32::from(*width));
        }
        joined.finish();
    }

    /// Writes which row is not there any more, or is for others alone.
    pub(crate) fn write_gone(&self, writer: &mut BitWriter<'_>, key: RowKey, is_hidden: bool) {
        self.write_key(writer, key);
        writer.put(u64::from(is_hidden), 1);
    }

    /// The inverse of [`write_gone`](ExactRowCodec::write_gone).
    pub(crate) fn read_gone(&self, reader: &mut BitReader<'_>) -> Result<GoneRecord, Malformed> {
        Ok(GoneRecord { key: self.read_key(reader)?, is_hidden: reader.take(1)? == 1 })
    }

    /// How many bits one row takes at most.
    pub(crate) fn bits_max(&self, component: ComponentId) -> u64 {
        let words: u64 = self.widths[usize::from(component.0)].iter().map(|width| u64::from(*width)).sum();
        // A bit before it; the name is of 32, 16 and 16 bits at most, and the owner of 16, with one more for each group of four.
        1 + u64::from(self.component_bits) + 41 + 21 + 21 + 1 + 21 + 2 * u64::from(1 + AGE_BITS) + words
    }

    /// Reads one row into `rows`.
    #[expect(clippy::cast_possible_truncation, reason = "the widths of what is read fit")]
    pub(crate) fn read(&self, reader: &mut BitReader<'_>, rows: &mut Rows) -> Result<(RowKey, Ages), Malformed> {
        let key = self.read_key(reader)?;
        let is_given = reader.take(1)? == 1;
        let owner = if is_given { read_player(reader)? } else { key.entity.spawned_for() };
        let widths = &self.widths[usize::from(key.component.0)];
        let mut age = || Ok(if reader.take(1)? == 1 { Some(reader.take(AGE_BITS)? as u32) } else { None });
        let ages = Ages { event: age()?, contact: age()? };
        let mut words = [0; ROW_WORDS_MAX];
        for (word, width) in words.iter_mut().zip(widths) {
            *word = reader.take(u32::from(*width))? as u32;
        }
        let RowKey { component, entity } = key;
        rows.set_words(Row { component, entity, owner, words: &words[..widths.len()] });
        Ok((key, ages))
    }
}
