//! What a game calls of a client besides its updates, about single entities.

use super::settings::stream_one_of;
use crate::rollback::{Entity, ROW_WORDS_MAX, Rows, Schema};
use crate::session::client::Curve;
use crate::session::rowcode::{Ages, RowCode};
use crate::session::shared::Claim;
use crate::time::Tick;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};

/// A call about one entity. Rows have room for the largest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) enum EntityCall {
    Request(Entity, Claim),
    Release(Entity),
    Capture(Entity, Tick, [u32; ROW_WORDS_MAX]),
    Show(Entity, [u32; ROW_WORDS_MAX]),
    /// Predicted, or not; `None` as its player's others.
    Mode(Entity, Option<bool>),
    /// Shown by a curve of its own.
    ShowWith(Entity, Curve),
}

impl EntityCall {
    pub(super) fn write(&self, writer: &mut BitWriter<'_>, code: &RowCode, schema: &Schema) {
        match self {
            EntityCall::Request(entity, claim) => {
                writer.put(if *claim == Claim::Ownership { 1 } else { 0 }, 8);
                code.write_name(writer, *entity);
            }
            EntityCall::Release(entity) => {
                writer.put(2, 8);
                code.write_name(writer, *entity);
            }
            EntityCall::Capture(entity, tick, words) => {
                writer.put(3, 8);
                writer.put(u64::from(tick.get()), 32);
                code.write(writer, *entity, Ages::default(), &words[..schema.kind(entity.kind()).words()]);
            }
            EntityCall::Show(entity, words) => {
                writer.put(4, 8);
                code.write(writer, *entity, Ages::default(), &words[..schema.kind(entity.kind()).words()]);
            }
            EntityCall::Mode(entity, mode) => {
                writer.put(5 + mode.map_or(0, |yes| 1 + u64::from(yes)), 8);
                code.write_name(writer, *entity);
            }
            EntityCall::ShowWith(entity, curve) => {
                writer.put(8, 8);
                stream_one_of(writer, &mut curve.clone(), &Curve::ALL).expect("writing never fails");
                code.write_name(writer, *entity);
            }
        }
    }

    /// The inverse of [`write`](EntityCall::write); `rows` is memory.
    pub(super) fn read(reader: &mut BitReader<'_>, code: &RowCode, rows: &mut Rows) -> Result<EntityCall, Malformed> {
        let call = reader.take(8)?;
        let mut tick = 0;
        if call == 3 {
            reader.u32(&mut tick)?;
        }
        let mut curve = Curve::default();
        if call == 8 {
            stream_one_of(reader, &mut curve, &Curve::ALL)?;
        }
        if call != 3 && call != 4 {
            let entity = code.read_name(reader)?;
            return match call {
                0 => Ok(EntityCall::Request(entity, Claim::Authority)),
                1 => Ok(EntityCall::Request(entity, Claim::Ownership)),
                2 => Ok(EntityCall::Release(entity)),
                5 => Ok(EntityCall::Mode(entity, None)),
                6 => Ok(EntityCall::Mode(entity, Some(false))),
                7 => Ok(EntityCall::Mode(entity, Some(true))),
                8 => Ok(EntityCall::ShowWith(entity, curve)),
                _ => Err(Malformed::OutOfRange("call")),
            };
        }
        rows.clear();
        let (entity, _) = code.read(reader, rows)?;
        let mut row = [0; ROW_WORDS_MAX];
        let words = rows.words(entity).unwrap_or_default();
        row[..words.len()].copy_from_slice(words);
        Ok(if call == 3 { EntityCall::Capture(entity, Tick::new(tick), row) } else { EntityCall::Show(entity, row) })
    }
}
