//! What changes in the first seconds, when few windows say how things were before: each change at every tenth of a second of the
//! first three, and a second one at every tenth of the three after it.

use super::*;

/// What happens to a pair.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// So much longer than at the start are the way up and the way down from now on, in milliseconds.
    Ways(f64, f64),
    /// The server's clock is set by so many milliseconds.
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
    /// When it was last wrong by more than 2,000 ppm, in seconds after the first change, and for how long it was in all.
    until_s: f64,
    long_s: f64,
    /// How far the axis had gone off since the start, at most.
    all_ms: f64,
}

impl Wrong {
    fn worse(self, other: Wrong) -> Wrong {
        Wrong {
            ppm: self.ppm.max(other.ppm),
            until_s: self.until_s.max(other.until_s),
            long_s: self.long_s.max(other.long_s),
            all_ms: self.all_ms.max(other.all_ms),
        }
    }
}

impl Change {
    fn happens_to(self, pair: &mut Pair) {
        match self {
            Ways(up, down) => (pair.ways[0].0, pair.ways[1].0) = (WAY_S + up / 1e3, WAY_S + down / 1e3),
            Set(by) => pair.set(by / 1e3),
        }
    }
}

/// How far the axis is ahead of the server's clock, as if that had never been set.
fn ahead_ms(pair: &Pair) -> f64 {
    let unset_s = pair.shown_s - pair.set.1;
    (pair.server.at(instant(pair.now_s)).as_ticks() / 64.0 + 7_000.0 - unset_s) * 1e3
}

/// Eight seconds of two clocks, in which the first change is made after `after_s.0`, and the second one so long after that.
fn watched(drift_ppm: f64, jitter_s: f64, changes: (Change, Change), after_s: (f64, f64)) -> Wrong {
    let seed = (after_s.0 * 1e3 + after_s.1 * 10.0) as u64;
    let mut pair = Pair::new(seed, drift_ppm, [(WAY_S, jitter_s); 2]);
    let began_s = pair.now_s;
    let mut due = [(after_s.0, changes.0), (after_s.0 + after_s.1, changes.1)].into_iter().peekable();
    let mut wrong = Wrong::default();
    while pair.now_s - began_s < 8.0 {
        while let Some((_, change)) = due.next_if(|(at_s, _)| pair.now_s - began_s >= *at_s) {
            change.happens_to(&mut pair);
        }
        // One exchange.
        pair.run(1e-6);
        wrong.ppm = wrong.ppm.max(pair.error_ppm());
        wrong.all_ms = wrong.all_ms.max(ahead_ms(&pair).abs());
        if pair.error_ppm() > 2_000.0 {
            wrong.long_s += 1.0 / pair.hz;
            wrong.until_s = pair.now_s - began_s - after_s.0;
        }
    }
    wrong
}

/// The worst of all 841 combinations.
fn worst(drift_ppm: f64, jitter_s: f64, changes: (Change, Change)) -> Wrong {
    let tenths = || (1..30).map(|tenth| f64::from(tenth) / 10.0);
    let all = tenths().flat_map(|first| tenths().map(move |second| (first, second)));
    let worst = all.map(|after_s| watched(drift_ppm, jitter_s, changes, after_s));
    worst.fold(Wrong::default(), Wrong::worse)
}

#[test]
fn time_under_way_that_grows_shrinks_or_moves_to_the_other_way_is_not_taken_for_a_drift() {
    for changes in [
        (Ways(100.0, 0.0), Ways(0.0, 100.0)),
        (Ways(0.0, 100.0), Ways(100.0, 0.0)),
        (Ways(20.0, 0.0), Ways(0.0, 20.0)),
        (Ways(50.0, 50.0), Ways(100.0, 100.0)),
        (Ways(50.0, 50.0), Ways(50.0, 100.0)),
        (Ways(50.0, 0.0), Ways(100.0, 0.0)),
        (Ways(100.0, 0.0), Ways(0.0, 0.0)),
        (Ways(-25.0, -25.0), Ways(0.0, 0.0)),
    ] {
        // By jitter alone the first windows show up to 4,500 ppm.
        for (jitter_s, most_ppm) in JITTERS_S.into_iter().zip([600.0, 5_000.0]) {
            let wrong = worst(200.0, jitter_s, changes);
            assert!(wrong.ppm < most_ppm && wrong.long_s < 1.25, "{changes:?}, jitter {jitter_s} s: {wrong:?}");
            assert!(wrong.all_ms < HALF_TICK_MS, "{changes:?}, jitter {jitter_s} s: {wrong:?}");
        }
    }
}

#[test]
fn a_clock_that_is_set_early_is_not_taken_for_a_drift() {
    for before in [Ways(0.0, 0.0), Ways(50.0, 50.0)] {
        for (set, jitter_s) in [20.0, -50.0].into_iter().flat_map(|by| JITTERS_S.map(|jitter_s| (Set(by), jitter_s))) {
            let wrong = worst(200.0, jitter_s, (before, set));
            assert!(wrong.ppm < 10_000.0 && wrong.long_s < 1.25, "{before:?}, {set:?}, jitter {jitter_s} s: {wrong:?}");
            assert!(wrong.all_ms < HALF_TICK_MS, "{before:?}, {set:?}, jitter {jitter_s} s: {wrong:?}");
        }
    }
}

#[test]
fn ways_that_grow_longer_do_not_hide_a_drift() {
    for longer in [Ways(53.0, 53.0), Ways(100.0, 0.0), Ways(0.0, 100.0)] {
        for (drift_ppm, jitter_s) in [-9_243.0, 9_243.0].into_iter().flat_map(|ppm| JITTERS_S.map(|of| (ppm, of))) {
            let wrong = worst(drift_ppm, jitter_s, (longer, longer));
            let known_s = if jitter_s > 0.0 { 2.25 } else { 1.25 };
            assert!(wrong.until_s < known_s, "{drift_ppm}, {longer:?}, jitter {jitter_s} s: {wrong:?}");
            // 9 of these have passed in the second before anything can be known.
            assert!(wrong.all_ms < 17.0, "{drift_ppm}, {longer:?}, jitter {jitter_s} s: {wrong:?}");
        }
    }
}

#[test]
fn nor_do_they_where_that_is_larger_or_where_they_shrink_again() {
    let longer = [Ways(50.0, 50.0), Ways(0.0, 100.0), Ways(100.0, 0.0)];
    for (drift_ppm, longer) in DRIFTS_PPM.into_iter().flat_map(|ppm| longer.map(|longer| (ppm, longer))) {
        for (before_s, shrink) in [0.3, 0.7, 1.1, 1.6].into_iter().flat_map(|s| [(s, false), (s, true)]) {
            let mut pair = Pair::new(10, drift_ppm, [(WAY_S, 0.005); 2]);
            pair.run(before_s);
            longer.happens_to(&mut pair);
            pair.run(2.5);
            let then = if shrink { Ways(0.0, 0.0) } else { longer };
            then.happens_to(&mut pair);
            pair.run(1.0);
            let most_ppm = f64::max(750.0, drift_ppm.abs() / 15.0);
            let error_ppm = pair.error_ppm();
            assert!(error_ppm < most_ppm, "{drift_ppm}, {longer:?} after {before_s} s, again {shrink}: {error_ppm}");
        }
    }
}
