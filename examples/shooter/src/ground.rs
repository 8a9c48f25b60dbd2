//! The ground: where one can walk and how far one sees, as the map says that everybody gets who joins.

use foretell_sim::netsim::SplitMix64;
use serde::{Deserialize, Serialize};

/// How long a side of the ground is, in metres.
pub const SIZE_M: f32 = 200.0;
/// How many doors there are.
pub const DOORS: u8 = 20;
/// How far a body goes to either side, in metres.
const BODY_M: f32 = 0.4;
/// How finely is looked along a line, in metres.
const LOOK_M: f32 = 0.25;
/// Tiles along a side: 50,176 of them, one byte each.
const SIDE: usize = 224;
const TILE_M: f32 = SIZE_M / SIDE as f32;
/// What a tile is: a wall; the door with the number before its own; from here on floor of some colour.
const WALL: u8 = 0;
const FLOOR: u8 = 64;

/// Which doors are open: a bit for each number.
pub type OpenDoors = u32;

/// Square tiles, one row after another.
#[derive(Serialize, Deserialize, Clone)]
pub struct Ground {
    tiles: Vec<u8>,
}

impl Ground {
    /// A fence, and walls that lie about; in the middle of each of the first is a door.
    pub fn make(seed: u64) -> Ground {
        let mut random = SplitMix64::new(seed);
        let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
        let mut tiles: Vec<u8> = (0..SIDE * SIDE).map(|_| FLOOR + below(192) as u8).collect();
        for wall in 0..120 {
            let (x, y, is_level, half) = (12 + below(SIDE - 24), 12 + below(SIDE - 24), below(2) == 0, 4 + below(5));
            for step in 0..=2 * half {
                let is_door = wall < usize::from(DOORS) && step.abs_diff(half) < 2;
                let (x, y) = if is_level { (x + step - half, y) } else { (x, y + step - half) };
                tiles[y * SIDE + x] = if is_door { 1 + wall as u8 } else { WALL };
            }
        }
        for at in 0..SIDE {
            for edge in [at, (SIDE - 1) * SIDE + at, at * SIDE, at * SIDE + SIDE - 1] {
                tiles[edge] = WALL;
            }
        }
        Ground { tiles }
    }

    /// Where the door of a number is; `None` where another wall covers it.
    pub fn door(&self, number: u8) -> Option<[f32; 2]> {
        let is_of = |at: &usize| self.tiles[*at] == 1 + number;
        let found: Vec<_> = (0..self.tiles.len()).filter(is_of).collect();
        let at = *found.get(found.len() / 2)?;
        Some([at % SIDE, at / SIDE].map(|along| (along as f32 + 0.5) * TILE_M))
    }

    /// Whether nothing stands here.
    pub fn is_free(&self, at: [f32; 2], open: OpenDoors) -> bool {
        let [x, y] = at.map(|along| (along / TILE_M) as usize);
        match self.tiles.get(y * SIDE + x) {
            Some(tile @ 1..=31) => open >> (tile - 1) & 1 == 1,
            Some(tile) => *tile >= FLOOR,
            None => false,
        }
    }

    /// Whether a body has room here.
    pub fn has_room(&self, at: [f32; 2], open: OpenDoors) -> bool {
        let corners = [[-BODY_M, -BODY_M], [-BODY_M, BODY_M], [BODY_M, -BODY_M], [BODY_M, BODY_M]];
        corners.iter().all(|[x, y]| self.is_free([at[0] + x, at[1] + y], open))
    }

    /// Where a body comes to that would go this way: along what stands there.
    pub fn walk(&self, mut at: [f32; 2], way: [f32; 2], open: OpenDoors) -> [f32; 2] {
        for axis in 0..2 {
            let mut next = at;
            next[axis] += way[axis];
            // A door may have closed on it.
            if self.has_room(next, open) || !self.has_room(at, open) {
                at = next;
            }
        }
        at
    }

    /// How far one sees in a direction of length 1, up to so far; in metres.
    pub fn sight(&self, from: [f32; 2], [x, y]: [f32; 2], most_m: f32, open: OpenDoors) -> f32 {
        let mut far = 0.0;
        while far < most_m && self.is_free([from[0] + x * far, from[1] + y * far], open) {
            far += LOOK_M;
        }
        far.min(most_m)
    }
}
