//! How fast the server's clock runs by the client's own, and a tick axis that keeps to it.
//!
//! Two clocks of the same name never run alike: quartz is off by up to 100 ppm, a machine whose clock is being slewed by 500, a
//! browser's throttled timer by whole per cent. Whatever is remembered by the client's clock then drifts against the server's, so
//! latenesses are kept on an axis from which the drift is taken off.
//!
//! Each snapshot completes an exchange of four times, as in NTP (RFC 5905, section 8): half of the difference between the way up
//! and the way down is the offset of the clocks, wrong by at most half of the time that the round trip took beyond its minimum. Of a
//! quarter of a second the fastest of either way counts; the drift is the slope of a line through these offsets, each with the
//! weight of how wrong it may be.
//!
//! A line also leans where an offset jumps, as a clock was set, or where a queue of one way has moved to the other. But a drift goes
//! on, and those lie in one half of the windows: no more of a slope is believed than either half shows.

use crate::math::f64::{exp, sqrt};
use crate::time::{Instant, TickRate, TickTime};
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use core::time::Duration;

/// Of the exchanges of one window the fastest of either way counts.
const WINDOW: Duration = Duration::from_millis(250);
/// How many windows are kept: half a minute.
const WINDOWS_KEPT: usize = 128;
/// A window that is this much older counts half: long enough to average out jitter, short enough to follow a clock that is being slewed.
const HALF_LIFE_S: f64 = 8.0;
/// How far apart the two clocks are expected to run before anything is measured.
const DRIFT_EXPECTED_PPM: f64 = 5_000.0;
/// What is known of the drift is carried over to a new route with this accuracy at most.
const DRIFT_CARRIED_PPM: f64 = 100.0;
/// No clock is believed to be off by more: beyond it the tick clock's range of speeds ends.
const DRIFT_MAX_PPM: f64 = 100_000.0;
/// How exactly the times of an exchange are told, in microseconds.
const RESOLUTION_MICROS: f64 = 100.0;
/// After this many windows in a row on one side of the line the line is broken: a clock was set, or its speed has changed. The
/// first of them may have begun before that.
const BREAK_WINDOWS: usize = 4;
/// So many windows may have been begun when a clock was set, and ended after it.
const TORN_WINDOWS: usize = 1;
/// After this many windows in a row with a much longer round trip the route is another one.
const ROUTE_WINDOWS: usize = 16;
/// Round trips that differ by less are those of one route, in microseconds each way.
const ROUTE_MICROS: f64 = 5_000.0;

/// A datagram to the server and one back that names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// When the client sent it.
    pub sent: Instant,
    /// Where the server's clock stood when it came.
    pub arrived: TickTime,
    /// Where the server's clock stood when it answered.
    pub answered: TickTime,
    /// When the answer came.
    pub came: Instant,
}

/// The fastest ways of a quarter of a second.
#[derive(Clone, Copy, Debug)]
struct Window {
    began: Instant,
    /// Server's clock less client's, in microseconds, where the way up was fastest.
    up: i64,
    /// Client's clock less server's, where the way down was.
    down: i64,
}

impl Window {
    /// The server's clock less the client's, in microseconds, if either way takes as long.
    fn offset(&self) -> i64 {
        self.up.saturating_sub(self.down) / 2
    }

    /// The round trip, in microseconds.
    fn round(&self) -> i64 {
        self.up.saturating_add(self.down)
    }
}

/// A line through offsets.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Seconds since the session's start, and the offset in microseconds there.
    centre: (f64, f64),
    /// Microseconds per second: parts per million.
    slope: f64,
    /// How far the slope may be off.
    accuracy: f64,
    /// How far offsets are from the line, in microseconds.
    scatter: f64,
    /// The shortest round trip, in microseconds.
    fastest: i64,
}

/// Weighted sums over windows, of which a line of least squares is made.
struct Moments {
    /// Seconds since the session's start, and the offset in microseconds there.
    centre: (f64, f64),
    /// Of the squared seconds from the centre.
    squares: f64,
    /// Of these seconds by offsets: over `squares` their slope.
    rising: f64,
    /// The same by round trips.
    slowing: f64,
}

