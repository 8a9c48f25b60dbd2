//! What reconciliation knows: the authority's last state, what may explain a difference from it, and which corrections are
//! under way.

use super::cause_evidence::{CauseEvidence, owner_of};
use super::pending_corrections::{Pending, PendingCorrections};
use crate::math::f64::sqrt;
use crate::motion::vector::squared_distance;
use crate::rollback::Timeline;
use crate::session::client::correction_causes::Causes;
use crate::session::client::snapshots::Compared;
use crate::time::Tick;
use crate::world::{
    ComponentSchema, Difference, Entity, Meaning, PlayerId, PredictionSet, Row, Rows, Schema, Tolerance, World,
    compare_row,
};
use alloc::vec::Vec;

/// What the authority's state of a tick is compared with.
pub(crate) struct Comparison<'a> {
    pub tick: Tick,
    pub predicted: &'a Rows,
    pub schema: &'a Schema,
    pub tolerance: Tolerance,
}

/// What reconciliation remembers from one comparison to the next.
pub(crate) struct Reconciler {
    /// The authority's rows of predicted entities, at the last comparison.
    pub authority: Rows,
    /// The entities that have changed hands with the state that is compared, ascending.
    handed: Vec<Entity>,
    pub causes: CauseEvidence,
    pub corrections: PendingCorrections,
}

impl Reconciler {
    pub(crate) fn new(schema: &Schema, own: PlayerId) -> Reconciler {
        let (causes, corrections) = (CauseEvidence::new(own), PendingCorrections::new());
        Reconciler { authority: Rows::new(schema), handed: Vec::new(), causes, corrections }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.causes.kept() + self.corrections.len()
    }

    /// The tick of the last state that was compared or adopted.
    pub(crate) fn compared(&self) -> Tick {
        self.causes.compared()
    }

    /// Takes in the authority's state of `tick`, which is to be compared; what has changed hands with it, ascending; and what
    /// the timeline knows of the ticks since the last one.
    pub(crate) fn take_in<W: World>(&mut self, rows: &Rows, handed: &[Entity], timeline: &Timeline<W>, tick: Tick) {
        self.authority.copy_predicted(rows, timeline.predicted());
        self.handed.clear();
        self.handed.extend_from_slice(handed);
        self.causes.take_in(timeline, tick);
    }

    /// The authority's state of `tick` is taken over as it is, and simulated on up to `until`: every predicted entity in it
    /// is corrected.
    pub(crate) fn adopt(&mut self, rows: &Rows, predicted: &PredictionSet, tick: Tick, until: Tick) {
        self.authority.copy_predicted(rows, predicted);
        self.corrections.clear();
        let (since, causes) = (self.compared(), self.causes.causes_of_resync(until));
        for row in self.authority.iter() {
            let (entity, owner) = (row.entity, row.owner);
            if !self.corrections.has(entity) {
                let (difference, misprediction_m) = (None, 0.0);
                self.corrections.add(Pending { entity, owner, since, tick, difference, causes, misprediction_m });
            }
        }
    }

    /// What was simulated elsewhere without a sample of its own follows from what has landed with it.
    pub(crate) fn follow(&mut self, moved: impl Iterator<Item = (Entity, f64)>) {
        let authority = &self.authority;
        self.corrections.follow(moved, |entity| owner_of(authority, entity));
    }

    /// Whether a correction of what was just compared has no cause.
    pub(crate) fn has_unexplained(&mut self) -> bool {
        let Reconciler { causes, corrections, .. } = self;
        corrections.found_in(causes.compared()).any(|pending| causes.lacks_cause(pending.causes))
    }

    /// What was just compared and has no cause has this one.
    pub(crate) fn blame(&mut self, cause: Causes) {
        let Reconciler { causes, corrections, .. } = self;
        for pending in corrections.found_in(causes.compared()).filter(|pending| causes.lacks_cause(pending.causes)) {
            pending.causes = pending.causes.with(cause);
        }
    }

