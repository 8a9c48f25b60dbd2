//! Rows of others as a datagram tells them, and what a client remembers to read the next: which row has which number, and the
//! rows that it was told.

use crate::session::client::initial_capacity::FEW;
use crate::session::exact_row_codec::{ExactRowCodec, GoneRecord};
use crate::session::row_send_rates::RowSendRates;
use crate::session::shown_bases::{KEPT_TICKS, ShownBases};
use crate::session::shown_row_codec::{Base, ShownRowCodec};
use crate::session::shown_row_header::{RecordHeader, RecordKind, RecordsBefore};
use crate::session::stopped_rows_codec::read_stopped;
use crate::time::{Tick, TickRate};
use crate::wire::{BitReader, Malformed};
use crate::world::{PlayerId, RoundedRow, RowKey, Schema};
use alloc::vec::Vec;
use core::ops::Range;

/// A row that is shown, as it was read.
#[derive(Clone, Debug)]
pub(super) struct ShownRecord {
    pub key: RowKey,
    /// `None` where it is gone.
    pub row: Option<ShownRow>,
    /// Where it is gone: it is there still, for others.
    pub is_hidden: bool,
}

/// Whose it is, and whether it rests.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownRow {
    pub owner: PlayerId,
    pub rests: bool,
}

/// That everything has stopped that moved in a state and was not told again by a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// In which state it was told last.
    pub told: Tick,
    /// In which it is known to be as it was told.
    pub at: Tick,
}

/// Which row has a number.
#[derive(Clone, Copy, Debug)]
struct RowName {
    key: RowKey,
    owner: PlayerId,
    /// Since the state of this tick, or longer.
    since: Tick,
    /// The newest state that is known in which it had it.
    newest: Tick,
}

/// A record with where its words stand.
#[derive(Clone, Debug)]
struct ReadRecord {
    record: ShownRecord,
    slot: u32,
    words: Range<usize>,
    rounded: Range<usize>,
}

/// The datagram that is being read.
#[derive(Debug)]
struct ReadDatagram {
    records: Vec<ReadRecord>,
    words: Vec<u32>,
    rounded: Vec<u32>,
    stop: Option<Stop>,
    /// Whether something is told by what is not known any more, so that nothing of it can be used.
    is_lacking: bool,
}

/// Lives as long as a session. Its memory is used again.
#[derive(Debug)]
pub(super) struct ShownRowReader {
    codec: ShownRowCodec,
    /// By number.
    names: Vec<Option<RowName>>,
    told: ShownBases,
    /// By the state in which it was told last what has stopped: of as many states as rows are remembered of.
    stops: [Option<Stop>; KEPT_TICKS],
    row_send_rates: RowSendRates,
    read: ReadDatagram,
}

impl ShownRowReader {
    pub(super) fn new(schema: &Schema, rate: TickRate) -> ShownRowReader {
        let (words, rounded) = (Vec::with_capacity(32 * FEW), Vec::with_capacity(32 * FEW));
        ShownRowReader {
            codec: ShownRowCodec::new(schema, rate),
            names: Vec::with_capacity(4 * FEW),
            told: ShownBases::new(),
            stops: [None; KEPT_TICKS],
            row_send_rates: RowSendRates::new(schema, rate),
            read: ReadDatagram { records: Vec::with_capacity(4 * FEW), words, rounded, stop: None, is_lacking: false },
        }
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.told.clear();
        self.stops.fill(None);
        self.begin();
    }

    /// Nothing is read.
    pub(super) fn begin(&mut self) {
        let ReadDatagram { records, words, rounded, stop, is_lacking } = &mut self.read;
        records.clear();
        words.clear();
        rounded.clear();
        (*stop, *is_lacking) = (None, false);
    }

