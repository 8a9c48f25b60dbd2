//! What is set otherwise than by default.

use crate::case::Case;

/// What is set otherwise than by default, and what a game that measures its link could know of it.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The link that is played over.
    pub case: Case,
    /// The server sends states every 100 ms, not in every tick.
    pub is_sparse: bool,
    /// A client may roll back 100 ticks, not 20, and shows others as late as the link asks for (lightyear).
    pub is_tuned: bool,
    /// Inputs wait where the round trip is long: beyond 100 ms in Foretell, lightyear's balanced delay.
    pub is_delayed: bool,
}
