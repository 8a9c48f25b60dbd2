//! A plan as it was read, and the points of its grid.

use super::figures::Threshold;
use super::network::Network;
use super::session::Session;

/// What is run, and what must come out.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Its name, in reports and as an argument.
    pub name: String,
    /// What it stands for, in a sentence.
    pub explain: String,
    /// The network, where the grid says nothing else.
    pub network: Network,
    /// What is played over it.
    pub session: Session,
    /// What is varied.
    pub grid: Grid,
    /// What must hold in every row; ascending by figure.
    pub thresholds: Vec<Threshold>,
}

/// What is varied: every combination of the lists; an empty list keeps the single value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Grid {
    /// One-way latencies in ms.
    pub latency_ms: Vec<f64>,
    /// Jitters in ms.
    pub jitter_ms: Vec<f64>,
    /// Shares that are lost.
    pub loss: Vec<f64>,
    /// Snapshots per second.
    pub snapshot_rate: Vec<u16>,
    /// How much the clients' clocks gain, in ppm.
    pub skew_ppm: Vec<i32>,
}

impl Grid {
    /// Whether anything is varied.
    pub fn is_single(&self) -> bool {
        *self == Grid::default()
    }
}

/// One point of a plan's grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The network.
    pub network: Network,
    /// Snapshots per second.
    pub snapshot_rate: u16,
    /// How much the clients' clocks gain, in ppm.
    pub skew_ppm: i32,
}

impl Plan {
    /// All points of the grid: latency slowest, skew fastest.
    pub fn cases(&self) -> Vec<Case> {
        let Session { snapshot_rate, skew_ppm, .. } = self.session;
        let mut cases = vec![Case { network: self.network.clone(), snapshot_rate, skew_ppm }];
        cases = vary(&cases, &self.grid.latency_ms, |case, value| case.network.latency_ms = value);
        cases = vary(&cases, &self.grid.jitter_ms, |case, value| case.network.jitter_ms = value);
        cases = vary(&cases, &self.grid.loss, |case, value| case.network.loss = value);
        cases = vary(&cases, &self.grid.snapshot_rate, |case, value| case.snapshot_rate = value);
        vary(&cases, &self.grid.skew_ppm, |case, value| case.skew_ppm = value)
    }

    /// The same plan for a short run: the first seed alone. As long as it is, as rates of what is rare need time.
    #[must_use]
    pub fn quick(mut self) -> Plan {
        self.session.seeds.truncate(1);
        self
    }
}

fn vary<T: Copy>(cases: &[Case], values: &[T], set: impl Fn(&mut Case, T)) -> Vec<Case> {
    if values.is_empty() {
        return cases.to_vec();
    }
    let with = |case: &Case, value: &T| {
        let mut case = case.clone();
        set(&mut case, *value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(move |value| (case, value))).map(|(c, v)| with(c, v)).collect()
}

#[cfg(test)]
mod tests {
    use crate::read;

    #[test]
    fn a_grid_is_every_combination_in_order() {
        let plan = read("a.toml", "name = 'a'\n[grid]\nlatency_ms = [0, 50]\nsnapshot_rate = [64, 2]").expect("good");
        let points: Vec<_> = plan.cases().iter().map(|case| (case.network.latency_ms, case.snapshot_rate)).collect();
        assert_eq!(points, [(0.0, 64), (0.0, 2), (50.0, 64), (50.0, 2)]);
    }
}
