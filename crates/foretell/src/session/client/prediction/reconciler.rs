//! What reconciliation knows: which states were compared, what may explain a difference, and which corrections are
//! under way.

use super::compared::{Compared, distance_m};
use super::exact_causes::ExactCauses;
use super::missed_inputs::MissedInputs;
use crate::rollback::Timeline;
use crate::session::client::causes::Causes;
use crate::session::client::frame::{Corrected, Landed};
use crate::session::client::snapshots::Snapshot;
use crate::session::step_events::StepEventKind;
use crate::time::Tick;
use crate::world::{Difference, Entity, Owned, PlayerId, Predicted, Rows, Schema, Tolerance, World, compare_row};
use alloc::vec::Vec;

/// A correction that is found, and shown when its re-simulation has reached the present.
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

/// From one state that was compared to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub since: Tick,
    pub tick: Tick,
}

/// What the authority's state of a tick is compared with.
pub(crate) struct Comparison<'a> {
    pub tick: Tick,
    pub predicted: &'a Rows,
    pub schema: &'a Schema,
    pub tolerance: Tolerance,
}

/// What reconciliation remembers from one comparison to the next.
pub(crate) struct Reconciler {
    own: PlayerId,
    /// The tick of the last sample that was compared or adopted.
    compared: Tick,
    /// What explains the differences that stayed at that comparison: within the tolerance.
    stayed: Causes,
    /// What became of the own inputs.
    pub missed_inputs: MissedInputs,
    /// The ticks before this one were simulated at a start, without the inputs that the server may have for them.
    blind_until: Tick,
    /// In which tick an entity of another player touched an entity on the server; none older than the last comparison.
    contacts: Vec<(Entity, Tick)>,
    /// The entities that those of other players touched here before the state that is compared.
    met: Vec<Entity>,
    /// In which tick something changed an entity that its prediction does not know; none older than the last comparison.
    known: Vec<(Entity, Tick, Causes)>,
    /// The authority's rows of predicted entities, at the last comparison.
    pub authority: Rows,
    /// Other players whose inputs before the state that is compared were guessed, and wrong or not told.
    pub misguessed: Vec<PlayerId>,
    /// The entities that have changed hands with the state that is compared, ascending.
    handed: Vec<Entity>,
    /// Corrections whose re-simulation has not reached the present.
    pending: Vec<Pending>,
    /// From which tick on something is simulated again that has not landed, and for what reasons besides those of the
    /// pending corrections.
    again: Option<(Tick, Causes)>,
    /// Where everything is predicted, and anything may follow from anything.
    exact_causes: Option<ExactCauses>,
}

impl Reconciler {
    pub(crate) fn new(schema: &Schema, own: PlayerId) -> Reconciler {
        Reconciler {
            own,
            compared: Tick::ZERO,
            stayed: Causes::default(),
            missed_inputs: MissedInputs::new(),
            blind_until: Tick::ZERO,
            contacts: Vec::with_capacity(crate::session::client::FEW),
            met: Vec::with_capacity(crate::session::client::FEW),
            known: Vec::with_capacity(crate::session::client::FEW),
            authority: Rows::new(schema),
            misguessed: Vec::with_capacity(crate::session::client::FEW),
            handed: Vec::new(),
            pending: Vec::with_capacity(crate::session::client::FEW),
            again: None,
            exact_causes: None,
        }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        let exact_causes = self.exact_causes.as_ref().map_or(0, ExactCauses::kept);
        self.missed_inputs.kept() + exact_causes + self.known.len() + self.contacts.len() + self.pending.len()
    }

    /// Starts at the authority's state of `tick`; of the ticks before `blind_until` not all own inputs are known.
    pub(crate) fn begin(&mut self, tick: Tick, blind_until: Tick) {
        self.blind_until = blind_until;
        self.advance_to(tick);
        self.stayed = Causes::default();
    }

    pub(crate) fn compared(&self) -> Tick {
        self.compared
    }

    /// Remembers what a snapshot tells of its entities: which the server changed outside of steps.
    pub(crate) fn note_told(&mut self, snapshot: &Snapshot) {
        for (entity, at) in &snapshot.lists.touched {
            self.note_cause(*entity, *at, Causes::SERVER_EVENT);
        }
        for news in &snapshot.lists.news {
            match news.what {
                StepEventKind::Touched => self.note_contact(news.entity, news.tick),
                StepEventKind::Removed => self.note_cause(news.entity, news.tick, Causes::SERVER_EVENT),
                StepEventKind::Effect { .. } | StepEventKind::Ended => {}
            }
        }
    }

