//! What of the world one client sees, where that is not all: of the entities of others those that are nearest to any of its
//! own.
//!
//! What is in view stays there until something else is nearer by a fifth. Of what is equally near the first by name is in
//! view. Own entities, those that the client has authority over, and those without a position are told always.

use super::changes::{Changes, Stamp};
use super::holds::Holds;
use super::peer::Peer;
use crate::rollback::{Audience, Entity, Kind, Meaning, PlayerId, Rows, Schema};
use crate::time::Tick;
use std::collections::VecDeque;

/// What is in view counts as nearer by a fifth; of squared distances.
const STAYS: f64 = 0.64;
/// How many that have left the view are remembered, the newest.
const LEFT_MAX: usize = 2048;

/// Whether entities of this kind are in view by where they are.
pub(super) fn is_placed(schema: &Schema, kind: Kind) -> bool {
    let kind = schema.kind(kind);
    kind.audience() == Audience::All && kind.nth(Meaning::Position, 0).is_some()
}

/// Where the entities of a state are; made once for all clients.
#[derive(Default)]
pub(super) struct Places {
    of: Option<Tick>,
    /// Ascending: which of the rows, the entity, where.
    all: Vec<(usize, Entity, [f64; 3])>,
}

impl Places {
    /// Becomes those of `state`, if it is not that already.
    pub(super) fn update(&mut self, rows: &Rows, schema: &Schema, state: Tick) {
        if self.of.replace(state) == Some(state) {
            return;
        }
        self.all.clear();
        for (nth, (entity, words)) in
            rows.iter().enumerate().filter(|(_, (entity, _))| is_placed(schema, entity.kind()))
        {
            let field = schema.kind(entity.kind()).field(Meaning::Position, words);
            self.all.extend(field.map(|(column, words)| (nth, entity, column.lanes(words))));
        }
    }
}

/// An entity that was in view from one state on, and not any more from another.
#[derive(Clone, Copy, Debug)]
struct Left {
    entity: Entity,
    since: Tick,
    at: Tick,
}

/// What one client was told last of the entities of others that are somewhere. Lives until everything is in view again.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// With the state from which on it is in view, ascending.
    seen: Vec<(Entity, Tick)>,
    /// Ascending by when they left.
    left: VecDeque<Left>,
    /// What has left later than this is all remembered.
    remembered: Tick,
    /// The state that it was told last.
    told: Tick,
}

impl View {
    /// Of a client that has seen everything.
    pub(super) fn of_all(changes: &Changes, schema: &Schema, player: PlayerId) -> View {
        let placed = |stamp: &&Stamp| stamp.entity.player() != player && is_placed(schema, stamp.entity.kind());
        let seen = changes.stamps().iter().filter(placed).map(|stamp| (stamp.entity, stamp.created)).collect();
        View { seen, left: VecDeque::new(), remembered: Tick::ZERO, told: Tick::ZERO }
    }

    /// Whether an entity that is somewhere, and was first there in the state `created`, was out of view when the client was
    /// told last. What is new may come into view.
    pub(super) fn hides(&self, entity: Entity, created: Option<Tick>) -> bool {
        let has = self.seen.binary_search_by_key(&entity, |(entity, _)| *entity).is_ok();
        !has && created.is_some_and(|created| created <= self.told)
    }
}

impl<I> Peer<I> {
    /// The client is told the state `now`, of which it sees so much.
    pub(super) fn note_seen(&mut self, sight: &Sight, now: Tick, nearest: Option<u16>) {
        let base = self.sent.baseline().map(|base| base.state);
        let Some(view) = &mut self.view else { return };
        sight.note_told(view, now, base);
        if nearest.is_none() && sight.is_everything(view, base) {
            self.view = None;
        }
    }
}

/// One entity that may be in view.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    row: usize,
    entity: Entity,
    /// From which state on it was in view.
    since: Option<Tick>,
    is_in: bool,
}

/// What one client is to see of one state. Its memory is used again.
#[derive(Default)]
pub(super) struct Sight {
    /// Ascending.
    candidates: Vec<Candidate>,
    /// How near those are that may be out of view, and which.
    order: Vec<(u64, usize)>,
    /// What was in view and is nowhere any more.
    vanished: Vec<(Entity, Tick)>,
    own: Vec<[f64; 3]>,
    has_shed: bool,
}

impl Sight {
    /// Everything is in view.
    pub(super) fn clear(&mut self) {
        self.candidates.clear();
        self.order.clear();
        self.vanished.clear();
        self.has_shed = false;
    }

    /// Whether something was left out that is near enough.
    pub(super) fn has_shed(&self) -> bool {
        self.has_shed
    }

