//! How a game's characters move: the contract, and the article's own mover.

use super::limit_direction;
use foretell::math::f64::sqrt;
use foretell::session::Offence;
use foretell::world::{Input, State};

/// A game's own movement, written once and run on both ends (Q4, Q6).
///
/// The client runs it frame by frame, the server from input to input. Both have to come to the same place up to the
/// tolerance, so a path must not depend on how the time is cut: a mover with accelerations solves them, or cuts the time
/// itself.
pub trait Mover {
    /// What a player holds from one timestamp to the next, such as a direction. The neutral one does nothing.
    type Input: Input;
    /// Everything that the next movement reads: a position, and perhaps more. A struct of one component.
    type State: State + Copy;

    /// Moves `state` for so many seconds, in which `input` is held.
    fn advance(&self, state: &mut Self::State, input: Self::Input, seconds: f64);

    /// Where that is, in metres. Two states agree when their positions do.
    fn position(&self, state: &Self::State) -> [f64; 3];

    /// Holds an input to what is allowed, and says what was wrong with it. The server asks it of every input; a mover
    /// that multiplies by what it is given has to answer (E4). Numbers that are not finite never get here.
    fn limit(&self, input: &mut Self::Input) -> Option<Offence>;
}

/// The article's mover: at a constant speed in the direction that is held (Q9).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// In m/s. The article's is 5.
    pub speed: f64,
}

/// Where to walk: a vector of length one, or none. Neutral is to stand.
#[derive(foretell::Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Direction {
    /// Its three components.
    pub vector: [f64; 3],
}

impl Direction {
    /// The direction of two axes in the plane, each from -1 to 1, made one long or none (Q16).
    pub fn of_axes(x: f64, z: f64) -> Direction {
        let length = sqrt((x * x + 0.0 * 0.0) + z * z);
        if length == 0.0 { Direction::default() } else { Direction { vector: [x / length, 0.0, z / length] } }
    }
}

/// Where somebody is who walks.
#[derive(foretell::State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walker {
    /// In metres.
    #[state(position)]
    pub position: [f64; 3],
}

impl Mover for Walk {
    type Input = Direction;
    type State = Walker;

    fn advance(&self, state: &mut Walker, input: Direction, seconds: f64) {
        for (position, direction) in state.position.iter_mut().zip(input.vector) {
            *position += direction * self.speed * seconds;
        }
    }

    fn position(&self, state: &Walker) -> [f64; 3] {
        state.position
    }

    fn limit(&self, input: &mut Direction) -> Option<Offence> {
        limit_direction(&mut input.vector)
    }
}
