//! The simple check of positions that a client sends: no farther than the speed allows in the time that has passed (Q5).
//!
//! Invariants: [`DistanceCheck::check`] never gives a position farther from the one before than its limit; over any time
//! `t`, a [`DistanceGuard`] lets an entity go at most `speed * t * (1 + rel_slack) + abs_slack_m + speed * carry`.

use core::time::Duration;
use foretell::motion::vector::{add, length, scale, sub};
use foretell::session::{Offence, Offences};
use foretell::time::Instant;

/// How far an entity may go (Q5, D27).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DistanceCheck {
    /// Its largest speed, in m/s.
    pub speed: f64,
    /// What is allowed besides, in metres. Default 0.01: rounding. Where datagrams are a time `j` early or late, it needs
    /// `speed * j` more.
    pub abs_slack_m: f64,
    /// What is allowed besides, as a share of the way. Default 0.
    pub rel_slack: f64,
}

/// What became of a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Checked {
    /// Whether it is believed.
    pub ok: bool,
    /// How far it is from the one before, in metres.
    pub distance: f64,
    /// How far it may be.
    pub limit: f64,
    /// The position to go on with: the one that was sent, or the farthest allowed one on the way to it.
    pub position: [f64; 3],
}

impl DistanceCheck {
    /// A check for this speed with the default slacks.
    pub fn new(speed: f64) -> DistanceCheck {
        DistanceCheck { speed, abs_slack_m: 0.01, rel_slack: 0.0 }
    }

    /// Whether an entity can have come from `before` to `sent` in so many seconds. They should be the server's own: a
    /// client's clock is the client's claim. Negative ones count as none; a position that is not finite stays where it was.
    pub fn check(&self, before: [f64; 3], sent: [f64; 3], seconds: f64) -> Checked {
        Checked::of(before, sent, self.way(seconds) + self.abs_slack_m)
    }

    fn way(&self, seconds: f64) -> f64 {
        self.speed * seconds.max(0.0) * (1.0 + self.rel_slack)
    }
}

impl Checked {
    fn of(before: [f64; 3], sent: [f64; 3], limit: f64) -> Checked {
        let way = sub(sent, before);
        let distance = length(way);
        let ok = distance <= limit;
        let position = match (ok, distance.is_finite()) {
            (true, _) => sent,
            (false, true) => add(before, scale(way, limit / distance)),
            (false, false) => before,
        };
        Checked { ok, distance, limit, position }
    }
}

/// Follows one entity whose client sends positions: the check, the server's clock, and where the entity may be believed
/// to be.
///
/// The allowed way is a budget: it grows with the server's time, and what an entity goes is taken from it. A slack that
/// was granted for each datagram anew would be a speed, for whoever sends many.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DistanceGuard {
    /// How far the entity may go.
    pub check: DistanceCheck,
    /// For how long way that was not gone may be made up for. Default 250 ms: datagrams that were late and come together.
    pub carry: Duration,
    position: [f64; 3],
    at: Instant,
    /// How far it may go at `at`, in metres.
    left_m: f64,
}

/// From so many times the limit on it is a teleport, not a speed.
const TELEPORT_FACTOR: f64 = 10.0;

impl DistanceGuard {
    /// Follows an entity that is at `position` at `now`, on the server's clock.
    pub fn new(check: DistanceCheck, position: [f64; 3], now: Instant) -> DistanceGuard {
        DistanceGuard { check, carry: Duration::from_millis(250), position, at: now, left_m: check.abs_slack_m }
    }

    /// Where the entity is believed to be.
    pub fn position(&self) -> [f64; 3] {
        self.position
    }

    /// Takes in a position that came at `now`, or the nearest that is allowed, and notes among the offences what was wrong.
    pub fn take(&mut self, now: Instant, sent: [f64; 3], offences: &mut Offences) -> Checked {
        let most = self.check.abs_slack_m + self.check.way(self.carry.as_secs_f64());
        let passed = now.since(self.at).as_secs_f64();
        // What has passed since the last datagram is allowed, however long it was; beyond it only `most` is kept.
        let limit = self.left_m + self.check.way(passed);
        self.at = self.at.max(now);
        let checked = Checked::of(self.position, sent, limit);
        self.left_m = (limit - checked.distance.min(limit)).min(most);
        if !checked.distance.is_finite() {
            self.left_m = limit.min(most);
            offences.note(Offence::NotFinite);
        } else if !checked.ok {
            let far = checked.distance > TELEPORT_FACTOR * most.max(limit);
            offences.note(if far { Offence::Teleport } else { Offence::Speed });
        }
        self.position = checked.position;
        checked
    }

