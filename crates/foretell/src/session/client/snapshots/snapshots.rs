//! Snapshots as they arrive: put together from their parts, sorted by tick, each waiting for its outcome.
//!
//! A state that is sent again is a snapshot by itself until one of them is complete; then the others of its tick are gone.
//! Complete ones have all rows that the player may see: those that were told against an earlier snapshot have its rows too.

use super::baselines::Baselines;
use super::sample_outcomes::{Compared, Outcomes};
use super::snapshot::{Lists, Snapshot, SnapshotPart};
use crate::session::baseline::{Baseline, baselines_max, check_of};
use crate::session::row_codec::RowCodec;
use crate::time::{Tick, TickRate};
use crate::wire::Malformed;
use crate::world::{Entity, Owned, Predicted, Rows, Schema};
use alloc::vec::Vec;

/// How many snapshots are kept at least.
const KEPT_MIN: usize = 32;

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
        Snapshots {
            most,
            codec: RowCodec::new(schema),
            kept: Vec::with_capacity(most + 1),
            spare: (0..=most).map(|_| Snapshot::new(schema)).collect(),
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
        let SnapshotPart { tick, head, .. } = part;
        if head.part > head.last_part {
            return Err(Malformed::OutOfRange("part"));
        }
        let base = head.baseline.and_then(|baseline| tick.back(baseline.back));
        if head.baseline.is_some() && (base.is_none() || head.proof.is_some()) {
            return Err(Malformed::OutOfRange("baseline"));
        }
        self.lists.read(&part, &self.codec, &mut self.rows)?;
        let end = self.kept.partition_point(|snapshot| snapshot.tick <= tick);
        let is_too_old = end == 0 && self.kept.len() == self.most && head.repeat.is_none();
        if self.get(tick).is_some() || is_too_old {
            return Ok(Stored::Known);
        }
        if base.is_some_and(|base| self.baseline(base).is_none()) {
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking);
        }
        let known = self.kept[..end].iter().rposition(|snapshot| snapshot.is_of(&part));
        let at = known.unwrap_or_else(|| self.make_room(end, &part));
        if !self.kept[at].add(head, &mut self.rows, &mut self.lists) {
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
        let mut merged = core::mem::replace(&mut self.rows, Rows::placeholder());
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

    /// Returns where the new one is.
    fn make_room(&mut self, at: usize, part: &SnapshotPart<'_>) -> usize {
        let mut snapshot = self.spare.pop().expect("one more is made than is kept");
        snapshot.begin(part);
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
