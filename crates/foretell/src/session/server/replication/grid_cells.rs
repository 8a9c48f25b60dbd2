//! Places in cells of space: so that what is near is found without a look at what is not.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;
/// How many places are compared at once.
const LANES: usize = 8;
/// How many buckets there are at least where there is space.
pub(super) const BUCKETS_MIN: usize = 64;
/// Cells are as large as this before it is known how far is looked, in metres.
const USUAL_M: f64 = 32.0;

type Cell = [i32; 3];

/// Where something stands among all; as long as nothing else leaves its cell, and until all are put anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CellPlace {
    group: u32,
    lane: u8,
}

/// Some of what is in a cell.
#[derive(Clone, Copy, Debug)]
struct Group {
    cell: Cell,
    len: u8,
    /// Their numbers.
    slots: [u32; LANES],
    /// Where they are along each axis; not a number behind the last.
    axes: [[f64; LANES]; 3],
    /// The next group of the same bucket, or the next that is free.
    next: u32,
}

/// Numbers with where they are, by the cell in which that is. Invariant: of the groups of a cell only the first of its bucket has room. Its
/// memory is used again.
#[derive(Default, Debug)]
pub(super) struct GridCells {
    cell_m: f64,
    /// The first group of each bucket; a power of two of them.
    buckets: Vec<u32>,
    groups: Vec<Group>,
    /// The first of those that are free.
    free: Option<u32>,
}

impl GridCells {
    /// How large a cell is, in metres; 0 before the first.
    pub fn cell_m(&self) -> f64 {
        self.cell_m
    }

    /// Whether there are as many buckets as that.
    pub fn has_buckets(&self, count: usize) -> bool {
        self.buckets.len() >= count
    }

    /// Whether at least about half of the groups are free where this many entities are left: a look at everything goes through all groups.
    pub fn is_mostly_free(&self, count: usize) -> bool {
        self.groups.len() > 2 * count + BUCKETS_MIN
    }

    /// Empties it; cells have this size in metres, or the usual one where it is 0, and there are at least this many buckets.
    pub fn begin(&mut self, cell_m: f64, buckets: usize) {
        self.cell_m = if cell_m > 0.0 { cell_m } else { USUAL_M };
        self.buckets.clear();
        self.buckets.resize(buckets.next_power_of_two(), NONE);
        self.clear();
    }

    /// Empties it; cells and buckets stay as they are.
    pub fn clear(&mut self) {
        self.buckets.fill(NONE);
        self.groups.clear();
        self.free = None;
    }

    /// Puts one there.
    pub fn insert(&mut self, slot: u32, at: [f64; 3]) -> CellPlace {
        let cell = self.cell(at);
        let bucket = self.bucket(cell);
        let first = self.first_of(bucket, cell).map(|(_, first)| first);
        let group = first.filter(|first| usize::from(self.groups[*first as usize].len) < LANES);
        let group = group.unwrap_or_else(|| self.add_group(bucket, cell));
        let there = &mut self.groups[group as usize];
        let lane = there.len;
        there.len += 1;
        there.slots[usize::from(lane)] = slot;
        let place = CellPlace { group, lane };
        self.set(place, at);
        place
    }

    /// Takes one away. Returns the number of another that stands there now, if any does.
    pub fn remove(&mut self, place: CellPlace) -> Option<u32> {
        let CellPlace { group, lane } = place;
        let cell = self.groups[group as usize].cell;
        let bucket = self.bucket(cell);
        // The last of the first group goes there.
        let (before, first) = self.first_of(bucket, cell).expect("it is in one");
        let from = &mut self.groups[first as usize];
        from.len -= 1;
        let (len, next) = (from.len, from.next);
        let last = CellPlace { group: first, lane: len };
        let (slot, at) = (from.slots[usize::from(len)], from.axes.map(|axis| axis[usize::from(len)]));
        self.set(last, [f64::NAN; 3]);
        if len == 0 {
            match before {
                Some(before) => self.groups[before as usize].next = next,
                None => self.buckets[bucket] = next,
            }
            self.groups[first as usize].next = self.free.replace(first).unwrap_or(NONE);
        }
        if last == place {
            return None;
        }
        self.groups[group as usize].slots[usize::from(lane)] = slot;
        self.set(place, at);
        Some(slot)
    }

