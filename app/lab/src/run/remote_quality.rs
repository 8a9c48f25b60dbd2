//! What the person sees of the others, measured over the last seconds as a sweep measures it over a run.

use foretell::{Entity, Owned, Rows};
use foretell_arena::Cube;
use foretell_plan::smoothness::{self, Point, distance};
use std::collections::{BTreeMap, VecDeque};

/// Over how many seconds is measured.
const WINDOW_S: f64 = 5.0;
/// How much older than what is shown the truth that excuses it may be, in seconds: a round trip's half and the playout
/// delay, on any network that is played over.
const BACK_S: f64 = 1.5;
/// Freezes and jumps are looked for every so many frames: nobody reads them faster.
const EVERY: u32 = 6;
/// An extrapolated entity stands still from here on, in ms (D29).
pub const HELD_MS: f64 = 250.0;

/// Paths of the others, shown and true, over the window.
#[derive(Clone, Debug, Default)]
pub struct RemoteQuality {
    /// Where they were shown.
    shown: BTreeMap<Entity, VecDeque<Point>>,
    /// Where they were after each step of the server.
    truth: BTreeMap<Entity, VecDeque<Point>>,
    frames: VecDeque<FrameCount>,
    noted: u32,
    figures: RemoteFigures,
}

/// Another entity as a frame shows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RemoteView {
    pub entity: Entity,
    /// Where, in metres.
    pub position: [f64; 3],
    /// How far beyond the newest snapshot, in ms.
    pub beyond_ms: f64,
}

/// How many others a frame has shown.
#[derive(Clone, Copy, Debug)]
struct FrameCount {
    /// When it was.
    at_s: f64,
    shown: u32,
    /// How many of them beyond the newest snapshot.
    beyond: u32,
}

/// The numbers of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RemoteFigures {
    /// How far beyond the newest snapshot any is shown in this frame, in ms.
    pub beyond_ms: f64,
    /// The largest way that any was shown to make in this frame, in metres.
    pub shown_step_m: f64,
    /// The largest way that any makes in truth in the time of a frame, in metres.
    pub true_step_m: f64,
    /// Of the window's frames of others, the share beyond the newest snapshot.
    pub extrapolated_share: f64,
    /// The longest that any was shown standing still while in truth it moved, in ms; within the window.
    pub frozen_ms: f64,
    /// The largest step of any beyond what its true speed allows, in metres; within the window.
    pub jump_m: f64,
}

impl RemoteQuality {
    /// What is true after a step of the server.
    pub fn note_truth(&mut self, at_s: f64, rows: &Rows, is_other: impl Fn(Owned) -> bool) {
        let mut fastest = 0.0_f64;
        for (of, cube) in rows.states::<Cube>().filter(|(of, _)| is_other(*of)) {
            let point = Point { at_s, position: cube.position.map(f64::from) };
            self.truth.entry(of.entity).or_default().push_back(point);
            fastest = fastest.max(distance(cube.velocity.map(f64::from), [0.0; 3]));
        }
        self.figures.true_step_m = fastest / 60.0;
        forget(&mut self.truth, at_s - WINDOW_S - BACK_S);
    }

    /// What a frame of the person's screen shows.
    pub fn note_frame(&mut self, at_s: f64, views: &[RemoteView]) {
        (self.figures.shown_step_m, self.figures.beyond_ms) = (0.0, 0.0);
        for RemoteView { entity, position, beyond_ms } in views {
            let path = self.shown.entry(*entity).or_default();
            let step = path.back().map_or(0.0, |before| distance(before.position, *position));
            path.push_back(Point { at_s, position: *position });
            self.figures.shown_step_m = self.figures.shown_step_m.max(step);
            self.figures.beyond_ms = self.figures.beyond_ms.max(*beyond_ms);
        }
        let beyond = views.iter().filter(|view| view.beyond_ms > 0.0).count();
        let counted = |count| u32::try_from(count).unwrap_or(u32::MAX);
        self.frames.push_back(FrameCount { at_s, shown: counted(views.len()), beyond: counted(beyond) });
        while self.frames.pop_front_if(|frame| frame.at_s < at_s - WINDOW_S).is_some() {}
        forget(&mut self.shown, at_s - WINDOW_S);
        let sum = |of: fn(&FrameCount) -> u32| f64::from(self.frames.iter().map(of).sum::<u32>());
        self.figures.extrapolated_share = sum(|frame| frame.beyond) / sum(|frame| frame.shown).max(1.0);
        if self.noted.is_multiple_of(EVERY) {
            self.look_back();
        }
        self.noted = self.noted.wrapping_add(1);
    }

