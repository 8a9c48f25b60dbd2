//! One owner in shared mode, and another player to whom its captures are sent.

use crate::clock::seconds;
use crate::scenes::remote_screen::RemoteScreen;
use crate::scenes::window::Window;
use core::time::Duration;
use foretell::motion::vector::{add, dot, length, scale, sub};
use foretell::motion::{AntiAliasing, FrameMover};
use foretell::time::TickTime;
use foretell::{Instant, TickRate};
use foretell_sim::netsim::Conditions;

/// In m/s (F8).
pub const SPEED: f64 = 5.0;
/// Where the walls are, in metres from the middle.
const WALL_M: f64 = 10.0;
/// How long a velocity has to hold before the steps between captures are expected to be even, in ticks.
const SETTLED: u32 = 3;
/// How many values are kept of each measure while the owner moves: of steps one a tick, of views one a frame of its own.
const KEPT: usize = 120;
/// For how long an owner stands still before local begins anew from there.
const RESTED_S: f64 = 0.25;
/// How late an owner's frame may bring a capture: a frame at 30 Hz.
const FRAME_MAX: Duration = Duration::from_millis(34);

/// One owner, its strategy, and what is measured of both views.
pub struct FrameOwner {
    mover: FrameMover<f64, 3>,
    rate: TickRate,
    /// The path of its frames, without ticks (D22).
    pub local: [f64; 3],
    velocity: [f64; 3],
    /// How many captures there were since the velocity changed.
    settled: u32,
    /// For how long it has stood still.
    rested_s: f64,
    captured: Option<[f64; 3]>,
    seed: u64,
    remote: RemoteScreen,
    pub other: Option<[f64; 3]>,
    /// The step of this frame that is farthest from even, in metres.
    pub step_m: Option<f64>,
    /// How far others have seen it go in this frame, in metres.
    pub seen_m: Option<f64>,
    measured: Measured,
}

/// The last values of what is measured.
struct Measured {
    steps: Window,
    deviations: Window,
    errors: Window,
    delays: Window,
}

/// What the last values of what is measured come to; lengths in metres.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    pub mean_step_m: f64,
    pub deviation_m: f64,
    pub error_m: f64,
    pub delay_ms: f64,
}

impl FrameOwner {
    pub fn new(strategy: AntiAliasing, rate: TickRate, place: [f64; 3], at: Instant, seed: u64) -> FrameOwner {
        FrameOwner {
            mover: FrameMover::new(strategy, rate, SPEED, place, tick_time(rate, at)),
            rate,
            local: place,
            velocity: [0.0; 3],
            settled: 0,
            rested_s: 0.0,
            captured: None,
            seed,
            remote: RemoteScreen::new(seed),
            other: None,
            step_m: None,
            seen_m: None,
            measured: Measured {
                steps: Window::new(KEPT),
                deviations: Window::new(KEPT),
                errors: Window::new(KEPT),
                delays: Window::new(KEPT),
            },
        }
    }

    /// The other player holds it from now on, and moves it from where it was shown to them. Who held it sees it where it was
    /// left, until something comes over the link in the other direction.
    pub fn hand_over(&mut self) {
        let left = self.mover.shown();
        let place = self.other.unwrap_or(left);
        self.mover.place(place);
        (self.local, self.captured, self.settled, self.other) = (place, None, 0, Some(left));
        self.remote = RemoteScreen::new(self.seed);
    }

    /// Forgets what belongs to the last frame of the lab.
    pub fn begin(&mut self) {
        self.step_m = None;
    }

    /// A frame of its own, with this direction held.
    pub fn frame(&mut self, direction: [f64; 3], from: Instant, until: Instant, conditions: &Conditions) {
        let passed = until.since(from).as_secs_f64();
        let before = self.local;
        self.local = add(before, scale(direction, SPEED * passed)).map(|lane| lane.clamp(-WALL_M, WALL_M));
        let velocity = scale(sub(self.local, before), 1.0 / passed);
        // The walls stop it by the way that is left; rounding is no other velocity.
        if length(sub(velocity, self.velocity)) > 1e-6 {
            (self.velocity, self.settled) = (velocity, 0);
        }
        let rate = self.rate;
        let mut captures = Vec::new();
        self.mover.frame(self.velocity, tick_time(rate, until), |tick, place| captures.push((tick, place)));
        for (tick, place) in captures {
            let at = (u64::from(tick.get()) * 1_000_000).div_ceil(u64::from(rate.get()));
            self.remote.send(until, Instant::from_micros(at), place, conditions);
            self.measure_step(place);
        }
        self.measure_view(passed);
    }

    fn measure_step(&mut self, place: [f64; 3]) {
        let Some(before) = self.captured.replace(place) else { return };
        let step = length(sub(place, before));
        let even = length(self.velocity) * self.rate.seconds();
        let deviation = |step: f64| (step - even).abs();
        if self.step_m.is_none_or(|shown| deviation(shown) < deviation(step)) {
            self.step_m = Some(step);
        }
        self.settled += 1;
        if self.settled > SETTLED && even > 0.0 {
            self.measured.steps.note(step);
            self.measured.deviations.note(deviation(step));
        }
    }

    fn measure_view(&mut self, passed: f64) {
        let behind = sub(self.local, self.mover.shown());
        let speed = length(self.velocity);
        if speed == 0.0 {
            self.rested_s += passed;
            if self.rested_s > RESTED_S {
                self.local = self.mover.shown();
            }
            return;
        }
        self.rested_s = 0.0;
        self.measured.errors.note(length(behind));
        if self.settled > SETTLED {
            self.measured.delays.note(dot(behind, self.velocity) / (speed * speed) * 1000.0);
        }
    }

    /// What others see at the end of a frame of the lab that is so long.
    pub fn show_to_other(&mut self, now: Instant, frame: Duration, conditions: &Conditions) {
        self.remote.receive(now);
        let tick = Duration::from_secs_f64(self.rate.seconds());
        let delay = conditions.latency + conditions.jitter + tick + FRAME_MAX + frame;
        let shown = self.remote.show(now, frame, delay);
        self.seen_m = self.other.zip(shown).map(|(before, now)| length(sub(now, before)));
        self.other = shown.or(self.other);
    }

    /// What its player sees of it.
    pub fn shown(&self) -> [f64; 3] {
        self.mover.shown()
    }

    /// Local begins anew from what is shown.
    pub fn realign(&mut self) {
        self.local = self.mover.shown();
    }

    /// Of the last values while it moved; not numbers where it has not yet.
    pub fn measures(&self) -> Measures {
        Measures {
            mean_step_m: self.measured.steps.mean(),
            deviation_m: self.measured.deviations.largest(),
            error_m: self.measured.errors.largest(),
            delay_ms: self.measured.delays.mean(),
        }
    }
}

/// Ticks are counted from zero on.
fn tick_time(rate: TickRate, at: Instant) -> TickTime {
    TickTime::from_millionths(i64::try_from(at.micros()).unwrap_or(i64::MAX) * i64::from(rate.get()))
}

/// How far a frame of the lab would be seen to go at this speed, per second.
pub fn per_second(metres: f64, frame: Duration) -> f64 {
    metres / seconds(Instant::ZERO + frame)
}
