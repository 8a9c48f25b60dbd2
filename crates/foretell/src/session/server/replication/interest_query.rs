//! What of the world one client sees, where that is not all: of the entities of others those that are in reach of its eyes and
//! that the game's rules don't hide.

use super::entities_in_view::{EntitiesInView, Seen};
use super::entity_grid::{EntityGrid, position};
use super::interest_settings::InterestSettings;
use super::ranking_key::{RankingKey, single};
use crate::math::f64::sqrt;
use crate::motion::vector::squared_distance;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::SharedMode;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{Audience, Entity, Interest, Look, Owned, PlayerId, Row, RowKey, Rows, Schema, Seat, Visibility};
use alloc::vec::Vec;

/// What is in reach counts as nearer by a fifth; of squared distances.
pub(super) const STAYS: f64 = 0.64;
/// What is farther is looked for everywhere.
const FAR_M: f64 = 1e5;

/// Who looks, at what, and what was in view.
#[derive(Clone, Copy)]
pub(super) struct Viewer<'a> {
    pub player: PlayerId,
    pub seat: Seat,
    pub state: &'a AuthoritativeState,
    pub authority: &'a SharedMode,
    pub settings: InterestSettings<'a>,
    pub view: &'a EntitiesInView,
}

/// An entity in reach.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// The place of its first row: entities are in the order of these.
    place: u32,
    anchor: u32,
    /// To the nearest eye, squared; 0 where it is in reach wherever it is.
    distance: f32,
    is_somewhere: bool,
    weight: f32,
}

impl Reached {
    /// In no distance.
    fn new(state: &AuthoritativeState, anchor: u32) -> Reached {
        Reached { place: place_of(state, anchor), anchor, distance: 0.0, is_somewhere: true, weight: 1.0 }
    }
}

/// A row of another's that is to be in view.
#[derive(Clone, Copy, Debug)]
struct Inside {
    row: usize,
    /// Its number.
    slot: u32,
    key: RowKey,
    /// Whether it was not.
    has_entered: bool,
    weight: f32,
}

/// What one client is to see of one state. Its memory is used again.
#[derive(Default)]
pub(super) struct InterestQuery {
    /// Whether it leaves anything out.
    is_limited: bool,
    look: Look,
    reached: Vec<Reached>,
    /// What is nearest of what moves, and of what does not.
    nearest: [Vec<RankingKey>; 2],
    /// What may be among them, and how far they were lately, in metres.
    around: Vec<u32>,
    nearest_m: f64,
    /// Ascending by place, and so by key.
    inside: Vec<Inside>,
    /// What was in view and is not any more.
    lost: Vec<RowKey>,
    /// Whose rows are in view, ascending.
    owners: Vec<PlayerId>,
}

impl InterestQuery {
    /// Everything is in view.
    pub(super) fn clear(&mut self) {
        self.is_limited = false;
    }

    /// Finds out what is in view.
    pub(super) fn look(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid) {
        let Viewer { player, seat, state, settings, .. } = viewer;
        self.is_limited = true;
        self.look.begin(settings.interest, seat);
        settings.rules.into_iter().for_each(|rules| rules.look(player, &mut self.look));
        self.reached.clear();
        self.note_own(viewer, grid);
        let InterestQuery { reached, look, .. } = self;
        let eyes = &look.eyes;
        let of = |anchor: u32| {
            let at = grid.at(anchor);
            let distance = at.map_or(0.0, |at| nearest_of(eyes, at));
            Reached { distance, is_somewhere: at.is_some(), ..Reached::new(state, anchor) }
        };
        reached.extend(grid.nowhere().iter().map(|anchor| of(*anchor)));
        for entity in &look.always {
            let root = state.parents().root(*entity).unwrap_or(*entity);
            reached.extend(anchor_of(state, grid, root).map(of));
        }
        match look.interest {
            Interest::Everything => self.reach_everything(viewer, grid),
            Interest::Nearest(most) => self.reach_nearest(viewer, grid, most.into()),
            Interest::Within { radius_m, leaves_at_m } => self.reach_within(viewer, grid, [radius_m, leaves_at_m]),
        }
        if !state.parents().are_none() {
            self.reach_below(viewer, grid);
        }
        self.keep_visible(viewer);
        self.settle(viewer, grid);
    }

    /// What is below another is in reach with it, and not by itself.
    fn reach_below(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let Viewer { player, state, .. } = viewer;
        let (parents, versions) = (state.parents(), state.versions());
        let entity = |place: usize| versions.versions()[place].key.entity;
        self.reached.retain(|reached| parents.root(entity(reached.place as usize)).is_none());
        self.keep_visible(viewer);
        let InterestQuery { reached, .. } = self;
        let below = |root: Entity, distance: f32| {
            let anchors = parents.below(root).filter_map(|child| anchor_of(state, grid, child));
            anchors.map(move |anchor| Reached { distance, ..Reached::new(state, anchor) })
        };
        for nth in 0..reached.len() {
            let Reached { place, distance, .. } = reached[nth];
            reached.extend(below(entity(place as usize), distance));
        }
        reached.extend(versions.of_owner(player).flat_map(|place| below(entity(place), 0.0)));
    }

