//! What of the world one client sees, where that is not all: of the entities of others those that are nearest to any of its
//! own.
//!
//! What is in view stays there until something else is nearer by a fifth. Of what is equally near, to single precision, the
//! first by name is in view. Own entities, those that the client has authority over, and those without a position are told
//! always.

use super::authority_table::AuthorityTable;
use super::peer::Peer;
use super::row_versions::{RowVersion, RowVersions};
use crate::motion::vector::squared_distance;
use crate::time::Tick;
use crate::world::{Audience, ComponentId, Meaning, PlayerId, RowKey, Rows, Schema};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What is in view counts as nearer by a fifth; of squared distances.
const STAYS: f64 = 0.64;
/// How many that have left the view are remembered, the newest.
const LEFT_MAX: usize = 2048;

/// Whether entities with this component are in view by where they are.
pub(super) fn is_placed(schema: &Schema, component: ComponentId) -> bool {
    let component = schema.component(component);
    component.audience() == Audience::All && component.nth(Meaning::Position, 0).is_some()
}

/// An entity that is somewhere, and its row.
#[derive(Clone, Copy, Debug)]
struct PlacedRow {
    row: usize,
    key: RowKey,
    owner: PlayerId,
    at: [f64; 3],
}

/// Where the entities of a state are; made once for all clients.
#[derive(Default)]
pub(super) struct SpatialIndex {
    of: Option<Tick>,
    /// Ascending by key.
    all: Vec<PlacedRow>,
    /// The rows of everything else, ascending, and who alone sees it.
    rest: Vec<(usize, Option<PlayerId>)>,
}

impl SpatialIndex {
    /// Becomes those of `state`, if it is not that already.
    pub(super) fn update(&mut self, rows: &Rows, schema: &Schema, state: Tick) {
        if self.of.replace(state) == Some(state) {
            return;
        }
        self.all.clear();
        self.rest.clear();
        for (at, row) in rows.iter().enumerate() {
            let component = schema.component(row.component);
            let is_for_all = component.audience() == Audience::All;
            let (key, owner) = (row.key(), row.owner);
            match component.field(Meaning::Position, row.words).filter(|_| is_for_all) {
                Some((column, words)) => self.all.push(PlacedRow { row: at, key, owner, at: column.lanes(words) }),
                None => self.rest.push((at, (!is_for_all).then_some(owner))),
            }
        }
    }

    /// Which of them an entity is, that was `before`.
    fn find(&self, key: RowKey, before: usize) -> Option<usize> {
        if self.all.get(before).is_some_and(|place| place.key == key) {
            return Some(before);
        }
        self.all.binary_search_by_key(&key, |place| place.key).ok()
    }
}

/// An entity that was in view from one state on, and not any more from another.
#[derive(Clone, Copy, Debug)]
struct Left {
    key: RowKey,
    since: Tick,
    at: Tick,
}

/// An entity in view.
#[derive(Clone, Copy, Debug)]
struct Seen {
    key: RowKey,
    /// Which of the places it was.
    nth: usize,
    /// The state from which on it is in view.
    since: Tick,
}

/// What one client was told last of the entities of others that are somewhere. Lives until everything is in view again.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Ascending by key.
    seen: Vec<Seen>,
    /// Ascending by when they left.
    left: VecDeque<Left>,
    /// What has left later than this is all remembered.
    remembered: Tick,
    /// The state that it was told last.
    told: Tick,
}

impl View {
    /// Of a client that has seen everything.
    pub(super) fn of_all(row_versions: &RowVersions, schema: &Schema, player: PlayerId) -> View {
        let placed = |version: &&RowVersion| version.owner != player && is_placed(schema, version.key.component);
        let seen = |version: &RowVersion| Seen { key: version.key, nth: 0, since: version.created };
        let seen = row_versions.versions().iter().filter(placed).map(seen).collect();
        View { seen, left: VecDeque::new(), remembered: Tick::ZERO, told: Tick::ZERO }
    }

