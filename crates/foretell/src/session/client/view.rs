//! What a player sees: every entity at the shown instant, with where it comes from.

use super::shown::{RowBuffer, STANDING, apply, pose_of, velocity_of};
use super::{Client, ClientConfig, Phase, Session};
use crate::motion::{Pose, VisualOffset};
use crate::rollback::{Entity, KindSchema, ROW_WORDS_MAX, Schema, State, World};
use crate::time::Instant;
use core::time::Duration;

/// Where a shown pose comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    /// Simulated here, ahead of the authority.
    Predicted,
    /// Between two of the authority's states.
    Interpolated,
    /// Moved here by the game: this client has authority over it, or has had it until just now.
    Held,
    /// Beyond the newest of the authority's states, by so long; also of who is shown ahead of the playout cursor.
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

    /// The words of that state.
    pub fn words(&self) -> &[u32] {
        self.row
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
        let Some(stage) = self.stage(now) else { return };
        let others = stage.others(self.timeline.predicted());
        for (entity, words) in others.filter(|(entity, _)| self.appearances.is_shown(*entity)) {
            let kind = schema.kind(entity.kind());
            let how = (self.curves.of(entity), &self.followers);
            let Some(mut source) = stage.row(kind, entity, how, row) else { continue };
            if self.holds.put_shown(kind, entity, row) {
                source = Source::Held;
            }
            let offset = self.offsets.at(entity, now, STANDING, config);
            apply(offset, kind, row);
            draw(&View { entity, source, offset, kind, row: &row[..words.len()] });
        }
    }
}
