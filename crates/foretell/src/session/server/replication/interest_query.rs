//! What of the world one client sees, where that is not all: of the entities of others those that are in reach of its eyes and
//! that the game's rules don't hide.

use super::entity_grid::{EntityGrid, position};
use super::interest_set::InterestSet;
use super::interest_settings::InterestSettings;
use super::ranking_key::{RankingKey, importance, single};
use super::slot_set::{BLOCK, SlotSet, block};
use crate::math::f64::sqrt;
use crate::motion::vector::squared_distance;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::AuthorityArbiter;
use crate::session::server::row_versions::RowVersion;
use crate::time::Tick;
use crate::world::{Audience, ComponentSchema, Entity, Interest, Look, Owned, PlayerId, Row, RowKey, Seat};
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
    pub authority: &'a AuthorityArbiter,
    pub settings: InterestSettings<'a>,
    pub view: &'a InterestSet,
}

/// An entity in reach.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// The number of the row that says where it is.
    anchor: u32,
    /// To the nearest eye, squared; 0 where it is nowhere. Of what is nearest and stays in view, by a fifth less.
    distance: f32,
    is_somewhere: bool,
}

/// What one client is to see of one state. Its memory is used again.
#[derive(Default)]
pub(super) struct InterestQuery {
    /// Whether it leaves anything out.
    is_limited: bool,
    look: Look,
    /// The numbers of the viewer's own rows.
    own: SlotSet,
    /// Each once.
    reached: Vec<Reached>,
    /// The anchors of what was added one by one.
    are_reached: SlotSet,
    /// What is within a distance of any of several eyes, by the square of how far each is from one.
    around: Vec<(u32, f32)>,
    /// What is nearest of what moves, and of what does not, by their anchors; and how far they were lately, in metres.
    nearest: [Vec<RankingKey>; 2],
    nearest_m: f64,
    /// The numbers of the rows that are in view, and not told exactly as the viewer's own,
    rows: SlotSet,
    /// and how much each of them matters by how near it is and by its weight; of other numbers anything. Whole blocks.
    importance: Vec<f32>,
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
        self.are_reached.clear();
        self.note_own(viewer, grid);
        grid.nowhere().iter().for_each(|anchor| self.reach(*anchor, grid));
        for nth in 0..self.look.always.len() {
            let entity = self.look.always[nth];
            let root = state.hierarchy().root(entity).unwrap_or(entity);
            anchor_of(state, grid, root).into_iter().for_each(|anchor| self.reach(anchor, grid));
        }
        match self.look.interest {
            Interest::Everything => grid.somewhere().for_each(|(anchor, _)| self.reach(anchor, grid)),
            Interest::Nearest(most) => self.reach_nearest(viewer, grid, most.into()),
            Interest::Within { radius_m, leaves_at_m } => self.reach_within(viewer, grid, [radius_m, leaves_at_m]),
        }
        if !state.hierarchy().are_none() {
            self.reach_below(viewer, grid);
        }
        self.settle(viewer, grid);
    }

    /// An entity is in reach, however far it is.
    fn reach(&mut self, anchor: u32, grid: &EntityGrid) {
        let at = grid.at(anchor);
        let distance = at.map_or(0.0, |at| nearest_of(&self.look.eyes, at));
        self.add(Reached { anchor, distance, is_somewhere: at.is_some() });
    }

    fn add(&mut self, reached: Reached) {
        if !self.are_reached.contains(reached.anchor) {
            self.are_reached.insert(reached.anchor);
            self.reached.push(reached);
        }
    }

    /// What is below another is in reach with it, and not by itself.
    fn reach_below(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let Viewer { player, state, .. } = viewer;
        let (hierarchy, versions) = (state.hierarchy(), state.versions());
        let InterestQuery { reached, are_reached, own, .. } = self;
        let entity = |place: usize| versions.versions()[place].key.entity;
        reached.retain(|reached| {
            hierarchy.root(entity(versions.place(reached.anchor))).is_none()
                && viewer.weight(reached.anchor, own).is_some()
        });
        let below = |root: Entity, distance: f32| {
            let anchors = hierarchy.below(root).filter_map(|child| anchor_of(state, grid, child));
            anchors.map(move |anchor| Reached { anchor, distance, is_somewhere: true })
        };
        for nth in 0..reached.len() {
            let Reached { anchor, distance, .. } = reached[nth];
            reached.extend(below(entity(versions.place(anchor)), distance));
        }
        // An own entity has several rows.
        are_reached.clear();
        for reached in versions.of_owner(player).flat_map(|place| below(entity(place), 0.0)) {
            self.add(reached);
        }
    }

    /// The player looks from its own entities, and has what it has authority over in view.
    fn note_own(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let Viewer { player, state, authority, .. } = viewer;
        self.own.clear();
        let versions = state.versions();
        versions.of_owner(player).for_each(|place| self.own.insert(versions.versions()[place].slot));
        let own = versions.of_owner(player).map(|place| state.rows().nth(place));
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
        // One that is nowhere does not look.
        self.look.eyes.retain(|eye| eye.iter().all(|axis| !axis.is_nan()));
    }

    /// Looks ever farther, until nothing that is not found can be nearer than what is.
    fn reach_nearest(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, most: usize) {
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
        let InterestQuery { nearest, reached, are_reached, .. } = self;
        // Mostly nothing is in reach yet.
        let may_be_reached = !reached.is_empty();
        for ranks in nearest {
            let others = ranks.iter().filter(|rank| !may_be_reached || !are_reached.contains(rank.number()));
            reached.extend(others.map(|rank| Reached {
                anchor: rank.number(),
                distance: rank.value(),
                is_somewhere: true,
            }));
        }
    }

    /// Ranks what is within a distance; without an eye, everything. Returns how much there was of what moves, and of what does not.
    fn rank_within(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, radius_m: f64) -> [usize; 2] {
        let state = viewer.state;
        let InterestQuery { look, around, nearest, own, .. } = self;
        nearest.iter_mut().for_each(Vec::clear);
        if !look.eyes.is_empty() {
            grid.note_look(radius_m);
        }
        let grid = &*grid;
        let (hierarchy, versions) = (state.hierarchy(), state.versions());
        let is_below = |anchor: u32| hierarchy.root(versions.versions()[versions.place(anchor)].key.entity).is_some();
        let mut looked_at = [0; 2];
        look_around(&look.eyes, grid, radius_m, around, |anchor, distance| {
            let class = usize::from(grid.is_static(anchor));
            looked_at[class] += 1;
            if !own.contains(anchor) && (hierarchy.are_none() || !is_below(anchor)) {
                let stays = if viewer.had(anchor, grid) { STAYS } else { 1.0 };
                nearest[class].push(RankingKey::new(distance * single(stays), anchor));
            }
        });
        looked_at
    }

    fn reach_within(&mut self, viewer: Viewer<'_>, grid: &mut EntityGrid, [radius_m, leaves_at_m]: [f32; 2]) {
        if self.look.eyes.is_empty() {
            return;
        }
        let radius = f64::from(radius_m.max(0.0));
        let leaves_at = f64::from(leaves_at_m).max(radius);
        grid.note_look(leaves_at);
        let grid = &*grid;
        let InterestQuery { look, around, reached, are_reached, .. } = self;
        look_around(&look.eyes, grid, leaves_at, around, |anchor, distance| {
            let is_in_reach = distance <= single(radius * radius) || viewer.had(anchor, grid);
            if is_in_reach && !are_reached.contains(anchor) {
                reached.push(Reached { anchor, distance, is_somewhere: true });
            }
        });
    }

    /// Makes of what is in reach the rows that are in view.
    fn settle(&mut self, viewer: Viewer<'_>, grid: &EntityGrid) {
        let InterestQuery { own, reached, rows, importance: of_rows, .. } = self;
        rows.clear();
        of_rows.resize(viewer.state.versions().slots().next_multiple_of(BLOCK as usize), 0.0);
        let mut seen = 0;
        for nth in 0..reached.len() {
            let Reached { anchor, distance, .. } = reached[nth];
            let Some(weight) = viewer.weight(anchor, own) else { continue };
            let matters = weight * importance(distance);
            for slot in grid.rows_of(anchor) {
                if grid.is_public(slot) || viewer.is_in_group(slot) {
                    rows.insert(slot);
                    of_rows[slot as usize] = matters;
                }
            }
            reached[seen] = reached[nth];
            seen += 1;
        }
        reached.truncate(seen);
        // What no client predicts of the viewer's own is told as what is another's, and matters most.
        let (versions, schema) = (viewer.state.versions(), viewer.state.schema());
        let may_be = schema.components().iter().any(ComponentSchema::is_never_predicted);
        let own = versions.of_owner(viewer.player).filter(|_| may_be).map(|place| &versions.versions()[place]);
        for shown in own.filter(|own| viewer.state.is_shown_to_owner(own.key)) {
            rows.insert(shown.slot);
            of_rows[shown.slot as usize] = importance(0.0);
        }
    }

    /// The numbers of the rows that are in view, and not told exactly as the viewer's own.
    pub(super) fn rows(&self) -> &SlotSet {
        &self.rows
    }

    /// How much those of a block matter; of what is not in view anything.
    pub(super) fn importance(&self, first: u32) -> &[f32; BLOCK as usize] {
        block(&self.importance, first)
    }

    /// The entities in reach, by the numbers of the rows that say where they are, the squares of their distances, and whether they
    /// are somewhere.
    pub(super) fn reached(&self) -> impl Iterator<Item = (u32, f32, bool)> {
        self.reached.iter().map(|reached| (reached.anchor, reached.distance, reached.is_somewhere))
    }

    /// Whether a client may not know of a row of another's. Who is in a group is known where there are limits.
    pub(super) fn hides(&self, state: &AuthoritativeState, player: PlayerId, key: RowKey) -> bool {
        let is_own = || state.rows().owner(key.entity) == Some(player);
        let is_of_group = || matches!(state.schema().component(key.component).audience(), Audience::Group(_));
        let shows = || state.versions().get(key).is_some_and(|there| self.rows.contains(there.slot));
        (if self.is_limited { !shows() } else { is_of_group() }) && !is_own()
    }

    /// Whether anything of another player's is in view.
    pub(super) fn shows_player(&self, state: &AuthoritativeState, player: PlayerId) -> bool {
        let versions = state.versions();
        match self.is_limited {
            true => versions.of_owner(player).any(|place| self.rows.contains(versions.versions()[place].slot)),
            false => state.rows().shows_others(state.schema(), player),
        }
    }

    /// The client is told so, in the state `now`.
    pub(super) fn note_told(&self, view: &mut InterestSet, now: Tick) {
        view.note_told(now, &self.rows);
        view.note_reach(self.look.interest, &self.look.eyes);
    }
}

