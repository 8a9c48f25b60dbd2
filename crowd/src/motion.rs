//! How one of the crowd moves: up and down, in bends, now faster and now slower, as a function of the tick alone but for
//! where it is.

use crate::{Body, TICK_HZ};
use foretell::math::f64::{cos, sin};
use foretell::motion::rotation;

/// The time of a tick, in seconds.
const TICK_S: f64 = 1.0 / TICK_HZ as f64;

/// The motion of one of the crowd.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// By how much it is ahead of the first one, in radians.
    phase: f64,
    /// Where it looks at first, in radians.
    first_heading: f64,
}

impl Motion {
    /// That of the nth.
    pub fn of(nth: u16) -> Motion {
        Motion { phase: 0.37 * f64::from(nth), first_heading: 0.618 * f64::from(nth) }
    }

    /// How it is turned at first.
    pub fn first_rotation(self) -> [f32; 4] {
        turned(self.first_heading, 0.0, 0.0)
    }

    /// Where it looks after so many ticks, in radians: each adds `(0.8 sin(t + phase) + 0.3)` times its length. The sum of the
    /// sines is known in closed form, so that there is nothing to remember.
    fn heading_after(self, ticks: u32) -> f64 {
        let ticks = f64::from(ticks);
        let sines = sin(ticks * TICK_S / 2.0) / sin(TICK_S / 2.0) * sin(self.phase + (ticks - 1.0) * TICK_S / 2.0);
        self.first_heading + (0.8 * sines + 0.3 * ticks) * TICK_S
    }

    /// Moves it by the tick `nth` since the beginning.
    pub fn advance(self, body: &mut Body, nth: u32) {
        let time = f64::from(nth) * TICK_S;
        let heading = self.heading_after(nth + 1);
        let speed = 4.0 + 1.5 * sin(0.7 * time + self.phase);
        let upwards = 0.4 * cos(6.0 * time + self.phase);
        body.velocity = [speed * cos(heading), upwards, speed * sin(heading)].map(narrow);
        for (position, velocity) in body.position.iter_mut().zip(body.velocity) {
            *position += velocity * narrow(TICK_S);
        }
        let pitch = 0.1 * sin(5.0 * time + self.phase);
        let roll = 0.06 * cos(7.0 * time + self.phase);
        body.rotation = turned(heading, pitch, roll);
    }
}

/// The rotation of what looks along x, then is rolled about x, pitched about z, and turned to a heading from x to z.
fn turned(heading: f64, pitch: f64, roll: f64) -> [f32; 4] {
    let yaw = [0.0, sin(-heading / 2.0), 0.0, cos(heading / 2.0)];
    let pitch = [0.0, 0.0, sin(pitch / 2.0), cos(pitch / 2.0)];
    let roll = [sin(roll / 2.0), 0.0, 0.0, cos(roll / 2.0)];
    rotation::multiply(rotation::multiply(yaw, pitch), roll).map(narrow)
}

/// In the precision of states.
pub fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_rest(motion: Motion) -> Body {
        Body { position: [0.0; 3], rotation: motion.first_rotation(), velocity: [0.0; 3] }
    }

    #[test]
    fn the_heading_is_the_sum_over_the_ticks() {
        for nth in [0, 1, 17, 999] {
            let (motion, mut heading) = (Motion::of(nth), 0.618 * f64::from(nth));
            for tick in 0..600 {
                let time = f64::from(tick) / 60.0;
                heading += (0.8 * (time + 0.37 * f64::from(nth)).sin() + 0.3) / 60.0;
                assert!((motion.heading_after(tick + 1) - heading).abs() < 1e-9, "{nth}, tick {tick}");
            }
        }
    }

    #[test]
    fn it_looks_where_it_goes_but_for_pitch_and_roll_and_its_velocity_is_the_change_of_its_place() {
        let motion = Motion::of(5);
        let mut body = at_rest(motion);
        for tick in 0..300 {
            let before = body;
            motion.advance(&mut body, tick);
            let [x, y, z, w] = body.rotation.map(f64::from);
            assert!((x * x + y * y + z * z + w * w - 1.0).abs() < 1e-6, "a unit quaternion");
            // Where x is turned to.
            let looks = [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * z - w * y)];
            let goes = [body.velocity[0], body.velocity[2]].map(f64::from);
            let speed = goes[0].hypot(goes[1]);
            assert!((2.5..=5.5).contains(&speed) && body.velocity[1].abs() <= 0.4, "{body:?}");
            let along = (looks[0] * goes[0] + looks[1] * goes[1]) / speed;
            assert!(along > 0.99, "{along} in tick {tick}");
            for axis in 0..3 {
                let moved = body.position[axis] - before.position[axis];
                assert!((moved - body.velocity[axis] / 60.0).abs() < 1e-4, "{body:?}");
            }
        }
    }
}
