//! Where a client's own entities are, as a few boxes around them: how near something is to the nearest of a thousand is found by no more
//! comparisons than of a few.

use alloc::vec::Vec;
use core::ops::Range;

/// How many boxes there are at most; of no more places each is one, so that distances are exact.
const AREAS_MAX: usize = 32;

/// A box around some places. What is in it is near.
#[derive(Clone, Debug)]
pub(super) struct OwnArea {
    low: [f64; 3],
    high: [f64; 3],
    /// Which of all places are in it.
    places: Range<usize>,
}

impl OwnArea {
    /// Around these of all places, of which there is one at least.
    fn around(all: &[[f64; 3]], places: Range<usize>) -> OwnArea {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for at in &all[places.clone()] {
            low = [0, 1, 2].map(|axis| at[axis].min(low[axis]));
            high = [0, 1, 2].map(|axis| at[axis].max(high[axis]));
        }
        OwnArea { low, high, places }
    }

    /// How long it is along an axis.
    fn length(&self, axis: usize) -> f64 {
        self.high[axis] - self.low[axis]
    }

    fn longest_axis(&self) -> usize {
        (0..3).max_by(|one, other| self.length(*one).total_cmp(&self.length(*other))).unwrap_or(0)
    }

    /// Of the places in it those in the lower half of its longest axis, and the others; `None` where all are in one half. The places
    /// change their order for that.
    fn halves(&self, all: &mut [[f64; 3]]) -> Option<[OwnArea; 2]> {
        let (axis, Range { start, end }) = (self.longest_axis(), self.places.clone());
        let middle = self.low[axis] / 2.0 + self.high[axis] / 2.0;
        let mut first = start;
        for nth in start..end {
            if all[nth][axis] <= middle {
                all.swap(first, nth);
                first += 1;
            }
        }
        let are_halves = start < first && first < end;
        are_halves.then(|| [start..first, first..end].map(|places| OwnArea::around(all, places)))
    }

    /// What of it is nearest to a coordinate along an axis; what is not a number stays so.
    #[inline]
    pub(super) fn nearest(&self, axis: usize, at: f64) -> f64 {
        let not_below = if at < self.low[axis] { self.low[axis] } else { at };
        if not_below > self.high[axis] { self.high[axis] } else { not_below }
    }
}

/// Finds areas in which all places are, by cutting the longest in halves. Places are numbers, and none is infinite.
pub(super) fn cover(places: &mut [[f64; 3]], areas: &mut Vec<OwnArea>) {
    areas.clear();
    let count = places.len();
    if count <= AREAS_MAX {
        areas.extend((0..count).map(|nth| OwnArea::around(places, nth..nth + 1)));
        return;
    }
    areas.push(OwnArea::around(places, 0..count));
    while areas.len() < AREAS_MAX {
        let length = |nth: usize| areas[nth].length(areas[nth].longest_axis());
        let longest = (0..areas.len()).max_by(|one, other| length(*one).total_cmp(&length(*other))).unwrap_or(0);
        let Some([lower, upper]) = areas[longest].halves(places) else { return };
        areas[longest] = lower;
        areas.push(upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::vector::squared_distance;
    use proptest::prelude::*;

    /// The square of the distance from the nearest area.
    fn distance(areas: &[OwnArea], at: [f64; 3]) -> f64 {
        let nearest = |area: &OwnArea| [0, 1, 2].map(|axis| area.nearest(axis, at[axis]));
        areas.iter().map(|area| squared_distance(nearest(area), at)).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn nothing_is_farther_from_the_areas_than_from_the_places_and_of_a_few_places_nothing_is_nearer(
            places in prop::collection::vec(prop::array::uniform3(-300.0..300.0), 1..300),
            looked_at in prop::collection::vec(prop::array::uniform3(-400.0..400.0), 20),
        ) {
            let (mut cut, mut areas) = (places.clone(), Vec::new());
            cover(&mut cut, &mut areas);
            prop_assert!(areas.len() <= AREAS_MAX);
            for at in looked_at {
                let exact = places.iter().map(|place| squared_distance(*place, at)).fold(f64::INFINITY, f64::min);
                let found = distance(&areas, at);
                prop_assert!(found <= exact && (places.len() > AREAS_MAX || found == exact), "{} for {}", found, exact);
            }
        }
    }

    #[test]
    fn an_army_is_cut_small_and_who_is_far_from_it_stands_alone() {
        // Forty by forty on 78 by 78 m, and one a kilometre away.
        let row = |x: u8| (0..40_u8).map(move |z| [f64::from(x) * 2.0, 0.0, f64::from(z) * 2.0]);
        let mut places: Vec<_> = (0..40).flat_map(row).collect();
        places.push([1000.0, 0.0, 0.0]);
        let mut areas = Vec::new();
        cover(&mut places, &mut areas);
        assert_eq!(areas.len(), AREAS_MAX);
        assert!(areas.iter().any(|area| area.low == [1000.0, 0.0, 0.0] && area.high == area.low));
        assert!(areas.iter().all(|area| area.length(0).max(area.length(2)) < 20.0));
        // Many at one place are one area.
        cover(&mut [[7.0; 3]; 100], &mut areas);
        assert_eq!(areas.len(), 1);
        assert!(areas[0].nearest(0, 0.0) == 7.0 && areas[0].nearest(2, f64::NAN).is_nan());
    }
}
