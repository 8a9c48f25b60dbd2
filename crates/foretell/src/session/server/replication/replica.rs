//! What one client was sent, and what it has to be told still.

use super::exact_row_set::ExactRowSet;
use super::interest_query::InterestQuery;
use super::interest_set::InterestSet;
use super::interest_settings::InterestSettings;
use super::sent_snapshots::SentSnapshots;
use super::shown_lane::ShownLane;
use super::snapshot_source::SnapshotSource;
use super::step_event_log::StepEventLog;
use super::told_holders::ToldHolders;
use crate::session::HitReceipt;
use crate::session::ack_bits::AckBits;
use crate::session::send_allowance::{Budget, SendAllowance};
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::step_events::{StepEvent, StepEventKind};
use crate::time::{Instant, Tick};
use crate::world::{Entity, Owned, PlayerId, RemovedRow, RowKey, Seat, StepOutput, Visibility};

/// What a step has brought about: what it has said, and the state that it has made.
#[derive(Clone, Copy)]
pub(crate) struct StepReport<'a> {
    pub tick: Tick,
    pub output: &'a StepOutput,
    pub state: &'a AuthoritativeState,
    /// By what it is decided what each client sees.
    pub interest_settings: InterestSettings<'a>,
}

/// What one client sees of a step, by what it was told last.
struct Sight<'a> {
    player: PlayerId,
    /// What it sees, where that is not everything.
    view: Option<&'a InterestSet>,
    /// The state that it was told last.
    told: Option<Tick>,
    step: StepReport<'a>,
}

impl Sight<'_> {
    /// Whether it sees a row, there or gone in the step.
    fn sees(&self, key: RowKey, owner: PlayerId) -> bool {
        let Sight { player, view, told, step: StepReport { state, interest_settings, .. } } = *self;
        let RowKey { component, entity } = key;
        let audience = state.schema().component(component).audience();
        match view {
            _ if owner == player => audience.includes(player, owner),
            _ if interest_settings.are_limited() && told.is_none() => false,
            Some(view) => {
                let there = state.versions().get(key);
                // It may have been given away in the step.
                let is_known = || there.is_some_and(|there| there.owner == player) || view.has_come(entity);
                there.is_some_and(|there| view.has(there))
                    || is_known() && interest_settings.includes(player, audience, Owned { entity, owner })
            }
            None => audience.includes(player, owner),
        }
    }

    /// Whether it sees anything of an entity, there or gone in the step.
    fn has(&self, entity: Entity) -> bool {
        self.rows_of(entity).any(|row| self.sees(row.key, row.owner))
    }

    /// The rows of an entity, there or gone in the step.
    fn rows_of(&self, entity: Entity) -> impl Iterator<Item = RemovedRow> {
        let rows = self.step.state.rows();
        let gone = rows.removed().iter().copied().filter(move |row| row.key.entity == entity);
        rows.of(entity).map(|row| row.removed()).chain(gone)
    }

    /// Whether an entity of the player's was another's in the state that the client is `known` to have, or later: its step may have taken
    /// it for that.
    fn was_anothers(&self, entity: Entity, known: Option<Tick>) -> bool {
        let versions = self.step.state.versions();
        // This step is not in the versions yet.
        let mut before = self.rows_of(entity).filter_map(|row| versions.get(row.key));
        before.any(|before| before.owner != self.player) || versions.has_changed_hands(entity, known)
    }

    /// Whether it sees anything of what was a player's before the step.
    fn has_anything_of(&self, owner: PlayerId) -> bool {
        let versions = self.step.state.versions();
        versions.of_owner(owner).any(|place| self.sees(versions.versions()[place].key, owner))
    }
}

/// The server's side of what one client has. Lives as long as the place.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    /// As what it looks.
    pub seat: Seat,
    pub(super) sent: SentSnapshots,
    /// What it has to be told besides states.
    pub(super) events: StepEventLog,
    /// Who holds what of what it sees.
    pub(super) holders: ToldHolders,
    /// The newest tick whose state was sent.
    newest_sent: Option<Tick>,
    /// How often a state was sent that was not newer; wraps.
    repeats: u8,
    /// What it shows of others.
    pub(super) shown: ShownLane,
    pub(super) allowance: SendAllowance,
    /// How far around its own entities it is told those of others exactly, in metres, 0 wherever they are; `None` where it is not.
    exact_within_m: Option<u32>,
    /// Which of them it is.
    pub(super) exact: ExactRowSet,
    /// What it sees, where that is not everything.
    pub(super) view: Option<InterestSet>,
    /// The state that it was told last.
    told: Option<Tick>,
    /// Whether not all that it is to be told exactly had room in the last snapshot.
    is_crowded: bool,
    /// Since the state of which tick none was sent, as they were too large.
    untold_since: Option<Tick>,
}