    /// Whether an entity that is somewhere, and was first there in the state `created`, was out of view when the client was
    /// told last. What is new may come into view.
    pub(super) fn hides(&self, key: RowKey, created: Option<Tick>) -> bool {
        let has = self.seen.binary_search_by_key(&key, |seen| seen.key).is_ok();
        !has && created.is_some_and(|created| created <= self.told)
    }
}

impl<I> Peer<I> {
    /// The client is told the state `now`, of which it sees so much.
    pub(super) fn note_seen(
        &mut self,
        (interest, spatial): (&InterestQuery, &SpatialIndex),
        now: Tick,
        nearest: Option<u16>,
    ) {
        let base = self.sent.baseline();
        let Some(view) = &mut self.view else { return };
        interest.note_told(view, now, base);
        if nearest.is_none() && interest.is_everything(spatial, view, base) {
            self.view = None;
        }
    }
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
    own: Vec<(usize, [f64; 3])>,
    /// Of those the ones that belong to others.
    held: Vec<usize>,
    /// The [ranks](rank) of the others that are near enough, in no order.
    near: Vec<u64>,
    /// What was in view and is somewhere, ascending by place, with the state from which on it was.
    known: Vec<(usize, Tick)>,
    /// What was in view and is nowhere any more.
    vanished: Vec<(RowKey, Tick)>,
    /// What is near enough or held, ascending by place.
    inside: Vec<Inside>,
    /// What was in view and is not any more.
    lost: Vec<(RowKey, Tick)>,
    /// All rows that are seen, ascending; with those of [`Inside`], from which state on they were in view.
    rows: Vec<(usize, Option<Option<Tick>>)>,
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
    pub(super) fn look(
        &mut self,
        view: &View,
        spatial: &SpatialIndex,
        (player, authority): (PlayerId, &AuthorityTable),
        most: usize,
    ) {
        self.is_limited = true;
        self.note_own(spatial, player, authority);
        self.note_known(view, spatial);
        let InterestQuery { near, own, known, .. } = self;
        near.clear();
        match &own[..] {
            [] => near.extend((0..spatial.all.len()).map(|nth| rank(1.0, nth))),
            [(_, own), others @ ..] => near.extend(spatial.all.iter().enumerate().map(|(nth, place)| {
                let nearest = others.iter().map(|(_, own)| squared_distance(*own, place.at));
                rank(nearest.fold(squared_distance(*own, place.at), f64::min), nth)
            })),
        }
        for (nth, _) in &*known {
            near[*nth] = nearer(near[*nth], *nth);
        }
        for (nth, _) in &*own {
            near[*nth] = u64::MAX;
        }
        let most = most.min(near.len() - own.len());
        if most < near.len() {
            near.select_nth_unstable(most);
            near.truncate(most);
        }
        self.settle(spatial, player);
    }

    fn note_own(&mut self, spatial: &SpatialIndex, player: PlayerId, authority: &AuthorityTable) {
        let some = !authority.is_empty();
        let has = |key: RowKey| some && authority.holder(key.entity).is_some_and(|holder| holder.player == player);
        self.own.clear();
        self.held.clear();
        for (nth, place) in spatial.all.iter().enumerate() {
            let is_own = place.owner == player;
            if is_own || has(place.key) {
                self.own.push((nth, place.at));
                self.held.extend((!is_own).then_some(nth));
            }
        }
    }

    fn note_known(&mut self, view: &View, spatial: &SpatialIndex) {
        self.known.clear();
        self.vanished.clear();
        for Seen { key, nth, since } in &view.seen {
            match spatial.find(*key, *nth) {
                Some(nth) => self.known.push((nth, *since)),
                None => self.vanished.push((*key, *since)),
            }
        }
    }

