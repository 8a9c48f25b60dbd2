//! What a game says to its client: the rules, its settings, and how single players and entities are to be had; and what it lends to an
//! update.

use super::config::{ClientConfig, Predict};
use super::entity_curves::EntityCurves;
use crate::session::Rules;
use crate::session::authority_codec::AuthorityCodec;
use crate::session::curves::RowBuffer;
use crate::session::exact_row_codec::ExactRowCodec;
use crate::session::outbox::Outbox;
use crate::time::{Instant, Tick, TickTime};
use crate::world::EntityMap;
use crate::world::{ComponentId, Entity, Input, PlayerId, ROW_WORDS_MAX, Seat, State, World, word_bits};
use alloc::vec::Vec;

/// How a client has an entity that it does not move itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EntityMode {
    /// Simulated here, ahead of the authority: shown where it is.
    Predicted,
    /// Taken from the authority's states: shown where it was.
    Interpolated,
}

/// Lives as long as the client.
pub(super) struct ClientSettings {
    pub rules: Rules,
    pub config: ClientConfig,
    /// As what it asks to join, or has joined.
    pub seat: Seat,
    /// For which players it was asked to predict their entities, or not to; each once.
    players: Vec<(PlayerId, bool)>,
    /// The same for single entities.
    pub entities: EntityMap<EntityMode>,
    /// By which curves others are to be shown.
    pub curves: EntityCurves,
    /// How many bits each word of an input has.
    pub input_widths: Vec<u8>,
    pub authority_codec: AuthorityCodec,
}

impl ClientSettings {
    pub(super) fn new<I: Input>(rules: Rules, config: ClientConfig, seat: Seat) -> ClientSettings {
        let rows = ExactRowCodec::new(&rules.schema);
        ClientSettings {
            seat,
            players: Vec::new(),
            entities: EntityMap::new(),
            curves: EntityCurves::new(config.curve),
            input_widths: word_bits(I::columns().iter()),
            authority_codec: AuthorityCodec::new(rules.schema.components(), &rows),
            config,
            rules,
        }
    }

    /// Whether the entities of `player` are to be predicted from now on.
    pub(super) fn predict(&mut self, player: PlayerId, yes: bool) {
        match self.players.iter_mut().find(|(of, _)| *of == player) {
            Some((_, wish)) => *wish = yes,
            None => self.players.push((player, yes)),
        }
    }

    /// How a single entity is to be had from now on; `None` is as the others of its player.
    pub(super) fn set_mode(&mut self, entity: Entity, mode: Option<EntityMode>) {
        match mode {
            Some(mode) => drop(self.entities.insert(entity, mode)),
            None => drop(self.entities.remove(entity)),
        }
    }

    /// An entity has ended: nothing is asked for of it any more.
    pub(super) fn forget(&mut self, entity: Entity) {
        self.entities.remove(entity);
        self.curves.forget(entity);
    }

    /// Whether anything is asked for of single players.
    pub(super) fn names_players(&self) -> bool {
        !self.players.is_empty()
    }

    /// How far around its own entities those of others may be predicted, in metres, 0 wherever they are; `None` where none are.
    pub(super) fn predicts_within_m(&self) -> Option<u32> {
        let are_named = self.players.iter().any(|(_, yes)| *yes);
        let are_named = are_named || self.entities.values().contains(&EntityMode::Predicted);
        match self.config.predict {
            _ if self.spectates() => None,
            _ if are_named => Some(0),
            Predict::Own => None,
            Predict::Everyone => Some(0),
            Predict::Near { within_m, until_m } => Some(exact_radius_m(until_m.max(within_m))),
        }
    }

    /// Whether it was asked not to predict a player.
    pub(super) fn excludes(&self, player: PlayerId) -> bool {
        self.players.contains(&(player, false))
    }

    /// Whether it looks on: it has no inputs, and predicts nothing but in an exact session, where everything is simulated.
    pub(super) fn spectates(&self) -> bool {
        self.seat == Seat::Spectator
    }

    /// Whether all entities of a player are to be predicted.
    pub(super) fn wants(&self, player: PlayerId) -> bool {
        let wish = self.players.iter().find(|(of, _)| *of == player);
        !self.spectates() && wish.map_or(self.config.predict == Predict::Everyone, |(_, wish)| *wish)
    }

    /// The component of a state that its owner writes, and its words; `None` where this value has none.
    ///
    /// # Panics
    /// When no value of its type has one, or the schema does not have the type.
    pub(super) fn words_of<S: State>(&self, state: &S) -> Option<(ComponentId, RowBuffer)> {
        let (schema, name) = (&self.rules.schema, core::any::type_name::<S>());
        let (mut words, mut any) = ([0; ROW_WORDS_MAX], false);
        for (nth, component) in schema.components_of::<S>().enumerate() {
            let is_shared = schema.component(component).is_shared();
            if is_shared && state.write(nth, &mut words) {
                return Some((component, words));
            }
            any |= is_shared;
        }
        assert!(
            any,
            "{name} has no component in the schema that an owner writes: say `#[state(writer = owner)]` of its fields"
        );
        None
    }
}

/// When something is done, and what the game has said.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub now: Instant,
    /// Where the client's clock stands.
    pub at: TickTime,
    pub settings: &'a ClientSettings,
}

/// What the game lends to an update.
pub(super) struct Game<'a, W: World> {
    pub world: &'a mut W,
    pub input: &'a mut dyn FnMut(Tick) -> W::Input,
    pub outbox: &'a mut Outbox,
}

/// How far what may be predicted within `radius_m` may be away in a state of the server's, in metres: twice as far, as such a state is
/// older than what is predicted.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn exact_radius_m(radius_m: f64) -> u32 {
    (2.0 * radius_m) as u32 | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::schema;

    #[derive(foretell::Input, Clone, Copy, Default, PartialEq)]
    struct Keys {
        up: bool,
    }

    #[test]
    fn of_what_has_ended_nothing_is_asked_for_any_more() {
        let rules = Rules::new(schema());
        let mut settings = ClientSettings::new::<Keys>(rules, ClientConfig::default(), Seat::Player);
        let rocket = Entity::new(PlayerId::SERVER, Tick::new(7), 0);
        settings.set_mode(rocket, Some(EntityMode::Predicted));
        assert_eq!(settings.predicts_within_m(), Some(0));
        settings.forget(rocket);
        assert_eq!((settings.predicts_within_m(), settings.entities.len()), (None, 0));
    }
}
