//! Snapshots as they arrive: put together from their parts, sorted by tick, each waiting for its outcome.
//!
//! A state that is sent again is a snapshot by itself until one of them is complete; then the others of its tick are gone.
//! Complete ones have all rows that the client is told exactly: those that were told against an earlier snapshot have its rows too.

use super::baselines::{Baselines, Holders};
use super::comparison_outcomes::{Compared, Outcomes};
use super::going_over::GoingOver;
use super::hidden_entities::HiddenEntities;
use super::known_rows::{Gone, KnownRows};
use super::received_datagrams::ReceivedDatagrams;
use super::shown_row_reader::ShownRowReader;
use super::snapshot::{Lists, Snapshot, SnapshotPart, Stored};
use super::tracks::Tracks;
use crate::session::Rules;
use crate::session::ack_bits::AckBits;
use crate::session::baseline_ref::{BaselineRef, baselines_max, check_of};
use crate::session::exact_row_codec::ExactRowCodec;
use crate::time::{Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Entity, Owned, PlayerId, PredictionSet, RowKey, Rows};
use alloc::vec::Vec;

/// How many snapshots are kept at least.
const KEPT_MIN: usize = 32;

/// Half a second of snapshots, longer than any playout delay, or 32 if that is more; and the books of their samples.
pub(crate) struct Snapshots {
    /// How many are kept.
    most: usize,
    codec: ExactRowCodec,
    /// Ascending by tick, and of one tick in the order of their first parts.
    kept: Vec<Snapshot>,
    spare: Vec<Snapshot>,
    baselines: Baselines,
    /// The newest that was told against a snapshot that is not there: what is named as the newest does not help the server.
    lacking: Option<Tick>,
    /// The part that is being read.
    rows: Rows,
    lists: Lists,
    /// The rows of others that it tells.
    shown: ShownRowReader,
    /// What is known of rows by what was told of each.
    known: KnownRows,
    hidden: HiddenEntities,
    /// Whether the session is: they have all rows there are, and no row is told by itself.
    is_exact: bool,
    received: ReceivedDatagrams,
    outcomes: Outcomes,
}

impl Snapshots {
    pub(crate) fn new(rules: &Rules) -> Snapshots {
        let (schema, rate) = (&rules.schema, rules.tick_rate);
        let most = KEPT_MIN.max(usize::from(rate.get()) / 2);
        Snapshots {
            most,
            codec: ExactRowCodec::new(schema),
            kept: Vec::with_capacity(most + 1),
            spare: (0..=most).map(|_| Snapshot::new(schema)).collect(),
            baselines: Baselines::new(schema, baselines_max(rate).saturating_sub(most)),
            lacking: None,
            rows: Rows::new(schema),
            lists: Lists::with_room(),
            shown: ShownRowReader::new(schema, rate),
            known: KnownRows::new(schema, most, rate),
            hidden: HiddenEntities::new(),
            is_exact: rules.exact,
            received: ReceivedDatagrams::new(most),
            outcomes: Outcomes::default(),
        }
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.spare.append(&mut self.kept);
        self.baselines.clear();
        self.known.clear();
        self.shown.clear();
        self.hidden.clear();
        self.received.clear();
        self.lacking = None;
    }

    /// Tells which of the server's datagrams have come.
    pub(crate) fn tell_received(&mut self) -> Option<AckBits> {
        self.received.tell()
    }

    /// Takes in a datagram that tells nothing but rows of others, as they are in the state of `tick`. A malformed one changes
    /// nothing.
    pub(crate) fn store_shown(&mut self, tick: Tick, number: u16, records: BitReader<'_>) -> Result<(), Malformed> {
        self.shown.read(tick, records, &self.codec)?;
        self.note_shown(tick, number, false);
        Ok(())
    }

    /// Takes in the rows of others that a datagram of a state tells, the first of it or another. One of so long ago that what is gone since may be forgotten, or what it is
    /// told by, is as if it were lost: it is told again.
    fn note_shown(&mut self, tick: Tick, number: u16, is_first: bool) {
        self.known.tracks_mut().begin_state(0);
        if self.known.is_too_old(tick) || !self.shown.keep(tick) {
            return;
        }
        let Snapshots { shown, known, hidden, received, .. } = self;
        known.tracks_mut().begin_state(received.note(tick, number, is_first));
        for (record, words) in shown.iter() {
            if known.take_in(tick, record, words) {
                hidden.note_record(tick, record);
            } else if record.is_hidden
                && let Some(until) = known.tracks().first_after(record.key, tick, |row| row.is_some())
            {
                hidden.note_late(record.key.entity, tick, until);
            }
        }
        shown.stopped(tick).for_each(|(key, stop)| known.tracks_mut().stop(key, stop));
    }

