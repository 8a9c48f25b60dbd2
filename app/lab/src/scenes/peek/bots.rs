//! Who plays the other, and you until you press a key: somebody who runs past the doorway, peeks round the corner, or waits for
//! who does. They go by what is on their screen.

/// The keys.
pub const UP: u8 = 1;
pub const DOWN: u8 = 2;
pub const LEFT: u8 = 4;
pub const RIGHT: u8 = 8;
pub const FIRE: u8 = 16;

/// How far beside its course a bot holds no key for that axis, in metres.
const BESIDE_M: f64 = 0.15;

/// For how many frames a bot sees the other before it shoots: at once, and as late as a person, by turns.
const REACTIONS: [u32; 3] = [14, 24, 27];

/// What a player of a duel is up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// It runs to and fro behind the wall, past the doorway.
    Runs,
    /// It comes out at the corner, and goes back into cover.
    Peeks,
    /// It waits where it sees who comes out at the doorway or the corner.
    Holds,
}

impl Plan {
    /// In the order of the control.
    pub const ALL: [Plan; 3] = [Plan::Runs, Plan::Peeks, Plan::Holds];

    /// What you do against one who does this, until you press a key.
    pub fn answer(self) -> Plan {
        match self {
            Plan::Runs | Plan::Peeks => Plan::Holds,
            Plan::Holds => Plan::Peeks,
        }
    }

    /// Where it goes to, x and z in metres in front of the wall, and for how many frames it is on its way there or waits.
    fn places(self, against: Plan) -> &'static [([f64; 2], u32)] {
        match (self, against) {
            (Plan::Runs, _) => &[([-7.0, -1.7], 115), ([1.2, -1.7], 115)],
            (Plan::Peeks, _) => &[([0.3, -1.6], 80), ([3.4, -1.6], 70)],
            (Plan::Holds, Plan::Runs) => &[([-3.0, -4.5], 1)],
            (Plan::Holds, _) => &[([4.2, -5.0], 1)],
        }
    }
}

/// Where a player sees itself and the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Seen {
    pub own: [f64; 3],
    pub other: [f64; 3],
    /// For how many frames a shot at what is seen of the other has come there; `None` where the wall is in its way.
    pub open_for: Option<u32>,
}

/// The keys of a bot that has played for so many frames: on which side of the wall it is says `side`, 1 in front of it or -1.
pub fn keys(plan: Plan, against: Plan, age: u32, side: f64, seen: &Seen) -> u8 {
    let places = plan.places(against);
    let round: u32 = places.iter().map(|(_, frames)| frames).sum();
    let mut left = age % round;
    let at = places.iter().find(|(_, frames)| {
        let is_now = left < *frames;
        left = left.saturating_sub(*frames);
        is_now
    });
    let [x, z] = at.map_or(places[0].0, |(place, _)| *place);
    let axis = |off: f64, plus: u8, minus: u8| match off {
        off if off > BESIDE_M => plus,
        off if off < -BESIDE_M => minus,
        _ => 0,
    };
    let walk = axis(x - seen.own[0], RIGHT, LEFT) | axis(side * z - seen.own[2], UP, DOWN);
    let reaction = REACTIONS[(age / round.max(60)) as usize % REACTIONS.len()];
    walk | if seen.open_for.is_some_and(|frames| frames >= reaction) { FIRE } else { 0 }
}
