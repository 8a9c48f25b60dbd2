//! Where what is shown of an entity comes from.

use core::time::Duration;

/// Where a shown pose comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PoseSource {
    /// Simulated here, and the truth: its player sits at the server, or plays alone.
    Authority,
    /// Simulated here, ahead of the authority.
    Predicted,
    /// Between two of the authority's states.
    Interpolated,
    /// Moved here by the game: this client has authority over it, or has had it until just now.
    Held,
    /// Beyond the newest of the authority's states, by so long; also of who is shown ahead of the playout cursor.
    Extrapolated(Duration),
}