    /// Takes in a datagram. A malformed one changes nothing.
    pub(crate) fn store(&mut self, part: SnapshotPart<'_>, predicted: &PredictionSet) -> Result<Stored, Malformed> {
        let SnapshotPart { tick, header, .. } = part;
        let base = part.base()?;
        self.lists.read(&part, &self.codec, &mut self.rows, &mut self.shown)?;
        self.note_shown(tick, header.number, header.part == 0);
        let end = self.kept.partition_point(|snapshot| snapshot.tick <= tick);
        let is_too_old = end == 0 && self.kept.len() == self.most && header.repeat.is_none();
        if self.get(tick).is_some() || is_too_old {
            return Ok(Stored::Known);
        }
        if base.is_some_and(|base| self.baseline(base).is_none()) {
            self.lacking = self.lacking.max(Some(tick));
            return Ok(Stored::Lacking);
        }
        let known = self.kept[..end].iter().rposition(|snapshot| snapshot.is_of(&part));
        let at = known.unwrap_or_else(|| self.make_room(end, &part));
        if !self.kept[at].add(header, &mut self.rows, &mut self.lists) {
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
        if !self.is_exact {
            self.note_rows(at, predicted.player());
        }
        let snapshot = &mut self.kept[at];
        snapshot.samples = if snapshot.proof.is_some() { 1 } else { snapshot.rows.count_predicted(predicted) };
        self.outcomes.received += snapshot.samples;
        self.drop_others(tick, header.repeat);
        Ok(Stored::Complete)
    }

    /// Takes in what a complete one has.
    fn note_rows(&mut self, at: usize, player: PlayerId) {
        let Snapshots { kept, known, hidden, .. } = self;
        let newest = kept[at + 1..].iter().rfind(|later| later.is_complete());
        let Snapshot { tick, rows, lists, .. } = &kept[at];
        if let Some(newest) = newest {
            return known.take_in_exact_late(*tick, player, rows, newest.tick);
        }
        // What is there still of others is shown by itself, or told as gone by that.
        let is_over =
            |key: &RowKey| !lists.hidden.contains(&key.entity) || known.rows().owner(key.entity) == Some(player);
        hidden.note_state(*tick, lists.gone.iter().filter(|key| is_over(key)), &lists.hidden, rows);
        known.take_in_exact(*tick, player, rows, Gone { keys: &lists.gone, hidden: &lists.hidden });
    }

    /// Whether an entity is there, by what is known of the newest state.
    pub(crate) fn has(&self, entity: Entity) -> bool {
        self.rows().is_some_and(|rows| rows.has(entity))
    }

    /// Whether an entity that is not in the state of `tick` is there still, for others.
    pub(crate) fn is_hidden(&self, entity: Entity, tick: Tick) -> bool {
        self.hidden.has(entity, tick)
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

    /// What the complete snapshot of `tick` had.
    fn baseline(&self, tick: Tick) -> Option<(&Rows, &Holders)> {
        self.get(tick).map(|snapshot| (&snapshot.rows, &snapshot.holders)).or_else(|| self.baselines.get(tick))
    }

    /// Adds to what was told what the snapshot of `base` has; says whether that is what the server has, too.
    fn fill_up(&mut self, at: usize, base: Option<Tick>) -> bool {
        let (Some(BaselineRef { check, .. }), Some(base)) = (self.kept[at].baseline, base) else {
            let Snapshot { lists, holders, .. } = &mut self.kept[at];
            lists.add_holders(holders);
            self.lacking = None;
            return true;
        };
        let mut merged = core::mem::replace(&mut self.rows, Rows::placeholder());
        let mut holders = core::mem::replace(&mut self.kept[at].holders, Holders::new());
        self.kept[at].lists.gone.sort_unstable();
        let snapshot = &self.kept[at];
        let is_right = self.baseline(base).is_some_and(|(before, held_before)| {
            merged.merge(before, &snapshot.lists.gone, &snapshot.rows);
            holders.clone_from(held_before);
            snapshot.lists.add_holders(&mut holders);
            check_of(&merged, &holders) == check
        });
        self.kept[at].holders = holders;
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
        let oldest = self.oldest_beside(at);
        let dropped = &mut self.kept[oldest];
        if dropped.is_complete() && dropped.proof.is_none() {
            self.baselines.keep(dropped.tick, &mut dropped.rows, &mut dropped.holders);
        }
        self.drop_at(oldest);
        at - usize::from(oldest < at)
    }

    /// Which is to go where there are too many: the oldest beside the new one. One sent again stays as long as others do.
    fn oldest_beside(&self, new: usize) -> usize {
        if self.kept[0].repeat.is_none() {
            return 0;
        }
        (0..self.kept.len()).filter(|at| *at != new).min_by_key(|at| self.kept[*at].came).unwrap_or(0)
    }

    /// Other entities are predicted from now on: other samples wait for their outcome.
    pub(crate) fn recount(&mut self, predicted: &PredictionSet) {
        let Snapshots { kept, outcomes, .. } = self;
        for snapshot in kept.iter_mut().filter(|snapshot| snapshot.is_open() && snapshot.proof.is_none()) {
            let samples = snapshot.rows.count_predicted(predicted);
            outcomes.received += samples;
            outcomes.received -= core::mem::replace(&mut snapshot.samples, samples);
        }
    }

    /// The complete ones whose rows are known, ascending by tick.
    pub(crate) fn complete(&self) -> impl DoubleEndedIterator<Item = &Snapshot> + Clone {
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

    /// How many rows of others have come and can't be shown yet.
    pub(crate) fn orphans(&self) -> usize {
        self.known.orphans()
    }

    /// What has become of all samples so far.
    pub(crate) fn outcomes(&self) -> Outcomes {
        Outcomes { waiting: self.open().map(|snapshot| snapshot.samples).sum(), ..self.outcomes }
    }

    /// A session begins at the newest of these: none of them is compared. The books of the session before go on.
    pub(crate) fn begin(&mut self, former: Outcomes) {
        self.settle(|_| true, |_, _| ());
        self.outcomes = former.at_end();
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

    /// What is known of the newest state: what is told exactly as it is in it, and the rest as it was told last.
    pub(crate) fn rows(&self) -> Option<&Rows> {
        self.newest().map(|newest| if self.is_exact { &newest.rows } else { self.known.rows() })
    }

    /// The state of `tick` as far as it is known: what is not told exactly as it was told last, and is not predicted.
    pub(crate) fn state(&self, tick: Tick, predicted: &PredictionSet) -> Option<Rows> {
        let Snapshot { rows, .. } = self.get(tick)?;
        Some(if self.is_exact { rows.clone() } else { self.known.state_with(tick, predicted, rows) })
    }

    /// Of which state a row of the newest is; `None` where there is no such row.
    pub(crate) fn told_in(&self, key: RowKey) -> Option<Tick> {
        self.rows()?.words(key)?;
        let newest = self.newest()?;
        if self.is_exact { Some(newest.tick) } else { self.known.tracks().newest_tick(key) }
    }

    /// The newest state of which a row was told, there or gone; `None` where nothing is known of it.
    pub(crate) fn heard_of(&self, key: RowKey) -> Option<Tick> {
        self.known.tracks().newest_tick(key)
    }

    /// What was shown otherwise is shown by what the server tells of it from now on.
    pub(crate) fn go_over(&mut self, what: &GoingOver<'_>) {
        what.cut(self.known.tracks_mut());
    }

    /// How each row was in the last states.
    pub(crate) fn tracks(&self) -> &Tracks {
        self.known.tracks()
    }

    /// An update has taken in what has come, and shows others at this point. States are `interval` ticks apart.
    pub(crate) fn end_update(&mut self, shown: Option<TickTime>, interval: u32) {
        self.known.tracks_mut().end_update(shown.unwrap_or_default(), interval);
    }

    /// Whose an entity is by the newest; where it is not in it, for whom it was spawned.
    pub(crate) fn owned(&self, entity: Entity) -> Owned {
        let owner = self.rows().and_then(|rows| rows.owner(entity));
        Owned { entity, owner: owner.unwrap_or(entity.spawned_for()) }
    }

    pub(crate) fn get(&self, tick: Tick) -> Option<&Snapshot> {
        self.complete().find(|snapshot| snapshot.tick == tick)
    }
}
