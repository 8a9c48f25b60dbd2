//! Reference motions: bodies whose place and velocity are known at every instant.

use foretell::State;
use foretell::math::f64::{cos, sin};

/// How a body moves; never faster than [`FASTEST_MPS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// As a ship or a glider: always on the way, with little acceleration.
    Inertial,
    /// As a player with a keyboard: off at full speed, to a stop at once, around a square.
    StopAndGo,
    /// Around a circle at a constant speed.
    Circular,
}

/// In m/s.
pub const FASTEST_MPS: f64 = 5.0;

const TURN: f64 = core::f64::consts::TAU;

impl Motion {
    /// All of them.
    pub const ALL: [Motion; 3] = [Motion::Inertial, Motion::StopAndGo, Motion::Circular];

    /// What stands in the table.
    pub fn name(self) -> &'static str {
        match self {
            Motion::Inertial => "inertial",
            Motion::StopAndGo => "stop-and-go",
            Motion::Circular => "circular",
        }
    }

    /// Where the body is after so many seconds, and its velocity.
    pub fn at(self, seconds: f64) -> Body {
        match self {
            // 4 m and 3 m to each side in 8 s and 6 s: at most 4.5 m/s, and 4.6 m/s².
            Motion::Inertial => {
                let [(x, vx), (z, vz)] = [wave(4.0, 8.0, seconds), wave(3.0, 6.0, seconds + 1.0)];
                Body { position: [x, 0.0, z], velocity: [vx, 0.0, vz] }
            }
            Motion::StopAndGo => stop_and_go(seconds),
            Motion::Circular => {
                let around_s = TURN * 3.0 / FASTEST_MPS;
                let [(x, vx), (z, vz)] = [0.25, 0.0].map(|turned| wave(3.0, around_s, seconds + turned * around_s));
                Body { position: [x, 0.0, z], velocity: [vx, 0.0, vz] }
            }
        }
    }
}

/// To and fro by `metres` in `period` seconds: where, and how fast.
fn wave(metres: f64, period: f64, seconds: f64) -> (f64, f64) {
    let (angle, rate) = (TURN * seconds / period, TURN / period);
    (metres * sin(angle), metres * rate * cos(angle))
}

/// How long it walks on each side of a square, and how long it then stands, in seconds: no multiples of the distance of
/// any snapshots, so that no state is just where it turns.
const WALKS_S: f64 = 0.73;
const STANDS_S: f64 = 0.51;

fn stop_and_go(seconds: f64) -> Body {
    const SIDES: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let (mut left, mut side, mut body) = (seconds.rem_euclid(4.0 * (WALKS_S + STANDS_S)), 0, Body::default());
    loop {
        let [x, z] = SIDES[side].map(|along| along * FASTEST_MPS);
        let walked = left.clamp(0.0, WALKS_S);
        body.position[0] += x * walked;
        body.position[2] += z * walked;
        if left < WALKS_S + STANDS_S || side == 3 {
            body.velocity = if left < WALKS_S { [x, 0.0, z] } else { [0.0; 3] };
            return body;
        }
        (left, side) = (left - WALKS_S - STANDS_S, side + 1);
    }
}

/// A body.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Body {
    /// In metres.
    #[state(position)]
    pub position: [f64; 3],
    /// In m/s.
    #[state(velocity)]
    pub velocity: [f64; 3],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoothness::distance;

    #[test]
    fn motions_are_continuous_and_move_as_fast_as_they_say() {
        for motion in Motion::ALL {
            let mut fastest = 0.0_f64;
            for ms in 0..20_000_u32 {
                let (at, next) = (motion.at(f64::from(ms) / 1e3), motion.at(f64::from(ms + 1) / 1e3));
                let speed = distance(at.position, next.position) * 1e3;
                fastest = fastest.max(speed);
                // Within the millisecond the keyboard may have been touched.
                let is_smooth = motion != Motion::StopAndGo || at.velocity == next.velocity;
                let told = distance(at.velocity, [0.0; 3]);
                assert!(!is_smooth || (speed - told).abs() < 0.02, "{motion:?} at {ms} ms: {speed} m/s, told {told}");
            }
            assert!((4.0..=FASTEST_MPS + 1e-6).contains(&fastest), "{motion:?}: {fastest} m/s");
        }
    }
}
