//! A datagram of inputs, decoded and checked as a whole before anything is taken over from it.

use crate::session::ack_bits::AckBits;
use crate::session::authority_codec::{AuthorityCodec, Shared};
use crate::session::datagram::{InputHeader, presented_time, stream_presented};
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::messages::StepList;
use crate::time::{Tick, TickTime};
use crate::wire::{BitReader, Malformed, read_change};
use crate::world::{Column, Input, Messages, ROW_WORDS_MAX, Schema, word_bits};
use alloc::vec::Vec;

/// An input that a client has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedInput<I> {
    pub tick: Tick,
    pub input: I,
    /// What the player looked at.
    pub presented: Option<TickTime>,
    /// Whether every floating-point field of it is a finite number.
    pub is_finite: bool,
}

/// What one datagram of inputs says, and how it is coded. Its memory is used again.
pub(crate) struct InputDatagramReader<I> {
    columns: Vec<Column>,
    widths: Vec<u8>,
    shared_codec: AuthorityCodec,
    header: InputHeader,
    /// The tick near which its 16-bit ticks are meant: the player's next.
    anchor: Tick,
    /// Oldest first.
    inputs: Vec<OfferedInput<I>>,
    messages: StepList,
    shared: Shared,
}

impl<I: Input> InputDatagramReader<I> {
    pub(crate) fn new(schema: &Schema) -> InputDatagramReader<I> {
        InputDatagramReader {
            columns: I::columns(),
            widths: word_bits(I::columns().iter()),
            shared_codec: AuthorityCodec::new(schema.components(), &ExactRowCodec::new(schema)),
            header: InputHeader::default(),
            anchor: Tick::ZERO,
            inputs: Vec::with_capacity(64),
            messages: StepList::default(),
            shared: Shared::with_room(),
        }
    }

    /// Reads the header alone, by which it is known whose it is. Returns the ticket that it shows.
    pub(crate) fn read_header(&mut self, reader: &mut BitReader<'_>) -> Result<u8, Malformed> {
        self.header = InputHeader::default();
        self.header.stream(reader)?;
        Ok(self.header.ticket)
    }

    /// Reads what follows the header, of a player whose next tick is `anchor`. Of a malformed one nothing counts.
    pub(crate) fn read(&mut self, mut reader: BitReader<'_>, anchor: Tick, kinds: &Messages) -> Result<(), Malformed> {
        self.anchor = anchor;
        self.inputs.clear();
        let first = self.newest().next().back(self.header.count).ok_or(Malformed::OutOfRange("count of inputs"))?;
        let mut words = [0; ROW_WORDS_MAX];
        let words = &mut words[..self.widths.len()];
        let mut before = None;
        for ahead in 0..self.header.count {
            let mut presented = None;
            stream_presented(&mut reader, &mut presented, before)?;
            before = presented.or(before);
            read_change(&mut reader, &self.widths, ahead == 0, words)?;
            let input = I::read(words);
            let is_finite = self.is_finite(&input);
            let presented = presented.map(|bits| presented_time(bits, anchor));
            self.inputs.push(OfferedInput { tick: first + ahead, input, presented, is_finite });
        }
        if kinds.has_in_step() {
            let newest = self.newest();
            self.messages.read(&mut reader, newest, kinds)?;
        }
        self.shared.read(&mut reader, &self.shared_codec)?;
        reader.finish()
    }

    /// Whether every floating-point field of an input is a finite number.
    pub(crate) fn is_finite(&self, input: &I) -> bool {
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words);
        let mut at = 0;
        self.columns.iter().all(|column| {
            let of_column = &words[at..at + column.words()];
            at += column.words();
            !column.scalar.is_float()
                || (0..usize::from(column.lanes)).all(|lane| column.lane(of_column, lane).is_finite())
        })
    }

    /// Its place in the order in which the client has sent its datagrams; wraps.
    pub(crate) fn sequence(&self) -> u16 {
        self.header.sequence
    }

    /// The tick of its newest input.
    pub(crate) fn newest(&self) -> Tick {
        self.widen(self.header.newest)
    }

    /// The newest complete snapshot that the client has.
    pub(crate) fn snapshot(&self) -> Option<Tick> {
        self.header.snapshot.map(|tick| self.widen(tick))
    }

    /// Which of the server's datagrams the client has.
    pub(crate) fn received(&self) -> Option<AckBits> {
        self.header.received
    }

    /// How far around its own entities the client predicts those of others.
    pub(crate) fn exact_within_m(&self) -> Option<u32> {
        self.header.exact_within_m
    }

    /// In exact sessions: the newest state, not after `next`, that the client does not agree with.
    pub(crate) fn disagrees(&self, next: Tick) -> Option<Tick> {
        let tick = Tick::widen(u32::from(self.header.asks?), 16, next);
        (tick <= next).then_some(tick)
    }

    /// Its inputs, oldest first.
    pub(crate) fn inputs(&self) -> &[OfferedInput<I>] {
        &self.inputs
    }

    /// Its messages that are part of steps.
    pub(crate) fn messages(&self) -> &StepList {
        &self.messages
    }

    /// Whether it is what a spectator sends: neither inputs, nor messages in steps, nor anything of entities.
    pub(crate) fn is_of_spectator(&self) -> bool {
        let has_nothing_of_steps = self.inputs.is_empty() && self.messages.messages.is_empty();
        has_nothing_of_steps && self.shared.requests.is_empty() && self.shared.rows.is_empty()
    }

    /// What it says of entities under the client's authority.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn widen(&self, low: u16) -> Tick {
        Tick::widen(u32::from(low), 16, self.anchor)
    }
}