    /// Remembers what a snapshot says that was touched by others.
    pub(crate) fn note_contacts(&mut self, snapshot: &Snapshot, predicted: &Predicted) {
        let owner = |entity: Entity| snapshot.rows.owner(entity).unwrap_or(entity.spawned_for());
        let is_predicted = |entity: Entity| predicted.contains(Owned { entity, owner: owner(entity) });
        let of_predicted = snapshot.lists.contacts.iter().filter(|(entity, _)| is_predicted(*entity));
        of_predicted.for_each(|(entity, at)| self.note_contact(*entity, *at));
    }

    fn note_contact(&mut self, entity: Entity, at: Tick) {
        if at >= self.compared && !self.contacts.contains(&(entity, at)) {
            self.contacts.push((entity, at));
        }
    }

    /// Remembers why an entity may differ after tick `at`.
    pub(crate) fn note_cause(&mut self, entity: Entity, at: Tick, cause: Causes) {
        if at >= self.compared && !self.known.contains(&(entity, at, cause)) {
            self.known.push((entity, at, cause));
        }
    }

    /// Takes in the authority's state that is to be compared, and what the timeline knows of the ticks since the last one.
    pub(crate) fn take_in<W: World>(&mut self, rows: &Rows, timeline: &Timeline<W>, Span { since, tick }: Span) {
        self.authority.copy_predicted(rows, timeline.predicted());
        timeline.misguessed(since, tick, &mut self.misguessed);
        self.met.clear();
        timeline.touched(since, tick, &mut self.met);
    }

    /// These have changed hands with that state; ascending.
    pub(crate) fn note_handed(&mut self, handed: &[Entity]) {
        self.handed.clear();
        self.handed.extend_from_slice(handed);
    }

    /// The authority's state of `tick` is taken over as it is, and simulated on up to `until`: every predicted entity in it
    /// is corrected.
    pub(crate) fn adopt(&mut self, rows: &Rows, predicted: &Predicted, tick: Tick, until: Tick) {
        self.authority.copy_predicted(rows, predicted);
        self.pending.clear();
        let since = self.compared;
        let was_off_clock = self.missed_inputs.was_off_clock(since..until);
        let causes = if was_off_clock { Causes::RESYNC.with(Causes::CLOCK) } else { Causes::RESYNC };
        for row in self.authority.iter() {
            let (entity, owner) = (row.entity, row.owner);
            if self.pending.iter().all(|pending| pending.entity != entity) {
                let (difference, misprediction_m) = (None, 0.0);
                self.pending.push(Pending { entity, owner, since, tick, difference, causes, misprediction_m });
            }
        }
    }

    /// Whether nothing was found since the last landing.
    pub(crate) fn has_nothing_to_land(&self) -> bool {
        self.pending.is_empty() && self.again.is_none()
    }

    /// What was found, ascending by entity; it has reached the present.
    pub(crate) fn land(&mut self) -> impl Iterator<Item = Pending> {
        self.pending.sort_unstable_by_key(|pending| pending.entity);
        self.pending.drain(..)
    }

    /// Whether a correction of what was just compared has no cause.
    pub(crate) fn has_unexplained(&self) -> bool {
        self.pending.iter().any(|pending| pending.tick == self.compared && self.lacks_cause(pending.causes))
    }

    /// What was just compared and has no cause has this one.
    pub(crate) fn blame(&mut self, cause: Causes) {
        let mut pending = core::mem::take(&mut self.pending);
        let unexplained = pending.iter_mut().filter(|pending| self.lacks_cause(pending.causes));
        let unexplained = unexplained.filter(|pending| pending.tick == self.compared);
        unexplained.for_each(|pending| pending.causes = pending.causes.with(cause));
        self.pending = pending;
    }

    /// Whether these causes explain nothing. Where both ends simulate everything, that an entity is on one side only is what is
    /// to be explained.
    fn lacks_cause(&self, causes: Causes) -> bool {
        causes.is_unexplained() || self.exact_causes.is_some() && causes == Causes::EXISTENCE
    }

    /// In an exact session: whether anything is known that may explain that the state of `tick` is not the predicted one.
    pub(crate) fn is_explained(&self, tick: Tick) -> bool {
        self.exact_causes.as_ref().is_none_or(|exact_causes| !self.causes_exactly(exact_causes, tick).is_unexplained())
    }

    /// The own clock was set or stood still: inputs from `tick` on may be late.
    pub(crate) fn note_off_clock(&mut self, tick: Tick) {
        self.missed_inputs.note_off_clock(tick, self.compared);
    }