    /// The numbers of the newest frame.
    pub fn figures(&self) -> RemoteFigures {
        self.figures
    }

    fn look_back(&mut self) {
        (self.figures.frozen_ms, self.figures.jump_m) = (0.0, 0.0);
        for (entity, shown) in &mut self.shown {
            let Some(truth) = self.truth.get_mut(entity) else { continue };
            let (shown, truth) = (&*shown.make_contiguous(), &*truth.make_contiguous());
            self.figures.frozen_ms = self.figures.frozen_ms.max(smoothness::frozen_ms(shown, truth, BACK_S));
            self.figures.jump_m = self.figures.jump_m.max(smoothness::jump_m(shown, truth, BACK_S));
        }
    }
}

/// Drops what was before `from_s`, and those of whom nothing is left.
fn forget(paths: &mut BTreeMap<Entity, VecDeque<Point>>, from_s: f64) {
    for path in paths.values_mut() {
        while path.pop_front_if(|point| point.at_s < from_s).is_some() {}
    }
    paths.retain(|_, path| !path.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::{PlayerId, Tick};

    const OTHER: Entity = Entity::new(PlayerId::new(2), Tick::ZERO, 0);

    /// Somebody who walks along x at 3 m/s, shown 100 ms late as `shown` makes it of time and place.
    fn watch(shown: impl Fn(f64, f64) -> ([f64; 3], f64)) -> RemoteFigures {
        let mut others = RemoteQuality::default();
        let mut rows = Rows::new(&foretell::Schema::of::<Cube>());
        for frame in 0..600_u32 {
            let at_s = f64::from(frame) / 60.0;
            #[expect(clippy::cast_possible_truncation, reason = "the arena is in f32")]
            let x = (3.0 * at_s) as f32;
            rows.set(
                Owned { entity: OTHER, owner: PlayerId::new(2) },
                &Cube { position: [x, 0.0, 0.0], velocity: [3.0, 0.0, 0.0] },
            );
            others.note_truth(at_s, &rows, |_| true);
            let (position, beyond_ms) = shown(at_s, 3.0 * (at_s - 0.1));
            others.note_frame(at_s, &[RemoteView { entity: OTHER, position, beyond_ms }]);
        }
        others.figures()
    }

    #[test]
    fn who_is_shown_as_they_walk_neither_freezes_nor_jumps() {
        let seen = watch(|_, x| ([x, 0.0, 0.0], 0.0));
        assert!((seen.true_step_m - 0.05).abs() < 1e-6 && (seen.shown_step_m - 0.05).abs() < 1e-6, "{seen:?}");
        assert_eq!((seen.frozen_ms, seen.jump_m, seen.extrapolated_share), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_freeze_and_the_jump_after_it_are_measured_and_forgotten() {
        let freeze = |from: f64| {
            watch(move |at_s, x| {
                let frozen = (from..from + 0.5).contains(&at_s);
                ([if frozen { 3.0 * (from - 0.1) } else { x }, 0.0, 0.0], if frozen { 300.0 } else { 0.0 })
            })
        };
        let seen = freeze(7.0);
        assert!((seen.frozen_ms - 460.0).abs() < 30.0, "{seen:?}");
        assert!((seen.jump_m - 1.5).abs() < 0.06, "{seen:?}");
        assert!((seen.extrapolated_share - 0.1).abs() < 0.01, "{seen:?}");
        let seen = freeze(3.0);
        assert_eq!((seen.frozen_ms, seen.jump_m, seen.extrapolated_share), (0.0, 0.0, 0.0));
    }
}
