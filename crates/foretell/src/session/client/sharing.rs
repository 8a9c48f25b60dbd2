//! What a game calls of a client in shared mode: asking, moving, giving back.

use super::Client;
use super::shown::RowBuffer;
use crate::rollback::{Entity, ROW_WORDS_MAX, State, World};
use crate::session::record::EntityCall;
use crate::session::shared::{Claim, Holder};
use crate::time::{Instant, Tick, TickTime};

impl<W: World> Client<W> {
    /// Asks for authority over an entity of this player or of the server's own: from the next update on in which it is no
    /// longer predicted the game moves it ([`AuthorityChange::Began`](super::AuthorityChange::Began), then
    /// [`capture`](Client::capture)), without waiting for the answer. One that another player owns is not given away; nor more than the server allows. Asked
    /// again with another claim, the right changes: [`Claim::Authority`] lets go of what was owned, and it goes back to
    /// the server when it has come to rest.
    ///
    /// Not where arriving inputs step the world. Nothing happens before the session begins.
    pub fn request(&mut self, entity: Entity, claim: Claim) {
        self.call(&EntityCall::Request(entity, claim));
    }

    /// Gives an entity back at once, as it was captured last.
    pub fn release(&mut self, entity: Entity) {
        self.call(&EntityCall::Release(entity));
    }

    /// Says what state an entity that the game moves has at the start of `tick`: what its [mover](crate::motion::FrameMover)
    /// hands out, before the update that simulates the tick. Of it counts what the schema lets an owner write. A tick
    /// without a capture keeps the state before. Ignored where the game does not move the entity.
    ///
    /// # Panics
    /// When the state is of another kind than the entity.
    pub fn capture<S: State>(&mut self, entity: Entity, tick: Tick, state: &S) {
        let words = self.words_of(entity, state);
        self.call(&EntityCall::Capture(entity, tick, words));
    }

    /// Says in which state an entity that the game moves is to be shown now. Without it the newest captured one is.
    ///
    /// # Panics
    /// When the state is of another kind than the entity.
    pub fn show<S: State>(&mut self, entity: Entity, state: &S) {
        let words = self.words_of(entity, state);
        self.call(&EntityCall::Show(entity, words));
    }

    /// What the clock that ticks run by shows at `now`: where the frames of a [mover](crate::motion::FrameMover) end.
    /// Tick 0 before the session begins.
    pub fn tick_time(&self, now: Instant) -> TickTime {
        self.session().map_or(TickTime::default(), |session| session.pacing.at_instant(self.clock.at(now)))
    }

    /// Who has authority over an entity by the newest snapshot; `None` is the server itself.
    pub fn holder(&self, entity: Entity) -> Option<Holder> {
        let newest = self.session()?.snapshots.newest()?;
        newest.holders.iter().find(|(known, _)| *known == entity).map(|(_, holder)| *holder)
    }

    fn words_of<S: State>(&self, entity: Entity, state: &S) -> RowBuffer {
        assert!(state.kind() == entity.kind(), "{entity}: the state given for it is of another kind");
        let mut words = [0; ROW_WORDS_MAX];
        state.write(&mut words[..self.rules.schema.kind(entity.kind()).words()]);
        words
    }

    /// What the game has called, or had called when it was recorded.
    pub(in crate::session) fn call(&mut self, call: &EntityCall) {
        if let Some(recorded) = &mut self.recorded {
            recorded.note_entity_call(call, &self.code, &self.rules.schema);
        }
        match call {
            EntityCall::Mode(entity, mode) => self.set_single(*entity, *mode),
            EntityCall::ShowWith(entity, curve) => self.curves.set(*entity, *curve),
            _ => {}
        }
        let Some(session) = self.session_mut() else { return };
        match call {
            EntityCall::Request(entity, claim) => session.holds.request(*entity, *claim),
            EntityCall::Release(entity) => session.holds.release(*entity),
            EntityCall::Capture(entity, tick, row) => session.holds.capture(*entity, *tick, row),
            EntityCall::Show(entity, row) => session.holds.show(*entity, row),
            EntityCall::Mode(..) | EntityCall::ShowWith(..) => {}
        }
    }
}
