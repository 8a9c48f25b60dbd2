//! The one clock of a page: `performance.now()`, monotone and in milliseconds.

use crate::browser::bindings::performance_now;
use foretell::Instant;

/// A monotone clock whose origin is its making.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started_ms: f64,
}

impl Clock {
    /// A clock that shows zero now.
    pub fn start() -> Clock {
        Clock { started_ms: performance_now() }
    }

    /// What it shows.
    pub fn now(&self) -> Instant {
        let micros = (performance_now() - self.started_ms) * 1000.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least zero, and held to u64")]
        Instant::from_micros(micros as u64)
    }
}

/// What the browser's clock shows, in milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least zero, and held to u64")]
    let millis = js_sys::Date::now() as u64;
    millis
}
