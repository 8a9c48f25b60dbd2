//! Which rows of others one client is told exactly of the state that is sent: as many as fit of what is nearest to its own entities.

use super::entity_grid::EntityGrid;
use super::exact_row_set::{ExactRow, ExactRowSet};
use super::interest_query::{InterestQuery, STAYS};
use super::ranking_key::{RankingKey, single};
use super::slot_set::SlotSet;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::shown_row_header::SLOTS_MAX;
use crate::time::Tick;
use crate::world::RowKey;
use alloc::vec::Vec;

/// What a client may be told exactly.
#[derive(Clone, Copy)]
pub(super) struct ExactTerms<'a> {
    /// What it is told against.
    pub base: Option<Tick>,
    pub state: &'a AuthoritativeState,
    pub grid: &'a EntityGrid,
    pub interest: &'a InterestQuery,
    pub codec: &'a ExactRowCodec,
    /// How far around its own entities, in metres; 0 wherever they are.
    pub within_m: u32,
    /// How long all that has to be told of it may be.
    pub bits_max: u64,
}

/// What was chosen. Its memory is used again.
#[derive(Default)]
pub(super) struct ExactChoice {
    nearest: Vec<RankingKey>,
    /// Ascending by place, and so by key.
    rows: Vec<ExactRow>,
    /// Their numbers.
    slots: SlotSet,
    /// What was among them and is not any more.
    lost: Vec<RowKey>,
    /// Whether something had no room,
    is_cut: bool,
    /// and how long all that has to be told of the rest is at most.
    bits_to_tell: u64,
}

impl ExactChoice {
    fn clear(&mut self) {
        self.rows.clear();
        self.lost.clear();
        (self.is_cut, self.bits_to_tell) = (false, 0);
    }

    /// Chooses, where `before` was told last.
    pub(super) fn choose(&mut self, terms: Option<ExactTerms<'_>>, before: &ExactRowSet) {
        self.clear();
        terms.into_iter().for_each(|terms| self.take_nearest(terms, before));
        self.slots.clear();
        self.rows.iter().for_each(|row| self.slots.insert(row.slot));
        let mut rows = self.rows.iter().peekable();
        for key in before.rows().iter().map(|member| member.key) {
            while rows.next_if(|row| row.key < key).is_some() {}
            self.lost.extend(rows.next_if(|row| row.key == key).is_none().then_some(key));
        }
    }

