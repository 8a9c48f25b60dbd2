//! When a server and its client have lost each other: what comes is of no use, and goes on to come.
//!
//! Late and doubled datagrams are of no use either, but come among others, or not for long.

use core::time::Duration;
use foretell::time::Instant;

/// So long nothing but what is of no use has to come.
pub(super) const DIVERGED_AFTER: Duration = Duration::from_secs(1);
/// What comes after a pause of so long has nothing to do with what came before it.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Datagrams of one epoch that are of no use, with none between them that is.
#[derive(Clone, Copy, Debug)]
struct Run {
    epoch: u8,
    since: Instant,
    last: Instant,
}

/// Counts how long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Divergence {
    run: Option<Run>,
}

impl Divergence {
    /// Something has come that is of use.
    pub(super) fn end(&mut self) {
        self.run = None;
    }

    /// Something of this epoch has come at `now` that is of no use. Whether that goes on for too long.
    pub(super) fn goes_on(&mut self, now: Instant, epoch: u8) -> bool {
        let continues = |run: &Run| run.epoch == epoch && now.since(run.last) <= PAUSE_MAX;
        let since = self.run.filter(continues).map_or(now, |run| run.since);
        self.run = Some(Run { epoch, since, last: now });
        now.since(since) >= DIVERGED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_no_use_goes_on_for_a_second_without_a_pause_and_in_one_epoch() {
        let at = |ms: u64| Instant::from_micros(ms * 1000);
        let mut divergence = Divergence::default();
        assert!((0..10).all(|nth| !divergence.goes_on(at(nth * 100), 3)));
        assert!(divergence.goes_on(at(1000), 3));
        assert!(!divergence.goes_on(at(1000), 4), "another epoch");
        assert!(!divergence.goes_on(at(3001), 4), "a pause");
        assert!(!divergence.goes_on(at(4000), 4));
        divergence.end();
        assert!(!divergence.goes_on(at(4100), 4) && !divergence.goes_on(at(5000), 4));
        assert!(divergence.goes_on(at(5100), 4));
    }
}
