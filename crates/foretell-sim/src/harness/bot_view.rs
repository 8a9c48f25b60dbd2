//! What a bot knows when it is asked for an input.

use foretell::time::Tick;
use foretell::world::{PlayerId, Rows};

/// For how many ticks a bot's random numbers are the same.
pub(super) const TICKS_HELD: u32 = 16;

/// What a [bot](super::Scenario::bot) knows when it is asked for an input: as much as somebody who sits at its client.
#[derive(Clone, Copy, Debug)]
pub struct BotView<'a> {
    /// Which of the scenario's players it is, from 0; the last one sits at the server, where it is [hosted](super::Scenario::hosted).
    pub index: usize,
    /// The tick that the input is for.
    pub tick: Tick,
    /// The player that it has joined as.
    pub player: PlayerId,
    /// What it was shown last: the row of each entity as it was to be [drawn](foretell::session::client::View). None
    /// before there are any, and where a world is [looked at by itself](super::SyncTest).
    pub rows: &'a Rows,
}
