//! What the bits that a client is sent are spent on, by component and field: for who looks on from outside.
//!
//! Reads the datagrams that a server sends to one client, in their order, and keeps no state of them; neither end of a session
//! needs it.

use super::authority_codec::read_holder;
use super::datagram::{DatagramKind, ShownHeader};
use super::exact_row_codec::ExactRowCodec;
use super::input_relay_codec::RelayLine;
use super::rules::Rules;
use super::shown_row_codec::ShownRowCodec;
use super::shown_row_header::{RecordKind, RecordsBefore};
use super::snapshot_header::SnapshotHeader;
use super::step_events::{STEP_EVENTS_MAX, StepEvent};
use super::stopped_rows_codec::read_stopped;
use crate::time::Tick;
use crate::wire::{BitReader, Malformed};
use crate::world::{Column, ComponentId, Input, Rows, Schema, word_bits};
use alloc::vec::Vec;

/// What the rows of one component have taken, in bits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowTraffic {
    /// How many rows were told.
    pub rows: u64,
    /// What says which row it is, whose, what has happened to it, and what it is told against.
    pub headers: u64,
    /// Its fields, in the order of [`ComponentSchema::columns`](crate::ComponentSchema::columns).
    pub fields: Vec<u64>,
}

impl RowTraffic {
    /// Altogether.
    pub fn bits(&self) -> u64 {
        self.headers + self.fields.iter().sum::<u64>()
    }
}

/// Counts what one client is sent, since it was made. Give it all datagrams of the server to that client, those too that are
/// lost; `I` is the input of the game.
#[derive(Debug)]
pub struct Traffic<I: Input> {
    bits: u64,
    messages: u64,
    exact: Vec<RowTraffic>,
    shown: Vec<RowTraffic>,
    schema: Schema,
    row_codec: ExactRowCodec,
    shown_codec: ShownRowCodec,
    input_bits: Vec<u8>,
    /// Of which component the row with a number is.
    numbers: Vec<Option<ComponentId>>,
    /// What is being read.
    header: SnapshotHeader,
    line: RelayLine<I>,
    rows: Rows,
}

impl<I: Input> Traffic<I> {
    /// Of a session with these rules: nothing yet.
    pub fn new(rules: &Rules) -> Traffic<I> {
        let schema = &rules.schema;
        let none = |component: &crate::ComponentSchema| RowTraffic {
            fields: alloc::vec![0; component.columns().count()],
            ..RowTraffic::default()
        };
        let rows: Vec<_> = schema.components().iter().map(none).collect();
        Traffic {
            bits: 0,
            messages: 0,
            exact: rows.clone(),
            shown: rows,
            schema: schema.clone(),
            row_codec: ExactRowCodec::new(schema),
            shown_codec: ShownRowCodec::new(schema, rules.tick_rate),
            input_bits: word_bits(I::columns().iter()),
            numbers: Vec::new(),
            header: SnapshotHeader::default(),
            line: RelayLine::with_room(),
            rows: Rows::new(schema),
        }
    }

    /// The bits of all datagrams.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Rows that were told whole and exactly, by component: what the client predicts.
    pub fn exact(&self) -> &[RowTraffic] {
        &self.exact
    }

    /// Rows that were told one by one, by component: what the client shows of others.
    pub fn shown(&self) -> &[RowTraffic] {
        &self.shown
    }

    /// Datagrams of [messages](crate::Message).
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Everything else: headers of datagrams, acknowledgements, inputs of others, effects, what is gone.
    pub fn rest(&self) -> u64 {
        let rows = self.exact.iter().chain(&self.shown).map(RowTraffic::bits).sum::<u64>();
        self.bits - self.messages - rows
    }

    /// Counts a datagram. What stands behind a row whose number was given in a datagram before the first one counts as the rest.
    ///
    /// # Errors
    /// [`Malformed`] when it is none of this session; its bits count all the same, and those of its rows up to where that is seen.
    pub fn note(&mut self, datagram: &[u8]) -> Result<(), Malformed> {
        self.bits += 8 * datagram.len() as u64;
        let mut reader = BitReader::new(datagram);
        match DatagramKind::read(&mut reader)? {
            DatagramKind::Snapshot => self.note_snapshot(&mut reader),
            DatagramKind::Shown => {
                ShownHeader::default().stream(&mut reader)?;
                self.note_shown_rows(&mut reader)
            }
            DatagramKind::Messages => {
                self.messages += 8 * datagram.len() as u64;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn note_snapshot(&mut self, reader: &mut BitReader<'_>) -> Result<(), Malformed> {
        self.header.stream(reader)?;
        if reader.take(1)? == 1 {
            while reader.take(1)? == 1 {
                self.line.stream(reader, &self.input_bits)?;
            }
        }
        if self.header.baseline.is_some() {
            self.pass_gone(reader)?;
        }
        while reader.take(1)? == 1 {
            self.note_exact_row(reader)?;
        }
        for nth in 0.. {
            if reader.take(1)? == 0 {
                break;
            }
            if nth == STEP_EVENTS_MAX {
                return Err(Malformed::OutOfRange("count of news"));
            }
            StepEvent::read(reader, Tick::ZERO)?;
        }
        while reader.take(1)? == 1 {
            read_holder(reader)?;
        }
        self.note_shown_rows(reader)
    }

    fn pass_gone(&self, reader: &mut BitReader<'_>) -> Result<(), Malformed> {
        while reader.take(1)? == 1 {
            self.row_codec.read_gone(reader)?;
        }
        Ok(())
    }

    fn note_exact_row(&mut self, reader: &mut BitReader<'_>) -> Result<(), Malformed> {
        let before = reader.left();
        self.rows.clear();
        let (key, _) = self.row_codec.read(reader, &mut self.rows)?;
        let told = &mut self.exact[usize::from(key.component.0)];
        told.rows += 1;
        told.headers += (before - reader.left()) as u64;
        for (field, column) in told.fields.iter_mut().zip(self.schema.component(key.component).columns()) {
            let bits = bits_of(column);
            *field += bits;
            told.headers -= bits;
        }
        Ok(())
    }

    fn note_shown_rows(&mut self, reader: &mut BitReader<'_>) -> Result<(), Malformed> {
        self.pass_gone(reader)?;
        let mut before = RecordsBefore::NONE;
        loop {
            let left = reader.left();
            if reader.take(1)? == 0 {
                read_stopped(reader)?;
                return reader.clone().finish();
            }
            let header = before.read(reader, &self.row_codec)?;
            let nth = header.slot as usize;
            if let RecordKind::Named { key, .. } = header.kind {
                self.numbers.resize(self.numbers.len().max(nth + 1), None);
                self.numbers[nth] = Some(key.component);
            }
            let Some(component) = self.numbers.get(nth).copied().flatten() else { return Ok(()) };
            // Whether it rests.
            reader.take(1)?;
            let told = &mut self.shown[usize::from(component.0)];
            told.rows += 1;
            told.headers += (left - reader.left()) as u64;
            for (field, group) in told.fields.iter_mut().zip(self.shown_codec.form(component).groups()) {
                let left = reader.left();
                ShownRowCodec::pass(reader, group)?;
                *field += (left - reader.left()) as u64;
            }
        }
    }
}

/// How many bits a field takes where it is told as it is.
fn bits_of(column: &Column) -> u64 {
    u64::from(column.lanes) * u64::from(column.scalar.bits())
}
