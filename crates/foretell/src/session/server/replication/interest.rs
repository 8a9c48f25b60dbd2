//! What of the world one client sees, where that is not all: of the entities of others those that are nearest to any of its
//! own.
//!
//! What is in view stays there until something else is nearer by a fifth. Of what is equally near, to single precision, the
//! first by name is in view. Own entities, those that the client has authority over, and those without a position are told
//! always.

use super::entities_in_view::{EntitiesInView, Left, Seen};
use super::spatial_index::{PlacedRow, SpatialIndex, is_placed};
use crate::motion::vector::squared_distance;
use crate::session::server::authority::SharedMode;
use crate::time::Tick;
use crate::world::{PlayerId, RowKey, Schema};
use alloc::vec::Vec;

/// What is in view counts as nearer by a fifth; of squared distances.
const STAYS: f64 = 0.64;

/// Since when a client sees a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Visible {
    /// Since it is there.
    Always,
    /// From this state on.
    Since(Tick),
    /// From now on.
    Entered,
}

/// A row that a client sees: its place among all rows, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRow {
    pub row: usize,
    pub visible: Visible,
}

/// Who looks, with what authority, where everything is, and what was in view.
#[derive(Clone, Copy)]
pub(super) struct Viewer<'a> {
    pub player: PlayerId,
    pub authority: &'a SharedMode,
    pub spatial: &'a SpatialIndex,
    pub view: &'a EntitiesInView,
}

/// The place of an entity that is the client's own, or that it has authority over.
#[derive(Clone, Copy, Debug)]
struct OwnPlace {
    nth: usize,
    at: [f64; 3],
}

/// A place that was in view, and from which state on.
#[derive(Clone, Copy, Debug)]
struct Known {
    nth: usize,
    since: Tick,
}

/// A row that was in view, and from which state on.
#[derive(Clone, Copy, Debug)]
struct Gone {
    key: RowKey,
    since: Tick,
}

/// An entity that is to be in view.
#[derive(Clone, Copy, Debug)]
struct Inside {
    nth: usize,
    row: usize,
    key: RowKey,
    /// From which state on it was in view.
    since: Option<Tick>,
}

/// What one client is to see of one state. Its memory is used again.
#[derive(Default)]
pub(super) struct InterestQuery {
    /// Whether it leaves anything out.
    is_limited: bool,
    /// The places of its own, and of what it has authority over.
    own: Vec<OwnPlace>,
    /// Of those the ones that belong to others.
    held: Vec<usize>,
    /// The [ranks](rank) of the others that are near enough, in no order.
    near: Vec<u64>,
    /// What was in view and is somewhere, ascending by place, with the state from which on it was.
    known: Vec<Known>,
    /// What was in view and is nowhere any more.
    vanished: Vec<Gone>,
    /// What is near enough or held, ascending by place.
    inside: Vec<Inside>,
    /// What was in view and is not any more.
    lost: Vec<Gone>,
    /// All rows that are seen, ascending.
    rows: Vec<SeenRow>,
    has_shed: bool,
}

impl InterestQuery {
    /// Everything is in view.
    pub(super) fn clear(&mut self) {
        (self.is_limited, self.has_shed) = (false, false);
    }

    /// Whether something was left out that is near enough.
    pub(super) fn has_shed(&self) -> bool {
        self.has_shed
    }

    /// Looks at the `most` nearest to any of its own; without any, everything is equally near.
    pub(super) fn look(&mut self, viewer: Viewer<'_>, most: usize) {
        let Viewer { player, spatial, view, .. } = viewer;
        self.is_limited = true;
        self.note_own(viewer);
        self.note_known(view, spatial);
        let InterestQuery { near, own, known, .. } = self;
        near.clear();
        match &own[..] {
            [] => near.extend((0..spatial.all().len()).map(|nth| rank(1.0, nth))),
            [own, others @ ..] => near.extend(spatial.all().iter().enumerate().map(|(nth, place)| {
                let nearest = others.iter().map(|own| squared_distance(own.at, place.at));
                rank(nearest.fold(squared_distance(own.at, place.at), f64::min), nth)
            })),
        }
        for Known { nth, .. } in &*known {
            near[*nth] = nearer(near[*nth], *nth);
        }
        for OwnPlace { nth, .. } in &*own {
            near[*nth] = u64::MAX;
        }
        let most = most.min(near.len() - own.len());
        if most < near.len() {
            near.select_nth_unstable(most);
            near.truncate(most);
        }
        self.settle(spatial, player);
    }

    fn note_own(&mut self, viewer: Viewer<'_>) {
        let Viewer { player, authority, spatial, .. } = viewer;
        let some = !authority.entities().is_empty();
        let has = |key: RowKey| some && authority.holder(key.entity).is_some_and(|holder| holder.player == player);
        self.own.clear();
        self.held.clear();
        for (nth, place) in spatial.all().iter().enumerate() {
            let is_own = place.owner == player;
            if is_own || has(place.key) {
                self.own.push(OwnPlace { nth, at: place.at });
                self.held.extend((!is_own).then_some(nth));
            }
        }
    }

    fn note_known(&mut self, view: &EntitiesInView, spatial: &SpatialIndex) {
        self.known.clear();
        self.vanished.clear();
        for Seen { key, nth, since } in view.seen() {
            match spatial.find(*key, *nth) {
                Some(nth) => self.known.push(Known { nth, since: *since }),
                None => self.vanished.push(Gone { key: *key, since: *since }),
            }
        }
    }