    /// Reads what a datagram tells of the state of `tick`, up to its end.
    pub(super) fn read(
        &mut self,
        tick: Tick,
        mut reader: BitReader<'_>,
        codec: &ExactRowCodec,
    ) -> Result<(), Malformed> {
        self.begin();
        while reader.take(1)? == 1 {
            let GoneRecord { key, is_hidden } = codec.read_gone(&mut reader)?;
            let record = ShownRecord { key, row: None, is_hidden };
            self.read.records.push(ReadRecord { record, slot: 0, words: 0..0, rounded: 0..0 });
        }
        let mut before = RecordsBefore::NONE;
        while reader.take(1)? == 1 {
            let header = before.read(&mut reader, codec)?;
            if self.read_row(tick, header, &mut reader)?.is_none() {
                self.begin();
                self.read.is_lacking = true;
                return Ok(());
            }
        }
        let told = read_stopped(&mut reader)?.and_then(|age_ticks| tick.back(age_ticks));
        self.read.stop = told.map(|told| Stop { told, at: tick });
        reader.finish()
    }

    /// `None` where it is told by what is not known.
    fn read_row(
        &mut self,
        tick: Tick,
        header: RecordHeader,
        reader: &mut BitReader<'_>,
    ) -> Result<Option<()>, Malformed> {
        let ShownRowReader { codec, names, told, read, .. } = self;
        let RecordHeader { slot, kind } = header;
        let name = names.get(slot as usize).copied().flatten().filter(|name| name.since <= tick);
        let (key, owner) = match (kind, name) {
            (RecordKind::Named { key, owner }, _) => (key, owner),
            (_, Some(RowName { key, owner, .. })) => (key, owner),
            (_, None) => return Ok(None),
        };
        let form = codec.form(key.component);
        let base = match kind {
            RecordKind::Against { age_ticks } => {
                // Mostly nothing newer has overtaken it.
                let since = name.map(|name| name.since);
                let told_last = name.map(|name| name.newest).filter(|newest| *newest < tick);
                let state = match age_ticks {
                    0 => told_last.or_else(|| told.newest_before(tick, slot)).filter(|state| Some(*state) >= since),
                    _ => tick.back(age_ticks),
                };
                let rounded = state.and_then(|state| told.get(state, slot, form.words()));
                let Some(rounded) = rounded else { return Ok(None) };
                Base { rounded, age_ticks }
            }
            _ => Base::NONE,
        };
        let rests = reader.take(1)? == 1;
        let ReadDatagram { records, words, rounded, .. } = read;
        let (from, from_rounded) = (words.len(), rounded.len());
        rounded.resize(from_rounded + form.words(), 0);
        codec.read(reader, key.component, base, &mut rounded[from_rounded..])?;
        words.resize(from + RoundedRow::split(&rounded[from_rounded..]).1.len(), 0);
        form.restore(&rounded[from_rounded..], &mut words[from..]);
        records.push(ReadRecord {
            record: ShownRecord { key, row: Some(ShownRow { owner, rests }), is_hidden: false },
            slot,
            words: from..words.len(),
            rounded: from_rounded..rounded.len(),
        });
        Ok(Some(()))
    }

    /// Keeps what was read of the state of `tick`, as later rows may be told by it. Whether it can be used: not where something later has
    /// the place of what would have to be remembered.
    pub(super) fn keep(&mut self, tick: Tick) -> bool {
        let is_late = |of: Tick| self.stops[stop_place(of)].is_some_and(|stop| stop.told > of);
        let is_forgotten = self.told.has_forgotten(tick) || is_late(tick);
        if is_forgotten || self.read.is_lacking || self.read.stop.is_some_and(|stop| is_late(stop.told)) {
            return false;
        }
        let ShownRowReader { names, told, read, stops, .. } = self;
        for ReadRecord { record, slot, rounded, .. } in &read.records {
            let Some(ShownRow { owner, .. }) = record.row else { continue };
            let nth = *slot as usize;
            if names.len() <= nth {
                names.resize(nth + 1, None);
            }
            let name = RowName { key: record.key, owner, since: tick, newest: tick };
            match &mut names[nth] {
                Some(known) if (known.key, known.owner) == (name.key, name.owner) => {
                    (known.since, known.newest) = (known.since.min(tick), known.newest.max(tick));
                }
                Some(known) if known.newest > tick => continue,
                known => *known = Some(name),
            }
            let rounded = &read.rounded[rounded.clone()];
            told.set(tick, *slot, rounded.len(), |kept| kept.copy_from_slice(rounded));
        }
        // Who says it again says nothing new.
        read.stop = read.stop.filter(|stop| stops[stop_place(stop.told)].is_none_or(|known| known.told < stop.told));
        if let Some(stop) = read.stop {
            stops[stop_place(stop.told)] = Some(stop);
        }
        true
    }