    /// Leaves what the rules don't hide and is not the viewer's own, each once.
    fn keep_visible(&mut self, Viewer { player, state, settings, .. }: Viewer<'_>) {
        let InterestQuery { reached, .. } = self;
        reached.sort_unstable_by_key(|reached| (reached.place, reached.distance.to_bits()));
        reached.dedup_by_key(|reached| reached.place);
        reached.retain_mut(|reached| {
            let RowVersion { owner, key, .. } = state.versions().versions()[reached.place as usize];
            let visibility = if owner == player { Visibility::Hidden } else { settings.visibility(player, key.entity) };
            reached.weight = visibility.weight().unwrap_or(1.0);
            visibility != Visibility::Hidden
        });
    }

    /// The player looks from its own entities, and has what it has authority over in view.
    fn note_own(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let Viewer { player, state, authority, .. } = viewer;
        let own = state.versions().of_owner(player).map(|place| state.rows().nth(place));
        let eye = |row: Row<'_>| state.root_place(row.entity).or_else(|| position(state.schema(), row));
        self.look.eyes.extend(own.filter_map(eye));
        // All rows of what is below another say the same.
        self.look.eyes.dedup();
        for entity in authority.entities() {
            if authority.holder(*entity).is_some_and(|holder| holder.player == player) {
                self.look.always.push(*entity);
                let rows = state.rows().of(*entity).filter(|row| row.owner != player);
                let slots = rows.filter_map(|row| Some(state.versions().get(row.key())?.slot));
                let anchor = slots.filter_map(|slot| grid.anchor(slot)).next();
                let at = state.root_place(*entity).or_else(|| grid.at(anchor?));
                self.look.eyes.extend(at);
            }
        }
    }

    fn reach_everything(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let InterestQuery { look, reached, .. } = self;
        reached.extend(grid.somewhere().map(|(anchor, at)| Reached {
            distance: nearest_of(&look.eyes, at),
            ..Reached::new(viewer.state, anchor)
        }));
    }

    /// Looks ever farther, until nothing that is not found can be nearer than what is.
    fn reach_nearest(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, most: usize) {
        let Viewer { state, .. } = viewer;
        let counts = grid.counts();
        let mut radius_m = self.nearest_m.max(1.0);
        let farthest = loop {
            let looked_at = self.rank_within(viewer, grid, radius_m);
            let mut farthest = 0.0_f32;
            for (nth, ranks) in self.nearest.iter_mut().enumerate() {
                if most < ranks.len() {
                    ranks.select_nth_unstable(most);
                    farthest = farthest.max(ranks[most].value());
                    ranks.truncate(most);
                } else if looked_at[nth] < counts[nth] {
                    farthest = f32::INFINITY;
                }
            }
            if looked_at == counts || f64::from(farthest) <= STAYS * radius_m * radius_m {
                break farthest;
            }
            radius_m = if radius_m > FAR_M { f64::INFINITY } else { radius_m * 2.0 };
        };
        // Where next to begin: a little farther than what is found.
        let is_known = farthest.is_finite() && farthest > 0.0;
        self.nearest_m = if is_known { 1.4 * sqrt(f64::from(farthest)) } else { radius_m };
        let InterestQuery { reached, nearest, .. } = self;
        reached.extend(nearest.iter().flatten().map(|rank| {
            let anchor = state.versions().versions()[rank.number() as usize].slot;
            Reached { distance: rank.value(), ..Reached::new(state, anchor) }
        }));
    }

    /// Ranks what is within a distance; without an eye, everything. Returns how much there was of what moves, and of what does not.
    fn rank_within(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, radius_m: f64) -> [usize; 2] {
        let Viewer { player, state, view, .. } = viewer;
        let InterestQuery { look, nearest, around, .. } = self;
        nearest.iter_mut().for_each(Vec::clear);
        around.clear();
        if look.eyes.is_empty() || radius_m.is_infinite() {
            around.extend(grid.somewhere().map(|(anchor, _)| anchor));
        }
        let eyes = if around.is_empty() { &look.eyes[..] } else { &[] };
        eyes.iter().for_each(|eye| grid.near(*eye, radius_m, |anchor, _| around.push(anchor)));
        if eyes.len() > 1 {
            around.sort_unstable();
            around.dedup();
        }
        let mut looked_at = [0; 2];
        for anchor in &*around {
            let place = place_of(state, *anchor);
            let class = usize::from(grid.is_static(*anchor));
            looked_at[class] += 1;
            let RowVersion { owner, key, .. } = state.versions().versions()[place as usize];
            let counts = || owner != player && state.parents().root(key.entity).is_none();
            let Some(at) = grid.at(*anchor).filter(|_| counts()) else { continue };
            let stays = if view.has_number(*anchor) { STAYS } else { 1.0 };
            nearest[class].push(RankingKey::new(nearest_of(&look.eyes, at) * single(stays), place));
        }
        looked_at
    }

