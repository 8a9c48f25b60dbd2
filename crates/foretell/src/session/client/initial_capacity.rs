//! How much room is made from the start.

/// For what an ordinary frame reports, so that a first loss does not allocate.
pub(super) const FEW: usize = 16;
