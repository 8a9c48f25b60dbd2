//! What can be chosen in the scene of the first article.

use core::time::Duration;
use foretell_articles::timestamped::Detect;

/// What can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Between two datagrams of either end (Q18).
    pub interval: Duration,
    /// Whether both ends are as in the article: the server believes everything, inputs are not repeated, and the jump of
    /// a resync is not hidden.
    pub article: bool,
    pub detect: Detect,
    /// Whether clock and positions are in f32, as in the article.
    pub single: bool,
    /// How long the session has run already, in seconds.
    pub age_s: u32,
}
