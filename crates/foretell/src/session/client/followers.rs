//! The followers of those entities that are shown by one: fed in updates, asked in between.

use super::Curve;
use super::remote_window::{AHEAD, RemoteWindow};
use crate::motion::curve::Follower;
use crate::motion::{Correction, vector};
use crate::time::Instant;
use crate::world::{ComponentSchema, Entity, RowKey};
use alloc::vec::Vec;

/// Followers, each with its entity.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    /// Ascending by entity.
    of: Vec<(Entity, Follower<3>)>,
    /// The instant that they stand for.
    at: Instant,
}

impl Followers {
    pub(super) fn new() -> Followers {
        Followers { of: Vec::with_capacity(super::FEW), at: Instant::ZERO }
    }

    /// Where an entity is at `now`; `None` where nobody follows it.
    pub(super) fn position(&self, entity: Entity, now: Instant) -> Option<[f64; 3]> {
        let index = self.of.binary_search_by_key(&entity, |(entity, _)| *entity).ok()?;
        Some(self.of[index].1.after(now.since(self.at).as_secs_f64()).0)
    }

    /// Drops those whom nobody is to follow.
    pub(super) fn retain(&mut self, follows: impl Fn(Entity) -> bool) {
        self.of.retain(|(entity, _)| follows(*entity));
    }

    /// Moves all on to `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        let passed_s = now.since(self.at).as_secs_f64();
        self.of.iter_mut().for_each(|(_, follower)| {
            follower.update(passed_s);
        });
        self.at = now;
    }

    /// Tells the follower of an entity the newest state, if it is shown by one; else it has none. One that begins is where
    /// it should be. It warps from where a `correction` would snap.
    pub(super) fn follow(
        &mut self,
        (kind, key, curve): (&ComponentSchema, RowKey, Curve),
        remote: &RemoteWindow<'_>,
        correction: Option<&Correction>,
    ) {
        let entity = key.entity;
        let Some(following) = curve.following() else { return self.of.retain(|(of, _)| *of != entity) };
        let Some(told) = remote.told(key) else { return };
        let (position, velocity) = told.motion(kind);
        let new = || {
            let mut follower = Follower::new(following, position);
            follower.extrapolation = AHEAD;
            follower
        };
        let index = match self.of.binary_search_by_key(&entity, |(entity, _)| *entity) {
            Ok(index) if self.of[index].1.following() == following => index,
            Ok(index) => {
                self.of[index].1 = new();
                index
            }
            Err(index) => {
                self.of.insert(index, (entity, new()));
                index
            }
        };
        let sent = told.of[1].map_or(0, |(tick, _)| tick.get());
        let follower = &mut self.of[index].1;
        follower.thresholds.far = correction.map_or(f64::INFINITY, |with| with.snaps_from(vector::length(velocity)));
        follower.receive(sent, (position, velocity), remote.age_s(&told));
    }
}