    /// Puts the entity elsewhere, by the server's own will.
    pub fn place(&mut self, position: [f64; 3]) {
        self.position = position;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::motion::vector::squared_distance;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_sent_the_way_stays_within_speed_and_slack(
            sent in proptest::collection::vec((0_u64..200_000, prop::array::uniform3(-50.0..50.0_f64)), 1..60),
        ) {
            let check = DistanceCheck::new(5.0);
            let mut guard = DistanceGuard::new(check, [0.0; 3], Instant::ZERO);
            let (mut now, mut way, mut offences) = (Instant::ZERO, 0.0, Offences::default());
            for (after, position) in sent {
                now = now + Duration::from_micros(after);
                let before = guard.position();
                guard.take(now, position, &mut offences);
                way += squared_distance(before, guard.position()).sqrt();
                let allowed = 5.0 * now.since(Instant::ZERO).as_secs_f64() + check.abs_slack_m;
                prop_assert!(way <= allowed + 1e-9, "{way} of {allowed}");
            }
        }
    }

    #[test]
    fn slack_is_granted_once_and_not_for_each_datagram() {
        let mut guard = DistanceGuard::new(DistanceCheck::new(5.0), [0.0; 3], Instant::ZERO);
        let mut offences = Offences::default();
        for nth in 1..=1000_u32 {
            guard.take(Instant::ZERO, [0.01 * f64::from(nth), 0.0, 0.0], &mut offences);
        }
        assert!(guard.position()[0] <= 0.011, "{:?}", guard.position());
        assert!(offences.count(Offence::Speed) + offences.count(Offence::Teleport) >= 999);
    }

    #[test]
    fn datagrams_that_were_late_and_come_together_are_believed() {
        let mut guard = DistanceGuard::new(DistanceCheck::new(5.0), [0.0; 3], Instant::ZERO);
        let mut offences = Offences::default();
        for x in [0.25, 0.5, 0.75] {
            assert!(guard.take(Instant::from_micros(150_000), [x, 0.0, 0.0], &mut offences).ok);
        }
        assert_eq!(offences.total(), 0);
    }

    #[test]
    fn who_stands_still_for_long_saves_no_leap() {
        let mut guard = DistanceGuard::new(DistanceCheck::new(5.0), [0.0; 3], Instant::ZERO);
        let (mut now, mut offences) = (Instant::ZERO, Offences::default());
        for _ in 0..200 {
            now = now + Duration::from_millis(50);
            assert!(guard.take(now, [0.0; 3], &mut offences).ok);
        }
        // A quarter of a second, what has passed since, and the slack.
        guard.take(now + Duration::from_millis(50), [50.0, 0.0, 0.0], &mut offences);
        let leap = guard.position()[0];
        assert!((leap - (1.25 + 0.25 + 0.01)).abs() < 1e-9, "{leap} m");
        assert_eq!(offences.total(), 1);
    }

    #[test]
    fn a_speed_is_told_from_a_teleport_and_nothing_that_is_not_finite_is_gone_to() {
        let mut guard = DistanceGuard::new(DistanceCheck::new(5.0), [0.0; 3], Instant::ZERO);
        let mut offences = Offences::default();
        guard.take(Instant::from_micros(50_000), [0.5, 0.0, 0.0], &mut offences);
        guard.take(Instant::from_micros(100_000), [90.0, 0.0, 0.0], &mut offences);
        let before = guard.position();
        guard.take(Instant::from_micros(150_000), [f64::NAN, 0.0, 0.0], &mut offences);
        assert_eq!(guard.position(), before);
        let noted = [Offence::Speed, Offence::Teleport, Offence::NotFinite].map(|offence| offences.count(offence));
        assert_eq!((noted, offences.total()), ([1, 1, 1], 3));
    }
}
