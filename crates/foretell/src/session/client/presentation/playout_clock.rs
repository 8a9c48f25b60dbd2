//! When other entities are shown: one cursor per connection, behind the newest information by a measured delay; and where
//! the server is by now, for those that are shown ahead of the cursor.

use crate::session::client::config::Limits;
use crate::session::client::link::ClockDrift;
use crate::session::client::snapshots::Snapshot;
use crate::session::jitter_estimator::JitterEstimator;
use crate::time::{Instant, Tick, TickClock, TickRate, TickTime};
use core::time::Duration;

const GAPS_KEPT: usize = 8;
const JUMP_TICKS: f64 = 10.0;
/// Speed per tick of error, when catching up and when falling back: a cursor that runs dry is worse than a late one.
const GAINS: (f64, f64) = (0.05, 0.1);
/// Beyond what the latenesses ask for, in ticks.
const SPARE_TICKS: f64 = 0.25;

/// An instant, and two points of the tick axis at it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Points {
    /// The instant.
    pub now: Instant,
    /// Where the playout cursor stands.
    pub cursor: TickTime,
    /// The newest state that the server has by now, as far as can be known: ahead of the cursor by the way down and the
    /// playout delay.
    pub front: TickTime,
}

/// The playout cursor and what it is steered by.
#[derive(Clone, Debug)]
pub(crate) struct PlayoutClock {
    rate: TickRate,
    cursor: Option<TickClock>,
    front: Option<TickClock>,
    /// Of snapshots, by how far the axis of the server's rate is ahead of their ticks when they come. Only differences
    /// count, as the axis has an origin of its own.
    jitter: JitterEstimator,
    newest: Option<Tick>,
    /// The distances between the last snapshots, in ticks; 0 for none yet.
    gaps: [u32; GAPS_KEPT],
    next_gap: usize,
    /// How far the cursor is to be behind that axis.
    behind: TickTime,
    /// How far the newest possible information is behind it.
    fastest: TickTime,
    /// How far the cursor is to be behind the newest possible information, in ticks.
    delay_ticks: f64,
    /// Where both would stand, if one has jumped in this update.
    leapt_from: Option<Points>,
}

impl PlayoutClock {
    pub(crate) fn new(rate: TickRate) -> PlayoutClock {
        PlayoutClock {
            rate,
            cursor: None,
            front: None,
            jitter: JitterEstimator::new(),
            newest: None,
            gaps: [0; GAPS_KEPT],
            next_gap: 0,
            behind: TickTime::default(),
            fastest: TickTime::default(),
            delay_ticks: 0.0,
            leapt_from: None,
        }
    }

    /// Takes in that a snapshot has come, and that those between it and the newest before have not. The delay that
    /// follows is an interval, so that there is mostly one state on each side of the cursor, and what the latenesses ask
    /// for. Returns whether it tells of a new route.
    pub(crate) fn note_arrival(&mut self, snapshot: &Snapshot, server: &ClockDrift, limits: Limits) -> bool {
        let gap = self.newest.map_or(0, |newest| snapshot.tick.since(newest));
        if self.newest.is_some() && gap == 0 {
            return false;
        }
        self.newest = Some(snapshot.tick);
        self.gaps[self.next_gap] = gap;
        self.next_gap = (self.next_gap + 1) % GAPS_KEPT;
        let interval = self.interval_ticks();
        let rate = i64::from(self.rate.get());
        let micros = |ticks: u32| i64::from(ticks) * 1_000_000 / rate;
        let value = (server.at(snapshot.came) - TickTime::start_of(snapshot.tick)).millionths() / rate;
        let value_of = |back: u32| value.saturating_add(micros(interval).saturating_mul(i64::from(back)));
        let is_new_route = self.jitter.note(snapshot.came, (gap / interval).clamp(1, 1024), value_of, limits.most);
        let (Some(wanted), Some(fastest)) = (self.jitter.wanted(limits.late), self.jitter.fastest()) else {
            return is_new_route;
        };
        let waits = (wanted - fastest).min(limits.most);
        let ticks = |micros: i64| TickTime::from_millionths(micros.saturating_mul(rate));
        let delay = ticks(waits + micros(interval)) + TickTime::ticks(SPARE_TICKS);
        self.delay_ticks = delay.as_ticks();
        self.fastest = ticks(fastest);
        self.behind = self.fastest + delay;
        is_new_route
    }

    /// Moves cursor and front to `now`, slewing them towards where they should be. `one_way` is how long the fastest
    /// datagram takes from the server.
    pub(crate) fn advance(&mut self, now: Instant, server: &ClockDrift, one_way: Duration) {
        if self.newest.is_none() {
            return;
        }
        let (at, speed) = (server.at(now), server.speed());
        let on_the_way = TickTime::ticks(one_way.as_secs_f64() * f64::from(self.rate.get()));
        let (behind, ahead) = (at - self.behind, at - self.fastest + on_the_way);
        let start = |target| TickClock::new(self.rate, target, now);
        let cursor = steer(self.cursor.get_or_insert_with(|| start(behind)), behind, speed, now);
        let front = steer(self.front.get_or_insert_with(|| start(ahead)), ahead, speed, now);
        self.leapt_from = (cursor.1 || front.1).then_some(Points { now, cursor: cursor.0, front: front.0 });
    }

    /// Where the cursor stands; `None` before the first snapshot.
    pub(crate) fn at_instant(&self, now: Instant) -> Option<TickTime> {
        self.cursor.as_ref().map(|cursor| cursor.at_instant(now))
    }

    /// Where cursor and front stand; `None` before the first snapshot.
    pub(crate) fn points_at(&self, now: Instant) -> Option<Points> {
        Some(Points { now, cursor: self.at_instant(now)?, front: self.front.as_ref()?.at_instant(now) })
    }

    /// Where both would stand, if one has jumped in this update.
    pub(crate) fn leapt_from(&self) -> Option<Points> {
        self.leapt_from
    }

    /// The speed of the cursor; 1 before the first snapshot.
    pub(crate) fn speed(&self) -> f64 {
        self.cursor.as_ref().map_or(1.0, TickClock::speed)
    }

    /// How far behind the newest possible information the cursor is to be.
    pub(crate) fn delay_ticks(&self) -> f64 {
        self.delay_ticks
    }

    /// Ticks between snapshots: the shortest of the last distances, as a lost snapshot makes one longer.
    pub(crate) fn interval_ticks(&self) -> u32 {
        self.gaps.iter().copied().filter(|gap| *gap > 0).min().unwrap_or(1)
    }
}

/// Moves a clock to `now` and slews it towards `target`, which moves at `speed`; it jumps where that is far. Returns where it
/// would stand, and whether it has jumped.
fn steer(clock: &mut TickClock, target: TickTime, speed: f64, now: Instant) -> (TickTime, bool) {
    clock.advance(now);
    let (at, error) = (clock.at(), (target - clock.at()).as_ticks());
    let jumps = error.abs() > JUMP_TICKS;
    if jumps {
        clock.jump(target);
    }
    let gain = if error > 0.0 { GAINS.0 } else { GAINS.1 };
    clock.set_speed(speed * (1.0 + gain * error).clamp(0.85, 1.1));
    (at, jumps)
}
