//! What reconciliation knows: which states were compared, what may explain a difference, and which corrections are
//! under way.

use super::Causes;
use super::snapshots::Snapshot;
use crate::motion::vector::squared_distance;
use crate::rollback::{
    Difference, Entity, KindSchema, Meaning, PlayerId, Predicted, Rows, Schema, Tolerance, compare_row,
};
use crate::session::news::What;
use crate::session::packet::SubstitutedRange;
use crate::time::Tick;
use std::collections::VecDeque;

/// For so many ticks at least inputs may be late because the own clock was set or stood still.
const OFF_CLOCK_TICKS_MIN: u32 = 32;

/// A correction that is found, and shown when its re-simulation has reached the present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub entity: Entity,
    pub since: Tick,
    pub tick: Tick,
    pub difference: Option<Difference>,
    pub causes: Causes,
    pub misprediction_m: f64,
}

/// What reconciliation remembers from one comparison to the next.
pub(crate) struct Reconciler {
    own: PlayerId,
    /// The tick of the last sample that was compared or adopted.
    compared: Tick,
    /// What explains the differences that stayed at that comparison: within the tolerance, or left.
    stayed: Causes,
    /// Own ticks that the server substituted, ascending; none older than the last comparison.
    substituted: VecDeque<Tick>,
    newest_substituted: Option<Tick>,
    /// The ticks before this one were simulated at a start, without the inputs that the server may have for them.
    blind_until: Tick,
    /// From which tick on inputs may be late because the own clock was set or stood still, and up to which one that came in
    /// time; the last time.
    off_clock: Option<(Tick, Option<Tick>)>,
    /// In which tick an entity of another player touched an entity on the server; none older than the last comparison.
    contacts: Vec<(Entity, Tick)>,
    /// The entities that those of other players touched here before the state that is compared.
    pub met: Vec<Entity>,
    /// In which tick something changed an entity that its prediction does not know; none older than the last comparison.
    known: Vec<(Entity, Tick, Causes)>,
    /// The authority's rows of predicted entities, at the last comparison.
    pub authority: Rows,
    /// Other players whose inputs before the state that is compared were guessed, and wrong or not told.
    pub misguessed: Vec<PlayerId>,
    /// Corrections whose re-simulation has not reached the present.
    pub pending: Vec<Pending>,
    /// From which tick on something is simulated again that has not landed, and for what reasons besides those of the
    /// pending corrections.
    pub again: Option<(Tick, Causes)>,
    /// Whether everything is predicted, and anything may follow from anything.
    is_exact: bool,
    /// In such a session: the last whole state that was compared and was not a canonical one, until there is a canonical one.
    derived: Option<Tick>,
}

