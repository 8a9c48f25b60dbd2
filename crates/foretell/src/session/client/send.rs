//! Datagrams of inputs: which ones they carry, and how they are coded.

use super::authority_table::Carried;
use super::update::Update;
use super::{Redundancy, Session};
use crate::rollback::INPUTS_KEPT;
use crate::session::authority::AuthorityCodec;
use crate::session::packet::{DATAGRAM_MAX, InputHead, Message, presented_bits, stream_presented};
use crate::session::{Outbox, PeerId};
use crate::time::Tick;
use crate::wire::{BitWriter, write_change};
use crate::world::{Input, ROW_WORDS_MAX, World};
use alloc::vec::Vec;

impl<W: World> Update<'_, W> {
    /// Sends the inputs since the last datagram and those that the redundancy repeats, when it is time.
    pub(super) fn send(&mut self, outbox: &mut Outbox) {
        let session = &mut *self.session;
        // After a start from a full state there is no input yet for the tick before the present.
        let newest = session.unasked.back(1);
        let Some(newest) = newest.filter(|tick| session.timeline.input(*tick).is_some()) else { return };
        let waited = session.connection.sent_input.map(|sent| newest.since(sent));
        if waited.is_some_and(|ticks| ticks < self.config.send_interval.max(1)) {
            return;
        }
        let mut carried = Carried::default();
        let mut count = session.count(newest, self.config.redundancy);
        let sequence = session.connection.next_sequence(self.now);
        let len = outbox.push(PeerId::default(), |bytes| {
            let start = bytes.len();
            loop {
                let widths = (self.input_widths, self.shared_code);
                carried = session.write_inputs(sequence, (newest, count), widths, bytes);
                if bytes.len() - start <= DATAGRAM_MAX || count <= 1 {
                    break;
                }
                // Too many for one datagram: the newest half of them is worth more.
                bytes.truncate(start);
                count /= 2;
            }
        });
        session.authority.note_sent(sequence, carried);
        session.connection.sent_input = Some(newest);
        self.stats.datagrams_sent += 1;
        self.stats.inputs_sent += u64::from(count);
        self.stats.bytes_sent += len as u64;
    }
}

impl<W: World> Session<W> {
    /// How many inputs a datagram carries, up to and with `newest`.
    fn count(&self, newest: Tick, redundancy: Redundancy) -> u32 {
        let unsent = self.connection.sent_input.map_or(1, |sent| newest.since(sent));
        let count = match redundancy {
            Redundancy::None => unsent,
            Redundancy::Unacknowledged { limit } => {
                let open = self.connection.acknowledged_input.map_or(limit, |known| newest.since(known));
                // A datagram that is not delayed comes this many ticks before the newest one's deadline; an input that is
                // older by more is late already.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
                let in_time = (self.pacing.slack_ticks().unwrap_or(2.0).clamp(0.0, 1000.0) + 2.0) as u32;
                open.min(in_time).min(limit).max(unsent)
            }
        };
        let stored =
            (0..count).take_while(|back| newest.back(*back).is_some_and(|tick| self.timeline.input(tick).is_some()));
        u32::try_from(stored.count()).unwrap_or(u32::MAX).clamp(1, INPUTS_KEPT)
    }

    /// Returns which rows of what this client holds have found room.
    fn write_inputs(
        &self,
        sequence: u16,
        (newest, count): (Tick, u32),
        (widths, shared): (&[u8], &AuthorityCodec),
        bytes: &mut Vec<u8>,
    ) -> Carried {
        let start = bytes.len();
        let mut writer = BitWriter::new(bytes);
        Message::Inputs.write(&mut writer);
        let mut head = InputHead {
            ticket: self.connection.ticket,
            sequence,
            snapshot: self.snapshots.acknowledged().map(Tick::low16),
            newest: newest.low16(),
            count,
            asks: self.asks.map(Tick::low16),
        };
        head.stream(&mut writer).expect("a count of stored inputs is in range");
        let mut words = [[0; ROW_WORDS_MAX]; 2];
        let mut presented_before = None;
        let first = newest.next().back(count).unwrap_or(Tick::ZERO);
        for (nth, tick) in first.until(newest.next()).enumerate() {
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
        self.authority.write(newest, &mut writer, shared, (start + DATAGRAM_MAX) * 8)
    }
}
