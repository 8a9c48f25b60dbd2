//! What one client was sent, and what it has to be told still.

use super::allowance::Allowance;
use super::entities_in_view::EntitiesInView;
use super::event_log::StepEventLog;
use super::interest::InterestQuery;
use super::outgoing_snapshot::{Form, Snapshot};
use super::sent_history::SentHistory;
use super::shown_lane::ShownLane;
use super::sight_terms::SightTerms;
use crate::session::received::Received;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::step_events::{StepEvent, StepEventKind};
use crate::time::{Instant, Tick};
use crate::world::{Entity, Owned, PlayerId, RowKey, StepOutput, Visibility};
use core::time::Duration;

/// What a step has brought about: what it has said, and the state that it has made.
#[derive(Clone, Copy)]
pub(crate) struct StepReport<'a> {
    pub tick: Tick,
    pub output: &'a StepOutput,
    pub state: &'a AuthoritativeState,
    /// By what it is decided what each client sees.
    pub sight: SightTerms<'a>,
}

/// So much time is between two changes from whole states to single rows, or back.
const CHANGES_APART: Duration = Duration::from_secs(1);

/// Whether a client that has the state `known` asks for whole states.
#[derive(Clone, Copy)]
pub(crate) struct WholeWish {
    pub is_whole: bool,
    pub known: Option<Tick>,
    pub now: Instant,
}

/// The server's side of what one client has. Lives as long as the place.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(super) sent: SentHistory,
    /// What it has to be told besides states.
    pub(super) events: StepEventLog,
    /// The newest tick whose state was sent.
    newest_sent: Option<Tick>,
    /// How often a state was sent that was not newer; wraps.
    repeats: u8,
    /// What it shows of others, unless it is told whole states.
    pub(super) shown: ShownLane,
    pub(super) allowance: Allowance,
    /// Whether it is told whole states.
    is_whole: bool,
    /// When that last changed.
    whole_since: Option<Instant>,
    /// Whether another change is put off.
    is_put_off: bool,
    /// What it sees, where that is not everything.
    pub(super) view: Option<EntitiesInView>,
    /// The state that it was told last.
    told: Option<Tick>,
    /// Whether not all that it is to see fits into a snapshot.
    is_crowded: bool,
    /// How many snapshots in a row were not sent, as they were too large.
    untold: u32,
}

impl Replica {
    pub(crate) fn new() -> Replica {
        Replica {
            sent: SentHistory::new(),
            events: StepEventLog::new(),
            newest_sent: None,
            repeats: 0,
            shown: ShownLane::new(),
            allowance: Allowance::new(),
            is_whole: false,
            whole_since: None,
            is_put_off: false,
            view: None,
            told: None,
            is_crowded: false,
            untold: 0,
        }
    }

    /// Who has the place now may have nothing of what was sent.
    pub(crate) fn forget(&mut self) {
        self.sent.forget();
        self.shown.begin_anew();
        self.allowance = Allowance::new();
    }

    /// Takes in whether the client needs whole states; it says so in its newest datagram. A change costs as much as all rows, so
    /// there is one in a second: another waits. Whether that is so, and is new.
    pub(crate) fn want_whole(&mut self, wish: WholeWish) -> bool {
        let WholeWish { is_whole, known, now } = wish;
        let known = known.unwrap_or(Tick::ZERO);
        if is_whole == self.is_whole {
            self.is_put_off = false;
            return false;
        }
        if self.whole_since.is_some_and(|since| now.since(since) < CHANGES_APART) {
            return !core::mem::replace(&mut self.is_put_off, true);
        }
        // It asks again: until then it can't be told what it may have and is not to have any more.
        if !is_whole && self.view.as_ref().is_some_and(|view| !view.remembers(known)) {
            return false;
        }
        (self.is_whole, self.whole_since, self.is_put_off) = (is_whole, Some(now), false);
        // What was told in the one way is nothing to tell against in the other.
        self.sent.forget();
        self.shown.follow_whole(known);
        false
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The client has told which datagrams have come.
    pub(crate) fn note_received(&mut self, received: Received, now: Instant) {
        let fates = self.shown.acknowledge(received, now);
        self.allowance.note(fates, now);
    }

    /// The client says which is the newest complete snapshot that it has.
    pub(crate) fn name_baseline(&mut self, tick: Option<Tick>) {
        self.sent.name(tick);
    }

    /// The client has the snapshot of `tick`, and so knows of everything before.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        self.events.acknowledge(tick);
    }

