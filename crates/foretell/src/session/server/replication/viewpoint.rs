//! In which order rows are told to a client where there is more to tell than fits.

use super::rank::{Rank, single};
use super::shown_state::Shown;
use super::spatial_index::SpatialIndex;
use crate::motion::vector::squared_distance;
use alloc::vec::Vec;

/// What is nearer than 2 m is told as often as it can be, in square metres.
const NEAR_SQR_M: f64 = 4.0;
/// From this age on it counts more and more how old something is, and less how near.
const OLD_TICKS: f64 = 40.0;

/// Where the own entities of a client are, and the order that follows. Its memory is used again.
#[derive(Default)]
pub(super) struct Viewpoint {
    spatial: SpatialIndex,
    own: Vec<[f64; 3]>,
    /// By urgency, and of what is as urgent what has the higher number first.
    ranked: Vec<Rank>,
}

/// For how long a row has not been told, and how often it is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub age_ticks: u32,
    pub weight: f32,
}

impl Viewpoint {
    /// Sorts the `most` most urgent of `slots`, and puts them last, the most urgent at the end: by for how many ticks each has
    /// not been told, and by how near it is. What is four times as far is told a sixteenth as often; but half as often, where all
    /// are old as there is so much to tell. What has twice the weight, twice as often.
    pub(super) fn rank(&mut self, of: &Shown<'_>, slots: &mut Vec<u32>, most: usize, claim: impl Fn(u32) -> Claim) {
        let Viewpoint { spatial, own, ranked } = self;
        let versions = of.state.versions();
        spatial.update(of.state.rows(), of.state.schema(), of.tick);
        own.clear();
        match of.limits {
            Some(limits) => own.extend_from_slice(limits.interest.eyes()),
            None => own.extend(versions.of_owner(of.player).map(|place| spatial.at(place))),
        }
        ranked.clear();
        ranked.extend(slots.iter().map(|slot| {
            let at = spatial.at(versions.place(*slot));
            // What is nowhere is as urgent as what is near; an own entity that is nowhere sees nothing.
            let nearest = own.iter().map(|own| squared_distance(*own, at)).fold(f64::NAN, f64::min);
            let squared = nearest.max(NEAR_SQR_M);
            let Claim { age_ticks, weight } = claim(*slot);
            let age = f64::from(age_ticks);
            let old = age / OLD_TICKS;
            let urgency = age * (1.0 + old * old * old * old) / squared * f64::from(weight);
            Rank::new(single(urgency), !*slot)
        }));
        let rest = ranked.len().saturating_sub(most);
        if rest > 0 && rest < ranked.len() {
            ranked.select_nth_unstable(rest);
        }
        ranked[rest..].sort_unstable();
        slots.clear();
        slots.extend(ranked.iter().map(|rank| !rank.number()));
    }
}
