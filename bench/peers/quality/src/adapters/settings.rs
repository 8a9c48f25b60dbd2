//! What is set otherwise than by default.

/// What is set otherwise than by default.
#[derive(Clone, Copy, Default, Debug)]
pub struct Settings {
    /// The server sends states every 100 ms, not in every tick.
    pub is_sparse: bool,
    /// A client may roll back 100 ticks, not 20 (lightyear).
    pub is_deep: bool,
    /// Inputs wait where the round trip is long (lightyear's balanced delay).
    pub is_delayed: bool,
}
