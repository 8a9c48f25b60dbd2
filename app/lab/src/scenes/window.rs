//! The last values of something, and what they come to.

use std::collections::VecDeque;

/// The last values of something.
#[derive(Clone, Debug)]
pub struct Window {
    values: VecDeque<f64>,
    len: usize,
}

impl Window {
    /// So many are kept.
    pub fn new(len: usize) -> Window {
        Window { values: VecDeque::with_capacity(len + 1), len }
    }

    pub fn note(&mut self, value: f64) {
        self.values.push_back(value);
        if self.values.len() > self.len {
            self.values.pop_front();
        }
    }

    /// The largest; 0 of none.
    pub fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// Not a number of none.
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// All of them together.
    pub fn sum(&self) -> f64 {
        self.values.iter().sum()
    }
}