    /// In an exact session: this state is one that no client can have foreseen.
    pub(crate) fn note_unforeseen(&mut self, at: Option<Tick>) {
        if let (Some(at), Some(exact_causes)) = (at, &mut self.exact_causes) {
            exact_causes.note_unforeseen(at, self.compared);
        }
    }

    /// What is known of the ends of an exact session.
    pub(crate) fn exact_causes(&mut self) -> Option<&mut ExactCauses> {
        self.exact_causes.as_mut()
    }

    /// What may explain a difference where a part of the world is predicted: pushes are passed on by what belongs to nobody.
    pub(crate) fn cause_in_part(&self) -> Causes {
        if self.misguessed.is_empty() { Causes::DERIVED } else { Causes::RELAYED_INPUT }
    }

    /// Every predicted row is the authority's by now, also those that differed by less than the tolerance.
    pub(crate) fn note_rewritten(&mut self) {
        self.stayed = Causes::default();
    }

    /// Ticks from `tick` on are simulated again, for these reasons.
    pub(crate) fn note_again(&mut self, tick: Tick, causes: Causes) {
        self.again = Some(match self.again {
            Some((first, before)) => (first.min(tick), before.with(causes)),
            None => (tick, causes),
        });
    }

    /// What was simulated elsewhere without a sample of its own follows from what has landed with it.
    pub(crate) fn follow(&mut self, moved: impl Iterator<Item = (Entity, f64)>) {
        let Some((tick, causes)) = self.again.take() else { return };
        let causes = self.pending.iter().fold(causes, |all, pending| all.with(pending.causes));
        let known = self.pending.len();
        for (entity, misprediction_m) in moved {
            if self.pending[..known].iter().all(|pending| pending.entity != entity) {
                let owner = self.owner_of(entity);
                self.pending.push(Pending {
                    entity,
                    owner,
                    since: tick,
                    tick,
                    difference: None,
                    causes,
                    misprediction_m,
                });
            }
        }
    }

    /// Everything is predicted, and anything may follow from anything.
    pub(crate) fn be_exact(&mut self) {
        self.exact_causes = Some(ExactCauses::default());
    }