/// What is known of how much the server's clock gains on the client's.
#[derive(Clone, Copy, Debug)]
struct Drift {
    ppm: f64,
    accuracy_ppm: f64,
}

/// The drift of the two clocks, and the axis without it. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct ClockDrift {
    rate: TickRate,
    began: Instant,
    /// Oldest first, `len <= WINDOWS_KEPT`.
    windows: Vec<Window>,
    open: Option<Window>,
    line: Option<Line>,
    /// What was known before the windows.
    known: Drift,
    /// When: it grows old as the windows do.
    known_at: Instant,
    /// How many windows in a row are above the line; below it where negative.
    off_line: i32,
    /// How many windows in a row were slower than the line's, by far.
    slower: usize,
    /// How many were faster.
    faster: usize,
    drift_ppm: f64,
    /// Where the axis stood when its speed was last set.
    since: (Instant, TickTime),
}

impl ClockDrift {
    /// An axis that stands at `at` when the client's clock shows `now`.
    pub(crate) fn new(rate: TickRate, at: TickTime, now: Instant) -> ClockDrift {
        ClockDrift {
            rate,
            began: now,
            windows: Vec::with_capacity(WINDOWS_KEPT),
            open: None,
            line: None,
            known: Drift { ppm: 0.0, accuracy_ppm: DRIFT_EXPECTED_PPM },
            known_at: now,
            off_line: 0,
            slower: 0,
            faster: 0,
            drift_ppm: 0.0,
            since: (now, at),
        }
    }

    /// The axis at an instant, before or after the last one that was asked for: as far from any other point of it as the server's
    /// clock goes on meanwhile.
    pub(crate) fn at(&self, now: Instant) -> TickTime {
        let (since, at) = self.since;
        let passed = i128::from(now.micros()) - i128::from(since.micros());
        #[expect(clippy::cast_possible_truncation, reason = "at most a tenth of a million")]
        let speed_ppm = 1_000_000 + self.drift_ppm as i128;
        let gone = passed * i128::from(self.rate.get()) * speed_ppm / 1_000_000;
        at + TickTime::from_millionths(i64::try_from(gone).unwrap_or(i64::MAX))
    }

    /// How many seconds pass on the server's clock in one of the client's.
    pub(crate) fn speed(&self) -> f64 {
        1.0 + self.drift_ppm / 1e6
    }

    /// How much the server's clock gains on the client's, in parts per million.
    pub(crate) fn drift_ppm(&self) -> f64 {
        self.drift_ppm
    }

    /// How far the clocks may have gone apart after so long, beyond the drift that is known, in microseconds.
    pub(crate) fn unknown_after(&self, passed: Duration) -> i64 {
        let accuracy_ppm = self.line.map_or(DRIFT_EXPECTED_PPM, |line| line.accuracy.min(DRIFT_EXPECTED_PPM));
        #[expect(clippy::cast_possible_truncation, reason = "a per cent of a round trip")]
        let micros = (2.0 * accuracy_ppm * passed.as_secs_f64()) as i64;
        micros
    }

    /// Takes in an exchange that ended now.
    pub(crate) fn note(&mut self, exchange: Exchange) {
        let Exchange { sent, arrived, answered, came } = exchange;
        if self.open.is_some_and(|open| came.since(open.began) >= WINDOW) {
            self.close(came);
        }
        let server = |at: TickTime| at.millionths() / i64::from(self.rate.get());
        let client = |at: Instant| i64::try_from(at.micros()).unwrap_or(i64::MAX);
        let up = server(arrived).saturating_sub(client(sent));
        let down = client(came).saturating_sub(server(answered));
        let open = self.open.get_or_insert(Window { began: came, up, down });
        (open.up, open.down) = (open.up.min(up), open.down.min(down));
    }

