//! The followers of those entities that are shown by one: fed in updates, asked in between.

use crate::motion::trajectory::{Extrapolation, Follower, Following};
use crate::motion::{Correction, vector};
use crate::session::curves::Curve;
use crate::time::{Instant, Tick};
use crate::world::Entity;
use crate::world::{EntityMap, Teleports};

/// How far those go on that are shown ahead of the cursor: their states are older by the way down and an interval, so
/// longer than others (D18).
pub(crate) const AHEAD: Extrapolation = Extrapolation::FAR;

/// Where an entity was in the newest state that tells of it, and how fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldMotion {
    pub tick: Tick,
    pub position: [f64; 3],
    /// m/s.
    pub velocity: [f64; 3],
    pub teleports: Teleports,
    /// How old that state is on the server by now, in seconds.
    pub age_s: f64,
}

/// By what an entity is drawn: a curve, and where its follower is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing {
    pub curve: Curve,
    pub follower: Option<FollowerPlace>,
}

/// Where a follower is, and how often its entity had been put elsewhere in the state that it follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowerPlace {
    pub position: [f64; 3],
    pub teleports: Teleports,
}

/// A follower, and how often its entity had been put elsewhere in the state that it follows.
#[derive(Clone, Debug)]
struct Told {
    follower: Follower<3>,
    teleports: Teleports,
}

/// Followers, each with its entity.
#[derive(Clone, Debug)]
pub(crate) struct Followers {
    of: EntityMap<Told>,
    /// The instant that they stand for.
    at: Instant,
}

impl Followers {
    pub(crate) fn new() -> Followers {
        Followers { of: EntityMap::with_capacity(crate::session::client::initial_capacity::FEW), at: Instant::ZERO }
    }

    /// By what an entity with this curve is drawn at `now`.
    #[inline]
    pub(crate) fn drawing(&self, entity: Entity, curve: Curve, now: Instant) -> Drawing {
        let follower = curve.following().and_then(|_| self.of.get(entity));
        let follower = follower.map(|Told { follower, teleports }| {
            let (position, _) = follower.after(now.since(self.at).as_secs_f64());
            FollowerPlace { position, teleports: *teleports }
        });
        Drawing { curve, follower }
    }

    /// Drops those whom nobody is to follow.
    pub(crate) fn retain(&mut self, follows: impl Fn(Entity) -> bool) {
        self.of.retain(|entity, _| follows(entity));
    }

    pub(crate) fn remove(&mut self, entity: Entity) {
        self.of.remove(entity);
    }

    /// Moves all on to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        let passed_s = now.since(self.at).as_secs_f64();
        self.of.values_mut().iter_mut().for_each(|told| {
            told.follower.update(passed_s);
        });
        self.at = now;
    }

    /// Tells the follower of an entity its newest state. One that begins is where it should be. It warps from where a
    /// `correction` would snap, and to where the entity was put.
    pub(crate) fn follow(
        &mut self,
        entity: Entity,
        following: Following,
        told: ToldMotion,
        correction: Option<&Correction>,
    ) {
        let ToldMotion { tick, position, velocity, teleports, age_s } = told;
        let new = || {
            let mut follower = Follower::new(following, position);
            follower.extrapolation = AHEAD;
            follower
        };
        let Told { follower, teleports: before } =
            self.of.get_or_insert_with(entity, || Told { follower: new(), teleports });
        if follower.following() != following {
            *follower = new();
        }
        let far_m = correction.map_or(f64::INFINITY, |with| with.snaps_from(vector::length(velocity)));
        let is_put = core::mem::replace(before, teleports).differ(teleports);
        follower.thresholds.far_m = if is_put { 0.0 } else { far_m };
        follower.receive(tick.get(), position, velocity, age_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::PlayerId;
    use core::time::Duration;

    #[test]
    fn a_follower_is_at_once_where_its_entity_was_put_however_near_and_slides_to_where_it_has_gone() {
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        for following in [Following::Combined, Following::VelocityBlending] {
            let shown = |then: u32| {
                let mut followers = Followers::new();
                for (tick, x, teleports) in [(1, 0.0, 7), (2, 1.0, then)] {
                    let (position, teleports) = ([x, 0.0, 0.0], Teleports(Some(teleports)));
                    let told =
                        ToldMotion { tick: Tick::new(tick), position, velocity: [0.0; 3], teleports, age_s: 0.0 };
                    followers.advance(Instant::ZERO + Duration::from_millis(100) * tick);
                    followers.follow(entity, following, told, Some(&Correction::default()));
                }
                let curve = Curve::ALL.into_iter().find(|curve| curve.following() == Some(following));
                let drawing = followers.drawing(entity, curve.expect("there is one"), followers.at);
                drawing.follower.expect("it is followed").position[0]
            };
            assert_eq!([7, 8].map(shown), [0.0, 1.0], "{following:?}");
        }
    }
}
