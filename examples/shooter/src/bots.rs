//! Who plays: bots that press, say and take what comes to their minds by what their clients show.

use crate::game::{BOLT_MPS, direction, distance};
use crate::ground::{Ground, SIZE_M};
use crate::state::{Chat, Keys, Soldier, Take, Weapon};
use foretell::{Instant, PlayerId};
use foretell_sim::netsim::SplitMix64;

const AIMS_UP_TO_M: f32 = 25.0;
/// How far it misses by at most, in 65,536ths of a turn.
const SHAKES: f64 = 500.0;
/// How often it says something, and takes the other weapon, in thoughts; 30 in a second.
const SAYS: u32 = 600;
const TAKES: u32 = 300;
/// It goes elsewhere once in so many thoughts.
const DODGES: u32 = 30;

/// What a bot sees on its screen.
#[derive(Default)]
pub struct Seen {
    pub me: Option<Soldier>,
    /// Where those are who can be shot at, and how they go.
    pub targets: Vec<([f32; 2], [f32; 2])>,
    pub pickups: Vec<[f32; 2]>,
    pub doors: Vec<[f32; 2]>,
}

pub struct Bot {
    random: SplitMix64,
    thoughts: u32,
    goal: [f32; 2],
    was: [f32; 2],
    pub keys: Keys,
    /// What it is about to do.
    pub says: Option<Chat>,
    pub takes: Option<Take>,
}

impl Bot {
    pub fn new(seed: u64) -> Bot {
        let (thoughts, keys) = (18 * (seed % 16) as u32, Keys::default());
        Bot { random: SplitMix64::new(seed), thoughts, goal: [0.0; 2], was: [0.0; 2], keys, says: None, takes: None }
    }

    /// Decides what comes next, once per tick.
    pub fn think(&mut self, now: Instant, seen: &Seen, ground: &Ground) {
        let Some(me) = seen.me else { return };
        self.thoughts += 1;
        if self.thoughts.is_multiple_of(SAYS) {
            // Two hundred bytes, which begin with the time.
            let (text, to_team) = (format!("{:<200}", now.micros()), self.thoughts.is_multiple_of(2 * SAYS));
            self.says = Some(Chat { from: PlayerId::SERVER, to_team, text });
        }
        if self.thoughts.is_multiple_of(TAKES) {
            self.takes = Some(Take(if me.weapon == Weapon::Rifle { Weapon::Crossbow } else { Weapon::Rifle }));
        }
        self.go(&me, seen);
        self.aim(&me, seen, ground);
    }

    /// To a pickup or anywhere; who gets nowhere goes elsewhere.
    fn go(&mut self, me: &Soldier, seen: &Seen) {
        let nearest = |places: &[[f32; 2]], within: f32| {
            let near = places.iter().copied().filter(|at| distance(*at, me.at) < within);
            near.min_by(|a, b| distance(*a, me.at).total_cmp(&distance(*b, me.at)))
        };
        let is_bored = distance(me.at, self.goal) < 1.5 || distance(me.at, self.was) < 0.1;
        let mut anywhere = |far: f32| (2.0 * self.random.next_f64() as f32 - 1.0) * far;
        let needs = me.ammunition < 40 && anywhere(1.0) < 0.4;
        if let (true, Some(pickup)) = (is_bored && needs, nearest(&seen.pickups, 15.0)) {
            self.goal = pickup;
        } else if is_bored {
            self.goal = [(); 2].map(|()| SIZE_M / 2.0 + anywhere(SIZE_M / 2.0));
        } else if anywhere(1.0) > 1.0 - 2.0 / DODGES as f32 {
            self.goal = me.at.map(|along| along + anywhere(10.0));
        }
        self.was = me.at;
        let towards = |axis: usize| match self.goal[axis] - me.at[axis] {
            far if far > 0.5 => 1,
            far if far < -0.5 => -1,
            _ => 0,
        };
        let opens = nearest(&seen.doors, 3.0).is_some();
        self.keys = Keys { right: towards(0), up: towards(1), opens, fires: false, ..self.keys };
    }

    /// At the nearest who is in sight.
    fn aim(&mut self, me: &Soldier, seen: &Seen, ground: &Ground) {
        let reach = |at: [f32; 2]| distance(at, me.at);
        let mut near: Vec<_> = seen.targets.iter().filter(|(at, _)| reach(*at) < AIMS_UP_TO_M).collect();
        near.sort_by(|(a, _), (b, _)| reach(*a).total_cmp(&reach(*b)));
        for (at, velocity) in near.into_iter().take(4) {
            let far = reach(*at).max(0.01);
            let lead = if me.weapon == Weapon::Crossbow { far / BOLT_MPS } else { 0.0 };
            let [x, y] = [0, 1].map(|axis| at[axis] + velocity[axis] * lead - me.at[axis]);
            let turn = foretell::math::f32::atan2(y, x) / core::f32::consts::TAU;
            let aim = (f64::from(turn) * 65_536.0) as i32 as u16;
            if ground.sight(me.at, direction(aim), far, 0) + 0.5 >= far {
                let shake = ((2.0 * self.random.next_f64() - 1.0) * SHAKES) as i32 as u16;
                (self.keys.aim, self.keys.fires) = (aim.wrapping_add(shake), self.random.chance(0.3));
                return;
            }
        }
    }
}
