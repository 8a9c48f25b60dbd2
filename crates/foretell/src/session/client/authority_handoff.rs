//! From one who moves an entity to another: what is shown of it goes over without a jump.

use super::authority::AuthorityGrants;
use super::client_settings::Moment;
use super::presentation::{Presentation, Sources};
use super::snapshots::Snapshots;
use super::update_report::{AuthorityChange, ClientEvent};
use crate::rollback::Timeline;
use crate::session::Rules;
use crate::session::curves::RowBuffer;
use crate::time::{Tick, TickTime};
use crate::world::{ComponentId, Entity, PlayerId, RowKey, World};
use alloc::vec::Vec;

/// What takes part in it.
pub(super) struct AuthorityHandoff<'a, W: World> {
    pub moment: Moment<'a>,
    pub timeline: &'a Timeline<W>,
    pub snapshots: &'a Snapshots,
    pub authority: &'a mut AuthorityGrants,
    pub presentation: &'a mut Presentation,
}

impl<W: World> AuthorityHandoff<'_, W> {
    /// Reads what the server says of who has authority over what, and lets it begin and end. After the offsets were captured.
    pub(super) fn settle(mut self, own: PlayerId, events: &mut Vec<ClientEvent>) {
        if let Some(newest) = self.snapshots.newest() {
            self.authority.take_in(newest, own, events);
        }
        if self.authority.is_empty() {
            return;
        }
        while let Some(entity) = self.next_ended() {
            self.end(entity);
        }
        while let Some(entity) = self.next_changed() {
            self.authority.release(entity);
        }
        while let Some((RowKey { component, entity }, row)) = self.next_beginning() {
            self.authority.begin(entity, component, &row);
            // It stands where it was shown: what hid a correction is in it now.
            self.presentation.drop_offset(entity);
            events.push(ClientEvent::Authority { entity, what: AuthorityChange::Began });
        }
    }

    fn sources(&self) -> Sources<'_> {
        Sources::new(self.moment, self.timeline, self.snapshots, self.authority)
    }

    /// One that is over, and of which the cursor shows what came after it; or that is predicted again, or gone.
    fn next_ended(&self) -> Option<Entity> {
        let at = self.presentation.remote.playout.at_instant(self.moment.now)?;
        let Rules { schema, tick_rate, .. } = &self.moment.settings.rules;
        let has_passed = |component: ComponentId, end: Tick| {
            let later = schema.component(component).later_ticks(*tick_rate, 1);
            TickTime::start_of(end + later) <= at
        };
        let is_shown = |entity: Entity| self.authority.has_begun(entity) && !self.predicts(entity);
        let over = |(RowKey { component, entity }, end): &(RowKey, Tick)| {
            has_passed(*component, *end) || !is_shown(*entity) || !self.snapshots.has(*entity)
        };
        self.authority.ended().find(over).map(|(key, _)| key.entity)
    }

    fn end(&mut self, entity: Entity) {
        let is_shown = self.authority.has_begun(entity) && !self.predicts(entity);
        let shown = is_shown.then(|| self.presentation.shown(&self.sources(), entity)).flatten();
        self.authority.remove(entity);
        if let Some(before) = shown {
            let sources = Sources::new(self.moment, self.timeline, self.snapshots, self.authority);
            self.presentation.hide_jump(&sources, entity, before);
        }
    }

    /// One that is shown as another variant than that as which the game moves it. The server takes back what it has granted so.
    fn next_changed(&self) -> Option<Entity> {
        let remote = self.presentation.remote.samples(&self.sources())?;
        let is_another = |key: &RowKey| remote.get(*key).is_none() && remote.has(key.entity);
        self.authority.moved().find(is_another).map(|key| key.entity)
    }

    /// An entity that was asked for and is not predicted any more, and its row as it is shown.
    fn next_beginning(&self) -> Option<(RowKey, RowBuffer)> {
        let mut beginning = self.authority.beginning().filter(|entity| !self.predicts(*entity));
        beginning.find_map(|entity| self.presentation.held(&self.sources(), entity))
    }

    /// Whether an entity is predicted, as far as it is known.
    fn predicts(&self, entity: Entity) -> bool {
        self.timeline.predicted().contains(self.snapshots.owned(entity))
    }
}
