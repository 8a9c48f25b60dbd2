//! By what it is decided what each client sees: the setting, and the rules of the game's own.

use crate::session::server::config::Settings;
use crate::world::{Audience, Entity, Interest, InterestRules, Owned, PlayerId, Visibility};

/// By what it is decided what a client sees.
#[derive(Clone, Copy)]
pub(crate) struct InterestSettings<'a> {
    /// What is in reach, where the rules don't say otherwise.
    pub interest: Interest,
    pub rules: Option<&'a dyn InterestRules>,
}

impl<'a> InterestSettings<'a> {
    /// What the server is told by its settings, and by a game's rules. In an exact session everybody needs everything.
    pub(crate) fn new(settings: &Settings, rules: Option<&'a dyn InterestRules>) -> InterestSettings<'a> {
        if settings.rules.exact {
            return InterestSettings { interest: Interest::Everything, rules: None };
        }
        InterestSettings { interest: settings.config.interest, rules }
    }

    /// Whether anything may be out of view.
    pub(crate) fn are_limited(&self) -> bool {
        self.rules.is_some() || self.interest != Interest::Everything
    }

    /// Whether a player gets a component of an entity that it sees.
    pub(super) fn includes(&self, player: PlayerId, audience: Audience, of: Owned) -> bool {
        match audience {
            Audience::Group(group) if player != of.owner => {
                self.rules.is_some_and(|rules| rules.is_in_group(player, group, of))
            }
            _ => audience.includes(player, of.owner),
        }
    }

    pub(super) fn visibility(&self, player: PlayerId, entity: impl FnOnce() -> Entity) -> Visibility {
        self.rules.map_or(Visibility::SHOWN, |rules| rules.visibility(player, entity()))
    }
}
