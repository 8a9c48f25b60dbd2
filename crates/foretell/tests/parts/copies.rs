//! What a rollback costs in steps and in copies of the world, where copies are expensive, and what it leaves to go back to.

use crate::timeline::{ME, MINE, Mass, Masses, Push, THEIRS, both, first, push, tell};
use foretell::rollback::Timeline;
use foretell::{Rows, Schema, Simulate, Step, Tick, TickRate, World};
use std::cell::Cell;

/// Masses that count.
#[derive(Default)]
struct Counted {
    masses: Masses,
    steps: u32,
    copies: Cell<u32>,
}

impl Simulate for Counted {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        self.steps += 1;
        self.masses.step(step);
    }
}

impl World for Counted {
    type Saved = <Masses as World>::Saved;

    fn schema() -> Schema {
        Masses::schema()
    }

    fn save(&self, into: &mut Self::Saved) {
        self.copies.set(self.copies.get() + 1);
        self.masses.save(into);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.copies.set(self.copies.get() + 1);
        self.masses.load(from);
    }

    fn take(&mut self, from: &mut Self::Saved) {
        self.masses.take(from);
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.masses.publish(rows);
    }

    fn adopt(&mut self, rows: &Rows) {
        self.masses.adopt(rows);
    }
}

const DEPTH: u32 = 16;
const SAVED_EVERY: u32 = 24;

struct Played {
    timeline: Timeline<Counted>,
    world: Counted,
}

impl Played {
    fn new(saved_every: u32) -> Played {
        let mut full = Rows::new(&Masses::schema());
        [MINE, THEIRS].into_iter().for_each(|entity| full.set(first(entity), &Mass::default()));
        let mut world = Counted::default();
        world.adopt(&full);
        let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), 128, saved_every);
        timeline.begin(&mut world, Tick::ZERO);
        timeline.switch(&mut world, Tick::ZERO, &both(), &full);
        let mut played = Played { timeline, world };
        played.play_on(100);
        played
    }

    fn play_on(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.timeline.give(self.timeline.present(), push(1));
            self.timeline.advance(&mut self.world, &Rows::new(&Masses::schema()));
        }
    }

    /// The steps and copies of `rollbacks` that each begin 16 ticks back, as many ticks apart as the pattern says in turn.
    fn cost_of(&mut self, rollbacks: u32, pattern: &[u32], mut begin: impl FnMut(&mut Played, Tick)) -> (u32, u32) {
        let (mut steps, mut copies) = (0, 0);
        for apart in pattern.iter().cycle().take(rollbacks as usize) {
            self.play_on(*apart);
            let start = self.timeline.present().back(DEPTH).expect("long ago");
            let before = (self.world.steps, self.world.copies.get());
            begin(self, start);
            self.timeline.resimulate(&mut self.world, u32::MAX);
            steps += self.world.steps - before.0;
            copies += self.world.copies.get() - before.1;
        }
        (steps, copies)
    }
}

fn rewrite(played: &mut Played, start: Tick) {
    let mut authority = played.timeline.rows(start).expect("remembered").clone();
    authority.set(first(MINE), &Mass { at: [f64::from(start.get())], speed: [0.5] });
    played.timeline.rewrite(&mut played.world, start, &authority);
}

#[test]
fn a_rollback_that_begins_where_it_was_expected_repeats_no_tick_and_copies_the_world_once() {
    for apart in [1, 4, 7, 16] {
        let mut played = Played::new(SAVED_EVERY);
        played.cost_of(4, &[apart], rewrite);
        let (steps, copies) = played.cost_of(24, &[apart], rewrite);
        assert_eq!(steps, 24 * DEPTH, "{apart} ticks apart");
        // One more where the last one was so long ago.
        let spare = 24 * apart / SAVED_EVERY + 1;
        assert!(copies <= 24 + spare, "{copies} copies, {apart} ticks apart");
    }
}

#[test]
fn where_some_snapshots_are_lost_a_rollback_repeats_a_few_ticks() {
    let mut played = Played::new(SAVED_EVERY);
    let pattern = [4, 4, 8, 4, 12, 4, 4, 4];
    played.cost_of(8, &pattern, rewrite);
    let (steps, copies) = played.cost_of(24, &pattern, rewrite);
    // Four after the longer pause, eight after the longest.
    assert!(steps <= 24 * DEPTH + 3 * (4 + 8), "{steps} steps");
    assert!(copies <= 24 + 24 * 44 / (8 * SAVED_EVERY) + 1, "{copies} copies");
}

#[test]
fn wherever_rollbacks_begin_they_cost_at_most_three_tenths_more_than_their_steps_and_one_copy() {
    // What a copy costs, in steps, by the number of ticks between two saved states.
    for (saved_every, copy) in [(4, 0.5), (8, 2.0), (24, 18.0)] {
        for pattern in [&[3, 11, 6, 25, 1, 14, 8][..], &[4, 4, 8, 4, 12, 4, 4, 4], &[4, 12, 4, 8, 24, 4, 16, 8]] {
            let mut played = Played::new(saved_every);
            played.cost_of(20, pattern, rewrite);
            let (steps, copies) = played.cost_of(70, pattern, rewrite);
            let least = 70.0 * (f64::from(DEPTH) + copy);
            let ratio = (f64::from(steps) + copy * f64::from(copies)) / least;
            assert!(ratio <= 1.3, "{ratio:.2}: {steps} steps, {copies} copies, {saved_every} apart, {pattern:?}");
        }
    }
}

#[test]
fn what_is_told_of_inputs_again_and_again_repeats_no_tick_either() {
    let mut played = Played::new(SAVED_EVERY);
    let revise = |played: &mut Played, start: Tick| {
        tell(&mut played.timeline, [(start.get(), start.get() as i16 % 7)]);
        let outdated = played.timeline.outdated(start).expect("it was another");
        assert_eq!(outdated, start);
        played.timeline.revisit(outdated);
    };
    played.cost_of(4, &[4], revise);
    let (steps, copies) = played.cost_of(24, &[4], revise);
    assert_eq!(steps, 24 * DEPTH);
    assert!(copies <= 24 + 24 * 4 / SAVED_EVERY + 1, "{copies} copies");
}

#[test]
fn the_first_rollback_after_a_switch_copies_no_more_than_the_others() {
    let mut played = Played::new(SAVED_EVERY);
    assert_eq!(played.cost_of(1, &[4], rewrite).1, 1, "the rewritten state, as none is left near");
}

#[test]
fn of_what_is_simulated_again_one_state_is_copied_however_cheap_copies_are_said_to_be() {
    let mut played = Played::new(4);
    played.cost_of(4, &[16], rewrite);
    let (steps, copies) = played.cost_of(24, &[16], rewrite);
    assert_eq!(steps, 24 * DEPTH);
    assert!(copies <= 24 * 3 / 2 + 1, "{copies} copies: a rewritten one, where the last is two rollbacks old");
}

#[test]
fn after_a_deep_rollback_states_of_the_same_age_are_remembered_still() {
    let depth = 88;
    let mut played = Played::new(SAVED_EVERY);
    for nth in 1..2000 {
        played.play_on(4);
        let tick = played.timeline.present().back(depth).unwrap_or_default();
        assert!(nth < 100 || played.timeline.oldest() <= tick, "{nth}: {:?} is forgotten", tick);
        if nth > 100 && nth % 13 == 0 {
            rewrite(&mut played, tick);
            played.timeline.resimulate(&mut played.world, u32::MAX);
        }
    }
}
