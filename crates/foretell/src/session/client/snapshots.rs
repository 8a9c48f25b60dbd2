//! Snapshots as they arrive: put together from their parts, sorted by tick, each waiting for its outcome.
//!
//! A state that is sent again is a snapshot by itself until one of them is complete; then the others of its tick are gone.
//! Complete ones have all rows that the player may see: those that were told against an earlier snapshot have its rows too.

use super::baselines::Baselines;
use crate::session::authority::{ANSWERS_MAX, Answer, Holder, read_holder};
use crate::session::baseline::{Baseline, baselines_max, check_of};
use crate::session::packet::SnapshotHead;
use crate::session::row_codec::RowCodec;
use crate::session::step_events::{STEP_EVENTS_MAX, StepEvent};
use crate::time::{Instant, Tick, TickRate, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Entity, Predicted, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// How many snapshots are kept at least.
const KEPT_MIN: usize = 32;

/// One authoritative state, complete or not yet.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub tick: Tick,
    /// Where the server's clock stood when it was sent.
    pub sent: TickTime,
    /// When its first part came.
    pub came: Instant,
    pub rows: Rows,
    /// The digest of its rows, where they are not known: those that were predicted, if it is theirs.
    pub proof: Option<u32>,
    /// The canonical ticks that it tells of.
    pub canonical: Vec<Tick>,
    /// When the server last changed an entity outside of a step.
    pub touched: Vec<(Entity, Tick)>,
    /// When an entity of another player last touched an entity.
    pub contacts: Vec<(Entity, Tick)>,
    /// What happened besides; all of the ticks from `news_from` on, as far as it was not known.
    pub news: Vec<StepEvent>,
    pub news_from: Tick,
    /// Which clients have authority over entities.
    pub holders: Vec<(Entity, Holder)>,
    /// What became of this client's requests.
    pub answers: Vec<Answer>,
    /// How many samples of predicted entities it holds.
    pub samples: u64,
    /// Whether its samples have their outcome.
    pub settled: bool,
    /// What it is told against, and what of that is gone.
    baseline: Option<Baseline>,
    gone: Vec<RowKey>,
    /// Which time this is that the state is sent.
    repeat: Option<u8>,
    parts: u8,
    last_part: u8,
}

impl Snapshot {
    pub(crate) fn is_complete(&self) -> bool {
        self.parts == u8::MAX >> (7 - self.last_part)
    }

    /// Whether the state was sent before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeat.is_some()
    }
}

/// Half a second of snapshots, longer than any playout delay, or 32 if that is more.
pub(crate) struct Snapshots {
    /// How many are kept.
    most: usize,
    /// Ascending by tick, and of one tick in the order of their first parts.
    kept: Vec<Snapshot>,
    spare: Vec<Snapshot>,
    baselines: Baselines,
    /// The newest that was told against a snapshot that is not there: what is named as the newest does not help the server.
    lacking: Option<Tick>,
    reading: Rows,
    gone: Vec<RowKey>,
    touched: Vec<(Entity, Tick)>,
    contacts: Vec<(Entity, Tick)>,
    news: Vec<StepEvent>,
    holders: Vec<(Entity, Holder)>,
}

/// What became of a datagram of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    /// It completes the snapshot of this tick; so many samples that had no outcome yet were pushed out.
    Complete(Tick, u64),
    /// More parts are to come; so many samples were pushed out.
    Partial(u64),
    /// It was there already, or is older than everything that is kept.
    Known,
    /// It is told against a snapshot that is not there, and was dropped; so many samples were pushed out.
    Lacking(u64),
}

impl Snapshots {
    pub(crate) fn new(schema: &Schema, rate: TickRate) -> Snapshots {
        let most = KEPT_MIN.max(usize::from(rate.get()) / 2);
        let empty = |_| Snapshot {
            tick: Tick::ZERO,
            sent: TickTime::default(),
            came: Instant::ZERO,
            rows: Rows::new(schema),
            proof: None,
            canonical: Vec::new(),
            touched: Vec::new(),
            contacts: Vec::new(),
            news: Vec::with_capacity(4 * super::FEW),
            news_from: Tick::ZERO,
            holders: Vec::with_capacity(super::FEW),
            answers: Vec::with_capacity(ANSWERS_MAX),
            samples: 0,
            settled: false,
            baseline: None,
            gone: Vec::with_capacity(super::FEW),
            repeat: None,
            parts: 0,
            last_part: 0,
        };
        Snapshots {
            most,
            kept: Vec::with_capacity(most + 1),
            spare: (0..=most).map(empty).collect(),
            baselines: Baselines::new(schema, baselines_max(rate).saturating_sub(most)),
            lacking: None,
            reading: Rows::new(schema),
            gone: Vec::with_capacity(super::FEW),
            touched: Vec::new(),
            contacts: Vec::new(),
            news: Vec::with_capacity(4 * super::FEW),
            holders: Vec::with_capacity(super::FEW),
        }
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.spare.append(&mut self.kept);
        self.baselines.clear();
        self.lacking = None;
    }

