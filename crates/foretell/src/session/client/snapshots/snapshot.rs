//! One of the authority's states as it comes: its parts, what they say, and what it is told against.

use super::shown_records::{ShownRecord, ShownRecords, ShownRow};
use super::told_rows::{Told, ToldRows};
use crate::session::authority::{ANSWERS_MAX, Answer, Holder, read_holder};
use crate::session::baseline::Baseline;
use crate::session::client::initial_capacity::FEW;
use crate::session::packet::SnapshotHead;
use crate::session::row_codec::{GoneRecord, RowCodec};
use crate::session::step_events::{STEP_EVENTS_MAX, StepEvent};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Entity, Row, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// A datagram of a snapshot whose head has been read.
pub(crate) struct SnapshotPart<'a> {
    pub tick: Tick,
    /// When it came.
    pub came: Instant,
    pub head: &'a SnapshotHead,
    /// What follows the head and the relayed inputs.
    pub lists: BitReader<'a>,
}

impl SnapshotPart<'_> {
    /// The state that it is told against; `None` where it is told by itself.
    pub(super) fn base(&self) -> Result<Option<Tick>, Malformed> {
        let SnapshotPart { tick, head, .. } = self;
        if head.part > head.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        let base = head.baseline.and_then(|baseline| tick.back(baseline.back));
        let is_malformed = head.baseline.is_some() && (base.is_none() || head.proof.is_some());
        if is_malformed { Err(Malformed::OutOfRange("baseline")) } else { Ok(base) }
    }
}

/// What became of a datagram of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    /// It completes its snapshot.
    Complete,
    /// More parts are to come.
    Partial,
    /// It was there already, or is older than everything that is kept.
    Known,
    /// It is told against a snapshot that is not there, and was dropped.
    Lacking,
}

/// What a snapshot says besides its rows.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// What of its baseline is gone.
    pub(super) gone: Vec<RowKey>,
    /// Of which entities of these there is something still, for others.
    pub(super) hidden: Vec<Entity>,
    /// When the server last changed an entity outside of a step.
    pub touched: Vec<(Entity, Tick)>,
    /// When an entity of another player last touched an entity.
    pub contacts: Vec<(Entity, Tick)>,
    /// What happened besides; all of the ticks from `news_from` on, as far as it was not known.
    pub news: Vec<StepEvent>,
    /// Which clients have authority over entities.
    pub holders: Vec<(Entity, Holder)>,
}

impl Lists {
    /// Room from the start for what an ordinary snapshot says.
    pub(super) fn with_room() -> Lists {
        Lists {
            gone: Vec::with_capacity(FEW),
            hidden: Vec::with_capacity(FEW),
            news: Vec::with_capacity(4 * FEW),
            holders: Vec::with_capacity(FEW),
            ..Lists::default()
        }
    }

    fn clear(&mut self) {
        self.gone.clear();
        self.hidden.clear();
        self.touched.clear();
        self.contacts.clear();
        self.news.clear();
        self.holders.clear();
    }

    /// Reads what a datagram says, and its rows.
    pub(super) fn read(
        &mut self,
        part: &SnapshotPart<'_>,
        codec: &RowCodec,
        rows: &mut Rows,
        shown: &mut ShownRecords,
    ) -> Result<(), Malformed> {
        let (tick, mut reader) = (part.tick, part.lists.clone());
        let is_against = part.head.baseline.is_some();
        rows.clear();
        self.clear();
        while is_against && reader.take(1)? == 1 {
            let GoneRecord { key, is_hidden } = codec.read_gone(&mut reader)?;
            self.gone.push(key);
            self.hidden.extend(is_hidden.then_some(key.entity));
        }
        while reader.take(1)? == 1 {
            let (RowKey { entity, .. }, ages) = codec.read(&mut reader, rows)?;
            self.touched.extend(ages.event.and_then(|age| tick.back(age)).map(|at| (entity, at)));
            self.contacts.extend(ages.contact.and_then(|age| tick.back(age)).map(|at| (entity, at)));
        }
        for nth in 0.. {
            if reader.take(1)? == 0 {
                break;
            }
            if nth == STEP_EVENTS_MAX {
                return Err(Malformed::OutOfRange("count of news"));
            }
            self.news.extend(StepEvent::read(&mut reader, tick)?);
        }
        while reader.take(1)? == 1 {
            self.holders.push(read_holder(&mut reader)?);
        }
        shown.begin();
        if part.head.is_whole { reader.finish() } else { shown.read(tick, reader, codec) }
    }

