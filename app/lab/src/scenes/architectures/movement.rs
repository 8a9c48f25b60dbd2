//! The first article's walk in the lab's room, in whole microseconds and as the article has it: in f32.

use core::time::Duration;
use foretell::session::Offence;
use foretell::{Input, Instant, State};
use foretell_articles::timestamped::limit_direction;
use foretell_articles::timestamped::{Direction, Mover, Time, Walker};

/// In m/s (Q15).
pub const SPEED: f64 = 5.0;
/// Where the walls are, in metres from the middle.
const WALL_M: f64 = 10.0;

/// Walks on from a place. That the walls stop it does not depend on how the time is cut.
pub fn walk(position: &mut [f64; 3], direction: [f64; 3], seconds: f64) {
    for (position, direction) in position.iter_mut().zip(direction) {
        *position = (*position + direction * SPEED * seconds).clamp(-WALL_M, WALL_M);
    }
}

/// Where keys point to (Q16): bits 1 up, 2 down, 4 left, 8 right.
pub fn direction_of(keys: u8) -> [f64; 3] {
    let bit = |n: u8| f64::from(keys >> n & 1);
    Direction::of_axes(bit(3) - bit(2), bit(0) - bit(1)).vector
}

/// In which numbers client and server reckon.
pub trait Precision: 'static {
    type Time: Time + Send;
    type Mover: Mover<Input: Send, State: Send> + Default + Send;
    fn span(length: Duration) -> <Self::Time as Time>::Span;
    fn at(position: [f64; 3]) -> <Self::Mover as Mover>::State;
    fn input(direction: [f64; 3]) -> <Self::Mover as Mover>::Input;
}

/// Positions in f64, and a clock of whole microseconds.
pub struct Micros;

/// The walk in it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Walk;

impl Mover for Walk {
    type Input = Direction;
    type State = Walker;

    fn advance(&self, state: &mut Walker, input: Direction, seconds: f64) {
        walk(&mut state.position, input.vector, seconds);
    }

    fn position(&self, state: &Walker) -> [f64; 3] {
        state.position
    }

    fn limit(&self, input: &mut Direction) -> Option<Offence> {
        limit_direction(&mut input.vector)
    }
}

impl Precision for Micros {
    type Time = Instant;
    type Mover = Walk;

    fn span(length: Duration) -> Duration {
        length
    }

    fn at(position: [f64; 3]) -> Walker {
        Walker { position }
    }

    fn input(vector: [f64; 3]) -> Direction {
        Direction { vector }
    }
}

/// Everything in f32, and a clock to which each frame adds its seconds (E3).
pub struct Single;

/// The walk in it.
#[derive(Clone, Copy, Default, Debug)]
pub struct SingleWalk;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct SingleDirection {
    pub vector: [f32; 3],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct SingleWalker {
    #[state(position)]
    pub position: [f32; 3],
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is asked for")]
fn single(value: f64) -> f32 {
    value as f32
}

impl Mover for SingleWalk {
    type Input = SingleDirection;
    type State = SingleWalker;

    fn advance(&self, state: &mut SingleWalker, input: SingleDirection, seconds: f64) {
        let (speed, wall, seconds) = (single(SPEED), single(WALL_M), single(seconds));
        for (position, direction) in state.position.iter_mut().zip(input.vector) {
            *position = (*position + direction * speed * seconds).clamp(-wall, wall);
        }
    }

    fn position(&self, state: &SingleWalker) -> [f64; 3] {
        state.position.map(f64::from)
    }

    fn limit(&self, input: &mut SingleDirection) -> Option<Offence> {
        limit_direction(&mut input.vector)
    }
}

impl Precision for Single {
    type Time = f32;
    type Mover = SingleWalk;

    fn span(length: Duration) -> f32 {
        length.as_secs_f32()
    }

    fn at(position: [f64; 3]) -> SingleWalker {
        SingleWalker { position: position.map(single) }
    }

    fn input(direction: [f64; 3]) -> SingleDirection {
        SingleDirection { vector: direction.map(single) }
    }
}
