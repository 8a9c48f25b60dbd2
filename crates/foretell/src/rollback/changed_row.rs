//! A row of another's entity as a step of this player's has made it.

use crate::time::Tick;
use crate::world::{AnyRow, PlayerId, ROW_WORDS_MAX, RemovedRow, Row, RowKey};

/// A row as a step has made it.
#[derive(Debug)]
pub(crate) struct ChangedRow {
    pub key: RowKey,
    owner: PlayerId,
    /// As many words as there are; `None` where it was removed.
    words: Option<(AnyRow, usize)>,
    /// Whether the step has not found it: it is of another sort now, or in another table.
    pub is_given: bool,
    /// Which of its words the step has made others than it has found, the first the lowest bit.
    altered: u64,
    /// Which of its words go on as they are told: those of where it is and how fast, where no step has made any of them others.
    pub goes_on: u64,
    /// The first state after the step of which it was told.
    pub told: Option<Tick>,
}

impl ChangedRow {
    /// One that was removed.
    pub(super) fn gone(RemovedRow { key, owner }: RemovedRow) -> ChangedRow {
        ChangedRow { key, owner, words: None, is_given: false, altered: u64::MAX, goes_on: 0, told: None }
    }

    /// One that the step has found so, where these words went on.
    pub(super) fn made(row: Row<'_>, found: Option<&AnyRow>, goes_on: u64) -> ChangedRow {
        let differs = |at: usize| found.is_none_or(|found| found[at] != row.words[at]);
        let altered = (0..row.words.len()).filter(|at| differs(*at)).fold(0, |altered, at| altered | 1 << at);
        let goes_on = if altered & goes_on == 0 { goes_on } else { 0 };
        let words = Some((padded(row.words), row.words.len()));
        ChangedRow { words, is_given: found.is_none(), altered, goes_on, ..ChangedRow::gone(row.removed()) }
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

    /// Whether it is where it is by what a step has made of it, and stays there.
    pub(crate) fn stays(&self) -> bool {
        self.goes_on == 0
    }

    /// Puts it over the row that is told of it, which goes on where no step has put it elsewhere; `None` where it was removed.
    pub(crate) fn put_over(&self, told: &mut AnyRow) -> Option<()> {
        let row = self.row()?;
        let made = row.words.iter().enumerate().filter(|(at, _)| self.goes_on >> at & 1 == 0);
        made.for_each(|(at, word)| told[at] = *word);
        Some(())
    }

    /// The same over what is told of it, if anything is.
    pub(super) fn words_over(&self, told: Option<&[u32]>) -> Option<AnyRow> {
        let mut words = padded(told.unwrap_or(self.row()?.words));
        self.put_over(&mut words).map(|()| words)
    }

    /// The row, as the step has made it; `None` where it was removed.
    pub(crate) fn row(&self) -> Option<Row<'_>> {
        let RowKey { component, entity } = self.key;
        let (words, length) = self.words.as_ref()?;
        Some(Row { component, entity, owner: self.owner, words: &words[..*length] })
    }
}

/// A row of any length.
pub(super) fn padded(row: &[u32]) -> AnyRow {
    let mut words = [0; ROW_WORDS_MAX];
    words[..row.len()].copy_from_slice(row);
    words
}
