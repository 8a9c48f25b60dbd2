//! The least, or the most, of recent measurements: what is older is forgotten after one to two windows.

use crate::time::Instant;
use core::time::Duration;

/// Two windows, the one that goes on and the one before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedExtreme<T> {
    pick: fn(T, T) -> T,
    window: Duration,
    of: Option<T>,
    of_before: Option<T>,
    since: Instant,
}

impl<T: Copy> WindowedExtreme<T> {
    /// `pick` tells which of two values counts.
    pub(crate) fn new(window: Duration, pick: fn(T, T) -> T) -> WindowedExtreme<T> {
        WindowedExtreme { pick, window, of: None, of_before: None, since: Instant::ZERO }
    }

    pub(crate) fn note(&mut self, value: T, now: Instant) {
        let age = now.since(self.since);
        if age >= self.window {
            let is_recent = age < 2 * self.window;
            (self.of_before, self.of, self.since) = (self.of.filter(|_| is_recent), None, now);
        }
        self.of = Some(self.of.map_or(value, |of| (self.pick)(of, value)));
    }

    /// From now on this one counts, and nothing that was before.
    pub(crate) fn set(&mut self, value: T, now: Instant) {
        (self.of_before, self.of, self.since) = (None, Some(value), now);
    }

    /// `None` before the first.
    pub(crate) fn get(&self) -> Option<T> {
        match (self.of, self.of_before) {
            (Some(of), Some(before)) => Some((self.pick)(of, before)),
            (of, before) => of.or(before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extreme_is_forgotten_after_one_to_two_windows_and_at_once_where_another_is_set() {
        let at = |ms: u64| Instant::from_micros(ms * 1000);
        let mut least = WindowedExtreme::new(Duration::from_secs(1), u32::min);
        assert_eq!(least.get(), None);
        let found = [(5, 0), (7, 900), (8, 1000), (9, 1900), (9, 2000)].map(|(value, ms)| {
            least.note(value, at(ms));
            least.get()
        });
        assert_eq!(found, [5, 5, 5, 5, 8].map(Some));
        least.set(20, at(2100));
        assert_eq!(least.get(), Some(20));
        least.note(30, at(4100));
        assert_eq!(least.get(), Some(30), "nothing was measured for so long");
    }
}