    /// It is elsewhere in the same cell. Whether it is.
    pub fn move_within(&mut self, place: CellPlace, at: [f64; 3]) -> bool {
        let stays = self.groups[place.group as usize].cell == self.cell(at);
        if stays {
            self.set(place, at);
        }
        stays
    }

    /// About how many cells there are within a distance of a place.
    pub fn count_within(&self, eye: [f64; 3], radius_m: f64) -> f64 {
        let [first, last] = self.corners(eye, radius_m);
        first.iter().zip(last).map(|(first, last)| f64::from(last) - f64::from(*first) + 1.0).product()
    }

    /// Calls `found` with the numbers of all that is within a distance of a place, and the squares of their distances; looks into each
    /// cell there.
    pub fn near(&self, eye: [f64; 3], radius_m: f64, mut found: impl FnMut(u32, f64)) {
        let [first, last] = self.corners(eye, radius_m);
        for x in first[0]..=last[0] {
            for y in first[1]..=last[1] {
                for z in first[2]..=last[2] {
                    let of_cell = self.groups_from(self.buckets[self.bucket([x, y, z])]);
                    of_cell
                        .filter(|group| group.cell == [x, y, z])
                        .for_each(|group| group.near(eye, radius_m, &mut found));
                }
            }
        }
    }

    /// The same, with a look at everything.
    pub fn near_of_all(&self, eye: [f64; 3], radius_m: f64, mut found: impl FnMut(u32, f64)) {
        self.groups.iter().for_each(|group| group.near(eye, radius_m, &mut found));
    }

    fn corners(&self, eye: [f64; 3], radius_m: f64) -> [Cell; 2] {
        [-radius_m, radius_m].map(|radius_m| self.cell(eye.map(|metres| metres + radius_m)))
    }

    fn set(&mut self, CellPlace { group, lane }: CellPlace, at: [f64; 3]) {
        let axes = self.groups[group as usize].axes.iter_mut();
        axes.zip(at).for_each(|(axis, at)| axis[usize::from(lane)] = at);
    }

    /// A group that has room, the first of its bucket.
    fn add_group(&mut self, bucket: usize, cell: Cell) -> u32 {
        let next = self.buckets[bucket];
        let group = Group { cell, len: 0, slots: [NONE; LANES], axes: [[f64::NAN; LANES]; 3], next };
        let nth = match self.free {
            Some(free) => {
                let after = core::mem::replace(&mut self.groups[free as usize], group).next;
                self.free = (after != NONE).then_some(after);
                free
            }
            None => {
                self.groups.push(group);
                u32::try_from(self.groups.len() - 1).expect("there is memory for fewer")
            }
        };
        self.buckets[bucket] = nth;
        nth
    }

    /// The first group of a cell, and the one before it in its bucket.
    fn first_of(&self, bucket: usize, cell: Cell) -> Option<(Option<u32>, u32)> {
        let (mut before, mut nth) = (None, self.buckets[bucket]);
        while nth != NONE {
            let group = &self.groups[nth as usize];
            if group.cell == cell {
                return Some((before, nth));
            }
            (before, nth) = (Some(nth), group.next);
        }
        None
    }

    fn groups_from(&self, first: u32) -> impl Iterator<Item = &Group> {
        let group = |nth: u32| (nth != NONE).then(|| &self.groups[nth as usize]);
        core::iter::successors(group(first), move |before| group(before.next))
    }

