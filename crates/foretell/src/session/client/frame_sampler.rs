//! What a game moves by frame in a way of its own, captured by tick (F7).

use crate::session::curves::{RowBuffer, blend};
use crate::time::{Tick, TickTime};
use crate::world::{ComponentSchema, ROW_WORDS_MAX, State};
use alloc::vec::Vec;

/// How many captures of an entity wait for their ticks, at most: the newest.
pub(super) const CAPTURES_MAX: u32 = 64;

/// The state of an entity that its owner moves by frame, in whatever way: by physics, by a pointer, by an animation. Between two frames
/// it is on the line, and so a capture is where the entity was *at the tick*, not where the last frame has left it. Where the way is
/// known, as it is with a velocity, a [`FrameMover`](crate::motion::FrameMover) is exact.
///
/// Call [`frame`](FrameSampler::frame) once per rendered frame, before the update, and hand what it says to
/// [`Client::capture`](super::Client::capture).
#[derive(Clone, Debug)]
pub struct FrameSampler<S> {
    components: Vec<ComponentSchema>,
    /// At the end of the last frame.
    state: S,
    frame_at: TickTime,
}

impl<S: State + Clone> FrameSampler<S> {
    /// It is in this state at the point `at` of the tick axis: [`Client::held`](super::Client::held) and
    /// [`Client::tick_time`](super::Client::tick_time) when the game begins to move it.
    pub fn new(state: S, at: TickTime) -> FrameSampler<S> {
        FrameSampler { components: S::components(), state, frame_at: at }
    }

    /// At the end of a frame, at `until`, it is in this state. Calls `capture` with every tick whose start the frame has passed, in
    /// order, and the state there: motion and blended fields are on the line, rotations turn the shorter way, and everything else is as in the
    /// frame before; so is all, where the entity was [put elsewhere](crate::Meaning::Teleports) meanwhile. A frame that ends no later than the last one passes no tick: where the clock was set back, ticks are passed once more, of
    /// which the last capture counts. Of a frame that is longer than 64 ticks the beginning is skipped.
    pub fn frame(&mut self, state: &S, until: TickTime, mut capture: impl FnMut(Tick, &S)) {
        let span = (until - self.frame_at).as_ticks();
        let newest = until.tick();
        let first = self.frame_at.tick().next().max(newest.back(CAPTURES_MAX - 1).unwrap_or_default());
        for tick in first.until(newest.next()) {
            let passed = (TickTime::start_of(tick) - self.frame_at).as_ticks();
            capture(tick, &self.between(state, passed / span));
        }
        (self.state, self.frame_at) = (state.clone(), until);
    }