impl Reconciler {
    pub(crate) fn new(schema: &Schema, own: PlayerId) -> Reconciler {
        Reconciler {
            own,
            compared: Tick::ZERO,
            stayed: Causes::default(),
            substituted: VecDeque::with_capacity(64),
            newest_substituted: None,
            blind_until: Tick::ZERO,
            off_clock: None,
            contacts: Vec::with_capacity(super::FEW),
            met: Vec::with_capacity(super::FEW),
            known: Vec::with_capacity(super::FEW),
            authority: Rows::new(schema),
            misguessed: Vec::with_capacity(super::FEW),
            pending: Vec::with_capacity(super::FEW),
            again: None,
            is_exact: false,
            derived: None,
        }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.substituted.len() + self.known.len() + self.contacts.len() + self.pending.len()
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

    /// Remembers what the head of the snapshot of `tick` says was substituted. Returns what was not known yet: the
    /// newest tick and how many.
    pub(crate) fn note_substituted(&mut self, tick: Tick, ranges: &[SubstitutedRange]) -> Option<(Tick, u32)> {
        let mut news = 0;
        // From the oldest to the newest.
        for range in ranges.iter().rev() {
            for back in (range.back..range.back + range.ticks).rev() {
                let Some(missed) = tick.back(back) else { continue };
                if self.newest_substituted.is_none_or(|newest| newest < missed) {
                    self.newest_substituted = Some(missed);
                    self.substituted.push_back(missed);
                    news += 1;
                }
            }
        }
        self.newest_substituted.filter(|_| news > 0).map(|newest| (newest, news))
    }

    /// Remembers what a snapshot tells of its entities: which the server changed outside of steps.
    pub(crate) fn note_told(&mut self, snapshot: &Snapshot) {
        for (entity, at) in &snapshot.touched {
            self.note_cause(*entity, *at, Causes::SERVER_EVENT);
        }
        for news in &snapshot.news {
            match news.what {
                What::Touched => self.note_contact(news.entity, news.tick),
                What::Removed => self.note_cause(news.entity, news.tick, Causes::SERVER_EVENT),
                What::Effect { .. } | What::Ended => {}
            }
        }
    }

    /// Remembers what a snapshot says that was touched by others.
    pub(crate) fn note_contacts(&mut self, contacts: &[(Entity, Tick)], predicted: &Predicted) {
        let of_predicted = contacts.iter().filter(|(entity, _)| predicted.contains(*entity));
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

    /// The own clock was set or stood still: inputs from `tick` on may be late.
    pub(crate) fn note_off_clock(&mut self, tick: Tick) {
        // What is not compared yet may follow from the time before.
        let before = self.off_clock.filter(|(_, until)| until.is_none_or(|until| until > self.compared));
        self.off_clock = Some((before.map_or(tick, |(from, _)| from.min(tick)), None));
    }

    /// The input of `tick` came in time. Right after the clock was set this says little: those after it may still be late.
    pub(crate) fn note_in_time(&mut self, tick: Tick) {
        if let Some((from, until @ None)) = &mut self.off_clock
            && tick.since(*from) >= OFF_CLOCK_TICKS_MIN
        {
            *until = Some(tick);
        }
    }

    /// Whether the own clock was off in a tick.
    fn is_off_clock(&self, tick: Tick) -> bool {
        self.off_clock.is_some_and(|(from, until)| from <= tick && until.is_none_or(|until| tick < until))
    }

    /// Why the client starts again from a full state, and simulates up to `until`.
    pub(crate) fn causes_of_resync(&self, until: Tick) -> Causes {
        let off_clock = self
            .off_clock
            .is_some_and(|(from, still)| from <= until && still.is_none_or(|still| still > self.compared));
        if off_clock { Causes::RESYNC.with(Causes::CLOCK) } else { Causes::RESYNC }
    }

    /// Whether a correction of what was just compared has no cause.
    pub(crate) fn has_unexplained(&self) -> bool {
        self.pending.iter().any(|pending| pending.tick == self.compared && pending.causes.is_unexplained())
    }

    /// What was just compared and has no cause has this one.
    pub(crate) fn blame(&mut self, cause: Causes) {
        let compared = self.compared;
        let unexplained = self.pending.iter_mut().filter(|pending| pending.causes.is_unexplained());
        unexplained.filter(|pending| pending.tick == compared).for_each(|pending| pending.causes = cause);
    }

    /// What may explain a difference where a part of the world is predicted: pushes are passed on by what belongs to nobody.
    pub(crate) fn cause_in_part(&self) -> Causes {
        if self.misguessed.is_empty() { Causes::DERIVED } else { Causes::RELAYED_INPUT }
    }

    /// What the last comparison has found is left as it is.
    pub(crate) fn leave(&mut self) {
        for left in self.pending.iter().filter(|pending| pending.tick == self.compared) {
            self.stayed = self.stayed.with(left.causes).with(Causes::LEFT);
        }
        self.pending.retain(|pending| pending.tick != self.compared);
    }

    /// Every predicted row is the authority's by now, also those that differed by less than the tolerance.
    pub(crate) fn note_rewritten(&mut self) {
        self.stayed = Causes::default();
    }

    /// What the last comparison has found is adopted, but not what has happened since: the next one differs for that.
    pub(crate) fn fall_behind(&mut self) {
        let adopted = self.pending.iter().fold(self.stayed, |all, pending| all.with(pending.causes));
        self.stayed = adopted.with(Causes::LEFT);
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
                self.pending.push(Pending { entity, since: tick, tick, difference: None, causes, misprediction_m });
            }
        }
    }

    /// Everything is predicted, and anything may follow from anything.
    pub(crate) fn be_exact(&mut self) {
        self.is_exact = true;
    }

    /// The state of `tick` is the predicted one, in every bit.
    pub(crate) fn agree(&mut self, tick: Tick, canonical: &[Tick]) {
        self.advance_to(tick);
        self.stayed = Causes::default();
        self.derived = self.derived.filter(|from| !canonical.iter().any(|at| (*from..=tick).contains(at)));
    }

    /// A whole state has been compared, and taken over where it differed.
    pub(crate) fn note_whole(&mut self, tick: Tick, is_canonical: bool) {
        self.derived = Some(tick).filter(|_| self.is_exact && !is_canonical);
    }

    pub(crate) fn advance_to(&mut self, tick: Tick) {
        self.compared = tick;
        while self.substituted.front().is_some_and(|missed| *missed < tick) {
            self.substituted.pop_front();
        }
        self.contacts.retain(|(_, at)| *at >= tick);
        self.known.retain(|(_, at, _)| *at >= tick);
    }