/// Finds what is within a distance of the nearest eye; without any, everything: the number of each anchor, once, and the square of its
/// distance. The memory for several eyes is used again.
fn look_around(
    eyes: &[[f64; 3]],
    grid: &EntityGrid,
    radius_m: f64,
    around: &mut Vec<(u32, f32)>,
    mut found: impl FnMut(u32, f32),
) {
    match eyes {
        _ if eyes.is_empty() || radius_m == f64::INFINITY => {
            grid.somewhere().for_each(|(anchor, at)| found(anchor, nearest_of(eyes, at)));
        }
        [eye] => grid.near(*eye, radius_m, |anchor, squared| found(anchor, single(squared))),
        _ => {
            around.clear();
            for eye in eyes {
                grid.near(*eye, radius_m, |anchor, squared| around.push((anchor, single(squared))));
            }
            around.sort_unstable_by_key(|(anchor, distance)| (*anchor, distance.to_bits()));
            around.dedup_by_key(|(anchor, _)| *anchor);
            around.iter().for_each(|(anchor, distance)| found(*anchor, *distance));
        }
    }
}

impl Viewer<'_> {
    /// How much an entity of another's matters to them, by its anchor; `None` where they don't see it, or it is theirs.
    fn weight(&self, anchor: u32, own: &SlotSet) -> Option<f32> {
        if own.contains(anchor) {
            return None;
        }
        self.settings.visibility(self.player, || self.version(anchor).key.entity).weight()
    }

    /// Whether an entity was in view, by its anchor: that itself may be new, or nothing that they are told.
    #[inline]
    fn had(&self, anchor: u32, grid: &EntityGrid) -> bool {
        grid.rows_of(anchor).any(|slot| self.view.has_number(slot))
    }

    /// Whether they see a row because of the game's rules of groups.
    fn is_in_group(&self, slot: u32) -> bool {
        let RowVersion { key, owner, .. } = *self.version(slot);
        let audience = self.state.schema().component(key.component).audience();
        self.settings.includes(self.player, audience, Owned { entity: key.entity, owner })
    }

    fn version(&self, slot: u32) -> &RowVersion {
        let versions = self.state.versions();
        &versions.versions()[versions.place(slot)]
    }
}

/// The number of the row that says where an entity is; `None` where nobody else may see anything of it.
fn anchor_of(state: &AuthoritativeState, grid: &EntityGrid, entity: Entity) -> Option<u32> {
    grid.anchor(state.versions().get(state.rows().of(entity).next()?.key())?.slot)
}

/// The square of the distance to the nearest eye; without any, everything is equally near.
fn nearest_of(eyes: &[[f64; 3]], at: [f64; 3]) -> f32 {
    single(eyes.iter().map(|eye| squared_distance(*eye, at)).min_by(f64::total_cmp).unwrap_or(1.0))
}

#[cfg(test)]
mod tests;
