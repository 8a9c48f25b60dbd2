//! What a link does to the datagrams that are sent over it, in one direction.

use core::fmt;
use core::time::Duration;

/// The conditions of one direction of a link. The default is a perfect one.
#[derive(Clone, PartialEq, Debug)]
pub struct Conditions {
    /// The delay of every datagram, one way. At most 10 s.
    pub latency: Duration,
    /// Up to so much more, drawn uniformly for each datagram. At most 10 s.
    pub jitter: Duration,
    /// Whether jitter lets datagrams overtake each other.
    pub ordering: Ordering,
    /// Which datagrams never arrive.
    pub loss: Loss,
    /// How many of the datagrams that arrive do so twice, 0 to 1. The copy has a jitter of its own.
    pub duplicates: f64,
    /// How many of the datagrams that arrive are held back by [`held_back`](Conditions::held_back), 0 to 1, so that
    /// later ones overtake them. Works in either ordering.
    pub reordering: f64,
    /// By how much. Default 30 ms: about two datagrams at 64 Hz.
    pub held_back: Duration,
    /// How many bytes per second pass; `None` for any number. What is more waits in a queue.
    pub rate: Option<u32>,
    /// How many bytes the queue holds; what does not fit is dropped. Default 64 KiB.
    pub queue: u32,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            ordering: Ordering::default(),
            loss: Loss::default(),
            duplicates: 0.0,
            reordering: 0.0,
            held_back: Duration::from_millis(30),
            rate: None,
            queue: 65_536,
        }
    }
}

/// Whether jitter lets datagrams overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Ordering {
    /// Each has a delay of its own; with more jitter than there is time between datagrams they arrive out of order.
    #[default]
    Independent,
    /// None overtakes an earlier one: it arrives with it at the earliest, as behind a queue. Its mean delay is therefore
    /// above `latency + jitter / 2`.
    Fifo,
}

/// Which datagrams never arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// Each with this probability, 0 to 1, independently.
    Uniform(f64),
    /// In bursts (Gilbert-Elliott, with a good state that loses nothing and a bad one that loses everything).
    Bursts {
        /// How many are lost in the long run, 0 to 0.9.
        rate: f64,
        /// How many in a row are lost, on average: from 1 up.
        mean_length: f64,
    },
}

impl Default for Loss {
    fn default() -> Loss {
        Loss::Uniform(0.0)
    }
}

/// A condition outside of its range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mistake {
    /// The name of the field.
    pub field: &'static str,
    /// What is accepted.
    pub accepted: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}", self.field, self.accepted)
    }
}

impl core::error::Error for Mistake {}

const LONGEST: Duration = Duration::from_secs(10);

impl Conditions {
    /// Checks every field.
    ///
    /// # Errors
    /// The first [`Mistake`].
    pub fn validate(&self) -> Result<(), Mistake> {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let (loss, loss_accepted) = match self.loss {
            Loss::Uniform(rate) => (share(rate), "0 to 1"),
            Loss::Bursts { rate, mean_length } => {
                let fits = (0.0..=0.9).contains(&rate) && mean_length >= 1.0 && mean_length <= 1e6;
                // The good state must be able to last as long as the rate asks.
                (
                    fits && rate <= mean_length * (1.0 - rate),
                    "a rate of 0 to 0.9 in bursts of a mean length of at least 1",
                )
            }
        };
        let checks = [
            ("latency", self.latency <= LONGEST, "0 to 10 s"),
            ("jitter", self.jitter <= LONGEST, "0 to 10 s"),
            ("loss", loss, loss_accepted),
            ("duplicates", share(self.duplicates), "0 to 1"),
            ("reordering", share(self.reordering), "0 to 1"),
            ("held_back", self.held_back <= LONGEST, "0 to 10 s"),
            ("rate", self.rate != Some(0), "at least 1 byte per second"),
            ("queue", self.queue >= 1500, "at least 1500 bytes"),
        ];
        match checks.iter().find(|(_, fits, _)| !fits) {
            Some((field, _, accepted)) => Err(Mistake { field, accepted }),
            None => Ok(()),
        }
    }
}
