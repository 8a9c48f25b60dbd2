//! The crowd with its steps timed.

use crate::cpu::Spent;
use foretell::{Rows, Schema, Simulate, Step, World};
use foretell_crowd::{Crowd, Walk};

/// A crowd, and what its steps take.
#[derive(Default)]
pub struct TimedCrowd {
    crowd: Crowd,
    /// Where that is measured.
    pub stepping: Option<Spent>,
}

impl From<Crowd> for TimedCrowd {
    fn from(crowd: Crowd) -> TimedCrowd {
        TimedCrowd { crowd, stepping: None }
    }
}

impl Simulate for TimedCrowd {
    type Input = Walk;

    fn step(&mut self, step: &mut Step<'_, Walk>) {
        let TimedCrowd { crowd, stepping } = self;
        match stepping {
            None => crowd.step(step),
            Some(spent) => spent.time(|| crowd.step(step)),
        }
    }
}

impl World for TimedCrowd {
    type Saved = <Crowd as World>::Saved;

    fn schema() -> Schema {
        Crowd::schema()
    }

    fn save(&self, into: &mut Self::Saved) {
        self.crowd.save(into);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.crowd.load(from);
    }

    fn take(&mut self, from: &mut Self::Saved) {
        self.crowd.take(from);
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.crowd.publish(rows);
    }

    fn adopt(&mut self, rows: &Rows) {
        self.crowd.adopt(rows);
    }

    fn adopt_known(&mut self, rows: &Rows) {
        self.crowd.adopt_known(rows);
    }
}