    /// The state of `tick` is the predicted one, in every bit.
    pub(crate) fn agree(&mut self, tick: Tick, canonical: &[Tick]) {
        self.advance_to(tick);
        self.stayed = Causes::default();
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.agree(tick, canonical));
    }

    pub(crate) fn advance_to(&mut self, tick: Tick) {
        self.compared = tick;
        self.missed_inputs.forget_before(tick);
        self.contacts.retain(|(_, at)| *at >= tick);
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.forget_until(tick));
        self.known.retain(|(_, at, _)| *at >= tick);
    }

    /// Compares every predicted entity of the authority's state with its prediction; what differs is pending. Those that
    /// were handed over are predicted on one side only, as nobody could foresee.
    pub(crate) fn compare(&mut self, comparison: &Comparison<'_>) -> Compared {
        let Comparison { tick, predicted, schema, tolerance } = comparison;
        let mut found = Compared::default();
        let mut stayed = Causes::default();
        // Whatever is on one side only may have touched anything.
        let alike = self.authority.iter().map(|row| row.key()).eq(predicted.iter().map(|row| row.key()));
        let coupled = self.exact_causes.is_some() && !alike;
        let mut pending = core::mem::take(&mut self.pending);
        let named = self.authority.iter().map(|row| (row, Some(row.words)));
        let unnamed = predicted.iter().filter(|row| self.authority.words(row.key()).is_none()).map(|row| (row, None));
        for (row, theirs) in named.chain(unnamed) {
            let (entity, ours) = (row.entity, predicted.get(row.key()));
            let is_handed = self.handed.binary_search(&entity).is_ok();
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
                    stayed = stayed.with(self.causes(row.owned(), *tick, true)).with(Causes::TOLERANCE);
                }
                continue;
            }
            *if theirs.is_some() { &mut found.different } else { &mut found.surplus } += 1;
            let causes = self.causes(row.owned(), *tick, !coupled && ours.is_some() && theirs.is_some());
            let (owner, since, tick) = (row.owner, self.compared, *tick);
            add(&mut pending, Pending { entity, owner, since, tick, difference, causes, misprediction_m });
        }
        self.pending = pending;
        self.stayed = stayed;
        found
    }

    /// Why an entity may differ at `tick` from its prediction, given that it agreed at the last comparison. What is known of
    /// others of its player explains it too where nothing is known of itself, and where it was spawned since: a shot comes
    /// from where the walker stands.
    fn causes(&self, of: Owned, tick: Tick, on_both_sides: bool) -> Causes {
        if let Some(exact_causes) = &self.exact_causes {
            let existence = if on_both_sides { Causes::default() } else { Causes::EXISTENCE };
            return self.causes_exactly(exact_causes, tick).with(existence);
        }
        let window = self.compared..tick;
        let known_of = |which: &dyn Fn(Entity) -> bool| {
            let known = self.known.iter().filter(|(known, at, _)| which(*known) && window.contains(at));
            known.fold(Causes::default(), |set, (_, _, cause)| set.with(*cause))
        };
        // What is done to one entity of a player may be passed on to the player's others without a word.
        let player = of.owner;
        let mut known = known_of(&|known| known == of.entity);
        if known.is_unexplained() || window.contains(&of.entity.tick()) {
            known = known_of(&|known| self.owner_of(known) == player);
        }
        let met_there = self.contacts.iter().any(|(met, at)| self.owner_of(*met) == player && window.contains(at));
        let met = met_there || self.met.iter().any(|met| self.owner_of(*met) == player);
        let own = player == self.own;
        let (substituted, off_clock) = self.missed_inputs.in_window(&window);
        [
            (own && substituted, Causes::OWN_INPUT),
            (own && off_clock, Causes::CLOCK),
            (own && window.start < self.blind_until, Causes::RESYNC),
            (self.misguessed.contains(&player), Causes::RELAYED_INPUT),
            (met, Causes::OTHERS),
            (!on_both_sides, Causes::EXISTENCE),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(known.with(self.stayed), |set, (_, cause)| set.with(cause))
    }

    /// Whose an entity is, by the state that is compared; where it is not in it, for whom it was spawned.
    fn owner_of(&self, entity: Entity) -> PlayerId {
        self.authority.owner(entity).unwrap_or(entity.spawned_for())
    }

    /// The same where everything is predicted, so that anything may follow from anything, and meeting another explains nothing.
    fn causes_exactly(&self, exact_causes: &ExactCauses, tick: Tick) -> Causes {
        let window = self.compared..tick;
        let known = self.known.iter().filter(|(_, at, _)| window.contains(at));
        let known = known
            .fold(self.stayed.with(exact_causes.causes(self.compared, tick)), |set, (_, _, cause)| set.with(*cause));
        let (substituted, off_clock) = self.missed_inputs.in_window(&window);
        [
            (substituted, Causes::OWN_INPUT),
            (off_clock || self.missed_inputs.was_off_clock(window.clone()), Causes::CLOCK),
            (window.start < self.blind_until, Causes::RESYNC),
            (!self.misguessed.is_empty(), Causes::RELAYED_INPUT),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(known, |set, (_, cause)| set.with(cause))
    }
}

/// Adds what was found to what is pending of the same entity.
fn add(pending: &mut Vec<Pending>, found: Pending) {
    match pending.iter_mut().find(|known| known.entity == found.entity) {
        // Another component of it.
        Some(known) if known.tick == found.tick => {
            known.causes = known.causes.with(found.causes);
            known.misprediction_m = known.misprediction_m.max(found.misprediction_m);
        }
        // It lands together with what was found before.
        Some(known) => *known = Pending { since: known.since, causes: known.causes.with(found.causes), ..found },
        None => pending.push(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::plain::{self, SHIP};

    const ME: PlayerId = PlayerId::new(1);

    fn entity(tick: u32) -> Entity {
        Entity::new(ME, Tick::new(tick), 0)
    }

    /// The causes of what differs at tick 20, when what is known of a walker and of two bolts has happened in tick 15.
    fn causes(compared: u32) -> Vec<(Entity, Causes)> {
        let schema = plain::schema();
        let mut reconciler = Reconciler::new(&schema, ME);
        reconciler.begin(Tick::new(compared), Tick::ZERO);
        reconciler.note_cause(entity(1), Tick::new(15), Causes::SERVER_EVENT);
        [8, 12].into_iter().for_each(|bolt| reconciler.note_cause(entity(bolt), Tick::new(15), Causes::OTHERS));
        let mut predicted = Rows::new(&schema);
        for tick in [1, 3, 8, 12] {
            plain::set(&mut predicted, plain::key(SHIP, entity(tick)), 0);
            plain::set(&mut reconciler.authority, plain::key(SHIP, entity(tick)), 1);
        }
        let tolerance = Tolerance::default();
        reconciler.compare(&Comparison { tick: Tick::new(20), predicted: &predicted, schema: &schema, tolerance });
        reconciler.pending.iter().map(|pending| (pending.entity, pending.causes)).collect()
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
