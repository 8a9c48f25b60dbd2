//! What a player sees: every entity at the shown instant, with where it comes from.

use super::playout::Playout;
use super::shown::{RowBuffer, STANDING, ahead, apply, blend, pose_of, velocity_of};
use super::{Client, ClientConfig, Phase, Session};
use crate::motion::{Pose, VisualOffset};
use crate::rollback::{Entity, KindSchema, ROW_WORDS_MAX, Schema, State, World};
use crate::time::{Instant, Tick, TickRate, TickTime};
use core::time::Duration;

/// Extrapolated at full speed for so long, in seconds.
const FULL_SPEED_S: f64 = 0.1;
/// Then slowing down to a stop within so long, in seconds: 250 ms in all (D29).
const SLOWING_S: f64 = 0.15;

/// Where a shown pose comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    /// Simulated here, ahead of the authority.
    Predicted,
    /// Between two of the authority's states.
    Interpolated,
    /// Moved here by the game: this client has authority over it, or has had it until just now.
    Held,
    /// Beyond the newest of the authority's states, by so long.
    Extrapolated(Duration),
}

/// One entity as it is to be drawn.
pub struct View<'a> {
    /// Which.
    pub entity: Entity,
    /// Where its pose comes from.
    pub source: Source,
    /// The visual offset in it; none for an entity that is not predicted, but for a while after it was.
    pub offset: VisualOffset,
    kind: &'a KindSchema,
    row: &'a [u32],
}

impl View<'_> {
    /// Its state at the shown instant, with the position and rotation that are to be shown.
    ///
    /// # Panics
    /// When `S` is not the type of the session's schema.
    pub fn state<S: State>(&self) -> S {
        S::read(self.entity.kind(), self.row)
    }

    /// Where it is to be shown: metres, and a unit quaternion. The origin, upright, where its kind has no position or
    /// rotation.
    pub fn pose(&self) -> Pose {
        pose_of(self.kind, self.row)
    }

    /// Its velocity in m/s; zero where its kind has none.
    pub fn velocity(&self) -> [f64; 3] {
        velocity_of(self.kind, self.row)
    }

    /// The description of its kind.
    pub fn kind(&self) -> &KindSchema {
        self.kind
    }
}

impl<W: World> Client<W> {
    /// Shows every entity to `draw`: the predicted ones first, then the others, each group ascending. Reads only; call it
    /// after [`update`](Client::update), as often as frames are drawn. What is shown has been told as spawned, and not as
    /// withdrawn or despawned.
    pub fn present(&self, now: Instant, mut draw: impl FnMut(&View<'_>)) {
        let Phase::Playing(session) = &self.phase else { return };
        let now = self.clock.at(now);
        let at = session.pacing.at_instant(now);
        let Some(newest) = session.timeline.rows(session.timeline.present()) else { return };
        let mut row = [0; ROW_WORDS_MAX];
        for (entity, words) in newest.iter() {
            let kind = self.rules.schema.kind(entity.kind());
            let when = ((now, at), &self.config);
            let offset = session.offsets.show(&session.timeline, (kind, entity, words), when, &mut row);
            draw(&View { entity, source: Source::Predicted, offset, kind, row: &row[..words.len()] });
        }
        session.present_others(now, (&self.rules.schema, &self.config), &mut row, &mut draw);
    }
}

impl<W: World> Session<W> {
    fn present_others(
        &self,
        now: Instant,
        (schema, config): (&Schema, &ClientConfig),
        row: &mut RowBuffer,
        draw: &mut impl FnMut(&View<'_>),
    ) {
        let Some(at) = self.playout.at_instant(now) else { return };
        let (Some(before), after) = Playout::around(&self.snapshots, at) else { return };
        let predicted = self.timeline.predicted();
        let others = |entity: Entity| !predicted.contains(entity) && self.appearances.is_shown(entity);
        for (entity, words) in before.rows.iter().filter(|(entity, _)| others(*entity)) {
            let kind = schema.kind(entity.kind());
            let next = after.and_then(|after| Some((after.tick, after.rows.words(entity)?)));
            let mut source = proxy_row(kind, (before.tick, words), next, (at, self.pacing.rate()), row);
            if self.holds.put_shown(kind, entity, row) {
                source = Source::Held;
            }
            let offset = self.offsets.at(entity, now, STANDING, config);
            apply(offset, kind, row);
            draw(&View { entity, source, offset, kind, row: &row[..words.len()] });
        }
    }
}

/// The row of another entity at the cursor: between two of the authority's states, or beyond the newest.
pub(crate) fn proxy_row(
    kind: &KindSchema,
    (tick, words): (Tick, &[u32]),
    next: Option<(Tick, &[u32])>,
    (at, rate): (TickTime, TickRate),
    into: &mut RowBuffer,
) -> Source {
    let since = (at - TickTime::start_of(tick)).as_ticks();
    if let Some((next, words_next)) = next {
        blend(kind, words, words_next, since / f64::from(next.since(tick)), into);
        return Source::Interpolated;
    }
    let seconds = since.max(0.0) * rate.seconds();
    ahead(kind, words, extrapolated_s(seconds), into);
    Source::Extrapolated(Duration::from_secs_f64(seconds.min(3600.0)))
}

/// How many seconds' worth of way is made in so many seconds beyond the newest state: all of it at first, then less and
/// less up to a stop, without a jump in the velocity.
fn extrapolated_s(seconds: f64) -> f64 {
    let slowing = (seconds - FULL_SPEED_S).clamp(0.0, SLOWING_S);
    seconds.min(FULL_SPEED_S) + slowing - slowing * slowing / (2.0 * SLOWING_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrapolation_slows_down_without_a_jump_and_stops() {
        let step = 0.001;
        let mut speed_before = 1.0;
        for ms in 0..400 {
            let (a, b) = (f64::from(ms) * step, f64::from(ms + 1) * step);
            let speed = (extrapolated_s(b) - extrapolated_s(a)) / step;
            assert!(
                speed <= speed_before + 1e-9 && speed_before - speed < 0.01,
                "at {ms} ms: {speed_before} to {speed}"
            );
            speed_before = speed;
        }
        assert!(speed_before.abs() < 1e-9);
    }
}
