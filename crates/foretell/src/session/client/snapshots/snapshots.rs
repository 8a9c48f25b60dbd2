//! Snapshots as they arrive: put together from their parts, sorted by tick, each waiting for its outcome.
//!
//! A state that is sent again is a snapshot by itself until one of them is complete; then the others of its tick are gone.
//! Complete ones have all rows that the player may see: those that were told against an earlier snapshot have its rows too.

use super::baselines::Baselines;
use super::outcomes::Outcomes;
use crate::session::authority::{ANSWERS_MAX, Answer, Holder, read_holder};
use crate::session::baseline::{Baseline, baselines_max, check_of};
use crate::session::client::prediction::Compared;
use crate::session::packet::SnapshotHead;
use crate::session::row_codec::RowCodec;
use crate::session::step_events::{STEP_EVENTS_MAX, StepEvent};
use crate::time::{Instant, Tick, TickRate, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Entity, Owned, Predicted, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// How many snapshots are kept at least.
const KEPT_MIN: usize = 32;

/// A datagram of a snapshot whose head has been read.
pub(crate) struct SnapshotPart<'a> {
    pub tick: Tick,
    /// When it came.
    pub came: Instant,
    pub head: &'a SnapshotHead,
    /// What follows the head and the relayed inputs.
    pub lists: BitReader<'a>,
}

/// What a snapshot says besides its rows.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// What of its baseline is gone.
    gone: Vec<RowKey>,
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
    fn with_room() -> Lists {
        Lists {
            gone: Vec::with_capacity(crate::session::client::FEW),
            news: Vec::with_capacity(4 * crate::session::client::FEW),
            holders: Vec::with_capacity(crate::session::client::FEW),
            ..Lists::default()
        }
    }

    fn clear(&mut self) {
        self.gone.clear();
        self.touched.clear();
        self.contacts.clear();
        self.news.clear();
        self.holders.clear();
    }

    /// Moves what another part says to the end.
    fn append(&mut self, part: &mut Lists) {
        self.gone.append(&mut part.gone);
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
    pub rows: Rows,
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
    samples: u64,
    /// Whether its samples have their outcome.
    is_settled: bool,
    /// What it is told against.
    baseline: Option<Baseline>,
    /// Which time this is that the state is sent.
    repeat: Option<u8>,
    parts: u8,
    last_part: u8,
}

impl Snapshot {
    pub(crate) fn is_complete(&self) -> bool {
        self.parts == u8::MAX >> (7 - self.last_part)
    }

    /// Who has authority over an entity.
    pub(crate) fn holder(&self, entity: Entity) -> Option<Holder> {
        self.lists.holders.iter().find(|(known, _)| *known == entity).map(|(_, holder)| *holder)
    }

    /// Whether its samples wait for their outcome.
    fn is_open(&self) -> bool {
        self.is_complete() && !self.is_settled
    }

    /// Whether the state was sent before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeat.is_some()
    }
}

