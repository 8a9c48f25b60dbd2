//! What a game calls of a client in shared mode: asking, moving, giving back.

use super::error_offsets::RowBuffer;
use super::{Client, ClientCall};
use crate::session::authority::{Claim, Holder};
use crate::time::{Instant, Tick, TickTime};
use crate::world::{ComponentId, Entity, ROW_WORDS_MAX, RowKey, State, World};

impl<W: World> Client<W> {
    /// Asks for authority over an entity of this player or of the server's own: from the next update on in which it is no
    /// longer predicted the game moves it ([`AuthorityChange::Began`](super::AuthorityChange::Began), then
    /// [`capture`](Client::capture)), without waiting for the answer. One that another player owns is not given away; nor more than the server allows. Asked
    /// again with another claim, the right changes: [`Claim::Authority`] lets go of what was owned, and it goes back to
    /// the server when it has come to rest.
    ///
    /// Nothing happens before the session begins.
    pub fn request(&mut self, entity: Entity, claim: Claim) {
        self.call(&ClientCall::Request(entity, claim));
    }

    /// Gives an entity back at once, as it was captured last.
    pub fn release(&mut self, entity: Entity) {
        self.call(&ClientCall::Release(entity));
    }

    /// Says what state an entity that the game moves has at the start of `tick`: what its [mover](crate::motion::FrameMover)
    /// hands out, before the update that simulates the tick. Of it counts what the schema lets an owner write. A tick
    /// without a capture keeps the state before. Ignored where the game does not move the entity.
    ///
    /// # Panics
    /// When the schema has no such type of state, or an owner writes nothing of it.
    pub fn capture<S: State>(&mut self, entity: Entity, tick: Tick, state: &S) {
        let (component, words) = self.words_of(state);
        self.call(&ClientCall::Capture(RowKey { component, entity }, tick, words));
    }

    /// Says in which state an entity that the game moves is to be shown now. Without it the newest captured one is.
    ///
    /// # Panics
    /// When the schema has no such type of state, or an owner writes nothing of it.
    pub fn show<S: State>(&mut self, entity: Entity, state: &S) {
        let (component, words) = self.words_of(state);
        self.call(&ClientCall::Show(RowKey { component, entity }, words));
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

    /// The component of a state that its owner writes, and its words.
    fn words_of<S: State>(&self, state: &S) -> (ComponentId, RowBuffer) {
        let (schema, name) = (&self.rules.schema, core::any::type_name::<S>());
        let mut words = [0; ROW_WORDS_MAX];
        for (nth, component) in schema.components_of::<S>().enumerate() {
            if schema.component(component).is_shared() && state.write(nth, &mut words) {
                return (component, words);
            }
        }
        panic!(
            "{name} has no component in the schema that an owner writes: say `#[state(writer = owner)]` of its fields"
        );
    }
}