    /// Moves what another part says to the end.
    fn append(&mut self, part: &mut Lists) {
        self.gone.append(&mut part.gone);
        self.hidden.append(&mut part.hidden);
        self.touched.append(&mut part.touched);
        self.contacts.append(&mut part.contacts);
        self.news.append(&mut part.news);
        self.holders.append(&mut part.holders);
    }
}

/// Where a row is in a snapshot: among the rows of its component, and among those that were told.
#[derive(Clone, Copy, Default)]
pub(crate) struct SamplePlace {
    pub row: usize,
    told: usize,
}

impl SamplePlace {
    /// The place before this one.
    pub(crate) fn before(self) -> SamplePlace {
        SamplePlace { row: self.row.saturating_sub(1), told: self.told.saturating_sub(1) }
    }
}

/// One authoritative state, complete or not yet.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub tick: Tick,
    /// Where the server's clock stood when it was sent.
    pub sent: TickTime,
    /// When its first part came.
    pub came: Instant,
    /// All that is known: of a whole state what it has; else the client's own rows as they are in it, and those of others as
    /// they were told last.
    pub rows: Rows,
    /// In which states the rows of others were told.
    pub(super) told: ToldRows,
    /// Whether its rows are all of this state.
    pub is_whole: bool,
    /// Of a state that is not whole, the client's own rows.
    pub(super) own: Rows,
    /// The digest of its rows, where they are not known: those that were predicted, if it is theirs.
    pub proof: Option<u32>,
    /// The canonical ticks that it tells of.
    pub canonical: Vec<Tick>,
    pub lists: Lists,
    /// From which tick on it tells all that has happened.
    pub news_from: Tick,
    /// What became of this client's requests.
    pub answers: Vec<Answer>,
    /// How many samples of predicted entities it holds.
    pub(super) samples: u64,
    /// Whether its samples have their outcome.
    pub(super) is_settled: bool,
    /// What it is told against.
    pub(super) baseline: Option<Baseline>,
    /// Which time this is that the state is sent.
    pub(super) repeat: Option<u8>,
    parts: u8,
    last_part: u8,
}

impl Snapshot {
    /// One that nothing has come of.
    pub(super) fn new(schema: &Schema) -> Snapshot {
        Snapshot {
            tick: Tick::ZERO,
            sent: TickTime::default(),
            came: Instant::ZERO,
            rows: Rows::new(schema),
            told: ToldRows::new(),
            is_whole: true,
            own: Rows::new(schema),
            proof: None,
            canonical: Vec::new(),
            lists: Lists::with_room(),
            news_from: Tick::ZERO,
            answers: Vec::with_capacity(ANSWERS_MAX),
            samples: 0,
            is_settled: false,
            baseline: None,
            repeat: None,
            parts: 0,
            last_part: 0,
        }
    }

    /// Becomes one of which a first part has come.
    pub(super) fn begin(&mut self, part: &SnapshotPart<'_>) {
        let SnapshotPart { tick, came, head, .. } = *part;
        self.rows.clear();
        self.told.clear();
        self.own.clear();
        self.lists.clear();
        self.is_whole = head.is_whole;
        self.baseline = head.baseline;
        self.answers.clone_from(&head.answers);
        self.proof = head.proof;
        self.canonical.clear();
        self.canonical.extend(head.canonical.iter().map(|low| Tick::widen(u32::from(*low), 16, tick)));
        self.news_from = head.news_ticks.and_then(|ticks| tick.back(ticks)).unwrap_or(Tick::ZERO);
        (self.tick, self.came, self.repeat, self.last_part) = (tick, came, head.repeat, head.last_part);
        (self.parts, self.samples, self.is_settled) = (0, 0, false);
        self.sent = head.sent(tick);
    }

    /// Adds what was read of a part; says whether it did, which it does not to what is there already.
    pub(super) fn add(&mut self, head: &SnapshotHead, rows: &mut Rows, lists: &mut Lists) -> bool {
        let part = 1 << head.part;
        let fits = (self.last_part, self.baseline, self.is_whole) == (head.last_part, head.baseline, head.is_whole);
        if self.parts & part != 0 || !fits {
            return false;
        }
        self.parts |= part;
        if head.last_part == 0 {
            core::mem::swap(&mut self.rows, rows);
        } else {
            rows.iter().for_each(|row| self.rows.set_words(row));
        }
        self.rows.settle();
        self.lists.append(lists);
        true
    }

