//! What a player sees: every entity at the shown instant, with where it comes from.

use super::error_offsets::{RowBuffer, STANDING, apply, pose_of, velocity_of};
use super::{Client, ClientConfig, Phase, Session};
use crate::motion::{Pose, VisualOffset};
use crate::time::Instant;
use crate::world::{ComponentId, ComponentSchema, Entity, PlayerId, ROW_WORDS_MAX, Row, Rows, Schema, State, World};
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

/// One state of one entity as it is to be drawn: an entity of several tables has as many views.
pub struct View<'a> {
    /// Which entity.
    pub entity: Entity,
    /// Whose it is.
    pub owner: PlayerId,
    /// Where its pose comes from.
    pub source: Source,
    /// The visual offset in it; none for an entity that is not predicted, but for a while after it was.
    pub offset: VisualOffset,
    schema: &'a Schema,
    component: ComponentId,
    row: &'a [u32],
    /// Where the other components of the same state are.
    rows: &'a Rows,
}

impl<'a> View<'a> {
    /// As a row is shown: `row` are its words at the shown instant.
    fn of(
        shown: Row<'_>,
        (source, offset): (Source, VisualOffset),
        schema: &'a Schema,
        row: &'a [u32],
        rows: &'a Rows,
    ) -> View<'a> {
        let Row { component, entity, owner, .. } = shown;
        View { entity, owner, source, offset, schema, component, row, rows }
    }

    /// Its state at the shown instant, with the position and rotation that are to be shown; `None` where it is of another
    /// type.
    pub fn get<S: State>(&self) -> Option<S> {
        let first = self.schema.first_of::<S>()?;
        let nth = usize::from(self.component.0).checked_sub(first).filter(|nth| *nth < S::COMPONENTS)?;
        let mut state = S::read(nth, self.row)?;
        if !S::IS_CHOICE {
            for (nth, key) in self.schema.keys_of::<S>(self.entity).enumerate().skip(1) {
                self.rows.words(key).into_iter().for_each(|words| state.adopt(nth, words));
            }
        }
        Some(state)
    }

    /// Where it is to be shown: metres, and a unit quaternion. The origin, upright, where its kind has no position or
    /// rotation.
    pub fn pose(&self) -> Pose {
        pose_of(self.component(), self.row)
    }

    /// Its velocity in m/s; zero where its kind has none.
    pub fn velocity(&self) -> [f64; 3] {
        velocity_of(self.component(), self.row)
    }

    /// The row of its first component at the shown instant.
    pub fn row(&self) -> Row<'_> {
        Row { component: self.component, entity: self.entity, owner: self.owner, words: self.row }
    }

    /// The description of its first component.
    pub fn component(&self) -> &ComponentSchema {
        self.schema.component(self.component)
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
        let schema = &self.rules.schema;
        for shown in newest.iter().filter(|row| schema.is_first(row.component)) {
            let component = schema.component(shown.component);
            let when = ((now, at), &self.config);
            let offset = session.offsets.show(&session.timeline, (component, shown), when, &mut row);
            let row = &row[..shown.words.len()];
            draw(&View::of(shown, (Source::Predicted, offset), schema, row, newest));
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
        let Some(remote) = self.remote_window(now) else { return };
        let mut next = 0;
        let others = remote.windows(self.timeline.predicted()).filter(|(row, _)| schema.is_first(row.component));
        for (shown, samples) in others.filter(|(row, _)| self.lifecycles.is_shown(row.entity, &mut next)) {
            let (entity, component) = (shown.entity, schema.component(shown.component));
            let how = (self.curves.of(entity), &self.followers);
            let Some(mut source) = remote.draw(component, (shown, &samples), how, row) else { continue };
            if self.authority.put_shown(component, shown.key(), row) {
                source = Source::Held;
            }
            let offset = self.offsets.at(entity, now, STANDING, config);
            apply(offset, component, row);
            let row = &row[..shown.words.len()];
            draw(&View::of(shown, (source, offset), schema, row, remote.rows()));
        }
    }
}