impl Replica {
    pub(crate) fn new() -> Replica {
        Replica {
            seat: Seat::Player,
            sent: SentSnapshots::new(),
            events: StepEventLog::new(),
            holders: ToldHolders::new(),
            newest_sent: None,
            repeats: 0,
            shown: ShownLane::new(),
            allowance: SendAllowance::new(),
            exact_within_m: None,
            exact: ExactRowSet::default(),
            view: None,
            told: None,
            is_crowded: false,
            untold_since: None,
        }
    }

    /// Who has the place now may have nothing of what was sent.
    pub(crate) fn forget(&mut self) {
        self.sent.forget();
        self.shown.begin_anew();
        self.allowance = SendAllowance::new();
        (self.untold_since, self.is_crowded) = (None, false);
    }

    /// The client says in its newest datagram how far around its own entities it predicts those of others.
    pub(crate) fn want_exact(&mut self, within_m: Option<u32>) {
        self.exact_within_m = within_m;
    }

    /// How far around its own entities it is told those of others exactly.
    pub(crate) fn exact_within_m(&self) -> Option<u32> {
        self.exact_within_m
    }

    /// The client has told which datagrams have come.
    /// Returns when the newest of those was sent of which it was not known.
    pub(crate) fn note_received(&mut self, received: AckBits, now: Instant) -> Option<Instant> {
        let fates = self.shown.acknowledge(received, now);
        self.allowance.note(fates, now);
        fates.newest_sent
    }

    /// Something is going to be sent, with `of_messages` bytes of messages not yet acknowledged.
    pub(crate) fn allow(&mut self, budget: Budget, of_messages: u64, now: Instant) {
        self.allowance.add(budget, self.shown.under_way() + of_messages, now);
    }

    /// How much may be sent.
    pub(crate) fn allowance(&mut self) -> &mut SendAllowance {
        &mut self.allowance
    }

    /// The client says which is the newest complete snapshot that it has.
    pub(crate) fn name_baseline(&mut self, tick: Option<Tick>) {
        self.sent.name(tick);
    }

