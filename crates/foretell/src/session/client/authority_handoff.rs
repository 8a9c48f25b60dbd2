//! From one who moves an entity to another: what is shown of it goes over without a jump.

use super::error_offsets::{RowBuffer, STANDING, apply};
use super::frame::{AuthorityChange, ClientEvent};
use super::update::Update;
use super::{ClientConfig, Session};
use crate::motion::{VisualOffset, vector};
use crate::time::{Instant, Tick, TickTime};
use crate::world::{ComponentId, Entity, Owned, ROW_WORDS_MAX, Schema, State, World};

impl<W: World> super::Client<W> {
    /// The state of an entity that the game moves, as it is shown now: from there a mover goes on. `None` where the game
    /// does not move it.
    ///
    /// # Panics
    /// When `S` is not the type of the session's schema.
    pub fn held<S: State>(&self, now: Instant, entity: Entity) -> Option<S> {
        let session = self.session().filter(|session| session.authority.is_moved(entity))?;
        let (component, row) = session.proxy_shown(self.clock.at(now), entity, (&self.rules.schema, &self.config))?;
        S::read(usize::from(component.0) - self.rules.schema.first_of::<S>()?, &row)
    }
}

impl<W: World> Update<'_, W> {
    /// Reads what the server says of who holds what, and lets holds begin and end. After the offsets were captured for
    /// `now`.
    pub(super) fn settle_holds(&mut self) {
        let session = &mut *self.session;
        if let Some(newest) = session.snapshots.newest() {
            session.authority.take_in(newest, session.player, self.events);
        }
        if session.authority.is_empty() {
            return;
        }
        let about = (&self.rules.schema, self.config);
        while let Some(entity) = session.next_ended(self.now) {
            session.end_hold(self.now, entity, about);
        }
        while let Some((entity, component, row)) = session.next_beginning(self.now, about) {
            session.authority.begin(entity, component, &row);
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
        let is_gone = |entity: Entity| !newest.rows.has(entity);
        let mut ended = self.authority.ended();
        let over = |(entity, end): &(Entity, Tick)| {
            passed(*end) || self.predicts(*entity) || is_gone(*entity) || !self.authority.has_begun(*entity)
        };
        ended.find(over).map(|(entity, _)| entity)
    }

    fn end_hold(&mut self, now: Instant, entity: Entity, about: (&Schema, &ClientConfig)) {
        if self.predicts(entity) || !self.authority.has_begun(entity) {
            self.authority.remove(entity);
            return;
        }
        let shown = {
            let (visual, offsets) = self.visual_state(now, about);
            visual
                .pose(entity)
                .map(|(pose, velocity)| (offsets.at(entity, now, STANDING, about.1).shown(pose), velocity))
        };
        self.authority.remove(entity);
        let (visual, offsets) = self.visual_state(now, about);
        let (Some((shown, before)), Some((pose, after))) = (shown, visual.pose(entity)) else { return };
        let Some(correction) = &about.1.correction else { return };
        let speed = vector::length(before).max(vector::length(after));
        offsets.set(entity, VisualOffset::capture(shown, pose, speed, correction).0);
    }

    /// An entity that was asked for and is not predicted any more, and its row as it is shown.
    fn next_beginning(
        &self,
        now: Instant,
        about: (&Schema, &ClientConfig),
    ) -> Option<(Entity, ComponentId, RowBuffer)> {
        let mut beginning = self.authority.beginning().filter(|entity| !self.predicts(*entity));
        beginning.find_map(|entity| {
            let (component, row) = self.proxy_shown(now, entity, about)?;
            Some((entity, component, row))
        })
    }

    /// Whether an entity is predicted, as far as it is known.
    fn predicts(&self, entity: Entity) -> bool {
        let owner = self.snapshots.newest().and_then(|newest| newest.rows.owner(entity));
        self.timeline.predicted().contains(Owned { entity, owner: owner.unwrap_or(entity.spawned_for()) })
    }

    /// The row of an entity that is not predicted which its holder writes, as it is shown; `None` where there is none.
    fn proxy_shown(
        &self,
        now: Instant,
        entity: Entity,
        (schema, config): (&Schema, &ClientConfig),
    ) -> Option<(ComponentId, RowBuffer)> {
        let remote = self.remote_window(now)?;
        let key = remote.rows().of(entity).find(|row| schema.component(row.component).is_shared())?.key();
        let kind = schema.component(key.component);
        let mut row = [0; ROW_WORDS_MAX];
        remote.row(kind, key, (self.curves.of(entity), &self.followers), &mut row)?;
        self.authority.put_shown(kind, key, &mut row);
        apply(self.offsets.at(entity, now, STANDING, config), kind, &mut row);
        Some((key.component, row))
    }
}
