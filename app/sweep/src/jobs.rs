//! The rows of a sweep on several threads; what comes out does not depend on how many.

use super::row::Row;
use super::simulate;
use foretell_arena::Arena;
use foretell_plan::{Case, Plan};
use foretell_sim::harness::Simulation;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// A row to be run.
pub struct Job {
    /// The index of its plan.
    pub plan: usize,
    case: Case,
    seed: u64,
}

impl Job {
    /// Runs it. `begun` gets the session after each machine that was added, before anything happens there.
    pub fn run(&self, plans: &[Plan], begun: &mut dyn FnMut(&mut Simulation<Arena>)) -> Row {
        simulate::run(&plans[self.plan], &self.case, self.seed, begun)
    }
}

/// Every row of every plan, in order: by plan, case, seed.
pub fn of(plans: &[Plan]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (plan, of) in plans.iter().enumerate() {
        for case in of.cases() {
            jobs.extend(of.session.seeds.iter().map(|seed| Job { plan, case: case.clone(), seed: *seed }));
        }
    }
    jobs
}

/// Runs all, and calls `done` here for each as it is done. Returns the rows in the order of the jobs.
pub fn run(plans: &[Plan], jobs: &[Job], threads: usize, mut done: impl FnMut(&Row)) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let (to_here, from_there) = mpsc::channel();
    let mut rows: Vec<Option<Row>> = jobs.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (next, to_here) = (&next, to_here.clone());
            scope.spawn(move || {
                while let Some((index, job)) = take(next, jobs) {
                    let row = job.run(plans, &mut |_| {});
                    // Nobody listens only when the sweep itself has panicked.
                    let _ = to_here.send((index, row));
                }
            });
        }
        drop(to_here);
        for (index, row) in from_there {
            done(&row);
            rows[index] = Some(row);
        }
    });
    rows.into_iter().map(|row| row.expect("a thread that panics ends the scope")).collect()
}

fn take<'a>(next: &AtomicUsize, jobs: &'a [Job]) -> Option<(usize, &'a Job)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}
