//! The input of one player as a step has it.

use super::PlayerId;
use crate::time::TickTime;

/// Of how many ticks the authority takes inputs: the next that it steps, and those after it.
pub(crate) const INPUTS_AHEAD_MAX: u32 = 64;

/// What a step knows about a player's input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum InputStatus {
    /// The player's own command for this tick.
    Received,
    /// It is missing, or on a client not known yet; the last known one is used again.
    Repeated,
    /// It is missing; the neutral one is used.
    Neutral,
}

/// One player's input of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayerInput<I> {
    /// Whose.
    pub player: PlayerId,
    /// The command.
    pub input: I,
    /// How it came about.
    pub status: InputStatus,
    /// What the player was looking at when the command was sampled: the playout cursor of other entities, in ticks of
    /// the server. `None` when the client showed no other entities, or the input was substituted. It is what the client says: what
    /// a shot is judged by is bounded, see [`Step::rewound`](super::Step::rewound).
    pub presented: Option<TickTime>,
}
