//! What earlier snapshots had, for as long as the server may tell later ones against them.

use crate::session::authority_codec::Holder;
use crate::time::Tick;
use crate::world::{EntityMap, Rows, Schema};
use alloc::vec::Vec;

/// Who has authority over what, besides the server.
pub(crate) type Holders = EntityMap<Holder>;

/// What a snapshot had in the end.
struct Baseline {
    rows: Rows,
    holders: Holders,
}

/// What snapshots had that are not kept for anything else. Its memory is used again.
pub(crate) struct Baselines {
    /// Ascending by tick; none before what the server has named.
    kept: Vec<(Tick, Baseline)>,
    spare: Vec<Baseline>,
    /// The newest snapshot against which another was told: the server names none before it any more.
    named: Tick,
}

impl Baselines {
    /// Room for `most`.
    pub(crate) fn new(schema: &Schema, most: usize) -> Baselines {
        let spare = (0..most).map(|_| Baseline { rows: Rows::new(schema), holders: Holders::new() }).collect();
        Baselines { kept: Vec::with_capacity(most), spare, named: Tick::ZERO }
    }

    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.kept.drain(..).map(|(_, baseline)| baseline));
        self.named = Tick::ZERO;
    }

    /// Takes what a snapshot had that is newer than all kept here, and leaves others in its place. Of too many the oldest
    /// are forgotten.
    pub(crate) fn keep(&mut self, tick: Tick, rows: &mut Rows, holders: &mut Holders) {
        if tick < self.named || self.kept.last().is_some_and(|(last, _)| *last >= tick) {
            return;
        }
        let oldest = || if self.kept.is_empty() { None } else { Some(self.kept.remove(0).1) };
        let Some(mut kept) = self.spare.pop().or_else(oldest) else { return };
        core::mem::swap(&mut kept.rows, rows);
        core::mem::swap(&mut kept.holders, holders);
        self.kept.push((tick, kept));
    }

    pub(crate) fn get(&self, tick: Tick) -> Option<(&Rows, &Holders)> {
        let at = self.kept.binary_search_by_key(&tick, |(tick, _)| *tick).ok()?;
        let (_, Baseline { rows, holders }) = &self.kept[at];
        Some((rows, holders))
    }

    /// A snapshot was told against the one of `tick`, and had the check that it said.
    pub(crate) fn note_named(&mut self, tick: Tick) {
        self.named = self.named.max(tick);
        let first = self.kept.partition_point(|(kept, _)| *kept < self.named);
        self.spare.extend(self.kept.drain(..first).map(|(_, baseline)| baseline));
    }
}