    /// Looks at the `most` nearest.
    pub(super) fn look(&mut self, view: &View, places: &Places, (player, holds): (PlayerId, &Holds), most: usize) {
        let some = !holds.is_empty();
        let has = |entity: Entity| some && holds.holder(entity).is_some_and(|holder| holder.player == player);
        self.own.clear();
        let own = places.all.iter().filter(|(_, entity, _)| entity.player() == player || has(*entity));
        self.own.extend(own.map(|(_, _, at)| *at));
        self.clear();
        let mut seen = &view.seen[..];
        for (row, entity, at) in places.all.iter().filter(|(_, entity, _)| entity.player() != player) {
            while let [(before, since), rest @ ..] = seen
                && before < entity
            {
                self.vanished.push((*before, *since));
                seen = rest;
            }
            let since = match seen {
                [(before, since), rest @ ..] if before == entity => {
                    seen = rest;
                    Some(*since)
                }
                _ => None,
            };
            if !has(*entity) {
                let stays = if since.is_some() { STAYS } else { 1.0 };
                self.order.push((bits_of(self.distance(*at) * stays), self.candidates.len()));
            }
            self.candidates.push(Candidate { row: *row, entity: *entity, since, is_in: true });
        }
        self.vanished.extend(seen);
        if self.order.len() > most {
            self.order.select_nth_unstable(most);
            for (_, nth) in self.order.drain(most..) {
                self.candidates[nth].is_in = false;
            }
        }
    }

    /// Squared, to the nearest of its own; without any, everything is equally near.
    fn distance(&self, at: [f64; 3]) -> f64 {
        let to = |own: &[f64; 3]| own.iter().zip(at).map(|(own, at)| (own - at) * (own - at)).sum::<f64>();
        let nearest = self.own.iter().map(to).fold(f64::INFINITY, f64::min);
        if self.own.is_empty() { 1.0 } else { nearest }
    }

    /// Leaves out the farthest of those that have to be told, so that the others take `most` bits.
    pub(super) fn shed(&mut self, most: u64, bits_to_tell: impl Fn(Entity, usize, Option<Tick>) -> u64) {
        self.order.sort_unstable();
        let (mut spent, before) = (0, self.order.len());
        let candidates = &mut self.candidates;
        self.order.retain(|(_, nth)| {
            let candidate = &mut candidates[*nth];
            let bits = bits_to_tell(candidate.entity, candidate.row, candidate.since);
            spent += bits;
            candidate.is_in = bits == 0 || spent <= most;
            candidate.is_in
        });
        self.has_shed |= self.order.len() < before;
    }

    /// The entities in question by the numbers of their rows, ascending: since when they are in view; `None` for one that
    /// is not to be seen.
    pub(super) fn by_row(&self) -> impl Iterator<Item = (usize, Option<Option<Tick>>)> {
        self.candidates.iter().map(|candidate| (candidate.row, candidate.is_in.then_some(candidate.since)))
    }

    /// Whether an entity is in view, if that is in question.
    pub(super) fn is_in(&self, entity: Entity) -> Option<bool> {
        let at = self.candidates.binary_search_by_key(&entity, |candidate| candidate.entity).ok()?;
        Some(self.candidates[at].is_in)
    }

    /// What was in view in the state `base` and is not any more; `None` where that is not remembered.
    pub(super) fn gone_since<'a>(&'a self, view: &'a View, base: Tick) -> Option<impl Iterator<Item = Entity> + 'a> {
        let out = self.candidates.iter().filter(|candidate| !candidate.is_in);
        let out = out.filter_map(|candidate| Some((candidate.entity, candidate.since?)));
        let now = out.chain(self.vanished.iter().copied()).filter(move |(_, since)| *since <= base);
        let first = view.left.partition_point(|left| left.at <= base);
        let before = view.left.range(first..).filter(move |left| left.since <= base);
        let before = before.map(|left| left.entity).filter(|entity| self.is_in(*entity) != Some(true));
        (view.remembered <= base).then(|| now.map(|(entity, _)| entity).chain(before))
    }

    /// The client is told so, in the state `now`, against `base`.
    pub(super) fn note_told(&self, view: &mut View, now: Tick, base: Option<Tick>) {
        let out = self.candidates.iter().filter(|candidate| !candidate.is_in);
        let out = out.filter_map(|candidate| Some((candidate.entity, candidate.since?)));
        let left = out.chain(self.vanished.iter().copied()).map(|(entity, since)| Left { entity, since, at: now });
        view.left.extend(left);
        view.told = now;
        let told = view.left.partition_point(|left| Some(left.at) <= base);
        view.left.drain(..told);
        let surplus = view.left.len().saturating_sub(LEFT_MAX);
        view.remembered = view.left.drain(..surplus).next_back().map_or(view.remembered, |left| left.at);
        view.seen.clear();
        let inside = self.candidates.iter().filter(|candidate| candidate.is_in);
        view.seen.extend(inside.map(|candidate| (candidate.entity, candidate.since.unwrap_or(now))));
    }

    /// Whether everything is in view, and has been since `base`.
    pub(super) fn is_everything(&self, view: &View, base: Option<Tick>) -> bool {
        let since_base =
            |candidate: &Candidate| candidate.is_in && candidate.since.is_some() && candidate.since <= base;
        view.left.is_empty() && self.candidates.iter().all(since_base)
    }
}

/// In the order of numbers that are not negative; what is not a number is far away.
fn bits_of(distance: f64) -> u64 {
    if distance.is_finite() { distance.to_bits() } else { f64::INFINITY.to_bits() }
}
