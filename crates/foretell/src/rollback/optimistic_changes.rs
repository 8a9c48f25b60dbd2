//! What the player of a client has changed of others' in steps, ahead of the authority: rows that stand in the place of those that
//! are shown, until the authority has answered and the cursor has come to its answer. What no step has put elsewhere moves on as it is told.

use super::changed_row::{ChangedRow, FoundRow, padded};
use crate::time::Tick;
use crate::world::{
    AnyRow, Change, ComponentId, Entity, MotionWords, Owned, PredictionSet, ROW_WORDS_MAX, RemovedRow, Row, RowKey,
    Rows, Schema,
};
use alloc::vec::Vec;

/// What the authority has said of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Open,
    Confirmed,
    /// With this state.
    Refused(Tick),
}

/// An entity that a step has changed.
#[derive(Debug)]
pub(crate) struct PredictedChange {
    /// The tick of the step.
    pub tick: Tick,
    /// By whose entity.
    pub by: Owned,
    pub entity: Entity,
    rows: Vec<ChangedRow>,
    answer: Verdict,
    /// The first step that does not find it so any more, or may change it again.
    until: Option<Tick>,
}

impl PredictedChange {
    /// Whether it has not ended before the step of `tick`.
    fn stands_in(&self, tick: Tick) -> bool {
        self.until.is_none_or(|until| tick < until)
    }

    fn is_refused(&self) -> bool {
        matches!(self.answer, Verdict::Refused(_))
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.answer != Verdict::Open
    }

    /// Whether it is answered, and all of it is shown as new as the answer: `told` says of which state a row was told last.
    pub(crate) fn has_ended(
        &mut self,
        told: impl Fn(&ChangedRow) -> Option<Tick>,
        is_shown: impl Fn(&ChangedRow, Tick) -> bool,
    ) -> bool {
        let refused_in = if let Verdict::Refused(state) = self.answer { Some(state) } else { None };
        for row in &mut self.rows {
            row.told = row.told.or(told(row).filter(|told| *told > self.tick));
        }
        let mut seen = self.rows.iter().map(|row| row.told.or(refused_in).is_some_and(|state| is_shown(row, state)));
        self.is_answered() && seen.all(|seen| seen)
    }
}

/// The changes as one step finds them.
#[derive(Clone, Copy)]
pub(crate) struct FoundChanges<'a> {
    pub changes: &'a OptimisticChanges,
    pub tick: Tick,
}

impl<'a> FoundChanges<'a> {
    /// A row that was changed.
    pub(crate) fn get(self, key: RowKey) -> Option<FoundRow<'a>> {
        self.changes.found(key, self.tick)
    }

    /// The rows of a component that entities have been given, and are there. One may come more than once.
    pub(crate) fn given(self, component: ComponentId) -> impl Iterator<Item = Row<'a>> {
        let rows = self.changes.changes.iter().flat_map(|change| &change.rows);
        let given = rows.filter(move |row| row.is_given && row.key.component == component);
        given.filter_map(move |row| self.get(row.key).filter(|found| found.is_given())?.row())
    }
}

/// What is simulated here.
#[derive(Clone, Copy)]
pub(super) struct Simulated<'a> {
    pub predicted: &'a PredictionSet,
    /// The rows that the world has published: what was another's when it was changed may be the player's own since.
    pub published: &'a Rows,
}

impl Simulated<'_> {
    fn has(&self, RemovedRow { key, owner }: RemovedRow) -> bool {
        let is_predicted = |owner| self.predicted.contains(Owned { entity: key.entity, owner });
        is_predicted(owner) || self.published.owner(key.entity).is_some_and(is_predicted)
    }
}

/// For how many ticks an answer is waited for: as long as an authority tells what a player has changed.
pub(crate) const OPEN_TICKS_MAX: u32 = 1000;

/// What has become of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChangeAnswer {
    /// The tick of the step that has made it.
    pub tick: Tick,
    pub entity: Entity,
    pub is_refused: bool,
}

impl ChangeAnswer {
    fn is_of(&self, change: &PredictedChange) -> bool {
        (self.tick, self.entity) == (change.tick, change.entity)
    }
}

