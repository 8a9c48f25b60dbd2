//! The smallest plan that still fails: fewer faults, shorter ones, fewer players, a shorter session.

use super::bot_view::TICKS_HELD;
use super::failure::Failure;
use super::run::{Found, Plan, run};
use super::{Fault, Scenario, Schedule, Who};
use alloc::vec::Vec;
use foretell::world::World;

/// How many ticks the world is looked at by itself.
const SYNC_TICKS: u32 = 640;

/// Searches for a smaller plan in which the same check complains. A function of its arguments.
pub(super) fn shrink<W: World>(scenario: &Scenario<W>, plan: Plan, found: Found) -> Failure {
    let mut search = Search { scenario, plan, found, runs: 0 };
    search.drop_faults();
    search.drop_players();
    search.shorten_faults();
    search.shorten_session();
    search.drop_faults();
    let Search { plan, found, runs, .. } = search;
    let world = scenario.world_by_itself(plan.seed, TICKS_HELD).run(SYNC_TICKS);
    let is_in_lab = scenario.is_in_lab(plan.players);
    Failure { plan, found, runs, world: world.err(), is_in_lab }
}

struct Search<'a, W: World> {
    scenario: &'a Scenario<W>,
    plan: Plan,
    found: Found,
    runs: u32,
}

impl<W: World> Search<'_, W> {
    /// Takes the plan over if it fails in the same way.
    fn try_plan(&mut self, plan: Plan) -> bool {
        if self.runs >= self.scenario.search || plan == self.plan {
            return false;
        }
        self.runs += 1;
        match run(self.scenario, &plan) {
            Err(found) if found.check == self.found.check => {
                (self.plan, self.found) = (plan, found);
                true
            }
            _ => false,
        }
    }

    /// Without some of the faults: halves first, then quarters, down to single ones.
    fn drop_faults(&mut self) {
        let mut size = self.plan.schedule.0.len();
        while size > 0 {
            let mut at = 0;
            while at < self.plan.schedule.0.len() {
                let mut faults = self.plan.schedule.0.clone();
                faults.drain(at..faults.len().min(at + size));
                if !self.try_plan(Plan { schedule: Schedule(faults), ..self.plan.clone() }) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Without single players, from the last to the first; those after them take the lower numbers.
    fn drop_players(&mut self) {
        for gone in (0..self.plan.players).rev().filter(|_| self.plan.players > 1).collect::<Vec<_>>() {
            let kept = |fault: &&Fault| fault.who != Who::Player(gone);
            let renumbered = |fault: &Fault| match fault.who {
                Who::Player(player) if player > gone => Fault { who: Who::Player(player - 1), ..*fault },
                _ => *fault,
            };
            let faults = self.plan.schedule.0.iter().filter(kept).map(renumbered).collect();
            let players = self.plan.players - 1;
            if players > 0 {
                self.try_plan(Plan { players, schedule: Schedule(faults), ..self.plan.clone() });
            }
        }
    }

    /// Each fault shorter by a half, as often as it still fails, then by a quarter, and by an eighth.
    fn shorten_faults(&mut self) {
        for (index, part) in (0..self.plan.schedule.0.len()).flat_map(|index| [2, 4, 8].map(|part| (index, part))) {
            while let Some(length) = self.plan.schedule.0[index].length_ms.filter(|length| *length >= part) {
                let mut plan = self.plan.clone();
                plan.schedule.0[index].length_ms = Some(length - length / part);
                if !self.try_plan(plan) {
                    break;
                }
            }
        }
    }

    /// Up to just after what was found, or half as long.
    fn shorten_session(&mut self) {
        let found_ms = u32::try_from(self.found.at.micros().div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        for length_ms in [found_ms, self.plan.length_ms / 2, self.plan.length_ms / 4 * 3] {
            if (1..self.plan.length_ms).contains(&length_ms) {
                self.try_plan(Plan { length_ms, ..self.plan.clone() });
            }
        }
    }
}
