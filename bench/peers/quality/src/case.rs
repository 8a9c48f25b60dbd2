//! The links that are played over.

use core::fmt;
use core::time::Duration;
use foretell_sim::netsim::{Conditions, Loss};
use serde::{Deserialize, Serialize};

/// A link: the same both ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The shortest round trip.
    pub round_trip_ms: u32,
    /// Each datagram comes later by up to so much; they may overtake each other.
    pub jitter_ms: u32,
    /// So many of a hundred datagrams are lost, each by itself.
    pub loss_percent: u32,
}

impl Case {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Case> {
        let links = [(0, 0), (20, 0), (0, 5), (20, 5)];
        let trips = [50, 100, 200, 280, 400, 600];
        let with = move |(jitter_ms, loss_percent)| {
            trips.into_iter().map(move |round_trip_ms: u32| Case { round_trip_ms, jitter_ms, loss_percent })
        };
        links.into_iter().flat_map(with)
    }

    /// What each direction does to a datagram.
    pub fn conditions(self) -> Conditions {
        Conditions {
            latency: Duration::from_millis(u64::from(self.round_trip_ms)) / 2,
            jitter: Duration::from_millis(u64::from(self.jitter_ms)),
            loss: Loss::Uniform(f64::from(self.loss_percent) / 100.0),
            ..Conditions::default()
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.round_trip_ms)?;
        if self.jitter_ms > 0 {
            write!(f, ", jitter {} ms", self.jitter_ms)?;
        }
        if self.loss_percent > 0 {
            write!(f, ", loss {} %", self.loss_percent)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_named_by_what_it_does() {
        let names: Vec<_> = Case::all().map(|case| case.to_string()).collect();
        assert_eq!(names.len(), 24);
        assert_eq!([&*names[0], &*names[23]], ["50 ms", "600 ms, jitter 20 ms, loss 5 %"]);
        assert!(Case::all().all(|case| case.conditions().validate().is_ok()));
    }
}