/// Lives as long as a timeline. Mostly there are none.
#[derive(Debug)]
pub(crate) struct OptimisticChanges {
    /// Of each component.
    motion: Vec<MotionWords>,
    /// Ascending by tick, one for each entity and tick.
    changes: Vec<PredictedChange>,
    /// What the game has not heard yet.
    answers: Vec<ChangeAnswer>,
    /// What must not be changed in a step.
    refused: Vec<Entity>,
    /// The first step that has made or found what is refused by now, where they were not made again.
    outdated: Option<Tick>,
    /// What stood, and its step has not made when it was simulated again, since they were forgotten.
    withdrawn: Vec<PredictedChange>,
}

impl OptimisticChanges {
    /// None, of rows of this schema.
    pub(super) fn new(schema: &Schema) -> OptimisticChanges {
        let motion = schema.components().iter().map(|component| component.motion_words()).collect();
        let (changes, answers, refused, withdrawn) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        OptimisticChanges { motion, changes, answers, refused, outdated: None, withdrawn }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn clear(&mut self) {
        self.changes.clear();
        self.withdrawn.clear();
        self.outdated = None;
    }

    /// How the step of `tick` finds this row; `None` where it was not changed.
    fn found(&self, key: RowKey, tick: Tick) -> Option<FoundRow<'_>> {
        let stands = |change: &PredictedChange| change.tick < tick && !change.is_refused() && change.stands_in(tick);
        self.row_by(key, stands)
    }

