//! A row of the result: a library in a case.

use crate::adapters::Library;
use crate::case::{Case, Kind};
use crate::measure::Measured;
use serde::{Deserialize, Serialize};

/// What was measured: the median of the runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The library, and how it is used where there are several ways.
    pub peer: String,
    /// How much of the crowd changes.
    pub kind: Kind,
    /// How many there are.
    pub entities: u16,
    /// How many see them.
    pub clients: u16,
    /// How long a message is on its way in each direction, in ticks of 1/60 s.
    pub delay_ticks: u32,
    /// A tick of the server, in microseconds of the processor.
    pub server_us: f64,
    /// A tick of one client, in microseconds of the processor.
    pub client_us: f64,
    /// What the server hands to the transport for one client, without the headers of a network.
    pub bytes_per_client_per_tick: f64,
    /// Whether a client has something else than the server beyond the precision, once everything rests; in any of the runs.
    pub diverges: bool,
}

impl Row {
    /// What some runs have come to.
    pub fn new(library: Library, case: &Case, runs: &[Measured]) -> Row {
        let Case { kind, entities, clients, delay_ticks } = *case;
        let median = |of: fn(&Measured) -> f64| median(runs.iter().map(of).collect());
        Row {
            peer: library.name().into(),
            kind,
            entities,
            clients,
            delay_ticks,
            server_us: median(|run| run.server_us),
            client_us: median(|run| run.client_us),
            bytes_per_client_per_tick: median(|run| run.bytes_per_client_per_tick),
            diverges: runs.iter().any(|run| run.diverges),
        }
    }

    /// The case that it is of.
    pub fn case(&self) -> Case {
        let Row { kind, entities, clients, delay_ticks, .. } = *self;
        Case { kind, entities, clients, delay_ticks }
    }
}

/// The middle one, the lower of two; to a hundredth.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.get((values.len() - 1) / 2).copied().unwrap_or(f64::NAN);
    (middle * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert!((median(vec![3.0, 1.004, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(vec![1.004]) - 1.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 3.0, 2.0]) - 2.0).abs() < 1e-9);
    }
}