    /// Makes of what is near, held and known what comes, stays and goes.
    fn settle(&mut self, spatial: &SpatialIndex, player: PlayerId) {
        let InterestQuery { own, held, near, known, vanished, inside, lost, rows, .. } = self;
        inside.clear();
        inside.extend(near.iter().map(|rank| nth_of(*rank)).chain(held.iter().copied()).map(|nth| {
            let PlacedRow { row, key, .. } = spatial.all[nth];
            Inside { nth, row, key, since: None }
        }));
        inside.sort_unstable_by_key(|inside| inside.nth);
        lost.clone_from(vanished);
        let mut rest = &mut inside[..];
        for (nth, since) in &*known {
            let before = rest.iter().position(|inside| inside.nth >= *nth).unwrap_or(rest.len());
            rest = &mut rest[before..];
            match rest.first_mut().filter(|inside| inside.nth == *nth) {
                Some(inside) => inside.since = Some(*since),
                None => lost.push((spatial.all[*nth].key, *since)),
            }
        }
        rows.clear();
        rows.extend(inside.iter().map(|inside| (inside.row, Some(inside.since))));
        let own = own.iter().map(|(nth, _)| &spatial.all[*nth]).filter(|place| place.owner == player);
        rows.extend(own.map(|place| (place.row, None)));
        let seen = |alone: &Option<PlayerId>| alone.is_none_or(|alone| alone == player);
        rows.extend(spatial.rest.iter().filter(|(_, alone)| seen(alone)).map(|(row, _)| (*row, None)));
        rows.sort_unstable_by_key(|(row, _)| *row);
    }

    /// Leaves out the farthest of those that have to be told, so that the others take `most` bits.
    pub(super) fn shed(
        &mut self,
        (spatial, player): (&SpatialIndex, PlayerId),
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

    /// The rows that are seen, ascending; of those that might not be, since when they are, if they were before.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Option<Option<Tick>>)> {
        self.rows.iter().copied()
    }

    /// Whether an entity is somewhere and not in view.
    pub(super) fn hides(&self, spatial: &SpatialIndex, key: RowKey) -> bool {
        let is_out = |nth| {
            let is_inside = self.inside.binary_search_by_key(&nth, |inside| inside.nth).is_ok();
            !is_inside && self.own.iter().all(|(own, _)| *own != nth)
        };
        self.is_limited && spatial.find(key, 0).is_some_and(is_out)
    }

    /// Whether a row of another's is in view, or is in view wherever it is.
    pub(super) fn may_show(&self, schema: &Schema, key: RowKey) -> bool {
        !is_placed(schema, key.component) || self.inside.binary_search_by_key(&key, |inside| inside.key).is_ok()
    }

    /// What was in view in the state `base` and is not any more; `None` where that is not remembered.
    pub(super) fn gone_since<'a>(&'a self, view: &'a View, base: Tick) -> Option<impl Iterator<Item = RowKey> + 'a> {
        let now = self.lost.iter().filter(move |(_, since)| *since <= base).map(|(key, _)| *key);
        let first = view.left.partition_point(|left| left.at <= base);
        let before = view.left.range(first..).filter(move |left| left.since <= base).map(|left| left.key);
        let is_in = |key: &RowKey| self.inside.binary_search_by_key(key, |inside| inside.key).is_ok();
        (view.remembered <= base).then(|| now.chain(before.filter(move |key| !is_in(key))))
    }

    /// The client is told so, in the state `now`, against `base`.
    pub(super) fn note_told(&self, view: &mut View, now: Tick, base: Option<Tick>) {
        view.left.extend(self.lost.iter().map(|(key, since)| Left { key: *key, since: *since, at: now }));
        view.told = now;
        let told = view.left.partition_point(|left| Some(left.at) <= base);
        view.left.drain(..told);
        let surplus = view.left.len().saturating_sub(LEFT_MAX);
        view.remembered = view.left.drain(..surplus).next_back().map_or(view.remembered, |left| left.at);
        view.seen.clear();
        view.seen.extend(self.inside.iter().map(|inside| Seen {
            key: inside.key,
            nth: inside.nth,
            since: inside.since.unwrap_or(now),
        }));
    }

    /// Whether everything is in view, and has been since `base`.
    pub(super) fn is_everything(&self, spatial: &SpatialIndex, view: &View, base: Option<Tick>) -> bool {
        let is_all = self.inside.len() + self.own.len() == spatial.all.len() + self.held.len();
        is_all
            && view.left.is_empty()
            && self.inside.iter().all(|inside| inside.since.is_some() && inside.since <= base)
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