    /// Makes of what is near, held and known what comes, stays and goes.
    fn settle(&mut self, spatial: &SpatialIndex, player: PlayerId) {
        let InterestQuery { own, held, near, known, vanished, inside, lost, rows, .. } = self;
        inside.clear();
        inside.extend(near.iter().map(|rank| nth_of(*rank)).chain(held.iter().copied()).map(|nth| {
            let PlacedRow { row, key, .. } = spatial.all()[nth];
            Inside { nth, row, key, since: None }
        }));
        inside.sort_unstable_by_key(|inside| inside.nth);
        lost.clone_from(vanished);
        let mut rest = &mut inside[..];
        for Known { nth, since } in &*known {
            let before = rest.iter().position(|inside| inside.nth >= *nth).unwrap_or(rest.len());
            rest = &mut rest[before..];
            match rest.first_mut().filter(|inside| inside.nth == *nth) {
                Some(inside) => inside.since = Some(*since),
                None => lost.push(Gone { key: spatial.all()[*nth].key, since: *since }),
            }
        }
        rows.clear();
        let visible = |since: Option<Tick>| since.map_or(Visible::Entered, Visible::Since);
        rows.extend(inside.iter().map(|inside| SeenRow { row: inside.row, visible: visible(inside.since) }));
        let own = own.iter().map(|own| &spatial.all()[own.nth]).filter(|place| place.owner == player);
        let seen = spatial.rest().iter().filter(|other| other.alone.is_none_or(|alone| alone == player));
        let always = own.map(|place| place.row).chain(seen.map(|other| other.row));
        rows.extend(always.map(|row| SeenRow { row, visible: Visible::Always }));
        rows.sort_unstable_by_key(|seen| seen.row);
    }

    /// Leaves out the farthest of those that have to be told, so that the others take `most` bits.
    pub(super) fn shed(
        &mut self,
        spatial: &SpatialIndex,
        player: PlayerId,
        most: u64,
        bits_to_tell: impl Fn(RowKey, usize, Option<Tick>) -> u64,
    ) {
        let InterestQuery { near, inside, .. } = self;
        near.sort_unstable();
        let (mut spent, before) = (0, near.len());
        near.retain(|rank| {
            let at = inside.binary_search_by_key(&nth_of(*rank), |inside| inside.nth).expect("what is near is inside");
            let Inside { key, row, since, .. } = inside[at];
            let bits = bits_to_tell(key, row, since);
            spent += bits;
            bits == 0 || spent <= most
        });
        self.has_shed |= near.len() < before;
        self.settle(spatial, player);
    }

    /// The rows that are seen, ascending.
    pub(super) fn rows(&self) -> impl Iterator<Item = SeenRow> {
        self.rows.iter().copied()
    }

    /// Whether an entity is somewhere and not in view.
    pub(super) fn hides(&self, spatial: &SpatialIndex, key: RowKey) -> bool {
        let is_out = |nth| {
            let is_inside = self.inside.binary_search_by_key(&nth, |inside| inside.nth).is_ok();
            !is_inside && self.own.iter().all(|own| own.nth != nth)
        };
        self.is_limited && spatial.find(key, 0).is_some_and(is_out)
    }

    /// Whether a row of another's is in view, or is in view wherever it is.
    pub(super) fn may_show(&self, schema: &Schema, key: RowKey) -> bool {
        !is_placed(schema, key.component) || self.inside.binary_search_by_key(&key, |inside| inside.key).is_ok()
    }

    /// What was in view in the state `base` and is not any more; `None` where that is not remembered.
    pub(super) fn gone_since<'a>(
        &'a self,
        view: &'a EntitiesInView,
        base: Tick,
    ) -> Option<impl Iterator<Item = RowKey> + 'a> {
        let now = self.lost.iter().filter(move |gone| gone.since <= base).map(|gone| gone.key);
        let before = view.left_since(base)?.filter(move |left| left.since <= base).map(|left| left.key);
        let is_in = |key: &RowKey| self.inside.binary_search_by_key(key, |inside| inside.key).is_ok();
        Some(now.chain(before.filter(move |key| !is_in(key))))
    }

    /// The client is told so, in the state `now`, against `base`.
    pub(super) fn note_told(&self, view: &mut EntitiesInView, now: Tick, base: Option<Tick>) {
        let lost = self.lost.iter().map(|gone| Left { key: gone.key, since: gone.since, at: now });
        let seen = self.inside.iter().map(|inside| Seen {
            key: inside.key,
            nth: inside.nth,
            since: inside.since.unwrap_or(now),
        });
        view.note_told(now, base, lost, seen);
    }

    /// Whether everything is in view, and has been since `base`.
    pub(super) fn is_everything(&self, spatial: &SpatialIndex, view: &EntitiesInView, base: Option<Tick>) -> bool {
        let is_all = self.inside.len() + self.own.len() == spatial.all().len() + self.held.len();
        is_all && view.has_told_all() && self.inside.iter().all(|inside| inside.since.is_some() && inside.since <= base)
    }
}

/// In the order of distances, and of places that are equally near; what is not a number is far away. Own places have
/// `u64::MAX`.
fn rank(distance: f64, nth: usize) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "to compare by")]
    let distance = if distance < f64::from(f32::MAX) { distance as f32 } else { f32::INFINITY };
    u64::from(distance.to_bits()) << 32 | nth as u64
}

/// Of a place that was in view.
fn nearer(rank_before: u64, nth: usize) -> u64 {
    rank(f64::from(f32::from_bits((rank_before >> 32) as u32)) * STAYS, nth)
}

/// Which place has this rank.
#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
fn nth_of(rank: u64) -> usize {
    rank as u32 as usize
}