    /// By what was read of the state of `tick`, which rows are known to have stopped, and since which state, in whatever order the
    /// datagrams come: those that were told before, and those that were read.
    pub(super) fn stopped(&self, tick: Tick) -> impl Iterator<Item = (RowKey, Stop)> {
        let ShownRowReader { read, told, names, stops, row_send_rates, .. } = self;
        let before = read.stop.into_iter().flat_map(|stop| {
            let names = told.slots(stop.told).filter_map(|slot| names[slot as usize]);
            names.map(move |name| (name.key, stop))
        });
        let known = stops[stop_place(tick)].filter(|stop| stop.told == tick);
        let of_it = known.into_iter().flat_map(|stop| read.records.iter().map(move |read| (read.record.key, stop)));
        before.chain(of_it).filter(|(key, _)| !row_send_rates.is_paced(key.component))
    }

    /// What was read, each with its words.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ShownRecord, &[u32])> {
        let ReadDatagram { records, words, .. } = &self.read;
        records.iter().map(|read| (&read.record, &words[read.words.clone()]))
    }
}

fn stop_place(told: Tick) -> usize {
    told.get() as usize % KEPT_TICKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::wire::{BitBatch, BitWriter};
    use crate::world::Entity;

    const SLOT: u32 = 3;

    /// Reads a datagram of the state of `tick` that tells the same row, with its name or without. Returns whose the row is then.
    fn owner_read(records: &mut ShownRowReader, tick: u32, named: Option<u16>) -> Option<u16> {
        let (schema, tick) = (test_states::schema(), Tick::new(tick));
        let (codec, shown) = (ExactRowCodec::new(&schema), ShownRowCodec::new(&schema, TickRate::default()));
        let key = test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, 7));
        let named = named.map(|owner| RecordKind::Named { key, owner: PlayerId::new(owner) });
        let header = RecordHeader { slot: SLOT, kind: named.unwrap_or(RecordKind::Whole) };
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        writer.put(0, 1);
        let (mut joined, mut before) = (BitBatch::new(&mut writer), RecordsBefore::NONE);
        before.write(&header, before.first_bits(&header), &mut joined, &codec);
        joined.finish();
        writer.put(0, 1);
        let mut rounded = alloc::vec![0; shown.form(SHIP).words()];
        shown.form(SHIP).round(&[9], &mut rounded);
        shown.write(&mut writer, SHIP, &rounded, Base::NONE);
        writer.put(0, 2);
        records.read(tick, BitReader::new(&bytes), &codec).expect("well-formed");
        records.keep(tick);
        let row = records.iter().next().and_then(|(record, _)| record.row);
        row.map(|row| row.owner.get())
    }

    #[test]
    fn a_late_name_does_not_replace_a_newer_one_that_came_before_it() {
        let mut records = ShownRowReader::new(&test_states::schema(), TickRate::default());
        assert_eq!(owner_read(&mut records, 4, None), None, "it has no name yet");
        // One player's, another's, and the first one's again, of which the second comes last.
        let owners = [(5, 1), (20, 1), (10, 2)].map(|(tick, owner)| owner_read(&mut records, tick, Some(owner)));
        assert_eq!(owners, [Some(1), Some(1), Some(2)]);
        assert_eq!(owner_read(&mut records, 25, None), Some(1));
        // And a newer one does.
        assert_eq!(owner_read(&mut records, 30, Some(2)), Some(2));
        assert_eq!(owner_read(&mut records, 31, None), Some(2));
    }
}