    /// Compares every predicted entity of the authority's state with its prediction; what differs is pending. Those that
    /// were handed over are predicted on one side only, as nobody could foresee.
    pub(crate) fn compare(&mut self, comparison: &Comparison<'_>) -> Compared {
        let Comparison { tick, predicted, schema, tolerance } = comparison;
        let Reconciler { authority, handed, causes, corrections } = self;
        let mut found = Compared::default();
        let mut stayed = Causes::default();
        // Whatever is on one side only may have touched anything.
        let alike = authority.iter().map(|row| row.key()).eq(predicted.iter().map(|row| row.key()));
        let coupled = causes.is_exact() && !alike;
        let named = authority.iter().map(|row| (row, Some(row.words)));
        let unnamed = predicted.iter().filter(|row| authority.words(row.key()).is_none()).map(|row| (row, None));
        // What is kept of what was let go is as it is here.
        let is_compared = |row: &Row<'_>| !predicted.is_never_predicted(row.component) || !authority.has(row.entity);
        for (row, theirs) in named.chain(unnamed).filter(|(row, _)| is_compared(row)) {
            let (entity, ours) = (row.entity, predicted.get(row.key()));
            let is_handed = handed.binary_search(&entity).is_ok();
            let is_owned_otherwise = !is_handed && theirs.is_some() && ours.is_some_and(|ours| ours.owner != row.owner);
            let ours = ours.map(|ours| ours.words);
            if is_handed && ours.is_some() != theirs.is_some() {
                found.handed += u64::from(theirs.is_some());
                continue;
            }
            let misprediction_m = distance_m(schema.component(row.component), ours, theirs);
            found.misprediction_m = found.misprediction_m.max(misprediction_m);
            let difference = compare_row(schema, row.component, ours, theirs, tolerance);
            let difference = difference.or(is_owned_otherwise.then(|| Difference::of_existence(row.component)));
            if difference.is_none() {
                found.agreed += 1;
                if ours != theirs {
                    stayed = stayed.with(causes.causes(row.owned(), *tick, true, authority)).with(Causes::TOLERANCE);
                }
                continue;
            }
            *if theirs.is_some() { &mut found.different } else { &mut found.surplus } += 1;
            let why = causes.causes(row.owned(), *tick, !coupled && ours.is_some() && theirs.is_some(), authority);
            let (owner, since, tick) = (row.owner, causes.compared(), *tick);
            corrections.add(Pending { entity, owner, since, tick, difference, causes: why, misprediction_m });
        }
        found.stayed = stayed;
        found
    }
}

/// The distance between the positions in two rows, in metres; 0 where there are not two.
pub(crate) fn distance_m(kind: &ComponentSchema, ours: Option<&[u32]>, theirs: Option<&[u32]>) -> f64 {
    let position = |row| kind.field(Meaning::Position, row).map(|(column, words)| column.lanes::<3>(words));
    match (ours.and_then(position), theirs.and_then(position)) {
        (Some(ours), Some(theirs)) => sqrt(squared_distance(ours, theirs)),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};

    const ME: PlayerId = PlayerId::new(1);

    fn entity(tick: u32) -> Entity {
        Entity::new(ME, Tick::new(tick), 0)
    }

    /// The causes of what differs at tick 20, when what is known of a walker and of two bolts has happened in tick 15.
    fn causes(compared: u32) -> Vec<(Entity, Causes)> {
        let schema = test_states::schema();
        let mut reconciler = Reconciler::new(&schema, ME);
        reconciler.causes.begin(Tick::new(compared), Tick::ZERO);
        reconciler.causes.note_cause(entity(1), Tick::new(15), Causes::SERVER_EVENT);
        [8, 12].into_iter().for_each(|bolt| reconciler.causes.note_cause(entity(bolt), Tick::new(15), Causes::OTHERS));
        let mut predicted = Rows::new(&schema);
        for tick in [1, 3, 8, 12] {
            test_states::set(&mut predicted, test_states::key(SHIP, entity(tick)), 0);
            test_states::set(&mut reconciler.authority, test_states::key(SHIP, entity(tick)), 1);
        }
        let tolerance = Tolerance::default();
        reconciler.compare(&Comparison { tick: Tick::new(20), predicted: &predicted, schema: &schema, tolerance });
        reconciler.corrections.land().map(|pending| (pending.entity, pending.causes)).collect()
    }

    #[test]
    fn what_is_known_of_its_own_explains_an_entity_and_of_others_what_was_spawned_or_has_nothing() {
        let both = Causes::SERVER_EVENT.with(Causes::OTHERS);
        let expected = [(1, Causes::SERVER_EVENT), (3, both), (8, Causes::OTHERS), (12, both)];
        assert_eq!(causes(10), expected.map(|(tick, causes)| (entity(tick), causes)));
    }

    #[test]
    fn what_happened_before_the_last_comparison_explains_nothing() {
        assert!(causes(16).iter().all(|(_, causes)| causes.is_unexplained()));
    }
}
