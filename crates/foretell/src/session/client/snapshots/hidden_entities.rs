//! Which entities of others have left this client's view, as far as it was told: they are there still, for others.

use super::shown_row_reader::ShownRecord;
use crate::session::client::initial_capacity::FEW;
use crate::time::Tick;
use crate::world::{Entity, EntityMap, RowKey, Rows};

/// More are not remembered: what is not shown any more counts as gone then.
const HIDDEN_MAX: usize = 4096;
/// What was told longer ago has been shown as hidden by now.
const SHOWN_BY_NOW_TICKS: u32 = 1000;

/// A stretch of states in which an entity was hidden.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The newest state of which that was told.
    told: Tick,
    /// From which state on it was in view again.
    until: Option<Tick>,
}

/// Those that are hidden, or were lately: the cursor may not have passed that yet.
#[derive(Debug)]
pub(super) struct HiddenEntities {
    hidden: EntityMap<Stretch>,
}

impl HiddenEntities {
    pub(super) fn new() -> HiddenEntities {
        HiddenEntities { hidden: EntityMap::with_capacity(FEW) }
    }

    pub(super) fn clear(&mut self) {
        self.hidden.clear();
    }

    /// Takes in a row as it was told in the state of `tick`.
    pub(super) fn note_record(&mut self, tick: Tick, record: &ShownRecord) {
        match record.row {
            Some(_) => self.note_there(record.key.entity, tick),
            None => self.note_gone(record.key.entity, tick, record.is_hidden),
        }
    }

    /// That an entity was hidden in the state of `tick` has come late: it is known to be there from the state `until` on.
    pub(super) fn note_late(&mut self, entity: Entity, tick: Tick, until: Tick) {
        let known = self.hidden.get(entity);
        if known.map_or(self.hidden.len() < HIDDEN_MAX, |stretch| stretch.told < tick) {
            self.hidden.insert(entity, Stretch { told: tick, until: Some(until) });
        }
    }

    /// An entity is not there any more in the state of `tick`, for this client or at all.
    fn note_gone(&mut self, entity: Entity, tick: Tick, is_hidden: bool) {
        if !is_hidden {
            self.hidden.retain(|of, stretch| of != entity || stretch.until.is_some());
        } else if self.hidden.len() < HIDDEN_MAX {
            let stretch = self.hidden.get_or_insert_with(entity, || Stretch { told: tick, until: None });
            *stretch = Stretch { told: tick.max(stretch.told), until: None };
        }
    }

    /// It is there in the state of `tick`.
    fn note_there(&mut self, entity: Entity, tick: Tick) {
        if let Some(stretch) = self.hidden.get_mut(entity)
            && stretch.told < tick
        {
            stretch.until.get_or_insert(tick);
        }
    }

    /// Takes in the state of `tick`: what it does not have any more, whose of these are hidden, and rows that are as they are in it.
    pub(super) fn note_state<'a>(
        &mut self,
        tick: Tick,
        gone: impl Iterator<Item = &'a RowKey>,
        hidden: &[Entity],
        rows: &Rows,
    ) {
        for RowKey { entity, .. } in gone {
            self.note_gone(*entity, tick, hidden.contains(entity));
        }
        self.hidden.retain(|entity, stretch| {
            if stretch.until.is_none() && stretch.told < tick && rows.has(entity) {
                stretch.until = Some(tick);
            }
            !(tick > stretch.told && tick.since(stretch.told) > SHOWN_BY_NOW_TICKS)
        });
    }

    /// Whether an entity that is not in the state of `tick` is hidden there.
    pub(super) fn has(&self, entity: Entity, tick: Tick) -> bool {
        self.hidden.get(entity).is_some_and(|stretch| stretch.until.is_none_or(|until| tick < until))
    }
}
