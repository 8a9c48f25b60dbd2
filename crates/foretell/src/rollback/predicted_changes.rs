//! What the player of a client has changed of others' in steps, ahead of the authority: rows that stand in the place of those that
//! are shown, until the authority has answered and the cursor has come to its answer.

use crate::time::Tick;
use crate::world::{AnyRow, Change, Entity, Owned, PlayerId, Predicted, ROW_WORDS_MAX, RemovedRow, Row, RowKey, Rows};
use alloc::vec::Vec;

/// What the authority has said of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Open,
    Confirmed,
    Refused,
}

/// One row that a step has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedRow {
    /// The tick of the step.
    pub tick: Tick,
    /// By whose entity.
    pub by: Owned,
    pub key: RowKey,
    owner: PlayerId,
    /// What was made of it, as many words as there are; `None` where it was removed.
    words: Option<(AnyRow, usize)>,
    /// The first step that does not find it so any more.
    until: Option<Tick>,
    answer: Answer,
    /// Whether the game has heard the answer.
    is_told: bool,
    /// The state with which it was refused.
    answered: Tick,
    /// The first state after it of which it was told.
    told: Option<Tick>,
    /// Whether what is shown of it is as new as the answer.
    is_over: bool,
    /// Whether the newest simulation of its step has made it.
    is_made: bool,
}

impl ChangedRow {
    /// One that was removed.
    fn gone(tick: Tick, by: Owned, RemovedRow { key, owner }: RemovedRow) -> ChangedRow {
        let (answer, is_told, told, answered) = (Answer::Open, false, None, Tick::ZERO);
        ChangedRow {
            tick,
            by,
            key,
            owner,
            words: None,
            until: None,
            answer,
            is_told,
            answered,
            told,
            is_over: false,
            is_made: true,
        }
    }

    /// Whether it is found so, or locked, in the step of `tick`.
    fn counts_in(&self, tick: Tick) -> bool {
        self.tick < tick && self.until.is_none_or(|until| tick < until)
    }

    /// Whether it was removed.
    pub(crate) fn is_gone(&self) -> bool {
        self.words.is_none()
    }

    /// Whether it is answered, and what is shown as new as the answer; `told` is the newest state of which it is told. Or it has stood
    /// since before the tick `since`.
    pub(crate) fn has_ended(
        &mut self,
        told: Option<Tick>,
        is_shown: impl Fn(Tick) -> bool,
        since: Option<Tick>,
    ) -> bool {
        self.told = self.told.or(told.filter(|told| *told > self.tick));
        let seen = self.told.or((self.answer == Answer::Refused).then_some(self.answered));
        self.answer != Answer::Open && (seen.is_some_and(is_shown) || since.is_some_and(|since| self.tick < since))
    }

    fn removed(&self) -> RemovedRow {
        RemovedRow { key: self.key, owner: self.owner }
    }

    /// The row; `None` where it was removed.
    pub(crate) fn row(&self) -> Option<Row<'_>> {
        let RowKey { component, entity } = self.key;
        let (words, length) = self.words.as_ref()?;
        Some(Row { component, entity, owner: self.owner, words: &words[..*length] })
    }
}

/// The changes as one step finds them.
#[derive(Clone, Copy)]
pub(crate) struct FoundChanges<'a> {
    pub changes: &'a PredictedChanges,
    pub tick: Tick,
}

impl<'a> FoundChanges<'a> {
    /// A row that was changed, and `None` in it where it was removed.
    pub(crate) fn get(self, key: RowKey) -> Option<Option<Row<'a>>> {
        self.changes.found(key, self.tick).map(ChangedRow::row)
    }

    /// The rows that an entity has been given.
    pub(crate) fn of(self, entity: Entity) -> impl Iterator<Item = Row<'a>> {
        let rows = self.changes.rows.iter().filter(move |row| row.key.entity == entity);
        rows.filter_map(move |row| self.get(row.key).flatten())
    }
}

/// Lives as long as a timeline. Mostly there are none.
#[derive(Default, Debug)]
pub(crate) struct PredictedChanges {
    /// Ascending by tick.
    rows: Vec<ChangedRow>,
    /// What must not be changed in a step.
    refused: Vec<Entity>,
    /// From which tick on steps found what is refused by now.
    outdated: Option<Tick>,
}

