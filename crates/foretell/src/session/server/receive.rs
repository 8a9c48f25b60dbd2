//! Datagrams from clients: checked, decoded and stored; nothing is simulated here.

use super::frame::LateInput;
use super::input_buffer::Offered;
use super::{CATCH_UP_TICKS_MAX, Server};
use crate::session::PeerId;
use crate::session::packet::{InputHead, Message, presented_time, stream_presented};
use crate::session::{Ledger, Offence};
use crate::time::{Instant, Offset, Tick, TickTime};
use crate::wire::{BitReader, Malformed, read_change};
use crate::world::{Input, PlayerId, ROW_WORDS_MAX, World};
use core::time::Duration;

/// A datagram that is more datagrams ahead of the newest was not sent after it: 16 s at 64 Hz.
const SEQUENCE_AHEAD_MAX: i16 = 1024;
/// But after a silence of so long it may have been.
const SEQUENCE_ANEW: Duration = Duration::from_secs(1);

impl<W: World> Server<W> {
    /// Takes in a datagram from `peer`, which came at `now`. Bounded work and memory, whatever it holds.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        self.used = true;
        self.tell_tap(|tap, server| tap.receive(server, now, peer, datagram));
        let now = self.monotonic.note(now);
        let result = self.read(now, peer, datagram);
        self.malformed += u64::from(result.is_err());
        result
    }

    /// What was refused of a player since their admission, and why.
    pub fn ledger(&self, player: PlayerId) -> Option<&Ledger> {
        self.stats(player).map(|stats| &stats.ledger)
    }

    fn read(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        match Message::read(&mut reader)? {
            Message::Hello => self.read_hello(peer, reader),
            Message::Inputs => self.read_inputs(now, peer, reader),
            Message::Leave => self.read_leave(peer, reader),
            _ => Err(Malformed::OutOfRange("message")),
        }
    }

    fn read_inputs(&mut self, now: Instant, address: PeerId, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let mut head = InputHead::default();
        head.stream(&mut reader)?;
        let found = self.find(address);
        if found.is_none() {
            self.tell_former(address);
        }
        let Some(index) = found.filter(|index| head.ticket == self.peers[*index].ticket) else { return Ok(()) };
        self.skip_behind(now, index);
        let anchor = self.peers[index].buffer.next();
        let newest = Tick::widen(u32::from(head.newest), 16, anchor);
        let first = newest.next().back(head.count).ok_or(Malformed::OutOfRange("count of inputs"))?;
        // Twice: nothing is taken over before the whole datagram has proved well-formed.
        let mut rest = self.each_input(reader.clone(), first, head.count, |_, _, _| {})?;
        self.shared.read(&mut rest, &self.shared_code)?;
        rest.finish()?;
        let is_newer = self.note_heard(now, index, &head, anchor);
        if self.rules.exact && is_newer {
            let (next, image) = (self.next, self.exact.image_tick);
            let asks = head.asks.map(|tick| Tick::widen(u32::from(tick), 16, next)).filter(|tick| *tick <= next);
            self.peers[index].note_agreement(asks, image, self.rules.tick_rate);
        }
        if is_newer {
            let margin = TickTime::start_of(newest) - self.clock.at_instant(now);
            self.peers[index].note_arrival(newest, margin);
        }
        let mut offered = core::mem::take(&mut self.offered);
        self.each_input(reader, first, head.count, |tick, input, presented| offered.push((tick, input, presented)))?;
        for (tick, input, presented) in offered.drain(..) {
            self.offer(now, index, (tick, input, presented.map(|bits| presented_time(bits, anchor))));
        }
        self.offered = offered;
        self.take_shared(now, index, newest);
        Ok(())
    }

    /// While the server stands still its clock goes on, and the ticks that the next update is going to skip take no room from
    /// the inputs of those that it will simulate.
    fn skip_behind(&mut self, now: Instant, index: usize) {
        let first = self.clock.at_instant(now).tick().next().back(CATCH_UP_TICKS_MAX);
        if let Some(first) = first.filter(|first| *first > self.next) {
            self.peers[index].skip_to(first);
        }
    }

    /// Decodes the inputs of a datagram, oldest first. Returns where they end.
    fn each_input<'a>(
        &self,
        mut reader: BitReader<'a>,
        first: Tick,
        count: u32,
        mut each: impl FnMut(Tick, W::Input, Option<u32>),
    ) -> Result<BitReader<'a>, Malformed> {
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..self.input_widths.len()];
        let mut before = None;
        for ahead in 0..count {
            let mut presented = None;
            stream_presented(&mut reader, &mut presented, before)?;
            before = presented.or(before);
            read_change(&mut reader, &self.input_widths, ahead == 0, words)?;
            each(first + ahead, W::Input::read(words), presented);
        }
        Ok(reader)
    }

    /// Takes in the head of a datagram of inputs. Whether it was sent after all that came before.
    fn note_heard(&mut self, now: Instant, index: usize, head: &InputHead, anchor: Tick) -> bool {
        let newest_snapshot = head.snapshot.map(|tick| Tick::widen(u32::from(tick), 16, anchor));
        let peer = &mut self.peers[index];
        peer.stats.datagrams += 1;
        let newer = peer.heard.is_none_or(|(sequence, at)| {
            let ahead = head.sequence.wrapping_sub(sequence).cast_signed();
            // One that is far ahead would make all that follow old, for minutes.
            ahead > 0 && (ahead <= SEQUENCE_AHEAD_MAX || now.since(at) >= SEQUENCE_ANEW)
        });
        if newer {
            peer.heard = Some((head.sequence, now));
            peer.sent.name(newest_snapshot);
        }
        peer.has_played = true;
        // A late copy does not bring back who is lost.
        let fresh = newer || Tick::widen(u32::from(head.newest), 16, anchor) >= anchor;
        let alive = fresh || peer.lost.is_none();
        match newest_snapshot {
            Some(tick) if tick <= anchor => {
                peer.acknowledged = peer.acknowledged.max(Some(tick));
                peer.buffer.acknowledge(tick);
                peer.news.acknowledge(tick);
            }
            // It was never sent.
            Some(_) => peer.stats.ledger.note(Offence::Acknowledgement),
            None => {}
        }
        if alive {
            self.note_alive(index);
        }
        newer
    }

    fn offer(&mut self, now: Instant, index: usize, (tick, input, presented): (Tick, W::Input, Option<TickTime>)) {
        let finite = self.is_finite(&input);
        let margin = TickTime::start_of(tick) - self.clock.at_instant(now);
        let peer = &mut self.peers[index];
        if !finite {
            peer.stats.ledger.note(Offence::NotFinite);
            return;
        }
        match peer.buffer.offer(tick, input, presented) {
            Offered::Known | Offered::New => {}
            Offered::Refused => peer.stats.ledger.note(Offence::Time),
            Offered::Late => {
                peer.stats.inputs_late += 1;
                let micros = -margin.millionths() / i64::from(self.rules.tick_rate.get());
                let late = LateInput { player: peer.player, tick, by: Offset::from_micros(micros) };
                if self.frame.late.len() < 256 {
                    self.frame.late.push(late);
                }
            }
        }
    }

    /// Whether every floating-point field of an input is a finite number.
    fn is_finite(&self, input: &W::Input) -> bool {
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words);
        let mut at = 0;
        self.input_columns.iter().all(|column| {
            let of_column = &words[at..at + column.words()];
            at += column.words();
            !column.scalar.is_float()
                || (0..usize::from(column.lanes)).all(|lane| column.lane(of_column, lane).is_finite())
        })
    }
}
