//! Ways that change at once or little by little, and clocks that are set: in the first seconds, when few windows say how things were
//! before, and later. A ramp in one way while the other one stays makes the round trip longer, which tells that it is no drift; one that
//! falls in one way as it rises in the other from the very start can't be told from a drift by anybody.

use super::*;

/// What happens to a pair.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The way up and the way down become longer than at the start by these milliseconds, within these seconds.
    Ways([f64; 2], f64),
    /// The server's clock is set by these milliseconds.
    Set(f64),
}

use Change::{Set, Ways};

/// Of the way up and of the way down, in seconds, at the start.
const WAY_S: f64 = 0.03;
/// Without and with jitter, in seconds.
const JITTERS_S: [f64; 2] = [0.0, 0.005];
/// What a lead may be off by, at 64 Hz.
const HALF_TICK_MS: f64 = 1e3 / 64.0 / 2.0;

/// How wrong the server's clock was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Wrong {
    /// Its drift at most.
    ppm: f64,
    /// For how long it was wrong by more than 2,000 ppm, in seconds.
    long_s: f64,
    /// How far the axis had gone off since the start, at most.
    all_ms: f64,
}

impl Wrong {
    fn worse(self, other: Wrong) -> Wrong {
        Wrong {
            ppm: self.ppm.max(other.ppm),
            long_s: self.long_s.max(other.long_s),
            all_ms: self.all_ms.max(other.all_ms),
        }
    }

    /// Takes in how wrong it is by now.
    fn note(&mut self, pair: &Pair) {
        let unset_s = pair.shown_s - pair.set.1;
        let ahead_ms = (pair.server.at(instant(pair.now_s)).as_ticks() / 64.0 + 7_000.0 - unset_s) * 1e3;
        let long_s = if pair.error_ppm() > 2_000.0 { 1.0 / pair.hz } else { 0.0 };
        let now = Wrong { ppm: pair.error_ppm(), long_s: self.long_s + long_s, all_ms: ahead_ms.abs() };
        *self = self.worse(now);
    }
}

/// Two clocks whose ways become other ones.
struct Turning {
    pair: Pair,
    /// How long the ways were when they began to change, and are to become.
    ways: [[f64; 2]; 2],
    /// When they began to, and when they will be so.
    between_s: (f64, f64),
}

impl Turning {
    fn new(pair: Pair) -> Turning {
        Turning { pair, ways: [[WAY_S; 2]; 2], between_s: (0.0, 0.0) }
    }

    fn make(&mut self, change: Change) {
        match change {
            Ways(longer_ms, within_s) => {
                self.ways = [self.pair.ways.map(|(least, _)| least), longer_ms.map(|ms| WAY_S + ms / 1e3)];
                self.between_s = (self.pair.now_s, self.pair.now_s + within_s);
            }
            Set(by) => self.pair.set(by / 1e3),
        }
    }

    /// One exchange.
    fn exchange(&mut self) {
        let (from_s, until_s) = self.between_s;
        let part = ((self.pair.now_s - from_s) / (until_s - from_s).max(1e-6)).clamp(0.0, 1.0);
        for way in 0..2 {
            self.pair.ways[way].0 = self.ways[0][way] * (1.0 - part) + self.ways[1][way] * part;
        }
        self.pair.run(1e-6);
    }
}

/// Two clocks up to seven seconds after the last change. The first one is made after `after_s.0`, the second one so long after it.
fn watched(drift_ppm: f64, jitter_s: f64, changes: [Change; 2], after_s: (f64, f64)) -> Wrong {
    let seed = (after_s.0 * 1e3 + after_s.1 * 10.0) as u64;
    let mut turning = Turning::new(Pair::new(seed, drift_ppm, [(WAY_S, jitter_s); 2]));
    let began_s = turning.pair.now_s;
    let due = [(after_s.0, changes[0]), (after_s.0 + after_s.1, changes[1])];
    let (mut due, mut wrong) = (due.into_iter().peekable(), Wrong::default());
    while turning.pair.now_s - began_s < after_s.0 + after_s.1 + 7.0 {
        while let Some((_, change)) = due.next_if(|(at_s, _)| turning.pair.now_s - began_s >= *at_s) {
            turning.make(change);
        }
        turning.exchange();
        wrong.note(&turning.pair);
    }
    wrong
}

/// All combinations of times: in the first three seconds or after ten, and up to three later.
fn watched_at_all_times(drift_ppm: f64, jitter_s: f64, changes: [Change; 2]) -> Vec<Wrong> {
    let fifths = |count: u32| (0..count).map(|fifth| 0.1 + f64::from(fifth) / 5.0);
    let firsts = fifths(15).chain(fifths(3).map(|after_s| 10.0 + after_s));
    let all = firsts.flat_map(|first| fifths(15).map(move |second| (first, second)));
    all.map(|after_s| watched(drift_ppm, jitter_s, changes, after_s)).collect()
}

