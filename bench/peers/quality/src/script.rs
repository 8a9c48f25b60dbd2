//! What happens in a run, from a seed: what players press, and when the server gives them a blow.

use crate::scene::{Keys, PLAYERS};
use foretell_sim::netsim::SplitMix64;

/// Keys are held for so long, in microseconds.
const HOLD_US: [u64; 2] = [200_000, 1_000_000];
/// How often somebody stands.
const STAND: f64 = 1.0 / 3.0;
/// A player's blows are so far apart, in microseconds.
const APART_US: [u64; 2] = [3_000_000, 5_000_000];
/// How hard a blow is, in m/s.
const BLOW: f64 = 8.0;

/// What happens in a run.
pub struct Script {
    /// By player: from when on which keys are pressed, ascending.
    keys: [Vec<(u64, Keys)>; PLAYERS],
    /// The blows, ascending by time.
    pub pushes: Vec<Push>,
}

/// A blow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Push {
    /// When the server gives it, in microseconds: in its next update.
    pub at_us: u64,
    /// To whom.
    pub player: usize,
    /// By how much it changes the velocity.
    pub by: [f32; 2],
}

impl Script {
    /// Of a run of such length; the blows begin after `quiet_us`.
    pub fn new(seed: u64, quiet_us: u64, length_us: u64) -> Script {
        let keys = core::array::from_fn(|player| pressed(seed ^ player as u64, length_us));
        let mut pushes: Vec<_> =
            (0..PLAYERS).flat_map(|player| blows(seed ^ 0x100 ^ player as u64, player, quiet_us, length_us)).collect();
        pushes.sort_by_key(|push| push.at_us);
        Script { keys, pushes }
    }

    /// What a player presses then.
    pub fn keys(&self, player: usize, at_us: u64) -> Keys {
        let keys = &self.keys[player];
        let next = keys.partition_point(|(from, _)| *from <= at_us);
        next.checked_sub(1).map_or(Keys::default(), |last| keys[last].1)
    }
}

fn pressed(seed: u64, length_us: u64) -> Vec<(u64, Keys)> {
    let mut random = SplitMix64::new(seed);
    let (mut at, mut keys) = (0, Vec::new());
    while at < length_us {
        keys.push((at, some_keys(&mut random)));
        at += between(&mut random, HOLD_US);
    }
    keys
}

/// One of eight directions, or none.
fn some_keys(random: &mut SplitMix64) -> Keys {
    if random.chance(STAND) {
        return Keys::default();
    }
    // Clockwise from the top.
    let eighth = random.next_u64() % 8;
    Keys {
        up: [7, 0, 1].contains(&eighth),
        right: [1, 2, 3].contains(&eighth),
        down: [3, 4, 5].contains(&eighth),
        left: [5, 6, 7].contains(&eighth),
    }
}

fn blows(seed: u64, player: usize, quiet_us: u64, length_us: u64) -> Vec<Push> {
    let mut random = SplitMix64::new(seed);
    let (mut at_us, mut pushes) = (quiet_us + between(&mut random, APART_US), Vec::new());
    while at_us < length_us {
        let angle = random.next_f64() * core::f64::consts::TAU;
        let by = [angle.cos(), angle.sin()].map(|part| (part * BLOW) as f32);
        pushes.push(Push { at_us, player, by });
        at_us += between(&mut random, APART_US);
    }
    pushes
}

fn between(random: &mut SplitMix64, [least, most]: [u64; 2]) -> u64 {
    least + random.next_u64() % (most - least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_script_and_another_seed_another_one() {
        let [a, b, c] = [1, 1, 2].map(|seed| Script::new(seed, 0, 60_000_000));
        assert!(a.keys == b.keys && a.pushes == b.pushes && a.keys != c.keys && a.pushes != c.pushes);
        assert!(a.keys[0] != a.keys[1] && a.pushes.iter().all(|push| push.at_us >= APART_US[0]));
    }

    #[test]
    fn keys_count_from_their_moment_on() {
        let script = Script::new(3, 0, 10_000_000);
        let [(first, before), (second, after)] = script.keys[1][..2] else { panic!("there are two") };
        assert_eq!([first, second].map(|at| script.keys(1, at)), [before, after]);
        assert_eq!(script.keys(1, second - 1), before);
    }
}
