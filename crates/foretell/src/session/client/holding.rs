//! From one who moves an entity to another: what is shown of it goes over without a jump.

use super::frame::{AuthorityChange, ClientEvent};
use super::play::Turn;
use super::playout::Playout;
use super::shown::{RowBuffer, STANDING, apply};
use super::view::proxy_row;
use super::{ClientConfig, Session};
use crate::motion::{VisualOffset, vector};
use crate::rollback::{Entity, ROW_WORDS_MAX, Schema, State, World};
use crate::time::{Instant, Tick, TickTime};

impl<W: World> super::Client<W> {
    /// The state of an entity that the game moves, as it is shown now: from there a mover goes on. `None` where the game
    /// does not move it.
    ///
    /// # Panics
    /// When `S` is not the type of the session's schema.
    pub fn held<S: State>(&self, now: Instant, entity: Entity) -> Option<S> {
        let session = self.session().filter(|session| session.holds.is_moved(entity))?;
        let row = session.proxy_shown(self.clock.at(now), entity, (&self.rules.schema, &self.config))?;
        Some(S::read(entity.kind(), &row))
    }
}

impl<W: World> Turn<'_, W> {
    /// Reads what the server says of who holds what, and lets holds begin and end. After the offsets were captured for
    /// `now`.
    pub(super) fn settle_holds(&mut self) {
        let session = &mut *self.session;
        if let Some(newest) = session.snapshots.newest() {
            session.holds.take_in(newest, session.player, self.events);
        }
        if session.holds.is_empty() {
            return;
        }
        let about = (&self.rules.schema, self.config);
        while let Some(entity) = session.next_ended(self.now) {
            session.end_hold(self.now, entity, about);
        }
        while let Some((entity, row)) = session.next_beginning(self.now, about) {
            session.holds.begin(entity, &row);
            // It stands where it was shown: what hid a correction is in it now.
            session.offsets.set(entity, VisualOffset::NONE);
            self.events.push(ClientEvent::Authority { entity, what: AuthorityChange::Began });
        }
    }
}

impl<W: World> Session<W> {
    /// A hold that is over, and of which the cursor shows what came after it; or that is predicted again, or gone.
    fn next_ended(&self, now: Instant) -> Option<Entity> {
        let at = self.playout.at_instant(now)?;
        let newest = self.snapshots.newest()?;
        let passed = |end: Tick| TickTime::start_of(end) <= at;
        let is_gone = |entity: Entity| newest.rows.words(entity).is_none();
        let mut ended = self.holds.ended();
        let over = |(entity, end): &(Entity, Tick)| {
            passed(*end)
                || self.timeline.predicted().contains(*entity)
                || is_gone(*entity)
                || !self.holds.has_begun(*entity)
        };
        ended.find(over).map(|(entity, _)| entity)
    }

    fn end_hold(&mut self, now: Instant, entity: Entity, about: (&Schema, &ClientConfig)) {
        if self.timeline.predicted().contains(entity) || !self.holds.has_begun(entity) {
            self.holds.remove(entity);
            return;
        }
        let shown = {
            let (scene, offsets) = self.scene(now, about);
            scene
                .pose(entity)
                .map(|(pose, velocity)| (offsets.at(entity, now, STANDING, about.1).shown(pose), velocity))
        };
        self.holds.remove(entity);
        let (scene, offsets) = self.scene(now, about);
        let (Some((shown, before)), Some((pose, after))) = (shown, scene.pose(entity)) else { return };
        let Some(correction) = &about.1.correction else { return };
        let speed = vector::length(before).max(vector::length(after));
        offsets.set(entity, VisualOffset::capture(shown, pose, speed, correction).0);
    }

    /// An entity that was asked for and is not predicted any more, and its row as it is shown.
    fn next_beginning(&self, now: Instant, about: (&Schema, &ClientConfig)) -> Option<(Entity, RowBuffer)> {
        let mut beginning = self.holds.beginning().filter(|entity| !self.timeline.predicted().contains(*entity));
        beginning.find_map(|entity| Some((entity, self.proxy_shown(now, entity, about)?)))
    }

    /// The row of an entity that is not predicted, as it is shown; `None` where it is not.
    fn proxy_shown(
        &self,
        now: Instant,
        entity: Entity,
        (schema, config): (&Schema, &ClientConfig),
    ) -> Option<RowBuffer> {
        let at = self.playout.at_instant(now)?;
        let (before, after) = Playout::around(&self.snapshots, at);
        let before = before?;
        let (kind, words) = (schema.kind(entity.kind()), before.rows.words(entity)?);
        let next = after.and_then(|after| Some((after.tick, after.rows.words(entity)?)));
        let mut row = [0; ROW_WORDS_MAX];
        proxy_row(kind, (before.tick, words), next, (at, self.pacing.rate()), &mut row);
        self.holds.put_shown(kind, entity, &mut row);
        apply(self.offsets.at(entity, now, STANDING, config), kind, &mut row);
        Some(row)
    }
}
