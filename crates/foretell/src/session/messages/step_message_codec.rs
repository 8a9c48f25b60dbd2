//! Messages that are part of steps, as they stand in a datagram of inputs.

use super::fragment::{read_bytes, write_bytes};
use crate::time::Tick;
use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::{Delivery, Messages};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How many messages of steps may be under way from one client.
pub(crate) const STEP_MESSAGES_MAX: usize = 16;
/// And how many bytes they may have altogether, so that they fit into a datagram with the newest inputs.
pub(crate) const STEP_MESSAGE_BYTES_MAX: usize = 512;

/// A message of a step, as it is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepMessage {
    /// Of the step of which tick the client has it.
    pub tick: Tick,
    /// Of its kind.
    pub kind: usize,
    pub bytes: Arc<[u8]>,
}

/// Those of which the client does not know that they have come, in the order in which they were sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StepList {
    /// The tick in which the client's session began.
    pub opening: u32,
    /// The number of the first; those of a session count from 0.
    pub first: u32,
    pub messages: Vec<StepMessage>,
}

impl StepList {
    /// Writes those that belong to ticks up to and with `newest`, the tick of the datagram's newest input. How many those are.
    pub(crate) fn write(&self, writer: &mut BitWriter<'_>, newest: Tick, kinds: &Messages) -> usize {
        let count = self.messages.partition_point(|message| message.tick <= newest);
        writer.put(u64::from(count > 0), 1);
        if count > 0 {
            writer.put(u64::from(self.opening), 32);
            writer.put(u64::from(self.first), 32);
            writer.put(count as u64 - 1, 4);
        }
        for StepMessage { tick, kind, bytes } in &self.messages[..count] {
            writer.put(*kind as u64, kinds.number_bits());
            writer.small(&mut newest.since(*tick)).expect("writing never fails");
            writer.put(bytes.len() as u64, 9);
            write_bytes(writer, bytes);
        }
        count
    }

    /// Reads what [`write`](StepList::write) has written, in the place of what was there.
    pub(crate) fn read(&mut self, reader: &mut BitReader<'_>, newest: Tick, kinds: &Messages) -> Result<(), Malformed> {
        self.messages.clear();
        if reader.take(1)? == 0 {
            return Ok(());
        }
        reader.u32(&mut self.opening)?;
        reader.u32(&mut self.first)?;
        let count = reader.take(4)? + 1;
        for _ in 0..count {
            let message = read_message(reader, newest, kinds)?;
            self.messages.push(message);
        }
        let bytes: usize = self.messages.iter().map(|message| message.bytes.len()).sum();
        let is_sorted = self.messages.is_sorted_by_key(|message| message.tick);
        let has_numbers = u32::try_from(STEP_MESSAGES_MAX).is_ok_and(|most| self.first.checked_add(most).is_some());
        if !is_sorted || bytes > STEP_MESSAGE_BYTES_MAX || !has_numbers {
            return Err(Malformed::OutOfRange("messages of steps"));
        }
        Ok(())
    }
}

fn read_message(reader: &mut BitReader<'_>, newest: Tick, kinds: &Messages) -> Result<StepMessage, Malformed> {
    let kind = usize::try_from(reader.take(kinds.number_bits())?).unwrap_or(usize::MAX);
    let known = kinds.kinds().get(kind).filter(|kind| kind.delivery() == Delivery::InStep);
    let known = known.ok_or(Malformed::OutOfRange("kind of message"))?;
    let mut back = 0;
    reader.small(&mut back)?;
    let tick = newest.back(back).ok_or(Malformed::OutOfRange("tick of a message"))?;
    let length = reader.take(9)?;
    if length > u64::from(known.bytes_max()) {
        return Err(Malformed::OutOfRange("length of a message"));
    }
    let bytes = read_bytes(reader, usize::try_from(length).unwrap_or(usize::MAX))?.into();
    Ok(StepMessage { tick, kind, bytes })
}