    /// How a row was found before that was refused of which the game has not heard yet.
    pub(crate) fn before_refusal(&self, key: RowKey) -> Option<FoundRow<'_>> {
        self.row_by(key, |change| change.until.is_none() && (!change.is_refused() || self.is_just(change)))
    }

    /// Whether the game has not heard yet what has become of it.
    fn is_just(&self, change: &PredictedChange) -> bool {
        self.answers.iter().any(|answer| answer.is_of(change))
    }

    /// A row as it is by these changes.
    fn row_by(&self, key: RowKey, of: impl Fn(&PredictedChange) -> bool) -> Option<FoundRow<'_>> {
        let changes = self.changes.iter().rev().filter(|change| change.entity == key.entity && of(change));
        let rows = changes.flat_map(|change| &change.rows).filter(|row| row.key == key);
        FoundRow::of(rows, self.motion[usize::from(key.component.0)])
    }

    /// What the step of `tick` finds of a row that was written so before it; `None` where it finds none.
    fn finds(&self, key: RowKey, tick: Tick, written: Option<&[u32]>) -> Option<AnyRow> {
        let Some(found) = self.found(key, tick) else { return written.map(padded) };
        let mut words = [0; ROW_WORDS_MAX];
        found.over(written, &mut words)?;
        Some(words)
    }

    /// Every row that a step before that of `tick` has changed, once for each such step, with how that finds it; but of what is
    /// simulated here.
    fn before<'a>(
        &'a self,
        tick: Tick,
        simulated: Simulated<'a>,
    ) -> impl Iterator<Item = (&'a ChangedRow, Option<FoundRow<'a>>)> {
        let changes = self.changes.iter().take_while(move |change| change.tick < tick);
        let rows = changes.flat_map(|change| &change.rows);
        let others = rows.filter(move |row| !simulated.has(row.removed()));
        others.map(move |row| (row, self.found(row.key, tick)))
    }

    /// The rows that the step of `tick` finds changed, but of what is simulated here. One may come more than once.
    pub(super) fn keys<'a>(&'a self, tick: Tick, simulated: Simulated<'a>) -> impl Iterator<Item = RowKey> + use<'a> {
        self.before(tick, simulated).filter(|(_, found)| found.is_some()).map(|(row, _)| row.key)
    }

    /// What is to be written over the rows of others as they are shown: these, but of what is not shown any more, and without what
    /// was given and is no more.
    pub(super) fn write(&self, tick: Tick, simulated: Simulated<'_>, shown: &Rows, into: &mut Rows) {
        into.clear();
        let mut words = [0; ROW_WORDS_MAX];
        for (row, found) in self.before(tick, simulated) {
            let told = shown.words(row.key);
            match found.and_then(|found| found.over(told, &mut words)) {
                Some(row) => into.set_words(row),
                None if found.is_none() && told.is_some() => {}
                None => into.name_removed(row.removed()),
            }
        }
    }

    /// The step of `tick` is to be made: gathers what it must not change.
    pub(super) fn begin_step(&mut self, tick: Tick) {
        self.refused.clear();
        let changes = self.changes.iter().take_while(|change| change.tick <= tick);
        let refused = changes.filter(|change| change.is_refused() && change.stands_in(tick));
        self.refused.extend(refused.map(|change| change.entity));
    }

    /// What the step that has begun must not change.
    pub(super) fn refused(&self) -> &[Entity] {
        &self.refused
    }

    /// The step of `tick` has made these changes: of the published rows those that are not as they were `written` before it.
    pub(super) fn end_step(&mut self, tick: Tick, changes: &[Change], published: &Rows, written: &Rows) {
        let is_of_step = |change: &mut PredictedChange| change.tick == tick && !change.is_refused();
        let mut before: Vec<_> = self.changes.extract_if(.., is_of_step).collect();
        for Change { by, of: Owned { entity, .. } } in changes.iter().copied() {
            let rows = self.rows_made(tick, entity, published, written);
            if rows.is_empty() || self.has(tick, entity) {
                continue;
            }
            let at = before.iter().position(|change| change.entity == entity);
            let (answer, until) = at.map_or((Verdict::Open, None), |at| {
                let change = before.swap_remove(at);
                (change.answer, change.until)
            });
            self.insert(PredictedChange { tick, by, entity, rows, answer, until });
        }
        self.withdrawn.extend(before.into_iter().filter(|change| change.until.is_none()));
    }

    fn insert(&mut self, change: PredictedChange) {
        let at = self.changes.partition_point(|before| before.tick <= change.tick);
        self.changes.insert(at, change);
    }

    fn rows_made(&self, tick: Tick, entity: Entity, published: &Rows, written: &Rows) -> Vec<ChangedRow> {
        let before = |key| self.finds(key, tick, written.words(key));
        let changed =
            published.changed().iter().filter(|key| key.entity == entity).filter_map(|key| published.get(*key));
        let made = changed.filter(|row| before(row.key()) != Some(padded(row.words)));
        let made = made.map(|row| ChangedRow::made(row, before(row.key()).as_ref()));
        let is_named = |key: RowKey| published.removed().iter().any(|gone| gone.key == key);
        let is_gone = |key| published.words(key).is_none() && (is_named(key) || !published.has(entity));
        let gone = written.of(entity).map(|row| row.removed()).filter(|row| is_gone(row.key));
        // What only an earlier step has made of it.
        let is_unwritten = |row: &RemovedRow| written.words(row.key).is_none() && before(row.key).is_some();
        let unmade = self.rows_of(entity).filter(|row| is_unwritten(row) && is_gone(row.key));
        made.chain(gone.chain(unmade).map(ChangedRow::gone)).collect()
    }

    /// The rows of an entity that any step has made. One may come more than once.
    fn rows_of(&self, entity: Entity) -> impl Iterator<Item = RemovedRow> {
        let changes = self.changes.iter().filter(move |change| change.entity == entity);
        changes.flat_map(|change| &change.rows).filter(|row| !row.is_gone()).map(ChangedRow::removed)
    }

    /// Whether the newest simulation of this step has changed the entity.
    pub(crate) fn has(&self, tick: Tick, entity: Entity) -> bool {
        let is_it = |change: &PredictedChange| (change.tick, change.entity) == (tick, entity) && !change.is_refused();
        self.changes.iter().any(is_it)
    }

    /// All that the authority has said of the ticks before this one is known: what it has not confirmed is refused, and found by no
    /// step any more.
    pub(crate) fn answer(
        &mut self,
        known_until: Tick,
        is_confirmed: impl Fn(Tick, Entity) -> bool,
        mut refuse: impl FnMut(&PredictedChange),
    ) {
        let OptimisticChanges { changes, answers, outdated, .. } = self;
        for change in changes.iter_mut().filter(|change| !change.is_answered() && change.tick < known_until) {
            let PredictedChange { tick, entity, .. } = *change;
            let is_refused = !is_confirmed(tick, entity);
            change.answer = if is_refused { Verdict::Refused(known_until) } else { Verdict::Confirmed };
            answers.push(ChangeAnswer { tick, entity, is_refused });
            if is_refused {
                *outdated = Some(outdated.map_or(tick, |outdated| outdated.min(tick)));
                refuse(change);
            }
        }
    }

    /// Whether any step is as it would not be by what is refused now; or that of `tick`.
    pub(super) fn are_outdated(&self) -> bool {
        self.outdated.is_some()
    }

    pub(super) fn outdates(&self, tick: Tick) -> bool {
        self.outdated.is_some_and(|outdated| outdated <= tick)
    }

    /// These steps are made again.
    pub(super) fn settle_outdated(&mut self) {
        self.outdated = None;
    }

    /// The entities that are found as steps have made them, or were before something was refused of which the game has not heard yet;
    /// ascending.
    pub(crate) fn entities(&self) -> Vec<Entity> {
        let is_found =
            |change: &&PredictedChange| change.until.is_none() && (!change.is_refused() || self.is_just(change));
        ascending(self.changes.iter().filter(is_found).map(|change| change.entity))
    }

    /// The entities of which a change was refused and the game has not heard that yet, or, where all is simulated again that is to be (`is_settled`), was
    /// [withdrawn](Self::forget_withdrawn) and none stands; ascending.
    pub(crate) fn undone(&self, is_settled: bool) -> Vec<Entity> {
        let refused = self.answers.iter().filter(|answer| answer.is_refused).map(|answer| answer.entity);
        let stands = |change: &PredictedChange| change.until.is_none() && !change.is_refused();
        let is_changed = |of: Entity| self.changes.iter().any(|change| change.entity == of && stands(change));
        let withdrawn = self.withdrawn.iter().map(|change| change.entity).filter(|of| is_settled && !is_changed(*of));
        ascending(refused.chain(withdrawn))
    }

    /// The rows of an entity that were changed by what is undone. One may come more than once.
    pub(crate) fn rows_undone(&self, entity: Entity) -> impl Iterator<Item = &ChangedRow> {
        let refused = self.changes.iter().filter(|change| change.is_refused() && change.until.is_none());
        let undone = refused.chain(&self.withdrawn).filter(move |change| change.entity == entity);
        undone.flat_map(|change| &change.rows)
    }

    /// What stood and was not made again by its step has been shown as it is told.
    pub(crate) fn forget_withdrawn(&mut self) {
        self.withdrawn.clear();
    }

    /// The rows of an entity that were changed, where that has not ended, the newest first. One may come more than once.
    pub(crate) fn rows_changed(&self, entity: Entity) -> impl Iterator<Item = &ChangedRow> {
        let open = move |change: &&PredictedChange| change.entity == entity && change.until.is_none();
        self.changes.iter().rev().filter(open).flat_map(|change| &change.rows)
    }

    /// Takes out what the game has not heard yet; ascending by the tick in which the answer came.
    pub(crate) fn take_answers(&mut self) -> impl Iterator<Item = ChangeAnswer> {
        self.answers.drain(..)
    }

    /// From the step of `present` on, which is the next one, nothing is found of those that have ended, which stood until now.
    pub(crate) fn end(&mut self, present: Tick, mut has_ended: impl FnMut(&mut PredictedChange) -> bool) {
        for change in self.changes.iter_mut().filter(|change| change.until.is_none()) {
            if has_ended(change) {
                change.until = Some(present);
            }
        }
    }

    /// The state of `present` is the newest, and no step before `oldest` is made again. What nobody has answered for so long is
    /// refused, as nobody will.
    pub(super) fn forget_before(&mut self, oldest: Tick, present: Tick) {
        self.changes.retain(|change| change.until.is_none_or(|until| until >= oldest));
        if let Some(silent) = present.back(OPEN_TICKS_MAX) {
            self.answer(silent, |_, _| false, |_| {});
        }
    }
}

fn ascending(entities: impl Iterator<Item = Entity>) -> Vec<Entity> {
    let mut entities: Vec<_> = entities.collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

#[cfg(test)]
mod tests;