    /// The datagrams take another way from now on: how the ways compare is not known any more, but the clocks run as before.
    pub(crate) fn note_new_route(&mut self) {
        // A line through few windows claims more than it knows.
        let line = self.line.filter(|_| self.windows.len() >= ROUTE_WINDOWS);
        let accuracy_ppm = line.map(|line| line.accuracy.max(DRIFT_CARRIED_PPM));
        let known = accuracy_ppm.map(|accuracy_ppm| Drift { ppm: self.drift_ppm, accuracy_ppm });
        self.begin_anew(known.unwrap_or(self.known));
    }

    /// One of the clocks was set, or stood still.
    pub(crate) fn note_clock_set(&mut self) {
        self.begin_anew(Drift { ppm: self.drift_ppm, accuracy_ppm: DRIFT_EXPECTED_PPM });
    }

    fn begin_anew(&mut self, known: Drift) {
        self.windows.clear();
        (self.open, self.line) = (None, None);
        (self.off_line, self.slower, self.faster) = (0, 0, 0);
        (self.known, self.known_at) = (known, self.since.0);
    }

    /// The open window is over.
    fn close(&mut self, now: Instant) {
        let Some(window) = self.open.take() else { return };
        if self.windows.len() == WINDOWS_KEPT {
            self.windows.remove(0);
        }
        if self.is_faster(window) {
            if self.faster < self.windows.len().clamp(TORN_WINDOWS + 1, BREAK_WINDOWS) {
                return;
            }
            self.note_new_route();
        } else if self.is_slower(window) && self.slower >= ROUTE_WINDOWS {
            self.note_new_route();
        } else if self.has_broken(window) {
            let forgotten = self.windows.len().saturating_sub(BREAK_WINDOWS - 2);
            self.windows.drain(..forgotten);
            self.known = Drift { ppm: self.drift_ppm, accuracy_ppm: DRIFT_EXPECTED_PPM };
            self.known_at = now;
            self.off_line = 0;
        }
        self.windows.push(window);
        self.line = self.fit();
        if let Some(line) = self.line {
            self.since = (now, self.at(now));
            self.drift_ppm = line.slope.clamp(-DRIFT_MAX_PPM, DRIFT_MAX_PPM);
        }
    }

    /// Whether a window's round trip is shorter than any before by more than their scatter explains. Where that is one, a clock
    /// was set in it, so that one way was measured before and the other one after; where they are few, the ways were shorter
    /// for a moment, but maybe not both; where they are many, the route is another one.
    fn is_faster(&mut self, newest: Window) -> bool {
        let Some(line) = self.line else { return false };
        let less = as_f64(line.fastest.saturating_sub(newest.round())) / 2.0;
        let is_faster = less > 8.0 * line.scatter + ROUTE_MICROS;
        self.faster = if is_faster { self.faster + 1 } else { 0 };
        is_faster
    }

    /// Whether it is longer by as much. Where all are, for long, the route is another one.
    fn is_slower(&mut self, newest: Window) -> bool {
        let Some(line) = self.line else { return false };
        let is_slower = excess(newest, line.fastest) > 8.0 * line.scatter + ROUTE_MICROS;
        self.slower = if is_slower { self.slower + 1 } else { 0 };
        is_slower
    }

    /// Whether the last windows have all been on one side of the line, by more than their scatter explains.
    fn has_broken(&mut self, newest: Window) -> bool {
        let Some(line) = self.line else { return false };
        let ahead_s = self.seconds(newest) - line.centre.0;
        let off = as_f64(newest.offset()) - line.centre.1 - line.slope * ahead_s;
        let wrong = 2.0 * excess(newest, line.fastest) + 3.0 * line.scatter + 2.0 * line.accuracy * ahead_s.abs();
        self.off_line = match (off.abs() > wrong, off > 0.0) {
            (false, _) => 0,
            (true, true) => self.off_line.max(0) + 1,
            (true, false) => self.off_line.min(0) - 1,
        };
        self.off_line.unsigned_abs() as usize >= BREAK_WINDOWS
    }

