//! For how long nothing has come over a connection, for who may stand still: a page has one thread, and a debugger or a tab that is put
//! to sleep stops it.

use foretell::Instant;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Who has not asked for longer has stood still, and what came meanwhile has not been taken in yet.
const PAUSE: Duration = Duration::from_secs(1);

/// Shared by the task that hears and the one that asks.
#[derive(Debug)]
pub(crate) struct Silence {
    /// When it was asked last, in microseconds.
    asked: AtomicU64,
    /// How long it has lasted by then.
    lasted: AtomicU64,
}

impl Silence {
    pub(crate) fn begin(now: Instant) -> Silence {
        Silence { asked: AtomicU64::new(now.micros()), lasted: AtomicU64::new(0) }
    }

    /// Something has come.
    pub(crate) fn end(&self) {
        self.lasted.store(0, Relaxed);
    }

    /// How long it lasts. A pause between two questions counts for a second at most.
    pub(crate) fn lasts(&self, now: Instant) -> Duration {
        let asked = Instant::from_micros(self.asked.swap(now.micros(), Relaxed));
        let more = now.since(asked).min(PAUSE).as_micros();
        let lasted = self.lasted.load(Relaxed).saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        self.lasted.store(lasted, Relaxed);
        Duration::from_micros(lasted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_has_stood_still_for_a_minute_has_not_heard_a_minute_of_silence() {
        let at = |millis: u64| Instant::from_micros(1000 * millis);
        let silence = Silence::begin(at(0));
        (0..5).for_each(|second| assert_eq!(silence.lasts(at(1000 * second)).as_secs(), second));
        silence.end();
        assert_eq!(silence.lasts(at(64_000)), PAUSE, "it was in a debugger");
        silence.end();
        for frame in 0..1000 {
            assert_eq!(silence.lasts(at(64_000 + 16 * frame)), Duration::from_millis(16 * frame));
        }
    }
}