impl PredictedChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.outdated = None;
    }

    /// How the step of `tick` finds this row; `None` where it was not changed.
    fn found(&self, key: RowKey, tick: Tick) -> Option<&ChangedRow> {
        let is_it = |row: &&ChangedRow| row.key == key && row.answer != Answer::Refused && row.counts_in(tick);
        self.rows.iter().rev().find(is_it)
    }

    /// The rows that the step of `tick` finds changed, but of what is simulated here.
    pub(super) fn all_found<'a>(
        &'a self,
        tick: Tick,
        predicted: &'a Predicted,
    ) -> impl Iterator<Item = &'a ChangedRow> + use<'a> {
        let newest = move |row: &&ChangedRow| {
            self.found(row.key, tick).is_some_and(|found| core::ptr::eq(found, *row))
                && !predicted.contains(row.removed().owned())
        };
        self.rows.iter().filter(newest)
    }

    /// What is to be written over the rows of others as they are shown: these, and without what stands there no more and is not shown.
    pub(super) fn write(&self, tick: Tick, predicted: &Predicted, shown: &Rows, into: &mut Rows) {
        into.clear();
        let is_others = |row: &&ChangedRow| row.tick < tick && !predicted.contains(row.removed().owned());
        for row in self.rows.iter().filter(is_others) {
            match self.found(row.key, tick) {
                Some(found) => match found.row() {
                    Some(row) => into.set_words(row),
                    None => into.name_removed(row.removed()),
                },
                None if shown.words(row.key).is_none() => into.name_removed(row.removed()),
                None => {}
            }
        }
    }

    /// The step of `tick` is to be made: gathers what it must not change.
    pub(super) fn begin_step(&mut self, tick: Tick) {
        let PredictedChanges { rows, refused, .. } = self;
        refused.clear();
        let is_refused = |row: &&ChangedRow| {
            row.answer == Answer::Refused && row.tick <= tick && row.until.is_none_or(|until| tick < until)
        };
        refused.extend(rows.iter().filter(is_refused).map(|row| row.key.entity));
    }

    /// What the step that has begun must not change.
    pub(super) fn refused(&self) -> &[Entity] {
        &self.refused
    }

    /// The step of `tick` has made these changes: of the published rows those that are not as they were `written` before it.
    pub(super) fn end_step(&mut self, tick: Tick, changes: &[Change], published: &Rows, written: &Rows) {
        self.rows.iter_mut().filter(|row| row.tick == tick).for_each(|row| row.is_made = false);
        for Change { by, of: Owned { entity, .. } } in changes {
            let is_of = |key: &&RowKey| key.entity == *entity;
            for key in published.changed().iter().filter(is_of) {
                let before =
                    self.found(*key, tick).map_or(written.words(*key), |found| found.row().map(|row| row.words));
                if let Some(row) = published.get(*key).filter(|row| Some(row.words) != before) {
                    let mut made = ChangedRow::gone(tick, *by, row.removed());
                    let (words, length) = made.words.insert(([0; ROW_WORDS_MAX], row.words.len()));
                    words[..*length].copy_from_slice(row.words);
                    self.make(made);
                }
            }
            let is_named = |key: RowKey| published.removed().iter().any(|gone| gone.key == key);
            let is_gone = |key| published.words(key).is_none() && (is_named(key) || !published.has(*entity));
            for row in written.of(*entity).filter(|row| is_gone(row.key())) {
                self.make(ChangedRow::gone(tick, *by, row.removed()));
            }
        }
        self.rows.retain(|row| row.tick != tick || row.is_made || row.answer == Answer::Refused);
    }

    fn make(&mut self, made: ChangedRow) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.tick == made.tick && row.key == made.key) {
            (row.words, row.is_made) = (made.words, true);
            return;
        }
        let at = self.rows.partition_point(|row| row.tick <= made.tick);
        self.rows.insert(at, made);
    }

    /// Whether the newest simulation of this step has changed the entity.
    pub(crate) fn has(&self, tick: Tick, entity: Entity) -> bool {
        self.rows.iter().any(|row| row.tick == tick && row.key.entity == entity && row.answer != Answer::Refused)
    }

    /// All that the authority has said of the ticks before this one is known: what it has not confirmed is refused, and found by no
    /// step any more.
    pub(crate) fn answer(
        &mut self,
        known_until: Tick,
        is_confirmed: impl Fn(Tick, Entity) -> bool,
        mut refuse: impl FnMut(&ChangedRow),
    ) {
        let PredictedChanges { rows, outdated, .. } = self;
        for row in rows.iter_mut().filter(|row| row.answer == Answer::Open && row.tick < known_until) {
            if is_confirmed(row.tick, row.key.entity) {
                row.answer = Answer::Confirmed;
                continue;
            }
            (row.answer, row.answered) = (Answer::Refused, known_until);
            *outdated = Some(outdated.map_or(row.tick, |outdated| outdated.min(row.tick)));
            refuse(row);
        }
    }

    /// The first step that has made or found what is refused by now, where they were not made again.
    pub(crate) fn outdated(&self) -> Option<Tick> {
        self.outdated
    }

    /// They are made again.
    pub(crate) fn settle_outdated(&mut self) {
        self.outdated = None;
    }

    /// Names each change that was answered and not told, and whether it was refused.
    pub(crate) fn tell(&mut self, mut tell: impl FnMut(Tick, Entity, bool)) {
        let mut last = None;
        for row in self.rows.iter_mut().filter(|row| row.answer != Answer::Open && !row.is_told) {
            row.is_told = true;
            if last.replace((row.tick, row.key.entity)) != Some((row.tick, row.key.entity)) {
                tell(row.tick, row.key.entity, row.answer == Answer::Refused);
            }
        }
    }

    /// From the step of `present` on, which is the next one, nothing is found of those that have ended, which stood until now.
    /// What was made of an entity in one step ends together.
    pub(crate) fn end(&mut self, present: Tick, mut has_ended: impl FnMut(&mut ChangedRow) -> bool) {
        let standing = self.rows.iter_mut().filter(|row| row.until.is_none());
        standing.for_each(|row| row.is_over = has_ended(row));
        for nth in 0..self.rows.len() {
            let ChangedRow { tick, key, until, .. } = self.rows[nth];
            let is_beside = |row: &&ChangedRow| (row.tick, row.key.entity) == (tick, key.entity);
            if until.is_none() && self.rows.iter().filter(is_beside).all(|row| row.is_over) {
                self.rows[nth].until = Some(present);
            }
        }
    }

    /// No step before this one is made again.
    pub(super) fn forget_before(&mut self, oldest: Tick) {
        self.rows.retain(|row| {
            row.until.is_none_or(|until| until >= oldest) && (row.answer != Answer::Open || row.tick >= oldest)
        });
    }
}
