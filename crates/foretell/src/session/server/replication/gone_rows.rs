//! Rows that one client may have as another's and is not to have any more: told until it is known that it has heard so.

use super::acked_rows::AckedRows;
use super::interest_set::GoneKey;
use super::shown_datagram::ShownDatagram;
use crate::time::Tick;
use crate::world::{Entity, RowKey};
use alloc::vec::Vec;

/// Initial capacity in rows.
const ROOM: usize = 64;

/// A row that is not shown any more.
#[derive(Clone, Copy, Debug)]
struct GoneRow {
    of: GoneKey,
    /// As far as it is not known to be lost.
    told: Option<Told>,
    follower: Option<Follower>,
}

/// With which states it was told that a row is gone.
#[derive(Clone, Copy, Debug)]
struct Told {
    first: Tick,
    last: Tick,
}

/// Another variant of the same enum that is shown instead of a row that is gone, and its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    pub key: RowKey,
    pub slot: u32,
}

impl GoneRow {
    fn new(of: GoneKey) -> GoneRow {
        GoneRow { of, told: None, follower: None }
    }

    /// Whether it is to be told: not before what follows it is there.
    fn waits(&self, rows: &AckedRows) -> bool {
        self.told.is_none() && self.follower.is_none_or(|follower| !rows.unknown().contains(follower.slot))
    }
}

/// Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct GoneRows {
    gone: Vec<GoneRow>,
    /// The client's own rows that it may have as another's: where one ends that is told here, too.
    taken: Vec<RowKey>,
}

impl GoneRows {
    pub(super) fn new() -> GoneRows {
        GoneRows { gone: Vec::with_capacity(ROOM), taken: Vec::new() }
    }

    /// A row that was shown is not there any more, or hidden.
    pub(super) fn tell(&mut self, of: GoneKey) {
        self.gone.push(GoneRow::new(of));
    }

    /// The same of one that may be among them: what was said of it first counts.
    pub(super) fn tell_once(&mut self, of: GoneKey) {
        if self.gone.iter().all(|gone| gone.of.key != of.key) {
            self.tell(of);
        }
    }

    /// A row has become the client's own.
    pub(super) fn take(&mut self, key: RowKey) {
        self.taken.push(key);
    }

    /// A row is to be shown. Whether the client may have it.
    pub(super) fn forget(&mut self, key: RowKey) -> bool {
        let before = self.gone.len() + self.taken.len();
        self.gone.retain(|gone| gone.of.key != key);
        self.taken.retain(|taken| *taken != key);
        self.gone.len() + self.taken.len() < before
    }

    /// Of what became the client's own some is not there any more, or hidden.
    pub(super) fn end_taken(&mut self, is_ended: impl Fn(RowKey) -> bool, is_hidden: impl Fn(RowKey) -> bool) {
        let GoneRows { gone, taken } = self;
        taken.retain(|key| {
            let is_ended = is_ended(*key);
            gone.extend(is_ended.then(|| GoneRow::new(GoneKey { key: *key, is_hidden: is_hidden(*key) })));
            !is_ended
        });
    }

    /// Those of an entity that `is_variant` names are followed by another row.
    pub(super) fn hold(&mut self, entity: Entity, follower: Follower, is_variant: impl Fn(RowKey) -> bool) {
        let of_entity = self.gone.iter_mut().filter(|gone| gone.of.key.entity == entity);
        of_entity.filter(|gone| is_variant(gone.of.key)).for_each(|gone| gone.follower = Some(follower));
    }

    /// What was to follow may not be shown any more.
    pub(super) fn release(&mut self, rows: &AckedRows, is_hidden: impl Fn(Entity) -> bool) {
        for gone in &mut self.gone {
            if gone.follower.is_some_and(|Follower { key, slot }| !rows.has_row(slot, key)) {
                (gone.follower, gone.of.is_hidden) = (None, is_hidden(gone.of.key.entity));
            }
        }
    }

    /// Nothing of it may have come.
    pub(super) fn tell_anew(&mut self) {
        self.gone.iter_mut().for_each(|gone| gone.told = None);
    }

    /// It is known whether a datagram has come that told so of these rows, in the state of `tick`.
    pub(super) fn settle<'a>(
        &mut self,
        tick: Tick,
        has_come: bool,
        told: impl ExactSizeIterator<Item = &'a RowKey> + Clone,
    ) {
        if told.len() == 0 {
            return;
        }
        if has_come {
            let was_told = |gone: &GoneRow| gone.told.is_some_and(|of| (of.first..=of.last).contains(&tick));
            let is_in_it = |gone: &GoneRow| was_told(gone) && told.clone().any(|key| *key == gone.of.key);
            return self.gone.retain(|gone| !is_in_it(gone));
        }
        // With all that is known to be gone of the same entities: no part of one is to end long before the others.
        let is_of_these = |gone: &GoneRow| told.clone().any(|key| key.entity == gone.of.key.entity);
        let is_under_way = |gone: &GoneRow| gone.told.is_some_and(|of| of.first != of.last && of.last > tick);
        let lost = self.gone.iter_mut().filter(|gone| is_of_these(gone) && !is_under_way(gone));
        lost.for_each(|gone| gone.told = None);
    }

    /// Whether there is any to tell of.
    pub(super) fn has_news(&self, rows: &AckedRows) -> bool {
        self.gone.iter().any(|gone| gone.waits(rows))
    }

    /// Writes those that have room, of the state of `tick`; calls `note` with each.
    pub(super) fn write(
        &mut self,
        tick: Tick,
        rows: &AckedRows,
        to: &mut ShownDatagram<'_, '_>,
        mut note: impl FnMut(RowKey),
    ) {
        for gone in self.gone.iter_mut().filter(|gone| gone.waits(rows)) {
            if !to.write_gone(gone.of.key, gone.of.is_hidden) {
                return;
            }
            gone.told = Some(Told { first: tick, last: tick });
            note(gone.of.key);
        }
    }

    /// The same of those that were told with one state alone, before that of `tick`.
    pub(super) fn write_again(&mut self, tick: Tick, to: &mut ShownDatagram<'_, '_>, mut note: impl FnMut(RowKey)) {
        for GoneRow { of, told, .. } in &mut self.gone {
            let Some(told) = told.as_mut().filter(|told| told.first == told.last && told.last < tick) else { continue };
            if !to.write_gone(of.key, of.is_hidden) {
                return;
            }
            told.last = tick;
            note(of.key);
        }
    }
}
