//! For how many there are places, and whether for anybody.

use crate::session::Refusal;
use crate::world::Seat;

/// How many may be admitted now.
pub(crate) struct Capacity {
    pub players_max: usize,
    pub spectators_max: usize,
    /// Why nobody new is admitted, if so.
    pub closed: Option<Refusal>,
}

impl Capacity {
    /// How many places there are for those who come as this.
    pub(super) fn places(&self, seat: Seat) -> usize {
        match seat {
            Seat::Player => self.players_max,
            Seat::Spectator => self.spectators_max,
        }
    }
}