    /// Compares every predicted entity of the authority's state of `tick` with its prediction; what differs is pending.
    pub(crate) fn compare(&mut self, tick: Tick, predicted: &Rows, schema: &Schema, tolerance: &Tolerance) -> Compared {
        let mut found = Compared::default();
        let mut stayed = Causes::default();
        // Whatever is on one side only may have touched anything.
        let alike = self.authority.iter().map(|(entity, _)| entity).eq(predicted.iter().map(|(entity, _)| entity));
        let coupled = self.is_exact && !alike;
        let mut pending = core::mem::take(&mut self.pending);
        let named = self.authority.iter().map(|(entity, words)| (entity, Some(words)));
        let unnamed = predicted.iter().map(|(entity, _)| (entity, None));
        let unnamed = unnamed.filter(|(entity, _)| self.authority.words(*entity).is_none());
        for (entity, theirs) in named.chain(unnamed) {
            let ours = predicted.words(entity);
            let misprediction_m = distance_m(schema.kind(entity.kind()), ours, theirs);
            found.misprediction_m = found.misprediction_m.max(misprediction_m);
            let difference = compare_row(schema.kind(entity.kind()), ours, theirs, tolerance);
            if difference.is_none() {
                found.agreed += 1;
                if ours != theirs {
                    stayed = stayed.with(self.causes(entity, tick, true)).with(Causes::TOLERANCE);
                }
                continue;
            }
            *if theirs.is_some() { &mut found.different } else { &mut found.surplus } += 1;
            let causes = self.causes(entity, tick, !coupled && ours.is_some() && theirs.is_some());
            let found = Pending { entity, since: self.compared, tick, difference, causes, misprediction_m };
            match pending.iter_mut().find(|known| known.entity == entity) {
                // It lands together with what was found before.
                Some(known) => *known = Pending { since: known.since, causes: known.causes.with(causes), ..found },
                None => pending.push(found),
            }
        }
        self.pending = pending;
        self.stayed = stayed;
        found
    }

    /// Why an entity may differ at `tick` from its prediction, given that it agreed at the last comparison. What is known of
    /// others of its player explains it too where nothing is known of itself, and where it was spawned since: a shot comes
    /// from where the walker stands.
    fn causes(&self, entity: Entity, tick: Tick, on_both_sides: bool) -> Causes {
        let window = self.compared..tick;
        let known_of = |which: &dyn Fn(Entity) -> bool| {
            let known = self.known.iter().filter(|(known, at, _)| which(*known) && window.contains(at));
            known.fold(Causes::default(), |set, (_, _, cause)| set.with(*cause))
        };
        // What is done to one entity of a player may be passed on to the player's others without a word.
        let player = entity.player();
        let mut known = known_of(&|known| known == entity);
        if self.is_exact {
            known = known_of(&|_| true);
        } else if known.is_unexplained() || window.contains(&entity.tick()) {
            known = known_of(&|known| known.player() == player);
        }
        let met_there = self.contacts.iter().any(|(met, at)| met.player() == player && window.contains(at));
        let met = met_there || self.met.iter().any(|met| met.player() == player);
        let own = player == self.own || self.is_exact;
        let mut substituted = self.substituted.iter().filter(|missed| own && window.contains(missed)).peekable();
        [
            (substituted.peek().is_some(), Causes::OWN_INPUT),
            (substituted.any(|missed| self.is_off_clock(*missed)), Causes::CLOCK),
            (own && window.start < self.blind_until, Causes::RESYNC),
            (self.misguessed.contains(&player), Causes::RELAYED_INPUT),
            (self.is_exact && !self.misguessed.is_empty(), Causes::RELAYED_INPUT),
            (self.derived.is_some(), Causes::DERIVED),
            (met, Causes::OTHERS),
            (!on_both_sides, Causes::EXISTENCE),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(known.with(self.stayed), |set, (_, cause)| set.with(cause))
    }
}

/// What a comparison has found.
#[derive(Default)]
pub(crate) struct Compared {
    pub agreed: u64,
    pub different: u64,
    /// Entities that exist on this side only.
    pub surplus: u64,
    pub misprediction_m: f64,
}

/// The distance between the positions in two rows, in metres; 0 where there are not two.
fn distance_m(kind: &KindSchema, ours: Option<&[u32]>, theirs: Option<&[u32]>) -> f64 {
    let position = |row| kind.field(Meaning::Position, row).map(|(column, words)| column.lanes::<3>(words));
    match (ours.and_then(position), theirs.and_then(position)) {
        (Some(ours), Some(theirs)) => squared_distance(ours, theirs).sqrt(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::{Audience, Column, Kind, KindSchema, PlayerId};

    const ME: PlayerId = PlayerId::new(1);

    fn entity(tick: u32) -> Entity {
        Entity::new(Kind(0), ME, Tick::new(tick), 0)
    }

    /// The causes of what differs at tick 20, when what is known of a walker and of two bolts has happened in tick 15.
    fn causes(compared: u32) -> Vec<(Entity, Causes)> {
        let schema =
            Schema::new(vec![KindSchema::new("thing", vec![Column::of::<u8>("at", Meaning::Plain)], Audience::All)]);
        let mut reconciler = Reconciler::new(&schema, ME);
        reconciler.begin(Tick::new(compared), Tick::ZERO);
        reconciler.note_cause(entity(1), Tick::new(15), Causes::SERVER_EVENT);
        [8, 12].into_iter().for_each(|bolt| reconciler.note_cause(entity(bolt), Tick::new(15), Causes::OTHERS));
        let mut predicted = Rows::new(&schema);
        for tick in [1, 3, 8, 12] {
            predicted.set_words(entity(tick), &[0]);
            reconciler.authority.set_words(entity(tick), &[1]);
        }
        reconciler.compare(Tick::new(20), &predicted, &schema, &Tolerance::default());
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
