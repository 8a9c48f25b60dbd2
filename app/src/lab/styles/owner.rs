//! Whom all lanes show: moved by keys or by a stated motion, at 60 Hz.

use super::FRAME_S;
use crate::arena::{Buttons, Cube};
use foretell::math::f64::{cos, sin};

/// How the owner moves, in the order of the control's codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// As the reference model's cube (R6).
    Keys,
    /// 3 m around the middle at 5 m/s: what no straight line follows.
    Circle,
    /// A square of 4.2 m: each side at 6 m/s in 0.7 s, and then 0.5 s of rest. Starts and stops have no warning (P6).
    StopAndGo,
    /// Swings on two axes that never come together again, as something heavy that is pushed softly; at up to 7 m/s.
    Inertial,
}

impl Motion {
    /// All, by code.
    pub const ALL: [Motion; 4] = [Motion::Keys, Motion::Circle, Motion::StopAndGo, Motion::Inertial];
}

const RADIUS_M: f64 = 3.0;
const SPEED_MPS: f64 = 5.0;
/// Of stop and go.
const GO_FRAMES: u32 = 42;
const REST_FRAMES: u32 = 30;
const DASH_MPS: f64 = 6.0;

/// The owner.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    motion: Motion,
    cube: Cube,
    /// How far events have moved it off a stated motion, in metres along x.
    shift: f64,
    /// How many frames it has moved.
    frames: u32,
    /// How many more frames it stands still.
    stalled: u32,
    position: [f64; 3],
    velocity: [f64; 3],
}

impl Owner {
    /// Where this motion starts.
    pub fn new(motion: Motion) -> Owner {
        let mut owner = Owner {
            motion,
            cube: Cube::default(),
            shift: 0.0,
            frames: 0,
            stalled: 0,
            position: [0.0; 3],
            velocity: [0.0; 3],
        };
        owner.place();
        owner
    }

    /// Where it is, in metres.
    pub fn position(&self) -> [f64; 3] {
        let [x, y, z] = self.position;
        [x + self.shift, y, z]
    }

    /// In m/s.
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// Whether its machine runs nothing, and sends nothing.
    pub fn is_stalled(&self) -> bool {
        self.stalled > 0
    }

    /// Its machine runs nothing for so many frames.
    pub fn stall(&mut self, frames: u32) {
        self.stalled = frames;
    }

    /// Moves it by 4 m at once.
    pub fn teleport(&mut self) {
        let by = if self.position()[0] > 0.0 { -4.0 } else { 4.0 };
        self.shift += by;
    }

    /// Pushes it by 3 m/s; on a stated motion by 0.5 m, which is what a push comes to.
    pub fn push(&mut self) {
        match self.motion {
            Motion::Keys => self.cube.velocity[0] += 3.0,
            _ => self.shift += 0.5,
        }
    }

    /// A frame passes with these keys held.
    pub fn step(&mut self, keys: u8) {
        if self.stalled > 0 {
            self.stalled -= 1;
            return;
        }
        self.frames += 1;
        match self.motion {
            Motion::Keys => {
                // A teleport has moved the cube itself, so that it stays inside of the walls.
                self.take_shift();
                self.cube.step(Buttons::from_bits(keys), 1.0 / 60.0);
                self.position = self.cube.position.map(f64::from);
                self.velocity = self.cube.velocity.map(f64::from);
            }
            Motion::Circle | Motion::StopAndGo | Motion::Inertial => self.place(),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cube is in f32")]
    fn take_shift(&mut self) {
        self.cube.position[0] += self.shift as f32;
        self.shift = 0.0;
    }

    /// Where a motion that is a function of time is by now.
    fn place(&mut self) {
        match self.motion {
            Motion::Circle => {
                let angle = f64::from(self.frames) * FRAME_S * SPEED_MPS / RADIUS_M;
                let (c, s) = (cos(angle), sin(angle));
                self.position = [RADIUS_M * c, 0.0, RADIUS_M * s];
                self.velocity = [-SPEED_MPS * s, 0.0, SPEED_MPS * c];
            }
            Motion::StopAndGo => {
                let (leg, within) = (self.frames / (GO_FRAMES + REST_FRAMES), self.frames % (GO_FRAMES + REST_FRAMES));
                let side = f64::from(GO_FRAMES) * FRAME_S * DASH_MPS;
                let gone = f64::from(within.min(GO_FRAMES)) * FRAME_S * DASH_MPS;
                let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
                let [from, to] = [corners[(leg % 4) as usize], corners[((leg + 1) % 4) as usize]];
                let [dx, dz] = [to[0] - from[0], to[1] - from[1]];
                let middle = side / 2.0;
                self.position = [from[0] * side + dx * gone - middle, 0.0, from[1] * side + dz * gone - middle];
                let speed = if within < GO_FRAMES { DASH_MPS } else { 0.0 };
                self.velocity = [dx * speed, 0.0, dz * speed];
            }
            Motion::Inertial => {
                let t = f64::from(self.frames) * FRAME_S;
                let swing = |size: f64, rate: f64, phase: f64| {
                    let angle = rate * t + phase;
                    (size * sin(angle), size * rate * cos(angle))
                };
                let ((x, vx), (z, vz)) = (swing(6.0, 0.8, 0.0), swing(5.0, 1.1, 1.0));
                (self.position, self.velocity) = ([x, 0.0, z], [vx, 0.0, vz]);
            }
            Motion::Keys => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::motion::vector::{length, sub};

    #[test]
    fn every_stated_motion_stays_in_the_room_and_moves_as_it_says() {
        for motion in &Motion::ALL[1..] {
            let mut owner = Owner::new(*motion);
            for frame in 0..36_000 {
                let before = owner.position();
                owner.step(0);
                let (now, step) = (owner.position(), length(sub(owner.position(), before)));
                assert!(now[0].abs() < 10.0 && now[2].abs() < 10.0, "{motion:?} is at {now:?} in frame {frame}");
                assert!(step <= 7.4 * FRAME_S, "{motion:?} makes {step} m in frame {frame}");
            }
        }
    }

    #[test]
    fn a_stalled_owner_stands_and_then_goes_on() {
        let mut owner = Owner::new(Motion::Circle);
        owner.step(0);
        let then = owner.position();
        owner.stall(2);
        owner.step(0);
        owner.step(0);
        assert_eq!((owner.position(), owner.is_stalled()), (then, false));
        owner.step(0);
        assert_ne!(owner.position(), then);
    }

    #[test]
    fn a_teleport_is_4_m_and_keeps_a_driven_cube_between_the_walls() {
        for motion in Motion::ALL {
            let mut owner = Owner::new(motion);
            let before = owner.position();
            owner.teleport();
            assert_eq!(length(sub(owner.position(), before)), 4.0, "{motion:?}");
        }
        let mut owner = Owner::new(Motion::Keys);
        for _ in 0..20 {
            owner.teleport();
            (0..30).for_each(|_| owner.step(8));
            assert!(owner.position()[0].abs() <= 10.0);
        }
    }
}
