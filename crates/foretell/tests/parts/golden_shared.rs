//! Moving by frame and being captured by tick: the reference's runs, and the laws of it (F5 to F8, E25, E26).

use foretell::motion::{AntiAliasing, FrameMover};
use foretell::time::TickTime;
use foretell::{Tick, TickRate};
use proptest::prelude::*;
use serde_json::Value;

/// The reference adds in another order here and there.
const TOLERANCE: f64 = 1e-12;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn micros(value: &Value) -> i64 {
    value.as_i64().expect("an integer")
}

/// A run of the reference: captures by tick, and what is shown at the end of each frame, in microseconds.
struct Run {
    captures: Vec<(u32, f64)>,
    rendered: Vec<(i64, f64)>,
}

fn run(case: &Value) -> Run {
    let strategy = match case["strategy"].as_str().expect("a name") {
        "update_only" => AntiAliasing::Ignore,
        "fixed_only" => AntiAliasing::Ticks,
        "hybrid_seed" => AntiAliasing::Article,
        "hybrid_exact" => AntiAliasing::Exact,
        other => panic!("no strategy {other}"),
    };
    let hz = u16::try_from(1_000_000 / micros(&case["tick_us"])).expect("a rate");
    let rate = TickRate::hz(hz);
    let mut mover = FrameMover::new(strategy, rate, 100.0, [0.0], TickTime::default());
    let frames = case["frame_us"].as_array().expect("a pattern");
    let mut run = Run { captures: Vec::new(), rendered: Vec::new() };
    let mut at_us = 0;
    for frame in frames.iter().cycle().take(usize::try_from(micros(&case["frames"])).expect("a count")) {
        at_us += micros(frame);
        let until = TickTime::from_millionths(at_us * i64::from(hz));
        let captures = &mut run.captures;
        let [shown] = mover.frame([number(&case["speed"])], until, |tick, [at]| captures.push((tick.get(), at)));
        run.rendered.push((at_us, shown));
    }
    run
}

#[test]
fn all_three_strategies_and_both_hybrids_are_as_in_the_reference() {
    let file: Value =
        serde_json::from_str(include_str!("../../../../vectors/fusion_aliasing.json")).expect("the vectors are JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 40);
    for case in cases {
        let name = format!("{} {} {}", case["strategy"], case["tick_us"], case["frame_pattern"]);
        let Run { captures, rendered } = run(case);
        assert_eq!(captures.len() as u64, case["n_captures"].as_u64().expect("a count"), "{name}");
        let near = |ours: f64, theirs: &Value| (ours - number(theirs)).abs() <= TOLERANCE;
        for (ours, theirs) in captures.iter().zip(case["captures"].as_array().expect("captures")) {
            assert!(i64::from(ours.0) == micros(&theirs[0]) && near(ours.1, &theirs[1]), "{name}: {ours:?} {theirs}");
        }
        for (ours, theirs) in rendered.iter().zip(case["rendered"].as_array().expect("what is shown")) {
            assert!(ours.0 == micros(&theirs[0]) && near(ours.1, &theirs[1]), "{name}: {ours:?} {theirs}");
        }
        // The reference leaves out the first step: there is none before it.
        let steps: Vec<f64> = captures[1..].windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        assert!(near(mean, &case["mean_step"]), "{name}: {mean}");
        let deviation = steps.iter().map(|step| (step - mean).abs()).fold(0.0, f64::max);
        assert!(near(deviation, &case["max_step_deviation"]), "{name}: {deviation}");
        let truth = |at_us: i64| number(&case["speed"]) * at_us as f64 / 1e6;
        let error = rendered.iter().map(|(at_us, shown)| (shown - truth(*at_us)).abs()).fold(0.0, f64::max);
        assert!(near(error, &case["max_render_error"]), "{name}: {error}");
    }
}

/// Frames of any length, most of them short.
fn frames() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![4 => 500..40_000_i64, 1 => 40_000..300_000_i64], 1..200)
}

fn rate() -> TickRate {
    TickRate::hz(64)
}

