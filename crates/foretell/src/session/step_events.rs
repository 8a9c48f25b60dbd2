//! Step events: what happens in steps and is not visible in states. The server repeats them until they are acknowledged.

use super::exact_row_codec::{read_entity, write_entity};
use crate::time::Tick;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::{Effect, EffectKind, Entity};

/// The most step events in one snapshot; the newest are kept. About two datagrams of them, in the worst case.
pub(crate) const STEP_EVENTS_MAX: usize = 256;

/// For how many ticks back step events are sent.
pub(crate) const STEP_EVENT_TICKS_BACK: u32 = 1000;

/// Something that happened to an entity in the step of a tick.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StepEvent {
    pub tick: Tick,
    pub entity: Entity,
    pub what: StepEventKind,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum StepEventKind {
    /// A one-shot effect.
    Effect { kind: EffectKind, at: Option<[f32; 3]> },
    /// It ceased to exist, and no acknowledged snapshot has shown it.
    Ended,
    /// It has ceased to exist, and another player's had touched it in this step.
    Touched,
    /// The server removed it outside of a step.
    Removed,
    /// The client's player has changed it, though it is not the player's own.
    Changed,
}

impl StepEvent {
    pub(crate) fn of(effect: &Effect) -> StepEvent {
        let Effect { tick, entity, kind, at } = *effect;
        StepEvent { tick, entity, what: StepEventKind::Effect { kind, at } }
    }

    /// The effect that it tells of.
    pub(crate) fn effect(&self) -> Option<Effect> {
        let StepEvent { tick, entity, what } = *self;
        let StepEventKind::Effect { kind, at } = what else { return None };
        Some(Effect { tick, entity, kind, at })
    }

    /// Writes it into the snapshot of a later tick.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, snapshot: Tick) {
        let name = "writing never fails";
        writer.small(&mut snapshot.since(self.tick)).expect(name);
        write_entity(writer, self.entity);
        match self.what {
            StepEventKind::Effect { kind, mut at } => {
                writer.put(0, 1);
                writer.put(u64::from(kind.0), 8);
                writer.optional(&mut at, stream_place).expect(name);
            }
            StepEventKind::Ended => writer.put(1, 3),
            StepEventKind::Touched => writer.put(3, 3),
            StepEventKind::Removed => writer.put(5, 3),
            StepEventKind::Changed => writer.put(7, 3),
        }
    }

    /// Reads one from the snapshot of `snapshot`; `None` where it is of a tick that never was.
    pub(crate) fn read(reader: &mut BitReader<'_>, snapshot: Tick) -> Result<Option<StepEvent>, Malformed> {
        let mut back = 0;
        reader.small(&mut back)?;
        if back == 0 || back > STEP_EVENT_TICKS_BACK {
            return Err(Malformed::OutOfRange("tick of news"));
        }
        let entity = read_entity(reader)?;
        let what = if reader.take(1)? == 0 {
            let (mut kind, mut at) = (0, None);
            reader.u8(&mut kind)?;
            reader.optional(&mut at, stream_place)?;
            StepEventKind::Effect { kind: EffectKind(kind), at }
        } else {
            match reader.take(2)? {
                0 => StepEventKind::Ended,
                1 => StepEventKind::Touched,
                2 => StepEventKind::Removed,
                _ => StepEventKind::Changed,
            }
        };
        Ok(snapshot.back(back).map(|tick| StepEvent { tick, entity, what }))
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
