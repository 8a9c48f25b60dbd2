//! Names and rows of entities in a recording, and what a game calls of a client about them.

use super::format::{stream_key, stream_one_of};
use alloc::vec::Vec;
use foretell::session::Claim;
use foretell::session::client::{ClientCall, Curve, EntityMode};
use foretell::wire::{Malformed, Stream};
use foretell::world::{ComponentId, Entity, PlayerId, ROW_WORDS_MAX, RowKey, Schema};
use foretell::{Rules, Tick};

/// A key, before one is read.
pub(super) const NO_KEY: RowKey =
    RowKey { component: ComponentId(0), entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0) };

/// A row with room for the largest.
pub(super) type Row = [u32; ROW_WORDS_MAX];

/// How wide the words of each component's rows are, in bits.
#[derive(Debug, Default)]
pub(super) struct RowWidths(Vec<Vec<u8>>);

impl RowWidths {
    pub(super) fn new(rules: &Rules) -> RowWidths {
        let schema: &Schema = &rules.schema;
        RowWidths(schema.components().iter().map(|component| component.word_bits()).collect())
    }

    /// How many words the rows of this key have.
    pub(super) fn words(&self, key: RowKey) -> usize {
        self.of(key).map_or(0, Vec::len)
    }

    fn of(&self, key: RowKey) -> Result<&Vec<u8>, Malformed> {
        self.0.get(usize::from(key.component.0)).ok_or(Malformed::OutOfRange("component"))
    }

    /// The key of a component that there is.
    pub(super) fn stream_key(&self, stream: &mut impl Stream, key: &mut RowKey) -> Result<(), Malformed> {
        stream_key(stream, key)?;
        self.of(*key).map(|_| ())
    }

    /// A key, and the words of its row.
    pub(super) fn stream_row(
        &self,
        stream: &mut impl Stream,
        key: &mut RowKey,
        row: &mut Row,
    ) -> Result<(), Malformed> {
        self.stream_key(stream, key)?;
        for (word, width) in row.iter_mut().zip(self.of(*key)?) {
            let mut bits = u64::from(*word);
            stream.bits(&mut bits, u32::from(*width))?;
            *word = u32::try_from(bits).map_err(|_| Malformed::OutOfRange("word"))?;
        }
        Ok(())
    }

    /// What a game calls of a client about an entity.
    pub(super) fn stream_call(&self, stream: &mut impl Stream, call: &mut ClientCall) -> Result<(), Malformed> {
        let mut number = number_of(call);
        stream.u8(&mut number)?;
        let mut parts = Parts::of(call);
        match number {
            3 => stream.u32(&mut parts.tick)?,
            8 => stream_one_of(stream, &mut parts.curve, &Curve::ALL)?,
            _ => {}
        }
        match number {
            3 | 4 => self.stream_row(stream, &mut parts.key, &mut parts.row)?,
            0..=8 => self.stream_key(stream, &mut parts.key)?,
            _ => return Err(Malformed::OutOfRange("call")),
        }
        *call = parts.call(number);
        Ok(())
    }
}

/// Which call it is, in a recording.
fn number_of(call: &ClientCall) -> u8 {
    match call {
        ClientCall::Request(_, Claim::Authority) => 0,
        ClientCall::Request(_, Claim::Ownership) => 1,
        ClientCall::Release(_) => 2,
        ClientCall::Capture(..) => 3,
        ClientCall::Show(..) => 4,
        ClientCall::SetMode(_, None) => 5,
        ClientCall::SetMode(_, Some(EntityMode::Interpolated)) => 6,
        ClientCall::SetMode(_, Some(EntityMode::Predicted)) => 7,
        ClientCall::ShowWith(..) => 8,
        ClientCall::Predict(..) => unreachable!("it is about a player"),
    }
}

/// What the calls about entities say, all of them.
struct Parts {
    /// Of calls that are about an entity as a whole the component is the first.
    key: RowKey,
    tick: u32,
    row: Row,
    curve: Curve,
}

impl Parts {
    fn of(call: &ClientCall) -> Parts {
        let mut parts = Parts { key: NO_KEY, tick: 0, row: [0; ROW_WORDS_MAX], curve: Curve::default() };
        match *call {
            ClientCall::Request(entity, _) | ClientCall::Release(entity) | ClientCall::SetMode(entity, _) => {
                parts.key.entity = entity;
            }
            ClientCall::Capture(key, tick, row) => {
                parts = Parts { key, tick: tick.get(), row, ..parts };
            }
            ClientCall::Show(key, row) => parts = Parts { key, row, ..parts },
            ClientCall::ShowWith(entity, curve) => {
                parts.key.entity = entity;
                parts.curve = curve;
            }
            ClientCall::Predict(..) => {}
        }
        parts
    }

    fn call(self, number: u8) -> ClientCall {
        let Parts { key, tick, row, curve } = self;
        let entity = key.entity;
        match number {
            0 => ClientCall::Request(entity, Claim::Authority),
            1 => ClientCall::Request(entity, Claim::Ownership),
            2 => ClientCall::Release(entity),
            3 => ClientCall::Capture(key, Tick::new(tick), row),
            4 => ClientCall::Show(key, row),
            5 => ClientCall::SetMode(entity, None),
            6 => ClientCall::SetMode(entity, Some(EntityMode::Interpolated)),
            7 => ClientCall::SetMode(entity, Some(EntityMode::Predicted)),
            _ => ClientCall::ShowWith(entity, curve),
        }
    }
}