    /// Whether it is a sending of the state that this part is of.
    pub(super) fn is_of(&self, part: &SnapshotPart<'_>) -> bool {
        (self.tick, self.repeat) == (part.tick, part.head.repeat)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.parts == u8::MAX >> (7 - self.last_part)
    }

    /// Who has authority over an entity.
    pub(crate) fn holder(&self, entity: Entity) -> Option<Holder> {
        self.lists.holders.iter().find(|(known, _)| *known == entity).map(|(_, holder)| *holder)
    }

    /// Takes over all rows of another one.
    pub(super) fn copy_others(&mut self, of: &Snapshot) {
        self.rows.copy_rows(&of.rows);
        if of.is_whole {
            self.told.set_all(of.tick, &of.rows);
        } else {
            self.told.clone_from(&of.told);
        }
    }

    /// A row of another that was told after the others were put together. A whole state has them all.
    pub(super) fn take_in(&mut self, tick: Tick, record: &ShownRecord, words: &[u32], schema: &Schema) {
        if self.is_whole {
            return;
        }
        let RowKey { component, entity } = record.key;
        let first = RowKey { component: schema.first_in_state(component), entity };
        if record.row.is_some() && first != record.key && self.rows.words(first).is_none() {
            return;
        }
        if self.told.get(record.key).is_some_and(|told| told.tick >= tick) || self.own.words(record.key).is_some() {
            return;
        }
        match record.row {
            Some(ShownRow { owner, rests }) => {
                self.rows.set_words(Row { component, entity, owner, words });
                self.told.set(Told { key: record.key, tick, rests });
            }
            None => {
                for key in schema.nothing_without(record.key) {
                    self.rows.remove(key);
                    self.told.remove(key);
                }
            }
        }
        self.rows.settle();
    }

    /// Puts the client's own rows among those that are known.
    pub(super) fn put_own(&mut self) {
        for row in self.own.iter() {
            self.rows.set_words(row);
            self.told.remove(row.key());
        }
        self.rows.settle();
    }

    /// The rows that a later snapshot may be told against.
    pub(super) fn baseline_rows(&self) -> &Rows {
        if self.is_whole { &self.rows } else { &self.own }
    }

    /// A row, and the state in which it is as it is here. `next` is where it mostly is, and becomes where the next one is.
    #[inline]
    pub(crate) fn sample(&self, key: RowKey, next: &mut SamplePlace) -> Option<(Tick, &[u32])> {
        let row = self.rows.get_near(key, &mut next.row)?;
        let told = self.told.get_near(key, &mut next.told).filter(|told| !told.rests);
        Some((told.map_or(self.tick, |told| told.tick.min(self.tick)), row.words))
    }

    /// Since which state a row of another rests, as far as it is known; `None` where it may move. `next` is as in
    /// [`sample`](Snapshot::sample).
    #[inline]
    pub(crate) fn rests_since(&self, key: RowKey, next: &mut SamplePlace) -> Option<Tick> {
        let told = self.told.get_near(key, &mut next.told)?;
        told.rests.then_some(told.tick)
    }

    /// The state that a row was told in; `None` where it is not there.
    pub(crate) fn told_of(&self, key: RowKey) -> Option<Tick> {
        self.rows.words(key)?;
        Some(self.told.get(key).map_or(self.tick, |told| told.tick))
    }

    /// The rows of others that were told after the state of `tick`.
    pub(crate) fn told_since(&self, tick: Tick) -> impl Iterator<Item = RowKey> {
        self.told.iter().filter(move |told| told.tick > tick).map(|told| told.key)
    }

    /// Whether all rows from one to another are as they are in this state.
    pub(crate) fn are_of_now(&self, first: RowKey, last: RowKey) -> bool {
        !self.told.any_moves(first, last)
    }

    /// Whether its samples wait for their outcome.
    pub(super) fn is_open(&self) -> bool {
        self.is_complete() && !self.is_settled
    }

    /// Whether the state was sent before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeat.is_some()
    }
}
