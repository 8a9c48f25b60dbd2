//! A row of another's entity as steps of this player's have made it.

use crate::time::Tick;
use crate::world::{AnyRow, MotionWords, PlayerId, ROW_WORDS_MAX, RemovedRow, Row, RowKey};

/// A row as a step has made it.
#[derive(Debug)]
pub(crate) struct ChangedRow {
    pub key: RowKey,
    owner: PlayerId,
    /// As many words as there are; `None` where it was removed.
    words: Option<(AnyRow, usize)>,
    /// Whether the step has not found it: it is of another sort now, or in another table.
    pub(super) is_given: bool,
    /// Which of its words the step has made others than it has found, the first the lowest bit.
    altered: u64,
    /// The first state after the step of which it was told.
    pub(super) told: Option<Tick>,
}

impl ChangedRow {
    /// One that was removed.
    pub(super) fn gone(RemovedRow { key, owner }: RemovedRow) -> ChangedRow {
        ChangedRow { key, owner, words: None, is_given: false, altered: u64::MAX, told: None }
    }

    /// One that the step has found so.
    pub(super) fn made(row: Row<'_>, found: Option<&AnyRow>) -> ChangedRow {
        let differs = |at: usize| found.is_none_or(|found| found[at] != row.words[at]);
        let altered = (0..row.words.len()).filter(|at| differs(*at)).fold(0, |altered, at| altered | 1 << at);
        let words = Some((padded(row.words), row.words.len()));
        ChangedRow { words, is_given: found.is_none(), altered, ..ChangedRow::gone(row.removed()) }
    }

    /// Whether it was removed.
    pub(crate) fn is_gone(&self) -> bool {
        self.words.is_none()
    }

    pub(super) fn removed(&self) -> RemovedRow {
        RemovedRow { key: self.key, owner: self.owner }
    }

    /// Which of its words the step has made others than it has found, the first the lowest bit; all where it was removed.
    pub(crate) fn altered(&self) -> u64 {
        self.altered
    }

    /// The row, as the step has made it; `None` where it was removed.
    pub(crate) fn row(&self) -> Option<Row<'_>> {
        let RowKey { component, entity } = self.key;
        let (words, length) = self.words.as_ref()?;
        Some(Row { component, entity, owner: self.owner, words: &words[..*length] })
    }
}

/// A row as the steps have made it that have changed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundRow<'a> {
    /// As the last of them has.
    row: &'a ChangedRow,
    is_given: bool,
    /// Which of its words they have made others than they have found, all together.
    altered: u64,
    motion: MotionWords,
}

impl<'a> FoundRow<'a> {
    /// Of these rows, the newest first; `None` where there are none.
    pub(super) fn of(mut rows: impl Iterator<Item = &'a ChangedRow>, motion: MotionWords) -> Option<FoundRow<'a>> {
        let row = rows.next()?;
        let newest = FoundRow { row, is_given: row.is_given, altered: row.altered, motion };
        Some(rows.fold(newest, |found, row| FoundRow {
            is_given: found.is_given | row.is_given,
            altered: found.altered | row.altered,
            ..found
        }))
    }

    /// The row, as the last step has made it; `None` where that has removed it.
    pub(crate) fn row(self) -> Option<Row<'a>> {
        self.row.row()
    }

    /// Whether any of them has not found it: it is of another sort now, or in another table.
    pub(super) fn is_given(self) -> bool {
        self.is_given
    }

    /// Whether a step has put it where it is, or made it as fast, and it stays there; also what is nowhere.
    pub(crate) fn stays(self) -> bool {
        self.motion.moves == 0 || self.altered & self.motion.moves != 0
    }

    /// Which words go on as they are told: none, where a step has put it elsewhere; of those that are blended besides, what none has altered.
    fn goes_on(self) -> u64 {
        let MotionWords { moves, blends } = self.motion;
        if self.altered & moves == 0 { moves | blends & !self.altered } else { 0 }
    }

    /// Puts it over the told row; `None` where it was removed.
    pub(crate) fn put_over(self, told: &mut AnyRow) -> Option<()> {
        let (row, goes_on) = (self.row()?, self.goes_on());
        let made = row.words.iter().enumerate().filter(|(at, _)| goes_on >> at & 1 == 0);
        made.for_each(|(at, word)| told[at] = *word);
        Some(())
    }

    /// The row over the told one, in this buffer; `None` where it was removed, or none is told and it was not given.
    pub(crate) fn over<'b>(self, told: Option<&[u32]>, into: &'b mut AnyRow) -> Option<Row<'b>> {
        let Row { component, entity, owner, words } = self.row()?;
        *into = padded(told.or(self.is_given.then_some(words))?);
        self.put_over(into)?;
        Some(Row { component, entity, owner, words: &into[..words.len()] })
    }
}

/// A row of any length.
pub(super) fn padded(row: &[u32]) -> AnyRow {
    let mut words = [0; ROW_WORDS_MAX];
    words[..row.len()].copy_from_slice(row);
    words
}

#[cfg(test)]
mod tests;