proptest! {
    #[test]
    fn exact_captures_are_evenly_spaced_whatever_the_frames_do(
        frames in frames(), speed in -20.0..20.0_f64, start_us in 0..100_000_i64,
    ) {
        let mut at_us = start_us;
        let from = TickTime::from_millionths(at_us * 64);
        let mut mover = FrameMover::new(AntiAliasing::Exact, rate(), 100.0, [0.0], from);
        let mut captures = Vec::new();
        for frame in frames {
            at_us += frame;
            let until = TickTime::from_millionths(at_us * 64);
            let [shown] = mover.frame([speed], until, |tick, [at]| captures.push((tick, at)));
            prop_assert!((shown - speed * (at_us - start_us) as f64 / 1e6).abs() < 1e-9, "shown without delay");
        }
        for pair in captures.windows(2) {
            prop_assert_eq!(pair[1].0, pair[0].0.next());
            prop_assert!((pair[1].1 - pair[0].1 - speed / 64.0).abs() < 1e-12);
        }
    }

    /// Captures lie on the path of the frames also where the velocity changes, and what is shown never jumps.
    #[test]
    fn exact_captures_lie_on_the_path_that_was_shown(
        frames in prop::collection::vec((500..40_000_i64, -20.0..20.0_f64), 1..200), speed_max in 1.0..30.0_f64,
    ) {
        let mut mover = FrameMover::new(AntiAliasing::Exact, rate(), speed_max, [0.0], TickTime::default());
        let (mut at_us, mut path, mut next) = (0, 0.0, Tick::new(1));
        for (frame, velocity) in frames {
            let (begun_us, begun, speed) = (at_us, path, velocity.clamp(-speed_max, speed_max));
            at_us += frame;
            path += speed * frame as f64 / 1e6;
            let mut captures = Vec::new();
            let until = TickTime::from_millionths(at_us * 64);
            let [shown] = mover.frame([velocity], until, |tick, [at]| captures.push((tick, at)));
            prop_assert!((shown - path).abs() < 1e-9);
            for (tick, at) in captures {
                prop_assert_eq!(tick, next);
                next = next.next();
                let tick_us = f64::from(tick.get()) * 15_625.0;
                prop_assert!((at - begun - speed * (tick_us - begun_us as f64) / 1e6).abs() < 1e-9);
            }
        }
    }
}

/// The article's listings (F7, F8): the first two strategies and its hybrid, frame by frame and by hand.
struct Listing {
    strategy: AntiAliasing,
    /// Where it is, and when it has last moved, in seconds.
    place: f64,
    last: f64,
    before: f64,
    /// The frame before ended then.
    realtime: f64,
    next: Tick,
}

impl Listing {
    fn frame(&mut self, velocity: f64, until: f64, captures: &mut Vec<(Tick, f64)>) -> f64 {
        let move_to = |listing: &mut Listing, at: f64| {
            listing.place += velocity * (at - listing.last);
            listing.last = at;
        };
        if self.strategy == AntiAliasing::Article {
            // BeforeUpdate, with the input of this frame.
            let realtime = self.realtime;
            move_to(self, realtime);
        }
        while f64::from(self.next.get()) / 64.0 <= until {
            let simulation_time = f64::from(self.next.get()) / 64.0;
            if self.strategy != AntiAliasing::Ignore {
                self.before = self.place;
                move_to(self, simulation_time);
            }
            captures.push((self.next, self.place));
            self.next = self.next.next();
        }
        self.realtime = until;
        match self.strategy {
            AntiAliasing::Ignore => {
                move_to(self, until);
                self.place
            }
            AntiAliasing::Ticks => self.before + (self.place - self.before) * (until - self.last) * 64.0,
            _ => self.place,
        }
    }
}

