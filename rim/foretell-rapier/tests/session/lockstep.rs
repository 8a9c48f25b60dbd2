//! A timeline that saves its heap now and then against one that saves it in every tick: where bodies touch, the next step reads
//! more than rows say.

use super::pile::{Keys, ME, Pile, Thing, predicted};
use foretell::rollback::Timeline;
use foretell::world::{InputStatus, PlayerInput};
use foretell::{Owned, Rows, Tick, World};

struct Run {
    world: Pile,
    timeline: Timeline<Pile>,
}

impl Run {
    fn new(mut world: Pile, checkpoint_every: u32) -> Run {
        let timeline = predicted(&mut world, checkpoint_every);
        Run { world, timeline }
    }

    fn play_on(&mut self, ticks: u32) {
        for tick in self.timeline.present().until(self.timeline.present() + ticks) {
            let input = Keys { d: tick.get() % 90 < 60, w: tick.get() % 50 < 20, ..Keys::default() };
            self.timeline.give(tick, PlayerInput { player: ME, input, status: InputStatus::Received, presented: None });
            self.timeline.advance(&mut self.world, &Rows::new(&Pile::schema()));
        }
    }
}

/// What the authority says instead: every seventh body lies a little elsewhere.
fn moved(rows: &Rows, by: f32) -> Rows {
    let mut moved = rows.clone();
    let bodies: Vec<(Owned, Thing)> = rows.states().step_by(7).collect();
    for (of, state) in bodies {
        let (Thing::Driver { mut body } | Thing::Small { mut body } | Thing::Restless { mut body }) = state;
        body.position[0] += by;
        let state = if matches!(state, Thing::Driver { .. }) { Thing::Driver { body } } else { Thing::Small { body } };
        moved.set(of, &state);
    }
    moved
}

#[test]
fn a_heap_that_is_saved_now_and_then_is_rolled_back_to_the_same_bits_as_one_that_is_always_saved() {
    for every in [4, 24, 50] {
        let mut runs = [1, every].map(|every| Run::new(Pile::heap(40, false), every));
        for (nth, apart) in [4, 4, 4, 9, 2, 30, 1, 16, 16, 16, 5, 60, 4, 4].into_iter().enumerate() {
            runs.iter_mut().for_each(|run| run.play_on(apart));
            let start = runs[0].timeline.present().back(12).unwrap_or(Tick::new(4)).max(Tick::new(4));
            let known = runs[0].timeline.rows(start).expect("remembered").clone();
            let authority = moved(&known, if nth % 3 == 2 { 0.0 } else { 0.004 });
            for run in &mut runs {
                run.timeline.rewrite(&mut run.world, start, &authority);
                run.timeline.resimulate(&mut run.world, u32::MAX);
            }
            for tick in start.until(runs[0].timeline.present().next()) {
                let [always, sometimes] = [0, 1].map(|nth| runs[nth].timeline.rows(tick).map(Rows::digest));
                assert_eq!(always, sometimes, "{tick:?}, every {every}, the {nth}th rollback");
            }
        }
    }
}