    /// The line through all windows by weighted least squares, with what was known of its slope before.
    fn fit(&self) -> Option<Line> {
        let fastest = self.windows.iter().map(Window::round).min()?;
        let newest_s = self.seconds(*self.windows.last()?);
        // The harmonic mean: as far as the better half is from its line, whatever the worse does.
        let inverse: f64 = self.windows.iter().map(|window| 1.0 / (excess(*window, fastest) + RESOLUTION_MICROS)).sum();
        let scatter = as_f64(i64::try_from(self.windows.len()).unwrap_or(i64::MAX)) / inverse;
        let weight = |window: Window| {
            let wrong = scatter + excess(window, fastest);
            exp(-LN_2 * (newest_s - self.seconds(window)) / HALF_LIFE_S) / (wrong * wrong)
        };
        let Moments { centre, squares, .. } = self.moments(&self.windows, weight);
        let Drift { ppm: known, accuracy_ppm: accuracy } = self.known;
        let drift = known + self.believed(weight);
        let known_s = self.known_at.since(self.began).as_secs_f64();
        let known_as = exp(-LN_2 * (newest_s - known_s).max(0.0) / HALF_LIFE_S) / (accuracy * accuracy);
        let slope = (drift * squares + known * known_as) / (squares + known_as);
        Some(Line { centre, slope, accuracy: sqrt(1.0 / (squares + known_as)), scatter, fastest })
    }

    /// How much of the slope beyond what was known before is believed to be a drift.
    fn believed(&self, weight: impl Fn(Window) -> f64) -> f64 {
        // As much as one way that gets slower would explain is none.
        let slope = |windows: &[Window]| {
            let Moments { squares, rising, slowing, .. } = self.moments(windows, &weight);
            (rising / squares - self.known.ppm, (slowing / squares).abs() / 2.0, sqrt(1.0 / squares))
        };
        let (measured, explained, _) = slope(&self.windows);
        // Of an odd number the halves share one. One window alone shows no slope.
        let half = self.windows.len().div_ceil(2);
        let shown_by = |half: &[Window]| match half {
            [_] => DRIFT_EXPECTED_PPM,
            _ => {
                let (shown, explained, accuracy) = slope(half);
                shown * measured.signum() + explained + accuracy
            }
        };
        let shown = shown_by(&self.windows[..half]).min(shown_by(&self.windows[self.windows.len() - half..]));
        measured.signum() * (measured.abs() - explained).min(shown).max(0.0)
    }

    fn moments(&self, windows: &[Window], weight: impl Fn(Window) -> f64) -> Moments {
        let (mut sum, mut seconds, mut offsets) = (0.0, 0.0, 0.0);
        for window in windows {
            let weight = weight(*window);
            sum += weight;
            seconds += weight * self.seconds(*window);
            offsets += weight * as_f64(window.offset());
        }
        let centre = (seconds / sum, offsets / sum);
        let (mut squares, mut rising, mut slowing) = (f64::MIN_POSITIVE, 0.0, 0.0);
        for window in windows {
            let (weight, apart_s) = (weight(*window), self.seconds(*window) - centre.0);
            squares += weight * apart_s * apart_s;
            rising += weight * apart_s * (as_f64(window.offset()) - centre.1);
            slowing += weight * apart_s * as_f64(window.round());
        }
        Moments { centre, squares, rising, slowing }
    }

    /// When a window began, in seconds since the session's start.
    fn seconds(&self, window: Window) -> f64 {
        window.began.since(self.began).as_secs_f64()
    }
}

/// By how much a window's offset may be wrong, in microseconds: half of its round trip beyond the shortest one.
fn excess(window: Window, fastest: i64) -> f64 {
    as_f64(window.round().saturating_sub(fastest)).max(0.0) / 2.0
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 microseconds: 285 years")]
fn as_f64(micros: i64) -> f64 {
    micros as f64
}

#[cfg(test)]
mod tests;
