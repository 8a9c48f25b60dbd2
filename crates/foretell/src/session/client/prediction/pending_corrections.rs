//! Corrections under way: found, and shown when their re-simulation has reached the present.

use crate::session::client::correction_causes::Causes;
use crate::session::client::initial_capacity::FEW;
use crate::session::client::update_report::{Corrected, Landed};
use crate::time::Tick;
use crate::world::{Difference, Entity, EntityMap, PlayerId};

/// A correction that has not landed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub entity: Entity,
    pub owner: PlayerId,
    pub since: Tick,
    pub tick: Tick,
    pub difference: Option<Difference>,
    pub causes: Causes,
    pub misprediction_m: f64,
}

impl Pending {
    /// The record of it, when it has been simulated again up to `until`.
    pub(crate) fn landed(self, until: Tick, landed: Landed) -> Corrected {
        let Pending { entity, owner, since, tick, difference, causes, misprediction_m } = self;
        let Landed { moved_m: shown_m, teleport } = landed;
        Corrected { entity, owner, since, tick, until, difference, causes, misprediction_m, shown_m, teleport }
    }
}

/// Lives as long as a session.
pub(crate) struct PendingCorrections {
    pending: EntityMap<Pending>,
    /// From which tick on something is simulated again that has not landed, and for what reasons besides those of the
    /// pending corrections.
    again: Option<(Tick, Causes)>,
}

impl PendingCorrections {
    pub(crate) fn new() -> PendingCorrections {
        PendingCorrections { pending: EntityMap::with_capacity(FEW), again: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing was found since the last landing.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.again.is_none()
    }

    /// Forgets what was found: everything is taken over.
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
    }

    /// Whether anything is found of an entity.
    pub(crate) fn has(&self, entity: Entity) -> bool {
        self.pending.get(entity).is_some()
    }

    /// Adds what was found to what is pending of the same entity.
    pub(crate) fn add(&mut self, found: Pending) {
        match self.pending.get_mut(found.entity) {
            // Another component of it.
            Some(known) if known.tick == found.tick => {
                known.causes = known.causes.with(found.causes);
                known.misprediction_m = known.misprediction_m.max(found.misprediction_m);
            }
            // It lands together with what was found before.
            Some(known) => *known = Pending { since: known.since, causes: known.causes.with(found.causes), ..found },
            None => drop(self.pending.insert(found.entity, found)),
        }
    }

    /// Those that were found in the state of `tick`.
    pub(crate) fn found_in(&mut self, tick: Tick) -> impl Iterator<Item = &mut Pending> {
        self.pending.values_mut().iter_mut().filter(move |pending| pending.tick == tick)
    }

    /// Ticks from `tick` on are simulated again, for these reasons.
    pub(crate) fn note_again(&mut self, tick: Tick, causes: Causes) {
        self.again = Some(match self.again {
            Some((first, before)) => (first.min(tick), before.with(causes)),
            None => (tick, causes),
        });
    }

    /// What was simulated elsewhere without a sample of its own follows from what has landed with it.
    pub(crate) fn follow(&mut self, moved: impl Iterator<Item = (Entity, f64)>, owner_of: impl Fn(Entity) -> PlayerId) {
        let Some((tick, causes)) = self.again.take() else { return };
        let causes = self.pending.values().iter().fold(causes, |all, pending| all.with(pending.causes));
        for (entity, misprediction_m) in moved {
            self.pending.get_or_insert_with(entity, || {
                let (owner, since, difference) = (owner_of(entity), tick, None);
                Pending { entity, owner, since, tick, difference, causes, misprediction_m }
            });
        }
    }

    /// What was found, ascending by entity; it has reached the present.
    pub(crate) fn land(&mut self) -> impl Iterator<Item = Pending> {
        self.pending.drain().map(|(_, pending)| pending)
    }
}