/// Half a second of snapshots, longer than any playout delay, or 32 if that is more; and the books of their samples.
pub(crate) struct Snapshots {
    /// How many are kept.
    most: usize,
    codec: RowCodec,
    /// Ascending by tick, and of one tick in the order of their first parts.
    kept: Vec<Snapshot>,
    spare: Vec<Snapshot>,
    baselines: Baselines,
    /// The newest that was told against a snapshot that is not there: what is named as the newest does not help the server.
    lacking: Option<Tick>,
    /// The part that is being read.
    rows: Rows,
    lists: Lists,
    outcomes: Outcomes,
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
            lists: Lists::with_room(),
            news_from: Tick::ZERO,
            answers: Vec::with_capacity(ANSWERS_MAX),
            samples: 0,
            is_settled: false,
            baseline: None,
            repeat: None,
            parts: 0,
            last_part: 0,
        };
        Snapshots {
            most,
            codec: RowCodec::new(schema),
            kept: Vec::with_capacity(most + 1),
            spare: (0..=most).map(empty).collect(),
            baselines: Baselines::new(schema, baselines_max(rate).saturating_sub(most)),
            lacking: None,
            rows: Rows::new(schema),
            lists: Lists::with_room(),
            outcomes: Outcomes::default(),
        }
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.spare.append(&mut self.kept);
        self.baselines.clear();
        self.lacking = None;
    }

    /// Takes in a datagram. A malformed one changes nothing.
    pub(crate) fn store(&mut self, part: SnapshotPart<'_>, predicted: &Predicted) -> Result<Stored, Malformed> {
        let SnapshotPart { tick, came, head, lists } = part;
        if head.part > head.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        let base = head.baseline.and_then(|baseline| tick.back(baseline.back));
        if head.baseline.is_some() && (base.is_none() || head.proof.is_some()) {
            return Err(Malformed::OutOfRange("baseline"));
        }
        self.read(tick, base.is_some(), lists)?;
        let end = self.kept.partition_point(|snapshot| snapshot.tick <= tick);
        let is_too_old = end == 0 && self.kept.len() == self.most && head.repeat.is_none();
        if self.get(tick).is_some() || is_too_old {
            return Ok(Stored::Known);
        }
        if base.is_some_and(|base| self.baseline(base).is_none()) {
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking);
        }
        let is_of_it = |snapshot: &Snapshot| (snapshot.tick, snapshot.repeat) == (tick, head.repeat);
        let known = self.kept[..end].iter().rposition(is_of_it);
        let at = known.unwrap_or_else(|| self.make_room(end, came, tick, head));
        if !self.add_part(at, head) {
            return Ok(Stored::Known);
        }
        if !self.kept[at].is_complete() {
            return Ok(Stored::Partial);
        }
        if !self.fill_up(at, base) {
            self.drop_at(at);
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking);
        }
        let snapshot = &mut self.kept[at];
        snapshot.samples = if snapshot.proof.is_some() { 1 } else { snapshot.rows.count_predicted(predicted) };
        self.outcomes.received += snapshot.samples;
        self.drop_others(tick, head.repeat);
        Ok(Stored::Complete)
    }

    /// Adds what was read to a snapshot; says whether it did, which it does not to what is there already.
    fn add_part(&mut self, at: usize, head: &SnapshotHead) -> bool {
        let snapshot = &mut self.kept[at];
        let part = 1 << head.part;
        let fits = (snapshot.last_part, snapshot.baseline) == (head.last_part, head.baseline);
        if snapshot.parts & part != 0 || !fits {
            return false;
        }
        snapshot.parts |= part;
        if head.last_part == 0 {
            core::mem::swap(&mut snapshot.rows, &mut self.rows);
        } else {
            self.rows.iter().for_each(|row| snapshot.rows.set_words(row));
        }
        snapshot.rows.settle();
        snapshot.lists.append(&mut self.lists);
        true
    }

    /// Of the state of `tick` the snapshot of one sending is complete: the others go.
    fn drop_others(&mut self, tick: Tick, repeat: Option<u8>) {
        while let Some(at) = self.kept.iter().position(|other| other.tick == tick && other.repeat != repeat) {
            self.drop_at(at);
        }
    }

    /// Samples of it that had no outcome will not be compared any more.
    fn drop_at(&mut self, at: usize) {
        let dropped = self.kept.remove(at);
        if dropped.is_open() {
            self.outcomes.superseded += dropped.samples;
        }
        self.spare.push(dropped);
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
        let mut merged = core::mem::take(&mut self.rows);
        self.kept[at].lists.gone.sort_unstable();
        let snapshot = &self.kept[at];
        let before = self.baseline(base);
        let is_right = before.is_some_and(|before| {
            merged.merge(before, &snapshot.lists.gone, &snapshot.rows);
            check_of(&merged) == check
        });
        if is_right {
            core::mem::swap(&mut self.kept[at].rows, &mut merged);
            self.baselines.note_named(base);
        }
        self.rows = merged;
        is_right
    }

    /// Reads the lists of a datagram.
    fn read(&mut self, tick: Tick, is_against: bool, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let Snapshots { codec, rows, lists, .. } = self;
        rows.clear();
        lists.clear();
        while is_against && reader.take(1)? == 1 {
            lists.gone.push(codec.read_key(&mut reader)?);
        }
        while reader.take(1)? == 1 {
            let (RowKey { entity, .. }, ages) = codec.read(&mut reader, rows)?;
            lists.touched.extend(ages.event.and_then(|age| tick.back(age)).map(|at| (entity, at)));
            lists.contacts.extend(ages.contact.and_then(|age| tick.back(age)).map(|at| (entity, at)));
        }
        for nth in 0.. {
            if reader.take(1)? == 0 {
                break;
            }
            if nth == STEP_EVENTS_MAX {
                return Err(Malformed::OutOfRange("count of news"));
            }
            lists.news.extend(StepEvent::read(&mut reader, tick)?);
        }
        while reader.take(1)? == 1 {
            lists.holders.push(read_holder(&mut reader)?);
        }
        reader.finish()
    }

    /// Returns where the new one is.
    fn make_room(&mut self, at: usize, now: Instant, tick: Tick, head: &SnapshotHead) -> usize {
        let mut snapshot = self.spare.pop().expect("one more is made than is kept");
        snapshot.rows.clear();
        snapshot.lists.clear();
        snapshot.baseline = head.baseline;
        snapshot.answers.clone_from(&head.answers);
        snapshot.proof = head.proof;
        snapshot.canonical.clear();
        let canonical = head.canonical.iter().map(|low| Tick::widen(u32::from(*low), 16, tick));
        snapshot.canonical.extend(canonical);
        snapshot.news_from = head.news_ticks.and_then(|ticks| tick.back(ticks)).unwrap_or(Tick::ZERO);
        (snapshot.tick, snapshot.came, snapshot.repeat, snapshot.last_part) = (tick, now, head.repeat, head.last_part);
        (snapshot.parts, snapshot.samples, snapshot.is_settled) = (0, 0, false);
        snapshot.sent = head.sent(tick);
        self.kept.insert(at, snapshot);
        if self.kept.len() <= self.most {
            return at;
        }
        let oldest = self.oldest();
        let dropped = &mut self.kept[oldest];
        if dropped.is_complete() && dropped.proof.is_none() {
            self.baselines.keep(dropped.tick, &mut dropped.rows);
        }
        self.drop_at(oldest);
        at - usize::from(oldest < at)
    }

    /// The place of the one to go where there are too many: the oldest state, but one that is sent again, whatever its tick, stays
    /// as long after it has come as others do.
    fn oldest(&self) -> usize {
        if self.kept[0].repeat.is_none() {
            return 0;
        }
        (0..self.kept.len()).min_by_key(|at| self.kept[*at].came).unwrap_or(0)
    }

    /// Other entities are predicted from now on: other samples wait for their outcome.
    pub(crate) fn recount(&mut self, predicted: &Predicted) {
        let Snapshots { kept, outcomes, .. } = self;
        for snapshot in kept.iter_mut().filter(|snapshot| snapshot.is_open() && snapshot.proof.is_none()) {
            let samples = snapshot.rows.count_predicted(predicted);
            outcomes.received = outcomes.received + samples - snapshot.samples;
            snapshot.samples = samples;
        }
    }

    /// The complete ones whose rows are known, ascending by tick.
    pub(crate) fn complete(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.kept.iter().filter(|snapshot| snapshot.is_complete() && snapshot.proof.is_none())
    }

    /// The one of `tick` that has just been completed, whether its rows are known or not.
    pub(crate) fn completed(&self, tick: Tick) -> Option<&Snapshot> {
        self.kept.iter().find(|snapshot| snapshot.tick == tick && snapshot.is_complete())
    }

    /// The complete ones without an outcome, ascending by tick, whether their rows are known or not.
    pub(crate) fn open(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.kept.iter().filter(|snapshot| snapshot.is_open())
    }

    /// What has become of all samples so far.
    pub(crate) fn outcomes(&self) -> Outcomes {
        Outcomes { waiting: self.open().map(|snapshot| snapshot.samples).sum(), ..self.outcomes }
    }

    /// A session begins at the newest of these: none of them is compared. What waited in the session before is superseded by
    /// that state.
    pub(crate) fn begin(&mut self, former: Outcomes) {
        self.settle(|_| true, |_, _| ());
        self.outcomes = Outcomes { resync: former.resync + former.waiting, waiting: 0, ..former };
    }

    /// Samples of states before `until` are not compared any more.
    pub(crate) fn supersede(&mut self, until: Tick) {
        self.settle(|snapshot| snapshot.tick < until, |outcomes, samples| outcomes.superseded += samples);
    }

    /// The same of those of which the digest alone is known.
    pub(crate) fn supersede_proofs(&mut self, until: Tick) {
        let is_past = |snapshot: &Snapshot| snapshot.proof.is_some() && snapshot.tick < until;
        self.settle(is_past, |outcomes, samples| outcomes.superseded += samples);
    }

    /// The state of `tick` was compared with its prediction.
    pub(crate) fn settle_compared(&mut self, tick: Tick, found: &Compared) {
        self.settle(|snapshot| snapshot.tick == tick, |_, _| ());
        self.outcomes.agreed += found.agreed;
        self.outcomes.corrected += found.different;
        self.outcomes.received -= found.handed;
    }

    /// The state of `tick` was taken over as it is.
    pub(crate) fn settle_adopted(&mut self, tick: Tick) {
        self.supersede(tick);
        self.settle(|snapshot| snapshot.tick == tick, |outcomes, samples| outcomes.resync += samples);
    }

    /// The digest of the state of `tick` is that of these predicted rows, so that they are the authority's.
    pub(crate) fn settle_proved(&mut self, tick: Tick, predicted: &Rows) {
        self.settle(|snapshot| snapshot.tick == tick, |outcomes, samples| outcomes.agreed += samples);
        for snapshot in self.kept.iter_mut().filter(|snapshot| snapshot.tick == tick && snapshot.is_complete()) {
            snapshot.proof = None;
            snapshot.rows.copy_rows(predicted);
        }
    }

    /// The digest of the state of `tick` is another, and the state was asked for.
    pub(crate) fn settle_asked(&mut self, tick: Tick) {
        self.settle(|snapshot| snapshot.tick == tick, |outcomes, samples| outcomes.asked += samples);
    }

    fn settle(&mut self, which: impl Fn(&Snapshot) -> bool, book: impl Fn(&mut Outcomes, u64)) {
        for snapshot in self.kept.iter_mut().filter(|snapshot| snapshot.is_open() && which(snapshot)) {
            snapshot.is_settled = true;
            book(&mut self.outcomes, snapshot.samples);
        }
    }

    pub(crate) fn newest(&self) -> Option<&Snapshot> {
        self.complete().next_back()
    }

    /// What the server is told to be the newest: nothing, where that is not what it takes it for.
    pub(crate) fn acknowledged(&self) -> Option<Tick> {
        self.newest().map(|snapshot| snapshot.tick).filter(|newest| self.lacking < Some(*newest))
    }

    /// Whose an entity is by the newest; where it is not in it, for whom it was spawned.
    pub(crate) fn owned(&self, entity: Entity) -> Owned {
        let owner = self.newest().and_then(|newest| newest.rows.owner(entity));
        Owned { entity, owner: owner.unwrap_or(entity.spawned_for()) }
    }

    pub(crate) fn get(&self, tick: Tick) -> Option<&Snapshot> {
        self.complete().find(|snapshot| snapshot.tick == tick)
    }
}
