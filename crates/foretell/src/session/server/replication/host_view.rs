//! What of each state a player sees who sits at the server: as much as a client of theirs would be told, by the same audiences
//! and rules.

use super::entity_grid::EntityGrid;
use super::interest_query::{InterestQuery, Viewer};
use super::interest_set::InterestSet;
use super::interest_settings::InterestSettings;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::AuthorityArbiter;
use crate::time::Tick;
use crate::world::{PlayerId, Rows, Seat};
use alloc::vec::Vec;

/// The state that is looked at.
#[derive(Clone, Copy)]
pub(in crate::session::server) struct LocalLook<'a> {
    pub tick: Tick,
    pub state: &'a AuthoritativeState,
    pub authority: &'a AuthorityArbiter,
    pub settings: InterestSettings<'a>,
}

/// The eyes of a player who sits at the server. Its memory is used again.
pub(in crate::session) struct HostView {
    grid: EntityGrid,
    interest: InterestQuery,
    /// What was in view in the state before, where not everything is.
    view: InterestSet,
    /// The state that was looked at last where not everything was in view.
    of: Tick,
    /// Where the rows stand that are seen.
    places: Vec<usize>,
}

impl HostView {
    pub fn new() -> HostView {
        HostView {
            grid: EntityGrid::default(),
            interest: InterestQuery::default(),
            view: InterestSet::of_nothing(),
            of: Tick::ZERO,
            places: Vec::new(),
        }
    }

    /// Puts what `player` sees in the place of what is in `into`.
    pub(in crate::session::server) fn look(&mut self, player: PlayerId, at: LocalLook<'_>, into: &mut Rows) {
        let (rows, schema) = (at.state.rows(), at.state.schema());
        self.places.clear();
        if at.settings.are_limited() {
            self.look_around(player, at);
            let seen = self.interest.rows().iter().map(|slot| at.state.versions().place(slot));
            self.places.extend(at.state.exact_own_places(player).chain(seen));
            self.places.sort_unstable();
        } else {
            self.places.extend(rows.places_seen_by(schema, player));
        }
        into.clear();
        self.places.iter().for_each(|place| into.set_words(rows.nth(*place)));
        into.settle();
    }

    fn look_around(&mut self, player: PlayerId, at: LocalLook<'_>) {
        let LocalLook { tick, state, authority, settings } = at;
        let HostView { grid, interest, view, of, .. } = self;
        let since = core::mem::replace(of, tick);
        let versions = state.versions().versions().iter().enumerate();
        let changed = versions.filter(|(_, version)| version.changed > since).map(|(place, _)| place);
        grid.update(state, tick, since, changed);
        let seat = Seat::Player;
        view.follow(state, player);
        interest.look(Viewer { player, seat, state, authority, settings, view }, grid);
        interest.note_told(view, tick);
    }
}