proptest! {
    #[test]
    fn with_velocities_that_change_each_strategy_moves_as_it_is_listed(
        frames in prop::collection::vec((500..40_000_i64, -20.0..20.0_f64), 1..200),
    ) {
        for strategy in [AntiAliasing::Ignore, AntiAliasing::Ticks, AntiAliasing::Article] {
            let mut mover = FrameMover::new(strategy, rate(), 20.0, [0.0], TickTime::default());
            let (place, last, before, realtime) = (0.0, 0.0, 0.0, 0.0);
            let mut listing = Listing { strategy, place, last, before, realtime, next: Tick::new(1) };
            let mut at_us = 0;
            for (frame, velocity) in &frames {
                at_us += frame;
                let (mut captures, mut listed) = (Vec::new(), Vec::new());
                let until = TickTime::from_millionths(at_us * 64);
                let [shown] = mover.frame([*velocity], until, |tick, [at]| captures.push((tick, at)));
                let expected = listing.frame(*velocity, at_us as f64 / 1e6, &mut listed);
                prop_assert!((shown - expected).abs() < 1e-9, "{strategy:?}: {shown} {expected}");
                prop_assert_eq!(captures.len(), listed.len());
                for (ours, theirs) in captures.iter().zip(&listed) {
                    prop_assert!(ours.0 == theirs.0 && (ours.1 - theirs.1).abs() < 1e-9, "{ours:?} {theirs:?}");
                }
            }
        }
    }
}

#[test]
fn rounding_does_not_add_up_over_a_million_frames() {
    let mut mover = FrameMover::new(AntiAliasing::Exact, rate(), 100.0, [0.0_f32], TickTime::default());
    // 5 mm a million times, there and back.
    let mut farthest = 0.0_f32;
    for second in 1..=1000_i64 {
        let velocity = if second % 2 == 1 { 5.0 } else { -5.0 };
        for frame in 1..=1000 {
            let until = TickTime::from_millionths(((second - 1) * 1000 + frame) * 64_000);
            farthest = farthest.max(mover.frame([velocity], until, |_, _| {})[0]);
        }
    }
    assert!(mover.shown()[0].abs() < 1e-3 && (farthest - 5.0).abs() < 1e-3, "{:?} {farthest}", mover.shown());
}

#[test]
fn a_velocity_beyond_the_limit_is_shortened_and_a_sleep_is_not_moved_through() {
    let mut mover = FrameMover::new(AntiAliasing::Exact, rate(), 5.0, [0.0_f64; 2], TickTime::default());
    let shown = mover.frame([30.0, 40.0], TickTime::start_of(Tick::new(64)), |_, _| {});
    assert!((shown[0] - 3.0).abs() < 1e-12 && (shown[1] - 4.0).abs() < 1e-12, "{shown:?}");
    let mut captured = Vec::new();
    let shown = mover.frame([5.0, 0.0], TickTime::start_of(Tick::new(64_064)), |tick, _| captured.push(tick));
    assert!((shown[0] - 8.0).abs() < 1e-12, "a second of it: {shown:?}");
    assert_eq!((captured.len(), captured.last()), (64, Some(&Tick::new(64_064))));
    mover.place([1.0, 1.0]);
    assert_eq!(mover.frame([0.0, 0.0], TickTime::start_of(Tick::new(64_065)), |_, _| {}), [1.0, 1.0]);
    assert_eq!(mover.frame([5.0, 0.0], TickTime::default(), |_, _| panic!("in the past")), [1.0, 1.0]);
}

#[test]
fn what_is_moved_goes_on_from_where_it_is_shown_when_the_clock_is_set_back() {
    for strategy in [AntiAliasing::Ignore, AntiAliasing::Ticks, AntiAliasing::Article, AntiAliasing::Exact] {
        let mut mover = FrameMover::new(strategy, rate(), 5.0, [0.0_f64], TickTime::start_of(Tick::new(1000)));
        let shown = (0..64).map(|nth| mover.frame([3.2], TickTime::ticks(1000.75 + f64::from(nth)), |_, _| {}));
        let [shown] = shown.last().expect("64 frames");
        let mut captured = Vec::new();
        for nth in 0..65 {
            let until = TickTime::ticks(500.5 + f64::from(nth));
            mover.frame([3.2], until, |tick, [place]| captured.push((tick.get(), place)));
        }
        assert_eq!(captured.iter().map(|(tick, _)| *tick).collect::<Vec<_>>(), (501..565).collect::<Vec<_>>());
        // 64 ticks of 5 cm, from where it was shown; a strategy that is late goes on as late.
        let way_m = mover.shown()[0] - shown;
        assert!((3.1..=3.2 + 1e-9).contains(&way_m), "{strategy:?}: {way_m} m");
        assert!((captured[63].1 - captured[0].1 - 3.15).abs() < 1e-9, "{strategy:?}: {captured:?}");
    }
}