    fn take_nearest(&mut self, terms: ExactTerms<'_>, before: &ExactRowSet) {
        let ExactTerms { state, grid, interest, within_m, .. } = terms;
        let versions = state.versions();
        let ExactChoice { nearest, rows, is_cut, bits_to_tell, .. } = self;
        let most = single(f64::from(within_m) * f64::from(within_m));
        nearest.clear();
        for (anchor, squared, is_somewhere) in interest.reached() {
            // What says where it is may be new, or nothing that the client is told.
            let was_told = grid.rows_of(anchor).any(|slot| before.has_number(slot));
            let stays = if was_told { single(STAYS) } else { 1.0 };
            if within_m == 0 || is_somewhere && squared * stays <= most {
                nearest.push(RankingKey::new(squared * stays, anchor));
            }
        }
        nearest.sort_unstable();
        for rank in &*nearest {
            let first = rows.len();
            for slot in grid.rows_of(rank.number()) {
                let place = versions.place(slot);
                let key = versions.versions()[place].key;
                let may_be = !state.schema().component(key.component).is_never_predicted();
                if may_be && slot < SLOTS_MAX && interest.rows().contains(slot) {
                    rows.push(ExactRow { place, slot, key, since: before.since(key) });
                }
            }
            let bits: u64 = rows[first..].iter().map(|row| terms.bits_to_tell(row)).sum();
            // What is known as it is takes nothing, and has room. Of the rest nothing has that is farther than what has not.
            if bits > 0 && (*is_cut || *bits_to_tell + bits > terms.bits_max) {
                rows.truncate(first);
                *is_cut = true;
            } else {
                *bits_to_tell += bits;
            }
        }
        rows.sort_unstable_by_key(|row| row.place);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Ascending by place.
    pub(super) fn rows(&self) -> &[ExactRow] {
        &self.rows
    }

    /// Whether not all that the client predicts has room.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// How long all that has to be told of them is at most.
    pub(super) fn bits_to_tell(&self) -> u64 {
        self.bits_to_tell
    }

    /// What was among them and is not any more.
    pub(super) fn lost(&self) -> &[RowKey] {
        &self.lost
    }

    /// Whether the row with this number is among them.
    pub(super) fn has_number(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }
}

impl ExactTerms<'_> {
    fn bits_to_tell(&self, row: &ExactRow) -> u64 {
        let is_known = row
            .since
            .is_some_and(|since| Some(since.max(self.state.versions().versions()[row.place].changed)) <= self.base);
        if is_known { 0 } else { self.codec.bits_max(row.key.component) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interest_query::Viewer;
    use super::super::interest_set::InterestSet;
    use super::super::interest_settings::InterestSettings;
    use super::*;
    use crate::session::server::authoritative_state::AuthoritativeState;
    use crate::session::server::authority::AuthorityArbiter;
    use crate::time::TickRate;
    use crate::world::{Entity, Group, Interest, Owned, PlayerId, Schema, Seat};
    use foretell::State;

    /// Only its team is told.
    #[derive(State, Clone, Copy)]
    #[state(audience = group(Group(1)))]
    struct Beacon {
        #[state(position)]
        at: [f32; 1],
    }

    #[derive(State, Clone, Copy)]
    struct Rock {
        #[state(position)]
        at: [f32; 1],
    }

    /// No client predicts it.
    #[derive(State, Clone, Copy)]
    #[state(predict = never)]
    struct Rain {
        #[state(position)]
        at: [f32; 1],
    }

    const ME: PlayerId = PlayerId::new(1);

    fn of(nth: u16, owner: PlayerId) -> Owned {
        Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner }
    }

    fn state() -> AuthoritativeState {
        AuthoritativeState::new(&Schema::of::<Beacon>().with::<Rock>().with::<Rain>())
    }

    /// What is chosen for a client that is told exactly what is within 10 m, of one state after the other.
    struct Chooser {
        authority: AuthorityArbiter,
        grid: EntityGrid,
        interest: InterestQuery,
        codec: ExactRowCodec,
        choice: ExactChoice,
        before: ExactRowSet,
    }

    impl Chooser {
        fn new(state: &AuthoritativeState) -> Chooser {
            Chooser {
                authority: AuthorityArbiter::new(state.schema(), TickRate::default()),
                grid: EntityGrid::default(),
                interest: InterestQuery::default(),
                codec: ExactRowCodec::new(state.schema()),
                choice: ExactChoice::default(),
                before: ExactRowSet::default(),
            }
        }

        fn choose(&mut self, tick: Tick, state: &mut AuthoritativeState) -> Vec<RowKey> {
            state.settle(tick);
            let Chooser { authority, grid, interest, codec, choice, before } = self;
            let view = &InterestSet::of_nothing();
            grid.update(state, tick, tick.back(1).unwrap_or_default(), 0..state.rows().len());
            let settings = InterestSettings { interest: Interest::Everything, rules: None };
            let viewer = Viewer { player: ME, seat: Seat::Player, state, authority, settings, view };
            interest.look(viewer, grid);
            let terms = ExactTerms { base: None, state, grid, interest, codec, within_m: 10, bits_max: 10_000 };
            choice.choose(Some(terms), before);
            before.note(tick, None, choice.rows(), choice.lost());
            choice.rows().iter().map(|row| row.key).collect()
        }
    }

    #[test]
    fn what_is_told_exactly_stays_so_as_long_though_only_its_team_is_told_what_says_where_it_is() {
        let mut state = state();
        let mut chooser = Chooser::new(&state);
        let mut is_exact = Vec::new();
        for (tick, at) in (1..).map(Tick::new).zip([9.0, 11.0, 13.0, 11.0]) {
            let rows = state.rows_mut();
            rows.set(of(0, ME), &Rock { at: [0.0] });
            rows.set(of(1, PlayerId::SERVER), &Beacon { at: [at] });
            rows.set(of(1, PlayerId::SERVER), &Rock { at: [at] });
            is_exact.push(!chooser.choose(tick, &mut state).is_empty());
        }
        assert_eq!(is_exact, [true, true, false, false], "it is told so within 10 m, and stays so within 12.5 m");
    }

    #[test]
    fn what_no_client_predicts_is_not_told_exactly_however_near_it_is() {
        let mut state = state();
        let rows = state.rows_mut();
        rows.set(of(0, ME), &Rock { at: [0.0] });
        rows.set(of(1, PlayerId::SERVER), &Rock { at: [2.0] });
        rows.set(of(2, PlayerId::SERVER), &Rain { at: [1.0] });
        rows.set(of(3, ME), &Rain { at: [1.0] });
        let chosen = Chooser::new(&state).choose(Tick::new(1), &mut state);
        assert_eq!(chosen.iter().map(|key| key.entity).collect::<Vec<_>>(), [of(1, PlayerId::SERVER).entity]);
    }
}