    fn reach_within(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, [radius_m, leaves_at_m]: [f32; 2]) {
        let Viewer { state, view, .. } = viewer;
        let InterestQuery { look, reached, .. } = self;
        let radius = f64::from(radius_m.max(0.0));
        let leaves_at = f64::from(leaves_at_m).max(radius);
        for eye in &look.eyes {
            grid.near(*eye, leaves_at, |anchor, squared| {
                if squared <= radius * radius || view.has_number(anchor) {
                    reached.push(Reached { distance: single(squared), ..Reached::new(state, anchor) });
                }
            });
        }
    }

    /// Makes of what is in reach and was in view the rows that come, stay and go.
    fn settle(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let Viewer { player, state, view, settings, .. } = viewer;
        let versions = state.versions();
        let InterestQuery { reached, inside, lost, owners, .. } = self;
        inside.clear();
        owners.clear();
        for Reached { anchor, weight, .. } in &*reached {
            for slot in grid.rows_of(*anchor) {
                let row = versions.place(slot);
                let RowVersion { key, owner, .. } = versions.versions()[row];
                let audience = state.schema().component(key.component).audience();
                if settings.includes(player, audience, Owned { entity: key.entity, owner }) {
                    inside.push(Inside { row, slot, key, has_entered: true, weight: *weight });
                    owners.push(owner);
                }
            }
        }
        owners.sort_unstable();
        owners.dedup();
        if !inside.is_sorted_by_key(|inside| inside.row) {
            inside.sort_unstable_by_key(|inside| inside.row);
        }
        lost.clear();
        let mut known = view.seen().iter().map(|seen| seen.key).peekable();
        for inside in &mut *inside {
            while let Some(key) = known.next_if(|key| *key < inside.key) {
                lost.push(key);
            }
            inside.has_entered = known.next_if(|key| *key == inside.key).is_none();
        }
        lost.extend(known);
    }

    /// The places of the rows of others that are in view, ascending, and whether they were not.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, bool)> {
        self.inside.iter().map(|inside| (inside.row, inside.has_entered))
    }

    /// The entities in reach, by the numbers of the rows that say where they are, the squares of their distances, and whether they
    /// are somewhere.
    pub(super) fn reached(&self) -> impl Iterator<Item = (u32, f32, bool)> {
        self.reached.iter().map(|reached| (reached.anchor, reached.distance, reached.is_somewhere))
    }

    /// Whether the row of another's that stands here is in view.
    pub(super) fn shows_place(&self, place: usize) -> bool {
        self.inside.binary_search_by_key(&place, |inside| inside.row).is_ok()
    }

    /// What was in view and is not any more.
    pub(super) fn lost(&self) -> impl Iterator<Item = RowKey> {
        self.lost.iter().copied()
    }

    /// How much a row of another's matters.
    pub(super) fn weight(&self, key: RowKey) -> f32 {
        let at = self.inside.binary_search_by_key(&key, |inside| inside.key);
        at.map_or(1.0, |at| self.inside[at].weight)
    }

    /// From where the client looks.
    pub(super) fn eyes(&self) -> &[[f64; 3]] {
        &self.look.eyes
    }

    /// Whether a client may not know of a row of another's. Who is in a group is known where there are limits.
    pub(super) fn hides(&self, state: &AuthoritativeState, player: PlayerId, key: RowKey) -> bool {
        let is_own = || state.rows().owner(key.entity) == Some(player);
        let is_of_group = || matches!(state.schema().component(key.component).audience(), Audience::Group(_));
        (if self.is_limited { !self.shows(key) } else { is_of_group() }) && !is_own()
    }

    /// Whether a row of another's is in view.
    pub(super) fn shows(&self, key: RowKey) -> bool {
        self.inside.binary_search_by_key(&key, |inside| inside.key).is_ok()
    }

    /// Whether anything of another player's is in view.
    pub(super) fn shows_player(&self, rows: &Rows, schema: &Schema, player: PlayerId) -> bool {
        if self.is_limited { self.owners.binary_search(&player).is_ok() } else { rows.shows_others(schema, player) }
    }

    /// The client is told so, in the state `now`.
    pub(super) fn note_told(&self, view: &mut EntitiesInView, now: Tick) {
        view.note_told(now, self.inside.iter().map(|inside| Seen { key: inside.key, slot: inside.slot }));
        view.note_reach(self.look.interest, &self.look.eyes);
    }
}

/// The number of the row that says where an entity is; `None` where nobody else may see anything of it.
fn anchor_of(state: &AuthoritativeState, grid: &EntityGrid, entity: Entity) -> Option<u32> {
    grid.anchor(state.versions().get(state.rows().of(entity).next()?.key())?.slot)
}

fn place_of(state: &AuthoritativeState, slot: u32) -> u32 {
    u32::try_from(state.versions().place(slot)).expect("there is memory for fewer rows")
}

/// The square of the distance to the nearest eye; without any, everything is equally near.
fn nearest_of(eyes: &[[f64; 3]], at: [f64; 3]) -> f32 {
    single(eyes.iter().map(|eye| squared_distance(*eye, at)).min_by(f64::total_cmp).unwrap_or(1.0))
}
