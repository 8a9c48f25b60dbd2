//! What one client knows of a row that it is shown, and how it is told next.

use super::encoded_rows::EncodedRows;
use super::shown_state::Shown;
use super::shown_writer::RecordToTell;
use crate::session::shown_record::{RecordHead, RecordKind};
use crate::time::Tick;
use crate::world::{PlayerId, RowKey};

/// What one client knows of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldRow {
    pub key: RowKey,
    pub owner: PlayerId,
    /// The first state in which it was to be told, as this player's.
    pub since: Tick,
    /// The newest state in which it was told, as far as that is not known to be lost.
    pub told: Option<Tick>,
    /// The newest state in which the client has it, with its name and whose it is.
    pub has: Option<Tick>,
    /// Whether it was told at all, so that the client may have it.
    pub may_be_there: bool,
    /// Whether it was told to rest.
    pub rests: bool,
    /// Whether it is in the list of those that wait.
    pub waits: bool,
    /// It was the client's own: it is told with each state until it is there, so that it is never nowhere.
    pub was_own: bool,
    /// Whether it has changed and is to be told in its next turn.
    pub is_early: bool,
    /// Where its number stands among those of all that are told.
    pub nth: usize,
}

impl ToldRow {
    /// One that is to be told from the state of a tick on.
    pub fn new(key: RowKey, owner: PlayerId, since: Tick) -> ToldRow {
        ToldRow {
            key,
            owner,
            since,
            told: None,
            has: None,
            may_be_there: false,
            rests: false,
            waits: false,
            was_own: false,
            is_early: false,
            nth: 0,
        }
    }

    /// Whether it is to be told, which is as it was in the state `changed`: it was not told so, or is not known to rest since the
    /// state `before`.
    #[inline]
    pub fn has_news(&self, changed: Tick, before: Tick) -> bool {
        self.told.is_none_or(|told| told < changed) || !self.rests && changed <= before
    }

    /// It was told in the state of `tick`.
    #[inline]
    pub fn note_told(&mut self, tick: Tick, rests: bool) {
        (self.told, self.rests, self.waits) = (Some(tick), rests, false);
        (self.may_be_there, self.is_early) = (true, false);
    }

    /// How it is told to this client: what stands before it, and its bits.
    #[inline]
    pub fn encode(&self, slot: u32, of: &Shown<'_>, encoded: &mut EncodedRows) -> RecordToTell {
        let row = encoded.encode(slot, self.has, || of.row_to_tell(slot));
        let kind = match row.age_ticks {
            Some(age_ticks) => RecordKind::Against { age_ticks },
            None if self.has.is_some() => RecordKind::Whole,
            None => RecordKind::Named { key: self.key, owner: self.owner },
        };
        RecordToTell { head: RecordHead { slot, kind }, row }
    }
}
