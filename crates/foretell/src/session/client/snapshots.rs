//! Snapshots as they arrive: put together from their parts, sorted by tick, each waiting for its outcome.

use crate::rollback::{Entity, Predicted, Rows, Schema};
use crate::session::news::{NEWS_MAX, News};
use crate::session::packet::SnapshotHead;
use crate::session::rowcode::RowCode;
use crate::session::shared::{ANSWERS_MAX, Answer, Holder, read_holder};
use crate::time::{Instant, Tick, TickRate, TickTime};
use crate::wire::{BitReader, Malformed};

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
    pub news: Vec<News>,
    pub news_from: Tick,
    /// Which clients have authority over entities.
    pub holders: Vec<(Entity, Holder)>,
    /// What became of this client's requests.
    pub answers: Vec<Answer>,
    /// How many samples of predicted entities it holds.
    pub samples: u64,
    /// Whether its samples have their outcome.
    pub settled: bool,
    parts: u8,
    last_part: u8,
}

impl Snapshot {
    pub(crate) fn is_complete(&self) -> bool {
        self.parts == u8::MAX >> (7 - self.last_part)
    }
}

/// Half a second of snapshots, longer than any playout delay, or 32 if that is more.
pub(crate) struct Snapshots {
    /// How many are kept.
    most: usize,
    /// Ascending by tick.
    kept: Vec<Snapshot>,
    spare: Vec<Snapshot>,
    reading: Rows,
    touched: Vec<(Entity, Tick)>,
    contacts: Vec<(Entity, Tick)>,
    news: Vec<News>,
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
            parts: 0,
            last_part: 0,
        };
        Snapshots {
            most,
            kept: Vec::with_capacity(most + 1),
            spare: (0..=most).map(empty).collect(),
            reading: Rows::new(schema),
            touched: Vec::new(),
            contacts: Vec::new(),
            news: Vec::with_capacity(4 * super::FEW),
            holders: Vec::with_capacity(super::FEW),
        }
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.spare.append(&mut self.kept);
    }

    /// Takes in the rows of a datagram whose head says that it belongs to `tick`. A malformed one changes nothing.
    pub(crate) fn store(
        &mut self,
        (now, tick): (Instant, Tick),
        head: &SnapshotHead,
        reader: BitReader<'_>,
        (code, predicted): (&RowCode, &Predicted),
    ) -> Result<Stored, Malformed> {
        if head.part > head.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        self.read(tick, reader, code)?;
        let (at, pushed_out) = match self.kept.binary_search_by_key(&tick, |snapshot| snapshot.tick) {
            // The whole state that a digest stood for.
            Ok(at) if self.kept[at].proof.is_some() && head.proof.is_none() => {
                let proof = self.kept.remove(at);
                let lost = if proof.settled { 0 } else { proof.samples };
                self.spare.push(proof);
                let (at, pushed_out) = self.make_room(at, now, tick, head);
                (at, pushed_out + lost)
            }
            Ok(at) => (at, 0),
            Err(0) if self.kept.len() == self.most => return Ok(Stored::Known),
            Err(at) => self.make_room(at, now, tick, head),
        };
        let snapshot = &mut self.kept[at];
        let part = 1 << head.part;
        if snapshot.parts & part != 0 || snapshot.last_part != head.last_part {
            return Ok(Stored::Known);
        }
        snapshot.parts |= part;
        if head.last_part == 0 {
            core::mem::swap(&mut snapshot.rows, &mut self.reading);
        } else {
            self.reading.iter().for_each(|(entity, words)| snapshot.rows.set_words(entity, words));
        }
        snapshot.rows.settle();
        snapshot.touched.append(&mut self.touched);
        snapshot.contacts.append(&mut self.contacts);
        snapshot.news.append(&mut self.news);
        snapshot.holders.append(&mut self.holders);
        if !snapshot.is_complete() {
            return Ok(Stored::Partial(pushed_out));
        }
        snapshot.samples = if snapshot.proof.is_some() { 1 } else { snapshot.rows.count_predicted(predicted) };
        Ok(Stored::Complete(tick, pushed_out))
    }

    /// Reads the lists of a datagram.
    fn read(&mut self, tick: Tick, mut reader: BitReader<'_>, code: &RowCode) -> Result<(), Malformed> {
        self.reading.clear();
        self.touched.clear();
        self.contacts.clear();
        while reader.take(1)? == 1 {
            let (entity, ages) = code.read(&mut reader, &mut self.reading)?;
            self.touched.extend(ages.event.and_then(|age| tick.back(age)).map(|at| (entity, at)));
            self.contacts.extend(ages.contact.and_then(|age| tick.back(age)).map(|at| (entity, at)));
        }
        self.news.clear();
        for nth in 0.. {
            if reader.take(1)? == 0 {
                break;
            }
            if nth == NEWS_MAX {
                return Err(Malformed::OutOfRange("count of news"));
            }
            self.news.extend(News::read(&mut reader, code, tick)?);
        }
        self.holders.clear();
        while reader.take(1)? == 1 {
            self.holders.push(read_holder(&mut reader, code)?);
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
        snapshot.answers.clone_from(&head.answers);
        snapshot.proof = head.proof;
        snapshot.canonical.clear();
        let canonical = head.canonical.iter().map(|low| Tick::widen(u32::from(*low), 16, tick));
        snapshot.canonical.extend(canonical);
        snapshot.news_from = head.news_ticks.and_then(|ticks| tick.back(ticks)).unwrap_or(Tick::ZERO);
        (snapshot.tick, snapshot.came, snapshot.last_part) = (tick, now, head.last_part);
        (snapshot.parts, snapshot.samples, snapshot.settled) = (0, 0, false);
        let before = TickTime::start_of(tick) - TickTime::start_of(Tick::new(1));
        snapshot.sent = before + TickTime::from_millionths(i64::from(head.fraction) * 1_000_000 / 256);
        self.kept.insert(at, snapshot);
        if self.kept.len() <= self.most {
            return (at, 0);
        }
        let oldest = self.kept.remove(0);
        let lost = if oldest.settled || !oldest.is_complete() { 0 } else { oldest.samples };
        self.spare.push(oldest);
        (at - 1, lost)
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

    pub(crate) fn get(&self, tick: Tick) -> Option<&Snapshot> {
        self.complete().find(|snapshot| snapshot.tick == tick)
    }
}
