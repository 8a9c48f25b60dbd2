//! The ball of the pitch: rolls, is pushed by cubes, bounces at walls and comes to rest where a cube can get behind it.

use crate::{Cube, WALL_M};
use foretell::State;

/// Its radius, in metres.
pub const RADIUS_M: f32 = 0.6;
/// Half an edge of a cube, in metres.
const HALF_M: f32 = 0.5;
/// What friction takes from its speed: a share per second, and a constant deceleration in m/s² besides.
const DRAG_PER_S: f32 = 0.5;
const FRICTION_MPS2: f32 = 0.6;
/// From here to the wall the floor rises, and pulls it back with this acceleration, in m/s²: it never rests where no cube gets behind it.
const RIM_M: f32 = 8.0;
const RIM_MPS2: f32 = 4.0;
/// What a wall makes of the velocity towards it.
const WALL_BOUNCE: f32 = -0.7;
/// The share of their approach with which it leaves a cube.
const CUBE_BOUNCE: f32 = 0.4;

/// The ball. It never leaves the floor.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Ball {
    /// Of its lowest point, in metres.
    #[state(position)]
    pub position: [f32; 3],
    /// In m/s.
    #[state(velocity)]
    pub velocity: [f32; 3],
}

impl Ball {
    /// At rest between the places where players start.
    pub fn at_start() -> Ball {
        Ball { position: [3.0, 0.0, 3.0], velocity: [0.0; 3] }
    }

    /// One step of `dt` seconds, without cubes.
    pub fn roll(&mut self, dt: f32) {
        let Ball { position: p, velocity: v } = self;
        for axis in [0, 2] {
            if p[axis].abs() > RIM_M {
                v[axis] -= RIM_MPS2.copysign(p[axis]) * dt;
            }
        }
        let speed = length(v[0], v[2]);
        let slower = (speed - (FRICTION_MPS2 + DRAG_PER_S * speed) * dt).max(0.0);
        let share = if speed > 0.0 { slower / speed } else { 0.0 };
        let most = WALL_M + HALF_M - RADIUS_M;
        for axis in [0, 2] {
            v[axis] *= share;
            p[axis] += v[axis] * dt;
            if p[axis].abs() > most {
                p[axis] = p[axis].clamp(-most, most);
                v[axis] *= WALL_BOUNCE;
            }
        }
    }

    /// A cube that touches it pushes it away, and feels nothing of it. Whether one does.
    pub fn is_pushed_by(&mut self, cube: &Cube) -> bool {
        let Ball { position: p, velocity: v } = self;
        if cube.position[1] >= 2.0 * RADIUS_M {
            return false;
        }
        let apart = [p[0] - cube.position[0], p[2] - cube.position[2]];
        let beyond = apart.map(|metres| metres - metres.clamp(-HALF_M, HALF_M));
        let distance = length(beyond[0], beyond[1]);
        if distance >= RADIUS_M {
            return false;
        }
        // Whose middle is inside of the cube goes out by the nearest side.
        let (normal, deep) = if distance > 0.0 {
            (beyond.map(|metres| metres / distance), RADIUS_M - distance)
        } else if apart[0].abs() > apart[1].abs() {
            ([1.0_f32.copysign(apart[0]), 0.0], RADIUS_M + HALF_M - apart[0].abs())
        } else {
            ([0.0, 1.0_f32.copysign(apart[1])], RADIUS_M + HALF_M - apart[1].abs())
        };
        let nearing = (cube.velocity[0] - v[0]) * normal[0] + (cube.velocity[2] - v[2]) * normal[1];
        let kick = (nearing * (1.0 + CUBE_BOUNCE)).max(0.0);
        for (axis, towards) in [(0, normal[0]), (2, normal[1])] {
            p[axis] += towards * deep;
            v[axis] += towards * kick;
        }
        true
    }
}

/// Of the two legs of a right angle the third side; a square root is exact on every platform.
fn length(a: f32, b: f32) -> f32 {
    (a * a + b * b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buttons;

    const DT: f32 = 1.0 / 60.0;

    fn rolled(mut ball: Ball, seconds: u16) -> Ball {
        (0..seconds * 60).for_each(|_| ball.roll(DT));
        ball
    }

    #[test]
    fn a_cube_that_drives_into_the_ball_pushes_it_ahead_and_is_not_slowed_by_it() {
        let (mut cube, mut alone) = (Cube::default(), Cube::default());
        let mut ball = Ball { position: [2.0, 0.0, 0.2], velocity: [0.0; 3] };
        let mut touched = 0;
        for _ in 0..60 {
            cube.step(Buttons::from_bits(8), DT);
            alone.step(Buttons::from_bits(8), DT);
            ball.roll(DT);
            touched += u32::from(ball.is_pushed_by(&cube));
        }
        assert_eq!(cube, alone);
        assert!(touched > 0 && ball.position[0] - cube.position[0] > HALF_M + RADIUS_M - 0.01, "{ball:?} {cube:?}");
        assert!(ball.velocity[0] > cube.velocity[0] && ball.velocity[2] == 0.0, "straight ahead: {ball:?}");
    }

    #[test]
    fn a_wall_throws_it_back_and_it_comes_to_rest_where_a_cube_gets_behind_it() {
        let fast = Ball { position: [0.0, 0.0, 7.0], velocity: [9.0, 0.0, 14.0] };
        let mut ball = fast;
        let mut back = false;
        for _ in 0..60 {
            ball.roll(DT);
            back |= ball.velocity[2] < 0.0;
            assert!(ball.position[2] <= WALL_M + HALF_M - RADIUS_M);
        }
        assert!(back);
        for start in [fast, Ball { position: [9.9, 0.0, -9.9], velocity: [0.0; 3] }] {
            let rest = rolled(start, 20);
            assert_eq!(rest.velocity, [0.0; 3]);
            assert!([0, 2].iter().all(|axis| rest.position[*axis].abs() <= RIM_M), "{rest:?}");
            assert_eq!(rolled(rest, 1), rest);
        }
    }

    #[test]
    fn a_cube_that_stands_on_it_or_jumps_over_it_leaves_numbers_finite() {
        let mut ball = Ball::at_start();
        let cube = Cube { position: ball.position, velocity: [0.0; 3] };
        assert!(ball.is_pushed_by(&cube), "it goes aside");
        assert!(length(ball.position[0] - cube.position[0], ball.position[2] - cube.position[2]) >= RADIUS_M);
        let above = Cube { position: [ball.position[0], 2.0 * RADIUS_M, ball.position[2]], velocity: [3.0; 3] };
        let before = ball;
        assert!(!ball.is_pushed_by(&above));
        assert_eq!(ball, before);
    }
}