    #[expect(clippy::cast_possible_truncation, reason = "what is very far away shares the outermost cells")]
    fn cell(&self, at: [f64; 3]) -> Cell {
        at.map(|metres| {
            let cells = metres / self.cell_m;
            let whole = cells as i32;
            if f64::from(whole) > cells { whole.saturating_sub(1) } else { whole }
        })
    }

    #[expect(clippy::cast_sign_loss, reason = "the bits are mixed")]
    fn bucket(&self, [x, y, z]: Cell) -> usize {
        let mixed = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
        let mixed = (mixed ^ (z as u32).wrapping_mul(0xc2b2_ae3d)).wrapping_mul(0x27d4_eb2f);
        (mixed ^ mixed >> 15) as usize & (self.buckets.len() - 1)
    }
}

impl Group {
    #[inline]
    fn near(&self, eye: [f64; 3], radius_m: f64, found: &mut impl FnMut(u32, f64)) {
        let mut squared = [0.0; LANES];
        for (axis, eye) in self.axes.iter().zip(eye) {
            squared.iter_mut().zip(axis).for_each(|(squared, at)| *squared += (at - eye) * (at - eye));
        }
        // What is not a number is nowhere near.
        let limit = radius_m * radius_m;
        let mut are_near = 0_u32;
        squared.iter().enumerate().for_each(|(lane, squared)| are_near |= u32::from(*squared <= limit) << lane);
        while are_near != 0 {
            let lane = are_near.trailing_zeros() as usize;
            found(self.slots[lane], squared[lane]);
            are_near &= are_near - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::vector::squared_distance;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    /// One is put somewhere, moved there, or taken away.
    fn change() -> impl Strategy<Value = (u32, Option<[i8; 3]>)> {
        let at = prop::option::weighted(0.7, [-20..20_i8, -2..2_i8, -20..20_i8]);
        (0_u32..150, at)
    }

    proptest! {
        #[test]
        fn whoever_comes_moves_and_goes_is_found_once_where_it_is_though_all_cells_share_few_buckets(
            changes in prop::collection::vec(change(), 1..500), buckets in 1_usize..4, cell_m in 5.0..60.0_f64,
        ) {
            let (mut cells, mut all) = (GridCells::default(), BTreeMap::new());
            cells.begin(cell_m, buckets);
            for (slot, at) in changes {
                let at = at.map(|at| at.map(f64::from));
                let known = all.get(&slot).copied();
                let stays = known.zip(at).is_some_and(|((place, _), at)| cells.move_within(place, at));
                if let Some((place, _)) = known.filter(|_| !stays) {
                    all.remove(&slot);
                    if let Some(other) = cells.remove(place) {
                        all.get_mut(&other).expect("it is there").0 = place;
                    }
                }
                if let Some(at) = at {
                    let place = known.filter(|_| stays).map_or_else(|| cells.insert(slot, at), |(place, _)| place);
                    all.insert(slot, (place, at));
                }
            }
            for (eye, radius_m) in [([0.0; 3], 7.5), ([9.0, 0.0, -14.0], 12.0), ([1.0; 3], 40.0)] {
                let near = all.iter().map(|(slot, (_, at))| (*slot, squared_distance(*at, eye)));
                let near: Vec<_> = near.filter(|(_, squared)| *squared <= radius_m * radius_m).collect();
                let mut found = [Vec::new(), Vec::new()];
                cells.near(eye, radius_m, |slot, squared| found[0].push((slot, squared)));
                cells.near_of_all(eye, radius_m, |slot, squared| found[1].push((slot, squared)));
                for mut found in found {
                    found.sort_by_key(|(slot, _)| *slot);
                    prop_assert_eq!(&found, &near);
                }
            }
            let linked: Vec<_> = cells.buckets.iter().flat_map(|first| cells.groups_from(*first)).collect();
            prop_assert!(linked.iter().all(|group| group.len > 0), "a group that is empty is free");
            prop_assert_eq!(linked.iter().map(|group| usize::from(group.len)).sum::<usize>(), all.len());
        }
    }
}