    /// The state on the way from that of the last frame to another, from 0 to 1.
    fn between(&self, to: &S, t: f64) -> S {
        let mut state = if t < 1.0 { self.state.clone() } else { to.clone() };
        let [mut before, mut after, mut at]: [RowBuffer; 3] = [[0; ROW_WORDS_MAX]; 3];
        for (nth, component) in self.components.iter().enumerate() {
            if self.state.write(nth, &mut before) && to.write(nth, &mut after) {
                let words = component.words();
                blend(component, &before[..words], &after[..words], t, &mut at);
                state.adopt(nth, &at[..words]);
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Column, Field};
    use proptest::prelude::*;

    /// Somebody who is carried, and something about them that is no motion.
    #[derive(Clone, PartialEq, Debug)]
    struct Crate {
        x: [f64; 1],
        lid: u32,
    }

    impl State for Crate {
        const COMPONENTS: usize = 1;
        const IS_CHOICE: bool = false;

        fn components() -> Vec<ComponentSchema> {
            use crate::world::{Audience, Meaning};
            let columns = [Column::of::<[f64; 1]>("x", Meaning::Position), Column::of::<u32>("lid", Meaning::Plain)];
            Vec::from([ComponentSchema::new("Crate", Vec::from(columns), Audience::All)])
        }

        fn write(&self, _: usize, words: &mut [u32]) -> bool {
            self.x.put(words);
            words[2] = self.lid;
            true
        }

        fn read(_: usize, words: &[u32]) -> Option<Crate> {
            Some(Crate { x: <[f64; 1]>::get(words), lid: words[2] })
        }

        fn adopt(&mut self, _: usize, words: &[u32]) {
            (self.x, self.lid) = (<[f64; 1]>::get(words), words[2]);
        }
    }

    fn at(ticks: f64) -> TickTime {
        TickTime::ticks(ticks)
    }

    /// What a frame captures.
    fn captured(sampler: &mut FrameSampler<Crate>, x: f64, lid: u32, until: f64) -> Vec<(u32, f64, u32)> {
        let mut captured = Vec::new();
        sampler.frame(&Crate { x: [x], lid }, at(until), |tick, it| captured.push((tick.get(), it.x[0], it.lid)));
        captured
    }

    #[test]
    fn a_capture_is_where_it_was_at_the_tick_and_what_is_no_motion_is_as_before_it() {
        let mut sampler = FrameSampler::new(Crate { x: [0.0], lid: 0 }, at(10.5));
        assert_eq!(captured(&mut sampler, 4.0, 1, 12.5), [(11, 1.0, 0), (12, 3.0, 0)]);
        assert_eq!(captured(&mut sampler, 5.0, 2, 13.0), [(13, 5.0, 2)], "a frame that ends with a tick");
        assert_eq!(captured(&mut sampler, 6.0, 3, 13.5), []);
        assert_eq!(captured(&mut sampler, 7.0, 4, 13.2), [], "the clock was set back");
        assert_eq!(captured(&mut sampler, 8.0, 5, 14.2), [(14, 7.8, 4)]);
        assert_eq!(captured(&mut sampler, 9.0, 6, 12.5), []);
        assert_eq!(captured(&mut sampler, 10.0, 7, 13.5), [(13, 9.5, 6)], "a tick that was passed before");
    }

    #[test]
    fn of_a_long_frame_the_last_ticks_are_captured() {
        let mut sampler = FrameSampler::new(Crate { x: [0.0], lid: 0 }, at(0.0));
        let captured = captured(&mut sampler, 1_000.0, 0, 1_000.0);
        assert_eq!(captured.len(), 64);
        assert_eq!(captured[0], (937, 937.0, 0));
        assert_eq!(captured[63], (1_000, 1_000.0, 0));
    }

    proptest! {
        #[test]
        fn whatever_frames_do_each_tick_is_captured_once_and_a_steady_motion_is_even(
            frames in prop::collection::vec(0.01_f64..5.0, 1..50),
        ) {
            let mut sampler = FrameSampler::new(Crate { x: [0.0], lid: 0 }, at(0.0));
            let (mut now, mut all) = (0.0, Vec::new());
            for frame in frames {
                now += frame;
                all.extend(captured(&mut sampler, now, 0, now));
            }
            for (expected, (tick, x, _)) in (1..).zip(&all) {
                prop_assert_eq!(*tick, expected);
                prop_assert!((x - f64::from(expected)).abs() < 1e-3, "tick {} at {}", tick, x);
            }
            prop_assert_eq!(all.len(), at(now).tick().get() as usize);
        }
    }

    #[test]
    fn no_capture_is_on_the_way_to_where_it_was_put() {
        #[derive(foretell::State, Clone, Copy)]
        struct Carried {
            #[state(position, writer = owner)]
            x: [f64; 1],
            #[state(teleports, writer = owner)]
            teleports: u8,
        }
        let mut sampler = FrameSampler::new(Carried { x: [0.0], teleports: 0 }, at(10.5));
        let mut captured = Vec::new();
        let put = Carried { x: [8.0], teleports: 1 };
        sampler.frame(&put, at(13.0), |tick, it| captured.push((tick.get(), it.x[0], it.teleports)));
        assert_eq!(captured, [(11, 0.0, 0), (12, 0.0, 0), (13, 8.0, 1)]);
    }
}
