//! News: what happens in steps and is not to be seen in states. The server tells it until it is acknowledged.

use super::rowcode::{read_entity, write_entity};
use crate::time::Tick;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::{Effect, EffectKind, Entity};

/// How many news one snapshot tells; the newest. About two datagrams of them, in the worst case.
pub(crate) const NEWS_MAX: usize = 256;

/// News are told for so many ticks back.
pub(crate) const NEWS_TICKS_BACK: u32 = 1000;

/// Something that happened to an entity in the step of a tick.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct News {
    pub tick: Tick,
    pub entity: Entity,
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum What {
    /// A one-shot effect.
    Effect { kind: EffectKind, at: Option<[f32; 3]> },
    /// It ceased to exist, and no acknowledged snapshot has shown it.
    Ended,
    /// It has ceased to exist, and another player's had touched it in this step.
    Touched,
    /// The server removed it outside of a step.
    Removed,
}

impl News {
    pub(crate) fn of(effect: &Effect) -> News {
        let Effect { tick, entity, kind, at } = *effect;
        News { tick, entity, what: What::Effect { kind, at } }
    }

    /// The effect that it tells of.
    pub(crate) fn effect(&self) -> Option<Effect> {
        let News { tick, entity, what } = *self;
        let What::Effect { kind, at } = what else { return None };
        Some(Effect { tick, entity, kind, at })
    }

    /// Writes it into the snapshot of a later tick.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, snapshot: Tick) {
        let name = "writing never fails";
        writer.small(&mut snapshot.since(self.tick)).expect(name);
        write_entity(writer, self.entity);
        match self.what {
            What::Effect { kind, mut at } => {
                writer.put(0, 2);
                writer.put(u64::from(kind.0), 8);
                writer.optional(&mut at, stream_place).expect(name);
            }
            What::Ended => writer.put(1, 2),
            What::Touched => writer.put(2, 2),
            What::Removed => writer.put(3, 2),
        }
    }

    /// Reads one from the snapshot of `snapshot`; `None` where it is of a tick that never was.
    pub(crate) fn read(reader: &mut BitReader<'_>, snapshot: Tick) -> Result<Option<News>, Malformed> {
        let mut back = 0;
        reader.small(&mut back)?;
        if back == 0 || back > NEWS_TICKS_BACK {
            return Err(Malformed::OutOfRange("tick of news"));
        }
        let entity = read_entity(reader)?;
        let what = match reader.take(2)? {
            0 => {
                let (mut kind, mut at) = (0, None);
                reader.u8(&mut kind)?;
                reader.optional(&mut at, stream_place)?;
                What::Effect { kind: EffectKind(kind), at }
            }
            1 => What::Ended,
            2 => What::Touched,
            _ => What::Removed,
        };
        Ok(snapshot.back(back).map(|tick| News { tick, entity, what }))
    }
}

fn stream_place<S: Stream>(stream: &mut S, place: &mut [f32; 3]) -> Result<(), Malformed> {
    for lane in place {
        let mut bits = lane.to_bits();
        stream.u32(&mut bits)?;
        *lane = f32::from_bits(bits);
    }
    Ok(())
}