    /// The client has the snapshot of `tick`, and so knows of everything before.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        self.events.acknowledge(tick);
        // In an exact session it may have come to a later state than one that could not be sent by itself.
        if self.untold_since.is_some_and(|since| since < tick) {
            (self.untold_since, self.is_crowded) = (None, false);
        }
    }

    /// Something has happened that the client has to be told besides states.
    pub(crate) fn note_event(&mut self, event: StepEvent) {
        self.events.note(event);
    }

    /// Notes what of a step its player may know of and no state tells: what it has said, and which entities ended before
    /// the client, which has the state `known`, can have seen them.
    pub(crate) fn note_step(&mut self, player: PlayerId, known: Option<Tick>, step: StepReport<'_>) {
        let StepReport { tick, output, state, .. } = step;
        // What the step has changed is not settled yet.
        self.view.iter_mut().for_each(|view| view.follow(state, player));
        self.note_spawned(player, step);
        let Replica { view, events, told, .. } = self;
        let (rows, sight) = (state.rows(), Sight { player, view: view.as_ref(), told: *told, step });
        // The last row of an entity says that it is gone.
        let ended = rows.removed().iter().filter(|row| !rows.has(row.key.entity));
        for row in ended.filter(|row| sight.sees(row.key, row.owner)) {
            let entity = row.key.entity;
            if known.is_none_or(|known| known <= entity.tick()) {
                events.note(StepEvent { tick, entity, what: StepEventKind::Ended });
            }
            if output.contacts.binary_search(&entity).is_ok() {
                events.note(StepEvent { tick, entity, what: StepEventKind::Touched });
            }
        }
        // Of its own it finds so, too, what it does not predict.
        let is_shown = |entity| sight.rows_of(entity).any(|row| state.is_shown_to_owner(row.key));
        let is_asked = |of: Owned| of.owner != player || sight.was_anothers(of.entity, known) || is_shown(of.entity);
        let by_player = output.changes.iter().filter(|change| change.by.owner == player && is_asked(change.of));
        // Of what the client does not know it is told by whom alone.
        for entity in by_player.map(|change| if sight.has(change.of.entity) { change.of } else { change.by }.entity) {
            events.note(StepEvent { tick, entity, what: StepEventKind::Changed });
        }
        for effect in output.effects.iter().filter(|effect| sight.has(effect.entity)) {
            events.note(StepEvent { tick, ..StepEvent::of(effect) });
        }
    }

    /// Whether its player, who shot or was hit, sees the other of both: who may hear of that hit.
    pub(crate) fn may_hear_of(&self, player: PlayerId, hit: &HitReceipt, step: StepReport<'_>) -> bool {
        let sight = Sight { player, view: self.view.as_ref(), told: self.told, step };
        let (shooter, victim) = (hit.shooter(), hit.victim);
        let sees = || if player == shooter { sight.has(victim.entity) } else { sight.has_anything_of(shooter) };
        shooter == victim.owner || !step.interest_settings.are_limited() || sees()
    }

    /// What has been spawned in reach since the client was told last is in view, too, in the step or before it.
    fn note_spawned(&mut self, player: PlayerId, step: StepReport<'_>) {
        let StepReport { tick, output, state, interest_settings } = step;
        let Some(view) = &mut self.view else { return };
        let spawned = output
            .spawned
            .iter()
            .flat_map(|(spawned_for, last)| (0..=*last).map(|counter| Entity::new(*spawned_for, tick, counter)));
        for entity in spawned.chain(state.inserted_outside().iter().copied()) {
            let is_anothers = |entity| state.rows().owner(entity).is_some_and(|owner| owner != player);
            let is_hidden =
                |entity| is_anothers(entity) && interest_settings.visibility(player, || entity) == Visibility::Hidden;
            let root = state.published_root(entity);
            if is_anothers(entity) && view.reaches(root, state) && !is_hidden(root) && !is_hidden(entity) {
                view.note_came(entity);
            }
        }
    }

    /// The state of `tick` is sent, perhaps again: returns what tells this time from those before, `None` for the first.
    pub(crate) fn note_sending(&mut self, tick: Tick) -> Option<u8> {
        if self.newest_sent < Some(tick) {
            self.newest_sent = Some(tick);
            return None;
        }
        self.repeats = self.repeats.wrapping_add(1);
        Some(self.repeats)
    }

    /// Since the state of which tick none was sent, as they were too large; `None` where the last was.
    pub(crate) fn untold_since(&self) -> Option<Tick> {
        self.untold_since
    }

    /// The state of `tick` was sent, or was too large to be; or has less in it than the client predicts. Whether that it is too large for
    /// all is new.
    pub(super) fn note_told(&mut self, tick: Tick, is_told: bool, is_cut: bool) -> bool {
        self.untold_since = if is_told { None } else { self.untold_since.or(Some(tick)) };
        let was_crowded = core::mem::replace(&mut self.is_crowded, !is_told || is_cut);
        self.is_crowded && !was_crowded
    }

    /// Whether another's entity that is there is in the client's view, in the state that it was told last.
    pub(in crate::session::server) fn knows(&self, entity: Entity, state: &AuthoritativeState) -> bool {
        let is_in = |view: &InterestSet| {
            let mut rows = state.rows().of(entity).filter_map(|row| state.versions().get(row.key()));
            view.has_come(entity) || rows.any(|row| view.has(row))
        };
        self.told.is_some() && self.view.as_ref().is_none_or(is_in)
    }

    /// From now on it may not see everything.
    pub(super) fn limit_view(&mut self, state: &AuthoritativeState, player: PlayerId) {
        let told = self.told;
        self.view.get_or_insert_with(|| match told {
            Some(told) => InterestSet::of_all(state, player, told),
            None => InterestSet::of_nothing(),
        });
    }

    /// It was told what it sees of a state. Where everything is to be seen, and nothing of others exactly, the view ends.
    pub(super) fn note_view(&mut self, interest: &InterestQuery, told: &SnapshotSource<'_>) {
        self.told = Some(told.tick);
        let Some(view) = &mut self.view else { return };
        interest.note_told(view, told.tick);
        if !told.interest_settings.are_limited() && self.exact_within_m.is_none() && self.exact.is_empty() {
            self.view = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_too_large_counts_until_the_client_has_a_later_one_or_begins_anew() {
        let mut replica = Replica::new();
        assert!(replica.note_told(Tick::new(10), false, false), "that is new");
        assert!(!replica.note_told(Tick::new(12), false, false));
        for (known, since) in [(9, Some(10)), (10, Some(10)), (11, None)] {
            replica.acknowledge(Tick::new(known));
            assert_eq!(replica.untold_since(), since.map(Tick::new), "it has {known}");
        }
        assert!(replica.note_told(Tick::new(20), false, false), "and may be reported again");
        replica.forget();
        assert_eq!(replica.untold_since(), None);
    }
}