fn worst(drift_ppm: f64, jitter_s: f64, changes: [Change; 2]) -> Wrong {
    watched_at_all_times(drift_ppm, jitter_s, changes).into_iter().fold(Wrong::default(), Wrong::worse)
}

#[test]
fn time_under_way_that_grows_shrinks_or_moves_to_the_other_way_is_not_taken_for_a_drift() {
    for ways in [
        [[100.0, 0.0], [0.0, 100.0]],
        [[0.0, 100.0], [100.0, 0.0]],
        [[20.0, 0.0], [0.0, 20.0]],
        [[50.0, 50.0], [100.0, 100.0]],
        [[50.0, 50.0], [50.0, 100.0]],
        [[100.0, 0.0], [0.0, 0.0]],
        [[-25.0, -25.0], [0.0, 0.0]],
    ] {
        let changes = ways.map(|longer_ms| Ways(longer_ms, 0.0));
        // By jitter alone the first windows show up to 4,500 ppm.
        for (jitter_s, most_ppm) in JITTERS_S.into_iter().zip([600.0, 5_000.0]) {
            let wrong = worst(200.0, jitter_s, changes);
            assert!(wrong.ppm < most_ppm && wrong.long_s < 2.0, "{changes:?}, jitter {jitter_s} s: {wrong:?}");
            assert!(wrong.all_ms < 10.0, "{changes:?}, jitter {jitter_s} s: {wrong:?}");
        }
    }
}

#[test]
fn nor_is_at_most_times_what_moves_to_the_other_way_within_two_seconds() {
    for (first, then) in [([100.0, 0.0], [0.0, 100.0]), ([0.0, 50.0], [50.0, 0.0]), ([20.0, 0.0], [0.0, 20.0])] {
        for (within_s, jitter_s) in [0.5, 1.0, 2.0].into_iter().flat_map(|s| JITTERS_S.map(|of| (s, of))) {
            let changes = [Ways(first, 0.0), Ways(then, within_s)];
            let mut all = watched_at_all_times(200.0, jitter_s, changes);
            // Where only a quarter of a second was measured before, nobody can tell.
            all.sort_by(|a, b| a.all_ms.total_cmp(&b.all_ms));
            let seen = all[all.len() * 3 / 4];
            assert!(seen.all_ms < 3.0, "{changes:?}, jitter {jitter_s} s: {seen:?}");
        }
    }
}

#[test]
fn nor_is_a_queue_that_fills_and_drains() {
    for full_ms in [[100.0, 0.0], [0.0, 100.0], [50.0, 50.0]] {
        for within_s in [0.5, 1.0, 2.0, 4.0] {
            let changes = [Ways(full_ms, within_s), Ways([0.0, 0.0], within_s)];
            let wrong = worst(200.0, 0.0, changes);
            assert!(wrong.ppm < 600.0 && wrong.all_ms < HALF_TICK_MS, "{changes:?}: {wrong:?}");
        }
    }
}

#[test]
fn a_clock_that_is_set_is_not_taken_for_a_drift_be_it_early() {
    for before in [Ways([0.0, 0.0], 0.0), Ways([50.0, 50.0], 0.0)] {
        for (set, jitter_s) in [20.0, -50.0].into_iter().flat_map(|by| JITTERS_S.map(|jitter_s| (Set(by), jitter_s))) {
            let wrong = worst(200.0, jitter_s, [before, set]);
            assert!(wrong.ppm < 10_000.0 && wrong.long_s < 1.75, "{before:?}, {set:?}, jitter {jitter_s} s: {wrong:?}");
            assert!(wrong.all_ms < 10.0, "{before:?}, {set:?}, jitter {jitter_s} s: {wrong:?}");
        }
    }
}

/// How far the axis went off at most, over half a minute in which both ways become longer and shorter by chance.
fn wandered(seed: u64, most_ms: f64) -> f64 {
    let mut turning = Turning::new(Pair::new(seed, 200.0, [(WAY_S, 0.0); 2]));
    let (mut wrong, mut random) = (Wrong::default(), Random::new(seed));
    while turning.pair.now_s < 40.0 {
        let longer_ms = [random.next_f64(), random.next_f64()].map(|part| part * most_ms);
        let within_s = 0.3 + 2.7 * random.next_f64();
        turning.make(Ways(longer_ms, within_s));
        for _ in 0..(within_s * turning.pair.hz) as u32 {
            turning.exchange();
            wrong.note(&turning.pair);
        }
    }
    wrong.all_ms
}

#[test]
fn queues_that_wander_on_both_ways_move_the_axis_little() {
    for (most_ms, median_ms, worst_ms) in [(30.0, 6.5, 12.5), (100.0, 35.0, 310.0), (300.0, 170.0, 850.0)] {
        let mut off_ms: Vec<f64> = (0..100).map(|seed| wandered(seed, most_ms)).collect();
        off_ms.sort_by(f64::total_cmp);
        let seen = (off_ms[50], off_ms[99]);
        assert!(seen.0 < median_ms && seen.1 < worst_ms, "queues of up to {most_ms} ms: {seen:?}");
    }
}
