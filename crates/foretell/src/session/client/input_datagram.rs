//! Datagrams of inputs: which ones they carry, and how they are coded.

use super::authority::{AuthorityGrants, Carried};
use super::client_settings::ClientSettings;
use super::link::OutgoingStepMessages;
use crate::rollback::{INPUTS_KEPT, Timeline};
use crate::session::datagram::{DATAGRAM_MAX, DatagramKind, InputHeader, presented_bits, stream_presented};
use crate::session::{Outbox, PeerId};
use crate::time::Tick;
use crate::wire::{BitWriter, write_change};
use crate::world::{Input, ROW_WORDS_MAX, World};
use alloc::vec::Vec;

/// What one is written from.
pub(super) struct InputDatagram<'a, W: World> {
    pub timeline: &'a Timeline<W>,
    pub authority: &'a AuthorityGrants,
    pub step_messages: &'a OutgoingStepMessages,
    pub settings: &'a ClientSettings,
    /// Whose count is how many inputs it is to carry, none if it is 0; fewer, where there are no more, or no room.
    pub header: InputHeader,
    pub newest: Tick,
}

/// What was written.
pub(super) struct Written {
    pub bytes: usize,
    pub inputs: u32,
    /// Which rows of what this client holds have found room.
    pub carried: Carried,
    /// And how many messages of steps.
    pub messages: usize,
}

impl<W: World> InputDatagram<'_, W> {
    pub(super) fn write(mut self, outbox: &mut Outbox) -> Written {
        if self.header.count > 0 {
            self.header.count = self.count_stored(self.header.count);
        }
        let (mut carried, mut messages) = (Carried::default(), 0);
        let bytes = outbox.push(PeerId::default(), |bytes| {
            let start = bytes.len();
            loop {
                (carried, messages) = self.write_once(bytes);
                if bytes.len() - start <= DATAGRAM_MAX || self.header.count <= 1 {
                    break;
                }
                // Too many for one datagram: the newest half of them is worth more.
                bytes.truncate(start);
                self.header.count /= 2;
            }
        });
        Written { bytes, inputs: self.header.count, carried, messages }
    }

    /// How many of these inputs are there, up to the newest.
    fn count_stored(&self, count: u32) -> u32 {
        let is_stored = |back: &u32| self.newest.back(*back).is_some_and(|tick| self.timeline.input(tick).is_some());
        let stored = (0..count).take_while(is_stored).count();
        u32::try_from(stored).unwrap_or(u32::MAX).clamp(1, INPUTS_KEPT)
    }

    fn write_once(&mut self, bytes: &mut Vec<u8>) -> (Carried, usize) {
        let start = bytes.len();
        let mut writer = BitWriter::new(bytes);
        DatagramKind::Inputs.write(&mut writer);
        self.header.stream(&mut writer).expect("a count of stored inputs is in range");
        let widths = &self.settings.input_widths[..];
        let mut words = [[0; ROW_WORDS_MAX]; 2];
        let mut presented_before = None;
        let first = self.newest.next().back(self.header.count).unwrap_or(Tick::ZERO);
        for (nth, tick) in first.until(self.newest.next()).enumerate() {
            let Some(input) = self.timeline.input(tick) else { continue };
            let mut presented = input.presented.map(presented_bits);
            stream_presented(&mut writer, &mut presented, presented_before).expect("writing never fails");
            presented_before = presented.or(presented_before);
            let [current, before] = &mut words;
            input.input.write(current);
            let before_words = (nth > 0).then_some(&before[..widths.len()]);
            write_change(&mut writer, widths, before_words, &current[..widths.len()]);
            words.swap(0, 1);
        }
        let (codec, kinds) = (&self.settings.authority_codec, &self.settings.rules.messages);
        let has_messages = kinds.has_in_step();
        let messages = if has_messages { self.step_messages.write(&mut writer, self.newest, kinds) } else { 0 };
        (self.authority.write(self.newest, &mut writer, codec, (start + DATAGRAM_MAX) * 8), messages)
    }
}
