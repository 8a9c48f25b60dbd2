//! The time axis of a run: frames of 1/60 s on virtual time.

use core::time::Duration;
use foretell::Instant;

/// How often the person's screen is drawn, in Hz.
pub const FRAMES_PER_SECOND: u32 = 60;
/// From one frame to the next, in seconds.
pub const FRAME_S: f64 = 1.0 / 60.0;

/// When a frame is drawn, by the same rule as the harness's hosts.
pub fn instant(frame: u32) -> Instant {
    Instant::ZERO + since_start(frame)
}

/// How long so many frames take.
pub fn since_start(frames: u32) -> Duration {
    Duration::from_micros((u64::from(frames) * 1_000_000).div_ceil(u64::from(FRAMES_PER_SECOND)))
}

/// An instant in seconds.
#[expect(clippy::cast_precision_loss, reason = "exact below 285 years")]
pub fn seconds(at: Instant) -> f64 {
    at.micros() as f64 / 1e6
}
