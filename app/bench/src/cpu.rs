//! How much of the processor something takes.

use cpu_time::ThreadTime;
use std::time::Duration;

/// The processor's time that this thread has spent in what was timed, over how many times.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spent {
    total: Duration,
    times: u32,
}

impl Spent {
    /// Runs something, and adds what it takes.
    pub fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let began = ThreadTime::now();
        let done = run();
        self.total += began.elapsed();
        self.times += 1;
        done
    }

    /// The mean, in microseconds; 0 where nothing was timed.
    pub fn mean_us(&self) -> f64 {
        self.total.as_secs_f64() * 1e6 / f64::from(self.times.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sleeps_takes_nothing_and_what_computes_takes_its_time() {
        let (mut asleep, mut awake) = (Spent::default(), Spent::default());
        asleep.time(|| std::thread::sleep(Duration::from_millis(50)));
        for _ in 0..2 {
            awake.time(|| {
                let began = ThreadTime::now();
                while began.elapsed() < Duration::from_millis(5) {}
            });
        }
        assert!(asleep.mean_us() < 5_000.0, "{asleep:?}");
        assert!((5_000.0..10_000.0).contains(&awake.mean_us()), "the mean of both, not their sum: {awake:?}");
        assert!(Spent::default().mean_us() < f64::EPSILON);
    }
}
