//! What an owner may write, and how far an entity may go by it.

use crate::motion::vector;
use crate::session::Offence;
use crate::time::{Tick, TickRate};
use crate::world::{ComponentSchema, Entity, EntityMap, Meaning, Writer};
use alloc::vec::Vec;

/// What an entity may make up for of ticks in which no row came, in seconds of its greatest speed.
const CATCH_UP_S: f64 = 0.25;
/// What is allowed beyond the greatest speed, in metres: rounding (D27). An entity's own, however often it changes hands.
const SLACK_M: f64 = 0.01;
/// How fast it comes back while nobody holds the entity, in m/s: whole after 10 s. What rounding takes it mostly gives back.
const SLACK_MPS: f64 = 0.001;
/// A row so far beyond what may be made up for, from the one before, is no movement any more.
const TELEPORT_M: f64 = 2.0;

/// What is wrong with what an owner has written, whatever was there before.
pub(super) fn offence_of(kind: &ComponentSchema, words: &[u32]) -> Option<Offence> {
    for (column, words) in kind.fields(words).filter(|(column, _)| column.writer == Writer::Owner) {
        let lanes = 0..usize::from(column.lanes);
        if column.scalar.is_float() && !lanes.into_iter().all(|lane| column.lane(words, lane).is_finite()) {
            return Some(Offence::NotFinite);
        }
        let length = vector::length(column.lanes::<4>(words));
        if column.meaning == Meaning::Rotation && (length - 1.0).abs() > 0.01 {
            return Some(Offence::Direction);
        }
    }
    None
}

/// How far one position of an entity may go by what its holder writes.
#[derive(Clone, Copy, Debug)]
struct TravelLimit {
    /// In metres.
    left_m: f64,
    /// Where the holder said last that it is.
    claimed: Option<[f64; 3]>,
}

/// How far each position of an entity may go that its owner writes, in the order of the schema. One that is not moved
/// lends another nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct TravelBudget(Vec<TravelLimit>);

impl TravelBudget {
    /// Somebody begins to hold the entity, of whose slack so much is left.
    pub(super) fn begin(&mut self, kind: &ComponentSchema, slack_m: f64) {
        let positions = kind.columns().filter(|column| column.writer == Writer::Owner);
        let count = positions.filter(|column| column.meaning == Meaning::Position).count();
        self.0.clear();
        self.0.resize(count, TravelLimit { left_m: slack_m, claimed: None });
    }

    /// This number of ticks has passed.
    pub(super) fn earn(&mut self, kind: &ComponentSchema, tick_seconds: f64, ticks: u32) {
        let Some(speed) = kind.speed_max() else { return };
        let earned_m = speed * tick_seconds * f64::from(ticks);
        let most_m = speed * CATCH_UP_S.max(tick_seconds) + SLACK_M;
        self.0.iter_mut().for_each(|reach| reach.left_m = (reach.left_m + earned_m).min(most_m));
    }

    /// What is left of the entity's slack, in metres.
    pub(super) fn slack_m(&self) -> f64 {
        self.0.iter().fold(SLACK_M, |least, reach| least.min(reach.left_m))
    }

    /// Keeps an entity to the way that it may have gone: beyond it, it is left on the straight line to where it is said to
    /// be (D27).
    pub(super) fn hold_back(&mut self, kind: &ComponentSchema, before: &[u32], row: &mut [u32]) -> Option<Offence> {
        let speed_max = kind.speed_max()?;
        let (mut offence, mut travel) = (None, self.0.iter_mut());
        for (place, column) in kind.places().filter(|(_, column)| column.writer == Writer::Owner) {
            let words = place..place + column.words();
            let set = |to: [f64; 3], row: &mut [u32]| {
                for (lane, value) in to.into_iter().enumerate().take(usize::from(column.lanes)) {
                    column.set_lane(&mut row[words.clone()], lane, value);
                }
            };
            let to: [f64; 3] = column.lanes(&row[words.clone()]);
            match column.meaning {
                Meaning::Position => {
                    let from: [f64; 3] = column.lanes(&before[words.clone()]);
                    let reach = travel.next().expect("there is one for each");
                    if let Some((nearer, why)) = reach.take(from, to, speed_max) {
                        // A speed of one position says less than a teleport of another.
                        offence = offence.filter(|known| *known == Offence::Teleport).or(Some(why));
                        set(nearer, row);
                    }
                }
                Meaning::Velocity => {
                    let speed = vector::length(to);
                    // An f32 says a little more or less.
                    if speed > speed_max * 1.001 {
                        offence = offence.or(Some(Offence::Speed));
                        set(vector::scale(to, speed_max / speed), row);
                    }
                }
                _ => {}
            }
        }
        offence
    }
}

impl TravelLimit {
    /// Goes from here to there, or as far as it may: then where that is, and what it was.
    fn take(&mut self, from: [f64; 3], to: [f64; 3], speed_max: f64) -> Option<([f64; 3], Offence)> {
        let way_m = vector::length(vector::sub(to, from));
        // Who is held back is far from where they say that they are, and has not teleported.
        let leap_m = vector::length(vector::sub(to, self.claimed.replace(to).unwrap_or(from)));
        let allowed_m = self.left_m;
        self.left_m -= way_m.min(allowed_m);
        if way_m <= allowed_m {
            return None;
        }
        let teleports = leap_m > speed_max * CATCH_UP_S + TELEPORT_M;
        let offence = if teleports { Offence::Teleport } else { Offence::Speed };
        Some((vector::lerp(from, to, allowed_m / way_m), offence))
    }
}

/// What was left of the slack of an entity when it was held last.
#[derive(Clone, Copy, Debug)]
struct Slack {
    since: Tick,
    left_m: f64,
}

/// What is left of the slack of entities that were held of late; those whose slack is whole again are forgotten.
#[derive(Clone, Debug)]
pub(super) struct RoundingSlacks {
    rate: TickRate,
    left: EntityMap<Slack>,
}

impl RoundingSlacks {
    pub(super) fn new(rate: TickRate) -> RoundingSlacks {
        RoundingSlacks { rate, left: EntityMap::new() }
    }

    /// How much an entity has in `tick`, in metres.
    pub(super) fn of(&self, entity: Entity, tick: Tick) -> f64 {
        self.left.get(entity).map_or(SLACK_M, |slack| slack.refilled(self.rate, tick))
    }

    /// An entity is held no more from `tick` on, and has so much left.
    pub(super) fn keep(&mut self, entity: Entity, tick: Tick, slack_m: f64) {
        let rate = self.rate;
        self.left.retain(|known, slack| known != entity && slack.refilled(rate, tick) < SLACK_M);
        if slack_m < SLACK_M {
            self.left.insert(entity, Slack { since: tick, left_m: slack_m });
        }
    }
}

impl Slack {
    fn refilled(&self, rate: TickRate, tick: Tick) -> f64 {
        (self.left_m + f64::from(tick.since(self.since)) * rate.seconds() * SLACK_MPS).min(SLACK_M)
    }
}
