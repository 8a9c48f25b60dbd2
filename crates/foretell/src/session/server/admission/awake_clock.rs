//! For how long the server has run, without its stalls: silence is measured by it.

use crate::time::Instant;
use core::time::Duration;

/// Longer than this between two updates the server has slept, and heard nobody.
const AWAKE_MAX: Duration = Duration::from_secs(1);

/// The time that the server was awake.
#[derive(Debug, Default)]
pub(super) struct AwakeClock {
    last_update: Option<Instant>,
    awake: Duration,
}

impl AwakeClock {
    /// An update begins.
    pub(super) fn note_update(&mut self, now: Instant) {
        let passed = self.last_update.map_or(Duration::ZERO, |last| now.since(last));
        self.awake += passed.min(AWAKE_MAX);
        self.last_update = self.last_update.max(Some(now));
    }

    /// How long it is, as of the last update.
    pub(super) fn awake(&self) -> Duration {
        self.awake
    }
}
