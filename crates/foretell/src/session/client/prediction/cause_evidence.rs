//! What may explain that a state is not the predicted one: all that is known of the ticks since the last comparison.

use super::exact_session_causes::ExactSessionCauses;
use super::missed_inputs::MissedInputs;
use crate::rollback::Timeline;
use crate::session::client::correction_causes::Causes;
use crate::session::client::initial_capacity::FEW;
use crate::session::client::snapshots::Snapshot;
use crate::session::step_events::StepEventKind;
use crate::time::Tick;
use crate::world::{Entity, Owned, PlayerId, PredictionSet, Rows, World};
use alloc::vec::Vec;

/// From one state that was compared to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedTicks {
    pub since: Tick,
    pub tick: Tick,
}

/// Lives as long as a session.
pub(crate) struct CauseEvidence {
    own: PlayerId,
    /// The tick of the last state that was compared or adopted.
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
    /// Other players whose inputs before the state that is compared were guessed, and wrong or not told.
    misguessed: Vec<PlayerId>,
    /// Where everything is predicted, and anything may follow from anything.
    exact_causes: Option<ExactSessionCauses>,
}

impl CauseEvidence {
    pub(crate) fn new(own: PlayerId) -> CauseEvidence {
        CauseEvidence {
            own,
            compared: Tick::ZERO,
            stayed: Causes::default(),
            missed_inputs: MissedInputs::new(),
            blind_until: Tick::ZERO,
            contacts: Vec::with_capacity(FEW),
            met: Vec::with_capacity(FEW),
            known: Vec::with_capacity(FEW),
            misguessed: Vec::with_capacity(FEW),
            exact_causes: None,
        }
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        let exact_causes = self.exact_causes.as_ref().map_or(0, ExactSessionCauses::kept);
        self.missed_inputs.kept() + exact_causes + self.known.len() + self.contacts.len()
    }

    pub(crate) fn compared(&self) -> Tick {
        self.compared
    }

    /// Everything is predicted, and anything may follow from anything.
    pub(crate) fn be_exact(&mut self) {
        self.exact_causes = Some(ExactSessionCauses::default());
    }

