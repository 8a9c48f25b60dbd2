//! How sessions are configured, and what their server asks the game.

use crate::registry::Registry;
use bevy_ecs::prelude::{Resource, World};
use foretell::{InterestRules, Newcomer, Reason, Rules, SessionConfig, TickRate, Tolerance};
use std::sync::Arc;

/// Whether somebody may join.
type Admit = fn(&World, &Newcomer) -> Result<(), Reason>;
/// Where the rules are of what players see.
type FindRules = fn(&World) -> Option<&dyn InterestRules>;

/// How sessions are configured, and what is asked of the game while they run.
#[derive(Resource, Clone)]
pub(crate) struct Settings<I: 'static> {
    pub rate: TickRate,
    /// Changes the settings of a session.
    pub configure: Arc<dyn Fn(&mut SessionConfig) + Send + Sync>,
    pub admit: Option<Admit>,
    pub interest: Option<FindRules>,
    /// For which inputs others are looked up as their player saw them.
    pub rewound_for: Option<fn(&I) -> bool>,
    pub checked: bool,
}

impl<I> Settings<I> {
    pub fn new(rate: TickRate) -> Settings<I> {
        let configure = Arc::new(|_: &mut SessionConfig| {});
        Settings { rate, configure, admit: None, interest: None, rewound_for: None, checked: false }
    }

    /// The configuration of a session of what is registered.
    fn config(&self, registry: &Registry) -> SessionConfig {
        let (messages, fingerprints) = (registry.messages.clone(), registry.fingerprints.clone());
        let rules = Rules { tick_rate: self.rate, messages, fingerprints, ..Rules::new(registry.schema.clone()) };
        let mut config = SessionConfig::new(rules);
        (self.configure)(&mut config);
        let has_bodies = !registry.fingerprints.is_empty();
        if has_bodies && !config.rules.exact && config.client.tolerance == Tolerance::default() {
            config.client.tolerance = Tolerance::of_contacts();
        }
        config
    }
}

/// How sessions of what is registered are configured.
pub(crate) fn config_of<I: 'static>(world: &World) -> SessionConfig {
    let settings = world.get_resource::<Settings<I>>().expect("the game adds ForetellPlugin");
    settings.config(world.resource::<Registry>())
}

/// For how many ticks what is gone may come back on a client.
pub(crate) fn horizon_ticks(config: &SessionConfig) -> u32 {
    config.rules.tick_rate.ticks_in(config.client.horizon) + 2
}
