//! Where an entity is at the shown instant without its visual offset, whether it is predicted or not.

use super::followers::{Drawing, Followers};
use super::playout_reader::PlayoutReader;
use super::tick_interpolation::TickInterpolation;
use crate::motion::Pose;
use crate::rollback::{NewestPredictions, Timeline};
use crate::session::client::authority::AuthorityGrants;
use crate::session::client::client_settings::Moment;
use crate::session::client::config::ClientConfig;
use crate::session::client::entity_curves::EntityCurves;
use crate::session::client::snapshots::Snapshots;
use crate::session::curves::{PoseSource, RowBuffer, placed_row, velocity_of};
use crate::time::{Instant, TickTime};
use crate::world::{ComponentId, Entity, ROW_WORDS_MAX, Row, RowKey, Schema, Teleports, World};

/// What is shown is made of this.
pub(crate) struct Sources<'a> {
    pub now: Instant,
    /// Where the client's clock stands.
    pub at: TickTime,
    pub predicted: NewestPredictions<'a>,
    pub snapshots: &'a Snapshots,
    pub authority: &'a AuthorityGrants,
    pub schema: &'a Schema,
    pub config: &'a ClientConfig,
}

impl<'a> Sources<'a> {
    pub(crate) fn new<W: World>(
        moment: Moment<'a>,
        timeline: &'a Timeline<W>,
        snapshots: &'a Snapshots,
        authority: &'a AuthorityGrants,
    ) -> Sources<'a> {
        let Moment { now, at, settings } = moment;
        let predicted = NewestPredictions::of(timeline);
        Sources { now, at, predicted, snapshots, authority, schema: &settings.rules.schema, config: &settings.config }
    }
}

/// Where an entity is, and how fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub pose: Pose,
    /// m/s.
    pub velocity: [f64; 3],
    pub teleports: Teleports,
    pub is_predicted: bool,
}

/// Everything that is shown at one instant.
pub(crate) struct UnsmoothedState<'a> {
    pub sources: &'a Sources<'a>,
    pub remote: Option<PlayoutReader<'a>>,
    pub curves: &'a EntityCurves,
    pub followers: &'a Followers,
}

impl<'a> UnsmoothedState<'a> {
    /// The rows of other entities that are shown, and not predicted.
    pub(crate) fn others(&self) -> impl Iterator<Item = Row<'a>> {
        let predicted = self.sources.predicted.players;
        self.remote.iter().flat_map(|remote| remote.others(predicted))
    }

    /// Where an entity is and how fast; `None` where it is not shown.
    pub(crate) fn motion(&self, entity: Entity) -> Option<Motion> {
        let schema = self.sources.schema;
        let mut into: RowBuffer = [0; ROW_WORDS_MAX];
        if let Some(row) = self.predicted(entity) {
            let component = schema.component(row.component);
            self.draw_predicted(row, &mut into);
            let (pose, velocity) = (component.pose(&into), velocity_of(component, row.words));
            return Some(Motion { pose, velocity, teleports: component.teleports(&into), is_predicted: true });
        }
        let row = self.other(entity)?;
        let source = self.remote.as_ref()?.draw(row.key(), self.drawing(entity), &mut into)?;
        self.put_made(row, source, &mut into)?;
        let component = schema.component(row.component);
        let (pose, velocity) = (component.pose(&into), velocity_of(component, &into));
        Some(Motion { pose, velocity, teleports: component.teleports(&into), is_predicted: false })
    }

    /// Puts in the place of another's row that was drawn what this client has made of it: what it holds, or its player has changed.
    /// Returns where it comes from then; `None` where it was removed.
    pub(crate) fn put_made(&self, row: Row<'_>, source: PoseSource, into: &mut RowBuffer) -> Option<PoseSource> {
        let Sources { schema, authority, predicted, .. } = self.sources;
        let is_held = authority.put_shown(schema.component(row.component), row.key(), into);
        let source = if is_held { PoseSource::Held } else { source };
        let Some(changed) = predicted.changes.get(row.key()) else { return Some(source) };
        changed.put_over(into)?;
        Some(if changed.stays() { PoseSource::Predicted } else { source })
    }

    /// The row of the first entity after this one that its player has given a row of the component, of which nothing is shown yet: it
    /// is of another sort now, or in another table.
    pub(crate) fn given_after(&self, component: ComponentId, after: Option<Entity>) -> Option<Row<'a>> {
        let (changes, remote) = (self.sources.predicted.changes, self.remote.as_ref()?);
        let is_new = |row: &Row<'_>| Some(row.entity) > after && remote.get(row.key()).is_none();
        // It may be the player's own by now, or be shown as what the authority has made of it since.
        let is_predicted = |entity| self.sources.predicted.newest.is_some_and(|rows| rows.has(entity));
        let is_told = |key: RowKey| remote.get(key).is_some() && changes.get(key).is_none();
        let is_over = |row: &Row<'_>| self.sources.schema.other_variants(row.key()).any(is_told);
        let given = changes.given(component).filter(|row| is_new(row) && remote.has(row.entity));
        given.filter(|row| !is_predicted(row.entity) && !is_over(row)).min_by_key(|row| row.entity)
    }

    /// By what another entity is drawn.
    pub(crate) fn drawing(&self, entity: Entity) -> Drawing {
        self.followers.drawing(entity, self.curves.of(entity), self.sources.now)
    }

    /// The key of the row of an entity that is not predicted which its holder writes; `None` where there is none.
    pub(crate) fn held(&self, entity: Entity) -> Option<RowKey> {
        let schema = self.sources.schema;
        let mut keys = self.remote.as_ref()?.of(entity).map(|row| row.key());
        keys.find(|key| schema.component(key.component).is_shared())
    }

    /// A row that is not predicted as it is shown, with what its holder writes of it; `None` where there is none.
    pub(crate) fn draw_held(&self, key: RowKey, into: &mut RowBuffer) -> Option<()> {
        let (remote, Sources { schema, authority, .. }) = (self.remote.as_ref()?, self.sources);
        remote.draw(key, self.drawing(key.entity), into)?;
        authority.put_shown(schema.component(key.component), key, into);
        Some(())
    }

    /// The predicted row by which an entity is placed; `None` where it is not predicted, or gone.
    pub(crate) fn predicted(&self, entity: Entity) -> Option<Row<'a>> {
        placed_row(self.sources.predicted.newest?, entity, self.sources.schema)
    }

    /// The shown row by which an entity is placed that is not predicted; `None` where it is predicted, or not there.
    pub(crate) fn other(&self, entity: Entity) -> Option<Row<'a>> {
        let row = self.remote.as_ref()?.placed(entity)?;
        Some(row).filter(|row| !self.sources.predicted.players.contains(row.owned()))
    }

    /// Draws a row of the newest predicted state where it is shown: between two states, or ahead of them (R23, R24).
    pub(crate) fn draw_predicted(&self, row: Row<'_>, into: &mut RowBuffer) {
        let Sources { predicted: NewestPredictions { before, present, rate, .. }, schema, at, config, .. } =
            *self.sources;
        let (show, teleport_m) = (config.show, config.correction.unwrap_or_default().teleport_m());
        TickInterpolation { schema, before, present, at, show, rate, teleport_m }.draw(row, into);
    }
}