    /// Takes in the rows of a datagram whose head says that it belongs to `tick`. A malformed one changes nothing.
    pub(crate) fn store(
        &mut self,
        (now, tick): (Instant, Tick),
        head: &SnapshotHead,
        reader: BitReader<'_>,
        (code, predicted): (&RowCodec, &Predicted),
    ) -> Result<Stored, Malformed> {
        if head.part > head.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        let base = head.baseline.and_then(|baseline| tick.back(baseline.back));
        if head.baseline.is_some() && (base.is_none() || head.proof.is_some()) {
            return Err(Malformed::OutOfRange("baseline"));
        }
        self.read((tick, base.is_some()), reader, code)?;
        let end = self.kept.partition_point(|snapshot| snapshot.tick <= tick);
        let is_too_old = end == 0 && self.kept.len() == self.most && head.repeat.is_none();
        if self.get(tick).is_some() || is_too_old {
            return Ok(Stored::Known);
        }
        if base.is_some_and(|base| self.baseline(base).is_none()) {
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking(0));
        }
        let is_of_it = |snapshot: &Snapshot| (snapshot.tick, snapshot.repeat) == (tick, head.repeat);
        let (at, mut pushed_out) = match self.kept[..end].iter().rposition(is_of_it) {
            Some(at) => (at, 0),
            None => self.make_room(end, now, tick, head),
        };
        let snapshot = &mut self.kept[at];
        let part = 1 << head.part;
        let fits = (snapshot.last_part, snapshot.baseline) == (head.last_part, head.baseline);
        if snapshot.parts & part != 0 || !fits {
            return Ok(Stored::Known);
        }
        snapshot.parts |= part;
        if head.last_part == 0 {
            core::mem::swap(&mut snapshot.rows, &mut self.reading);
        } else {
            self.reading.iter().for_each(|row| snapshot.rows.set_words(row));
        }
        snapshot.rows.settle();
        snapshot.gone.append(&mut self.gone);
        snapshot.touched.append(&mut self.touched);
        snapshot.contacts.append(&mut self.contacts);
        snapshot.news.append(&mut self.news);
        snapshot.holders.append(&mut self.holders);
        if !snapshot.is_complete() {
            return Ok(Stored::Partial(pushed_out));
        }
        if !self.fill_up(at, base) {
            self.drop_at(at);
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking(pushed_out));
        }
        let snapshot = &mut self.kept[at];
        snapshot.samples = if snapshot.proof.is_some() { 1 } else { snapshot.rows.count_predicted(predicted) };
        pushed_out += self.drop_others(tick, head.repeat);
        Ok(Stored::Complete(tick, pushed_out))
    }

    /// Of the state of `tick` the snapshot of one sending is complete: the others go. Returns how many samples without an
    /// outcome are lost.
    fn drop_others(&mut self, tick: Tick, repeat: Option<u8>) -> u64 {
        let mut lost = 0;
        while let Some(at) = self.kept.iter().position(|other| other.tick == tick && other.repeat != repeat) {
            lost += self.drop_at(at);
        }
        lost
    }

    /// Returns how many of its samples had no outcome.
    fn drop_at(&mut self, at: usize) -> u64 {
        let dropped = self.kept.remove(at);
        let lost = if dropped.settled || !dropped.is_complete() { 0 } else { dropped.samples };
        self.spare.push(dropped);
        lost
    }

    /// The rows of the complete snapshot of `tick`.
    fn baseline(&self, tick: Tick) -> Option<&Rows> {
        self.get(tick).map(|snapshot| &snapshot.rows).or_else(|| self.baselines.get(tick))
    }

    /// Adds to what was told what the snapshot of `base` has; says whether that is what the server has, too.
    fn fill_up(&mut self, at: usize, base: Option<Tick>) -> bool {
        let (Some(Baseline { check, .. }), Some(base)) = (self.kept[at].baseline, base) else {
            self.lacking = None;
            return true;
        };
        let mut merged = core::mem::take(&mut self.reading);
        self.kept[at].gone.sort_unstable();
        let snapshot = &self.kept[at];
        let before = self.baseline(base);
        let is_right = before.is_some_and(|before| {
            merged.merge(before, &snapshot.gone, &snapshot.rows);
            check_of(&merged) == check
        });
        if is_right {
            core::mem::swap(&mut self.kept[at].rows, &mut merged);
            self.baselines.note_named(base);
        }
        self.reading = merged;
        is_right
    }

    /// Reads the lists of a datagram.
    fn read(
        &mut self,
        (tick, is_against): (Tick, bool),
        mut reader: BitReader<'_>,
        code: &RowCodec,
    ) -> Result<(), Malformed> {
        self.gone.clear();
        while is_against && reader.take(1)? == 1 {
            self.gone.push(code.read_key(&mut reader)?);
        }
        self.reading.clear();
        self.touched.clear();
        self.contacts.clear();
        while reader.take(1)? == 1 {
            let (RowKey { entity, .. }, ages) = code.read(&mut reader, &mut self.reading)?;
            self.touched.extend(ages.event.and_then(|age| tick.back(age)).map(|at| (entity, at)));
            self.contacts.extend(ages.contact.and_then(|age| tick.back(age)).map(|at| (entity, at)));
        }
        self.news.clear();
        for nth in 0.. {
            if reader.take(1)? == 0 {
                break;
            }
            if nth == STEP_EVENTS_MAX {
                return Err(Malformed::OutOfRange("count of news"));
            }
            self.news.extend(StepEvent::read(&mut reader, tick)?);
        }
        self.holders.clear();
        while reader.take(1)? == 1 {
            self.holders.push(read_holder(&mut reader)?);
        }
        reader.finish()
    }

    fn make_room(&mut self, at: usize, now: Instant, tick: Tick, head: &SnapshotHead) -> (usize, u64) {
        let mut snapshot = self.spare.pop().expect("one more is made than is kept");
        snapshot.rows.clear();
        snapshot.touched.clear();
        snapshot.contacts.clear();
        snapshot.news.clear();
        snapshot.holders.clear();
        snapshot.gone.clear();
        snapshot.baseline = head.baseline;
        snapshot.answers.clone_from(&head.answers);
        snapshot.proof = head.proof;
        snapshot.canonical.clear();
        let canonical = head.canonical.iter().map(|low| Tick::widen(u32::from(*low), 16, tick));
        snapshot.canonical.extend(canonical);
        snapshot.news_from = head.news_ticks.and_then(|ticks| tick.back(ticks)).unwrap_or(Tick::ZERO);
        (snapshot.tick, snapshot.came, snapshot.repeat, snapshot.last_part) = (tick, now, head.repeat, head.last_part);
        (snapshot.parts, snapshot.samples, snapshot.settled) = (0, 0, false);
        snapshot.sent = head.sent(tick);
        self.kept.insert(at, snapshot);
        if self.kept.len() <= self.most {
            return (at, 0);
        }
        let oldest = self.oldest();
        let dropped = &mut self.kept[oldest];
        if dropped.is_complete() && dropped.proof.is_none() {
            self.baselines.keep(dropped.tick, &mut dropped.rows);
        }
        (at - usize::from(oldest < at), self.drop_at(oldest))
    }

    /// The place of the one to go where there are too many: the oldest state, but one that is sent again, whatever its tick, stays
    /// as long after it has come as others do.
    fn oldest(&self) -> usize {
        if self.kept[0].repeat.is_none() {
            return 0;
        }
        (0..self.kept.len()).min_by_key(|at| self.kept[*at].came).unwrap_or(0)
    }

    /// Other entities are predicted from now on. Returns how many samples wait for their outcome more than before, or
    /// fewer.
    pub(crate) fn recount(&mut self, predicted: &Predicted) -> i64 {
        let recounted = self.open().map(|snapshot| {
            let samples = if snapshot.proof.is_some() { 1 } else { snapshot.rows.count_predicted(predicted) };
            let before = core::mem::replace(&mut snapshot.samples, samples);
            snapshot.samples.cast_signed() - before.cast_signed()
        });
        recounted.sum()
    }

    /// The complete ones whose rows are known, ascending by tick.
    pub(crate) fn complete(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.kept.iter().filter(|snapshot| snapshot.is_complete() && snapshot.proof.is_none())
    }

    /// The one of `tick` that has just been completed, whether its rows are known or not.
    pub(crate) fn completed(&self, tick: Tick) -> Option<&Snapshot> {
        self.kept.iter().find(|snapshot| snapshot.tick == tick && snapshot.is_complete())
    }

    /// The complete ones without an outcome, ascending by tick.
    pub(crate) fn open(&mut self) -> impl DoubleEndedIterator<Item = &mut Snapshot> {
        self.kept.iter_mut().filter(|snapshot| snapshot.is_complete() && !snapshot.settled)
    }

    /// Those without an outcome, whether their rows are known or not.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Snapshot> {
        self.kept.iter().filter(|snapshot| snapshot.is_complete() && !snapshot.settled)
    }

    pub(crate) fn newest(&self) -> Option<&Snapshot> {
        self.complete().next_back()
    }

    /// What the server is told to be the newest: nothing, where that is not what it takes it for.
    pub(crate) fn acknowledged(&self) -> Option<Tick> {
        self.newest().map(|snapshot| snapshot.tick).filter(|newest| self.lacking < Some(*newest))
    }

    pub(crate) fn get(&self, tick: Tick) -> Option<&Snapshot> {
        self.complete().find(|snapshot| snapshot.tick == tick)
    }
}
