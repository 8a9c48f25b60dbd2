//! Whom all lanes show: moved by keys or by a stated motion, at 60 Hz.

use crate::clock::FRAME_S;
use foretell_arena::{Buttons, Cube};
use foretell_plan::motions::{Body, Motion};

/// The owner.
#[derive(Clone, Copy, Debug)]
pub struct StyleOwner {
    /// `None` where keys move it, as they do the reference model's cube (R6); else as one of those that the curves are
    /// measured on.
    motion: Option<Motion>,
    cube: Cube,
    /// How far events have moved it off a stated motion, in metres along x.
    shift: f64,
    /// How many frames it has moved.
    frames: u32,
    /// How many more frames it stands still.
    stalled: u32,
    body: Body,
}

impl StyleOwner {
    /// Where this motion starts.
    pub fn new(motion: Option<Motion>) -> StyleOwner {
        let body = motion.map_or_else(Body::default, |motion| motion.at(0.0));
        StyleOwner { motion, cube: Cube::default(), shift: 0.0, frames: 0, stalled: 0, body }
    }

    /// Where it is, in metres.
    pub fn position(&self) -> [f64; 3] {
        let [x, y, z] = self.body.position;
        [x + self.shift, y, z]
    }

    /// In m/s.
    pub fn velocity(&self) -> [f64; 3] {
        self.body.velocity
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
            None => self.cube.velocity[0] += 3.0,
            Some(_) => self.shift += 0.5,
        }
    }

    /// A frame passes with these keys held.
    pub fn step(&mut self, keys: u8) {
        if self.stalled > 0 {
            self.stalled -= 1;
            return;
        }
        self.frames += 1;
        if let Some(motion) = self.motion {
            self.body = motion.at(f64::from(self.frames) * FRAME_S);
            return;
        }
        // A teleport has moved the cube itself, so that it stays inside of the walls.
        self.take_shift();
        self.cube.step(Buttons::from_bits(keys), 1.0 / 60.0);
        let Cube { position, velocity } = self.cube;
        self.body = Body { position: position.map(f64::from), velocity: velocity.map(f64::from) };
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cube is in f32")]
    fn take_shift(&mut self) {
        self.cube.position[0] += self.shift as f32;
        self.shift = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::motion::vector::{length, sub};

    #[test]
    fn a_stalled_owner_stands_and_then_goes_on() {
        let mut owner = StyleOwner::new(Some(Motion::Circular));
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
        for motion in [None, Some(Motion::Inertial), Some(Motion::StopAndGo), Some(Motion::Circular)] {
            let mut owner = StyleOwner::new(motion);
            let before = owner.position();
            owner.teleport();
            assert!((length(sub(owner.position(), before)) - 4.0).abs() < 1e-9, "{motion:?}");
        }
        let mut owner = StyleOwner::new(None);
        for _ in 0..20 {
            owner.teleport();
            (0..30).for_each(|_| owner.step(8));
            assert!(owner.position()[0].abs() <= 10.0);
        }
    }
}
