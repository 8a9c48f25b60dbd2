//! One of the authority's states as it comes: its parts, what they say, and what it is told against.

use super::baselines::Holders;
use super::shown_row_reader::ShownRowReader;
use crate::session::authority_codec::{ANSWERS_MAX, Answer, Holder, ToldHolder, read_holder};
use crate::session::baseline_ref::BaselineRef;
use crate::session::client::initial_capacity::FEW;
use crate::session::exact_row_codec::{ExactRowCodec, GoneRecord};
use crate::session::snapshot_header::SnapshotHeader;
use crate::session::step_events::{STEP_EVENTS_MAX, StepEvent};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Entity, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// A datagram of a snapshot whose header has been read.
pub(crate) struct SnapshotPart<'a> {
    pub tick: Tick,
    /// When it came.
    pub came: Instant,
    pub header: &'a SnapshotHeader,
    /// What follows the header and the relayed inputs.
    pub lists: BitReader<'a>,
}

impl SnapshotPart<'_> {
    /// The state that it is told against; `None` where it is told by itself.
    pub(super) fn base(&self) -> Result<Option<Tick>, Malformed> {
        let SnapshotPart { tick, header, .. } = self;
        if header.part > header.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        let base = header.baseline.and_then(|baseline| tick.back(baseline.back));
        let is_malformed = header.baseline.is_some() && (base.is_none() || header.proof.is_some());
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
    /// Which clients have authority over entities, as far as its baseline has it otherwise.
    pub(super) holders: Vec<ToldHolder>,
}

impl Lists {
    /// Whether it is said that an entity is over: it is not told exactly any more, nor is it there.
    pub(crate) fn ends(&self, entity: Entity) -> bool {
        self.gone.iter().any(|gone| gone.entity == entity) && !self.hidden.contains(&entity)
    }

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
        codec: &ExactRowCodec,
        rows: &mut Rows,
        shown: &mut ShownRowReader,
    ) -> Result<(), Malformed> {
        let (tick, mut reader) = (part.tick, part.lists.clone());
        rows.clear();
        self.clear();
        let is_against = part.header.baseline.is_some();
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
        shown.read(tick, reader, codec)
    }

    /// Adds who has authority over what, as it says, to those whom the baseline has.
    pub(super) fn add_holders(&self, holders: &mut Holders) {
        for (entity, holder) in &self.holders {
            match *holder {
                Some(holder) => holders.insert(*entity, holder),
                None => holders.remove(*entity),
            };
        }
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

/// One authoritative state, complete or not yet.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub tick: Tick,
    /// Where the server's clock stood when it was sent.
    pub sent: TickTime,
    /// When its first part came.
    pub came: Instant,
    /// The client's own, and those of others that it is told exactly; in an exact session all that the player may see.
    pub rows: Rows,
    /// Whether not all that is predicted of others had room in it.
    pub is_crowded: bool,
    /// Which clients have authority over entities.
    pub holders: Holders,
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
    pub(super) baseline: Option<BaselineRef>,
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
            is_crowded: false,
            holders: Holders::with_capacity(FEW),
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
        let SnapshotPart { tick, came, header, .. } = *part;
        self.rows.clear();
        self.holders.clear();
        self.lists.clear();
        self.baseline = header.baseline;
        self.answers.clone_from(&header.answers);
        (self.is_crowded, self.proof) = (header.is_crowded, header.proof);
        self.canonical.clear();
        self.canonical.extend(header.exact.canonical.iter().map(|low| Tick::widen(u32::from(*low), 16, tick)));
        self.news_from = header.news_ticks.and_then(|ticks| tick.back(ticks)).unwrap_or(Tick::ZERO);
        (self.tick, self.came, self.repeat, self.last_part) = (tick, came, header.repeat, header.last_part);
        (self.parts, self.samples, self.is_settled) = (0, 0, false);
        self.sent = header.timing.sent(tick);
    }

    /// Adds what was read of a part; says whether it did, which it does not to what is there already.
    pub(super) fn add(&mut self, header: &SnapshotHeader, rows: &mut Rows, lists: &mut Lists) -> bool {
        let part = 1 << header.part;
        let fits = (self.last_part, self.baseline) == (header.last_part, header.baseline);
        if self.parts & part != 0 || !fits {
            return false;
        }
        self.parts |= part;
        if header.last_part == 0 {
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
        (self.tick, self.repeat) == (part.tick, part.header.repeat)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.parts == u8::MAX >> (7 - self.last_part)
    }

    /// Who has authority over an entity.
    pub(crate) fn holder(&self, entity: Entity) -> Option<Holder> {
        self.holders.get(entity).copied()
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
