//! The world of the lab and of the sweeps: a walled room in which every player pushes a cube about (R4, R6). The dedicated
//! server's is [`Pitch`], with a ball in it.
//!
//! Each cube is a point mass in f32; x points right, y up, z into the room (up on the screen), in metres. The floor is
//! `y = 0`, where a cube stands; the walls are at `|x|, |z| = 10`. Movement is the reference model's, written per second
//! instead of per tick, so that any tick rate may be chosen; at 64 Hz both are the same, bit for bit.

#![forbid(unsafe_code)]

mod ball;
mod game;
mod pitch;

pub use ball::Ball;
use foretell::{Input, Mut, PlayerId, Simulate, State, Step, Table, World};
pub use game::Game;
pub use pitch::Pitch;

/// The acceleration of each pressed direction, in m/s².
const PUSH_MPS2: f32 = 32.0;
/// How much of its velocity a cube loses, per second.
const DRAG_PER_S: f32 = 4.0;
/// Gravity, in m/s².
const GRAVITY_MPS2: f32 = 9.81;
/// What a jump adds to the vertical velocity, in m/s.
const JUMP_MPS: f32 = 4.0;
/// A cube jumps from this height at most, in metres.
const JUMP_BELOW_M: f32 = 0.05;
/// Where the walls are, in metres from the middle.
const WALL_M: f32 = 10.0;
/// What a wall makes of the velocity towards it.
const BOUNCE: f32 = -0.5;

/// The five buttons (R6, R16), in the order of their bits.
#[derive(Input, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Buttons {
    /// Towards +z.
    pub up: bool,
    /// Towards -z.
    pub down: bool,
    /// Towards -x.
    pub left: bool,
    /// Towards +x.
    pub right: bool,
    /// Off the floor.
    pub jump: bool,
}

impl Buttons {
    /// From bits: 1 up, 2 down, 4 left, 8 right, 16 jump; others are ignored.
    pub fn from_bits(bits: u8) -> Buttons {
        let bit = |n: u8| bits >> n & 1 == 1;
        Buttons { up: bit(0), down: bit(1), left: bit(2), right: bit(3), jump: bit(4) }
    }
}

/// One player's cube.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Cube {
    /// In metres.
    #[state(position)]
    pub position: [f32; 3],
    /// In m/s.
    #[state(velocity)]
    pub velocity: [f32; 3],
}

impl Cube {
    /// At rest where a player starts: the first in the middle, the others spread over a grid of 2 m.
    pub fn at_start(player: PlayerId) -> Cube {
        let place = match player.get().saturating_sub(1) {
            0 => 40,
            // The other 80 places, far from each other: 29 and 80 have no common factor.
            nth => {
                let place = u32::from(nth - 1) * 29 % 80;
                place + u32::from(place >= 40)
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "below 9")]
        let [x, z] = [place % 9, place / 9].map(|cell| cell as f32 * 2.0 - 8.0);
        Cube { position: [x, 0.0, z], velocity: [0.0; 3] }
    }

    /// One step of `dt` seconds.
    pub fn step(&mut self, buttons: Buttons, dt: f32) {
        let Cube { position: p, velocity: v } = self;
        let push = |yes: bool| if yes { PUSH_MPS2 * dt } else { 0.0 };
        v[2] += push(buttons.up);
        v[2] -= push(buttons.down);
        v[0] -= push(buttons.left);
        v[0] += push(buttons.right);
        if buttons.jump && p[1] <= JUMP_BELOW_M {
            v[1] += JUMP_MPS;
        }
        v[1] -= GRAVITY_MPS2 * dt;
        for axis in 0..3 {
            v[axis] *= 1.0 - DRAG_PER_S * dt;
            p[axis] += v[axis] * dt;
        }
        if p[1] < 0.0 {
            p[1] = 0.0;
            v[1] = v[1].max(0.0);
        }
        for axis in [0, 2] {
            if p[axis].abs() > WALL_M {
                p[axis] = p[axis].clamp(-WALL_M, WALL_M);
                v[axis] *= BOUNCE;
            }
        }
    }
}

/// The room and the cubes in it.
#[derive(World, Clone, Default, Debug)]
pub struct Arena {
    cubes: Table<Cube>,
}

impl Arena {
    /// The cube of a player.
    pub fn cube_mut(&mut self, player: PlayerId) -> Option<&mut Cube> {
        self.cubes.iter_mut().find(|cube| cube.owner() == player).map(Mut::into_inner)
    }
}

impl Simulate for Arena {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        step_cubes(&mut self.cubes, step);
    }
}

/// Whoever joins gets a cube, who has left has none, and every player drives their own.
fn step_cubes(cubes: &mut Table<Cube>, step: &mut Step<'_, Buttons>) {
    cubes.remove_left(step);
    for joined in step.joined() {
        cubes.spawn(step, joined.player, Cube::at_start(joined.player));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the world is in f32")]
    let dt = step.seconds() as f32;
    for mut cube in cubes.simulated(step) {
        if let Some(player) = step.input(cube.owner()) {
            cube.step(player.input, dt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_start_apart_and_inside_of_the_walls() {
        let starts: Vec<_> = (1..=81).map(|number| Cube::at_start(PlayerId::new(number)).position).collect();
        assert_eq!(starts[0], [0.0; 3]);
        for (nth, start) in starts.iter().enumerate() {
            assert!(start[0].abs() <= 8.0 && start[2].abs() <= 8.0);
            assert!(!starts[..nth].contains(start), "player {} starts where another does", nth + 1);
        }
    }

    #[test]
    fn a_cube_ends_up_at_the_same_speed_at_every_tick_rate() {
        for hz in [20_u16, 30, 60, 64, 128] {
            let mut cube = Cube::default();
            let dt = 1.0 / f32::from(hz);
            let mut fastest = 0.0_f32;
            for _ in 0..hz {
                cube.step(Buttons::from_bits(8), dt);
                fastest = fastest.max(cube.velocity[0]);
            }
            // Where drag eats what is pushed: v = (v + a dt)(1 - d dt).
            let last = (PUSH_MPS2 / DRAG_PER_S) * (1.0 - DRAG_PER_S * dt);
            assert!((fastest - last).abs() < 0.2, "{hz} Hz: {fastest} m/s instead of {last}");
        }
    }

    #[test]
    fn a_wall_throws_a_cube_back_at_half_its_speed() {
        let mut cube = Cube { position: [9.99, 0.0, 0.0], velocity: [8.0, 0.0, 0.0] };
        cube.step(Buttons::default(), 1.0 / 64.0);
        assert_eq!((cube.position[0], cube.velocity[0]), (10.0, -3.75));
    }
}
