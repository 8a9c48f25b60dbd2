//! Moving by frame, captured by tick: what the owner of an entity does in shared mode (F5 to F8).
//!
//! An owner answers to its input in every rendered frame, but others get its state at ticks, and take these to be evenly
//! spaced. What is captured therefore has to be where the owner was *at the tick*, not where the last frame has left it
//! (F6, E25). Invariant of [`AntiAliasing::Exact`]: each capture lies on the path that the owner's frames have gone, at
//! the tick's own time; so captures are evenly spaced as long as the velocity is the same, whatever the frames do.

use super::{Real, vector};
use crate::time::{Tick, TickRate, TickTime};

/// What is done about frames and ticks that do not fall together (F7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum AntiAliasing {
    /// Nothing: moves in frames, and a tick captures where the frame before has left it. Captures are up to a tick's way
    /// out of step (E25). To compare with, and for frame rates far above the tick rate.
    Ignore,
    /// Moves in ticks alone, and shows the way between the last two captures: even, and up to one tick late.
    Ticks,
    /// Moves in both, as the article's controller does (F8): captures are even, and what is shown is late by up to a
    /// frame, as its frame time is that of the frame before.
    Article,
    /// Moves in both, and each capture is the point of the path at the tick's time: even, and shown without delay. The
    /// default (D28).
    #[default]
    Exact,
}

/// An entity that its owner moves by frame, in `N` dimensions.
///
/// Call [`frame`](FrameMover::frame) once per rendered frame with the velocity that the input asks for; it hands out
/// what is to be captured, and returns what is to be shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameMover<R, const N: usize> {
    strategy: AntiAliasing,
    rate: TickRate,
    /// A faster velocity is shortened to it, in m/s.
    speed_max: R,
    velocity: [R; N],
    /// Where it was at `base_at`. It goes on from there with `velocity`, and not from frame to frame, so that rounding
    /// does not add up (E26).
    base: [R; N],
    base_at: TickTime,
    /// The end of the last frame.
    frame_at: TickTime,
    /// The next tick to capture.
    next: Tick,
    /// The capture before the last one, for [`AntiAliasing::Ticks`].
    before: [R; N],
}

impl<R: Real, const N: usize> FrameMover<R, N> {
    /// An owner that stands at `place` (metres) at the point `at` of the tick axis. `speed_max` is the fastest that it
    /// moves in m/s (E26): what the [schema](crate::world::ComponentSchema::speed_max) allows, so that the server does not
    /// have to hold it back.
    pub fn new(strategy: AntiAliasing, rate: TickRate, speed_max: R, place: [R; N], at: TickTime) -> FrameMover<R, N> {
        FrameMover {
            strategy,
            rate,
            speed_max,
            velocity: [R::ZERO; N],
            base: place,
            base_at: at,
            frame_at: at,
            next: at.tick().next(),
            before: place,
        }
    }

    /// Moves through the frame that ends at `until`, with `velocity` (m/s, finite numbers), and calls `capture` with every tick whose start it
    /// passes, in order, and the place there. Returns what is to be shown. A frame that ends before the last one moves
    /// nothing; where that is by more than a second the clock was set back, and it goes on at `until` from where it is shown.
    /// Of a frame that is longer than a second the beginning is skipped: it stood still then.
    pub fn frame(&mut self, velocity: [R; N], until: TickTime, mut capture: impl FnMut(Tick, [R; N])) -> [R; N] {
        let second = TickTime::start_of(Tick::new(u32::from(self.rate.get())));
        if self.frame_at - until > second {
            self.begin_again(until);
        }
        self.skip_to(until - second);
        let velocity = self.clamped(velocity);
        match self.strategy {
            AntiAliasing::Ignore | AntiAliasing::Ticks => self.velocity = velocity,
            // The article moves up to the end of the frame before, in each frame, and by the input of this one.
            AntiAliasing::Article => {
                self.velocity = velocity;
                self.rebase(self.frame_at);
            }
            AntiAliasing::Exact if velocity != self.velocity => {
                self.rebase(self.frame_at);
                self.velocity = velocity;
            }
            AntiAliasing::Exact => {}
        }
        while TickTime::start_of(self.next) <= until {
            if self.strategy != AntiAliasing::Ignore {
                self.before = self.base;
                self.rebase(TickTime::start_of(self.next));
            }
            capture(self.next, self.base);
            self.next = self.next.next();
        }
        self.frame_at = self.frame_at.max(until);
        if self.strategy == AntiAliasing::Ignore {
            self.rebase(self.frame_at);
        }
        self.shown()
    }

    /// What is to be shown at the end of the last frame.
    pub fn shown(&self) -> [R; N] {
        match self.strategy {
            AntiAliasing::Ignore | AntiAliasing::Article => self.base,
            AntiAliasing::Ticks => {
                let passed = (self.frame_at - self.base_at).as_ticks();
                vector::lerp(self.before, self.base, R::from_f64(passed))
            }
            AntiAliasing::Exact => self.at(self.frame_at),
        }
    }

    /// The velocity of the last frame in m/s, after the clamp.
    pub fn velocity(&self) -> [R; N] {
        self.velocity
    }

    /// Sets it to another place, at the end of the last frame: a wall, or a teleport.
    pub fn place(&mut self, place: [R; N]) {
        (self.base, self.before, self.base_at) = (place, place, self.frame_at);
    }

    /// Where it is at a point that is not before its base.
    fn at(&self, at: TickTime) -> [R; N] {
        let seconds = (at - self.base_at).as_ticks() * self.rate.seconds();
        vector::add(self.base, vector::scale(self.velocity, R::from_f64(seconds)))
    }

    /// From `at` on it is reckoned from where it is then.
    fn rebase(&mut self, at: TickTime) {
        (self.base, self.base_at) = (self.at(at), at);
    }

    /// Goes on at `at`, before the end of the last frame, from where it is shown.
    fn begin_again(&mut self, at: TickTime) {
        let place = self.shown();
        (self.frame_at, self.next) = (at, at.tick().next());
        self.place(place);
    }

    /// Stands still up to `at`, if it is not there yet.
    fn skip_to(&mut self, at: TickTime) {
        if at > self.frame_at {
            self.rebase(self.frame_at);
            (self.base_at, self.frame_at, self.before) = (at, at, self.base);
            self.next = self.next.max(at.tick().next());
        }
    }

    fn clamped(&self, velocity: [R; N]) -> [R; N] {
        let speed = vector::length(velocity);
        if speed > self.speed_max { vector::scale(velocity, self.speed_max / speed) } else { velocity }
    }
}