    /// Something has happened that the client has to be told besides states.
    pub(crate) fn note_event(&mut self, event: StepEvent) {
        self.events.note(event);
    }

    /// Notes what of a step its player may know of and no state tells: what it has said, and which entities ended before
    /// the client, which has the state `known`, can have seen them.
    pub(crate) fn note_step(&mut self, player: PlayerId, known: Option<Tick>, step: StepReport<'_>) {
        let StepReport { tick, output, state, sight } = step;
        self.note_spawned(player, step);
        let Replica { view, events, told, .. } = self;
        let (rows, schema) = (state.rows(), state.schema());
        let sees_nothing = sight.are_limited() && told.is_none();
        let sees = |key: RowKey, owner: PlayerId| {
            let RowKey { component, entity } = key;
            let audience = schema.component(component).audience();
            match &*view {
                _ if owner == player => audience.includes(player, owner),
                _ if sees_nothing => false,
                Some(view) if view.has(key) => true,
                Some(view) => view.has_come(entity) && sight.includes(player, audience, Owned { entity, owner }),
                None => audience.includes(player, owner),
            }
        };
        // The last row of an entity says that it is gone.
        let ended = rows.removed().iter().filter(|row| !rows.has(row.key.entity));
        let mut seen_last = None;
        for row in ended.filter(|row| sees(row.key, row.owner)) {
            let entity = row.key.entity;
            if seen_last.replace(entity) == Some(entity) {
                continue;
            }
            if known.is_none_or(|known| known <= entity.tick()) {
                events.note(StepEvent { tick, entity, what: StepEventKind::Ended });
            }
            if output.contacts.binary_search(&entity).is_ok() {
                events.note(StepEvent { tick, entity, what: StepEventKind::Touched });
            }
        }
        for effect in &output.effects {
            let mut there = rows.of(effect.entity).map(|row| (row.key(), row.owner));
            let mut gone = rows.removed().iter().filter(|row| row.key.entity == effect.entity);
            if there.any(|(key, owner)| sees(key, owner)) || gone.any(|row| sees(row.key, row.owner)) {
                events.note(StepEvent { tick, ..StepEvent::of(effect) });
            }
        }
    }

    /// What has been spawned in reach since the client was told last is in view, too.
    fn note_spawned(&mut self, player: PlayerId, step: StepReport<'_>) {
        let StepReport { tick, output, state, sight } = step;
        let Some(view) = &mut self.view else { return };
        for (spawned_for, last) in &output.spawned {
            for entity in (0..=*last).map(|counter| Entity::new(*spawned_for, tick, counter)) {
                let is_anothers = state.rows().owner(entity).is_some_and(|owner| owner != player);
                let is_seen = || sight.visibility(player, entity) != Visibility::Hidden;
                if is_anothers && view.reaches(entity, state) && is_seen() {
                    view.note_came(entity);
                }
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

    /// Whether not all that it is to see has fitted into the last snapshot.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// How many snapshots in a row were not sent, as they were too large.
    pub(crate) fn untold_in_a_row(&self) -> u32 {
        self.untold
    }

    /// A snapshot was sent, or was too large to be.
    pub(super) fn note_told(&mut self, is_told: bool) {
        self.untold = if is_told { 0 } else { self.untold.saturating_add(1) };
    }

    /// Whether that is so now. Whether it is new.
    pub(super) fn note_crowded(&mut self, is_crowded: bool) -> bool {
        let was_crowded = core::mem::replace(&mut self.is_crowded, is_crowded);
        is_crowded && !was_crowded
    }

    /// From now on it may not see everything.
    pub(super) fn limit_view(&mut self, state: &AuthoritativeState, player: PlayerId) {
        let told = self.told;
        self.view.get_or_insert_with(|| match told {
            Some(told) => EntitiesInView::of_all(state, player, told),
            None => EntitiesInView::of_nothing(),
        });
    }

    /// It was told what it sees of a state. Where everything is to be seen, the view ends when all is in it.
    pub(super) fn note_view(&mut self, interest: &InterestQuery, told: &Snapshot<'_>) {
        self.told = Some(told.tick);
        let base = self.sent.baseline();
        let Some(view) = &mut self.view else { return };
        interest.note_told(view, told.tick, base);
        let is_all = !told.sight.are_limited() && !interest.has_shed();
        if is_all && (told.form == Form::Lanes || interest.is_as_in(view, base)) {
            self.view = None;
        }
    }
}