    /// Whether it is so.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact_causes.is_some()
    }

    /// Starts at the authority's state of `tick`; of the ticks before `blind_until` not all own inputs are known.
    pub(crate) fn begin(&mut self, tick: Tick, blind_until: Tick) {
        self.blind_until = blind_until;
        self.advance_to(tick, Causes::default());
    }

    /// The state of `tick` was compared: what explains the differences that stayed explains those to come.
    pub(crate) fn advance_to(&mut self, tick: Tick, stayed: Causes) {
        (self.compared, self.stayed) = (tick, stayed);
        self.missed_inputs.forget_before(tick);
        self.contacts.retain(|(_, at)| *at >= tick);
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.forget_until(tick));
        self.known.retain(|(_, at, _)| *at >= tick);
    }

    /// Every predicted row is the authority's by now, also those that differed by less than the tolerance.
    pub(crate) fn note_rewritten(&mut self) {
        self.stayed = Causes::default();
    }

    /// The state of `tick` is the predicted one, in every bit.
    pub(crate) fn agree(&mut self, tick: Tick, canonical: &[Tick]) {
        self.advance_to(tick, Causes::default());
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.agree(tick, canonical));
    }

    /// A whole state has been compared, and taken over where it differed.
    pub(crate) fn note_whole(&mut self, tick: Tick, is_canonical: bool) {
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.note_whole(tick, is_canonical));
    }

    /// In an exact session: what differs from here on has this cause, until the ends agree again.
    pub(crate) fn part(&mut self, cause: Causes) {
        self.exact_causes.iter_mut().for_each(|exact_causes| exact_causes.part(cause));
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
                StepEventKind::Effect { .. } | StepEventKind::Ended | StepEventKind::Changed => {}
            }
        }
    }

    /// Remembers what a snapshot says that was touched by others.
    pub(crate) fn note_contacts(&mut self, snapshot: &Snapshot, predicted: &PredictionSet) {
        let owner = |entity: Entity| snapshot.rows.owner(entity).unwrap_or(entity.spawned_for());
        let is_predicted = |entity: Entity| predicted.contains(Owned { entity, owner: owner(entity) });
        let of_predicted = snapshot.lists.contacts.iter().filter(|(entity, _)| is_predicted(*entity));
        of_predicted.for_each(|(entity, at)| self.note_contact(*entity, *at));
    }

    /// Remembers that an entity has met another's in a step.
    pub(crate) fn note_contact(&mut self, entity: Entity, at: Tick) {
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
        self.missed_inputs.note_off_clock(tick, self.compared);
    }

    /// In an exact session: this state is one that no client can have foreseen.
    pub(crate) fn note_unforeseen(&mut self, at: Option<Tick>) {
        if let (Some(at), Some(exact_causes)) = (at, &mut self.exact_causes) {
            exact_causes.note_unforeseen(at, self.compared);
        }
    }

    /// Takes in what the timeline knows of the ticks from the last comparison to that of the state of `tick`.
    pub(crate) fn take_in<W: World>(&mut self, timeline: &Timeline<W>, tick: Tick) {
        timeline.misguessed(self.compared, tick, &mut self.misguessed);
        self.met.clear();
        timeline.touched(self.compared, tick, &mut self.met);
    }

    /// Whether these causes explain nothing. Where both ends simulate everything, that an entity is on one side only is what is
    /// to be explained.
    pub(crate) fn lacks_cause(&self, causes: Causes) -> bool {
        causes.is_unexplained() || self.is_exact() && causes == Causes::EXISTENCE
    }

    /// In an exact session: whether anything is known that may explain that the state of `tick` is not the predicted one.
    pub(crate) fn is_explained(&self, tick: Tick) -> bool {
        self.exact_causes.as_ref().is_none_or(|exact_causes| !self.causes_exactly(exact_causes, tick).is_unexplained())
    }

    /// What may explain a difference where a part of the world is predicted: pushes are passed on by what belongs to nobody, and what
    /// others do to what is predicted is not known.
    pub(crate) fn cause_in_part(&self) -> Causes {
        if self.misguessed.is_empty() { Causes::OTHERS.with(Causes::DERIVED) } else { Causes::RELAYED_INPUT }
    }

    /// Why everything is taken over, and simulated on up to `until`.
    pub(crate) fn causes_of_resync(&self, until: Tick) -> Causes {
        let was_off_clock = self.missed_inputs.was_off_clock(self.compared..until);
        if was_off_clock { Causes::RESYNC.with(Causes::CLOCK) } else { Causes::RESYNC }
    }

    /// Why an entity may differ at `tick` from its prediction, given that it agreed at the last comparison. What is known of
    /// others of its player explains it too where nothing is known of itself, and where it was spawned since: a shot comes
    /// from where the walker stands.
    pub(crate) fn causes(&self, of: Owned, tick: Tick, on_both_sides: bool, authority: &Rows) -> Causes {
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
            known = known_of(&|known| owner_of(authority, known) == player);
        }
        let met_there =
            self.contacts.iter().any(|(met, at)| owner_of(authority, *met) == player && window.contains(at));
        let met = met_there || self.met.iter().any(|met| owner_of(authority, *met) == player);
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

    /// The same where everything is predicted, so that anything may follow from anything, and meeting another explains nothing.
    fn causes_exactly(&self, exact_causes: &ExactSessionCauses, tick: Tick) -> Causes {
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

/// Whose an entity is, by the state that is compared; where it is not in it, for whom it was spawned.
pub(crate) fn owner_of(authority: &Rows, entity: Entity) -> PlayerId {
    authority.owner(entity).unwrap_or(entity.spawned_for())
}
