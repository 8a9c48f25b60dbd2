//! The plugin, and what a game registers with it.

use crate::directory::Directory;
use crate::display::{self, Shown};
use crate::driver::Datagrams;
use crate::entity::{Driven, Gone, Networked, Simulated};
use crate::events::Connection;
use crate::messages::{self, MessageTypes};
use crate::registry::Registry;
use crate::session::{self, LocalPlayer, Pressed, Stats};
use crate::step::{CurrentStep, RewoundFor, SavedComponents, StepInputs};
use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{IntoScheduleConfigs, Mut, Resource, Schedule, World};
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel, SingleThreadedExecutor};
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_transform::TransformSystems;
use foretell::{Input, InterestRules, Message, Newcomer, Reason, Rules, SessionConfig, State, TickRate};
use std::sync::Arc;

/// The schedule that is one tick of the simulation: the same systems on server and client, and in each re-simulation. The session
/// runs it; as often as ticks are due, and as ticks are simulated again. Systems in it read nothing but what is registered, the
/// [step](crate::StepCommands) and constants.
///
/// Two systems of which one writes what the other uses have to be ordered, else the first run panics and names them: in another
/// order they might come to something else on the other end.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Simulation;

/// The schedule in which the game writes what its player presses into [`Pressed`]: once in each frame, before its ticks.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReadInput;

/// Foretell in Bevy: one plugin for server, client, host and single player. `I` is what a player presses in a tick.
///
/// Add it once, after the plugins of Bevy. Nothing happens until a [`Play`](crate::Play) is inserted.
pub struct ForetellPlugin<I> {
    rate: TickRate,
    configure: Configure,
    messages: Vec<MessageType>,
    rewound_for: Option<fn(&I) -> bool>,
    hooks: Hooks,
    checked: bool,
}

/// Whether somebody may join.
type Admit = fn(&World, &Newcomer) -> Result<(), Reason>;
/// Where the rules are of what players see.
type FindRules = fn(&World) -> Option<&dyn InterestRules>;

/// What the server asks the game.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hooks {
    pub admit: Option<Admit>,
    pub interest: Option<FindRules>,
}

/// Makes a type of messages known.
#[derive(Clone, Copy)]
struct MessageType {
    in_rules: fn(&mut Registry),
    in_app: fn(&mut App),
}

/// Changes the settings of a session.
type Configure = Arc<dyn Fn(&mut SessionConfig) + Send + Sync>;

/// How sessions are configured.
#[derive(Resource)]
pub(crate) struct Settings {
    pub rate: TickRate,
    pub configure: Configure,
    pub hooks: Hooks,
    pub checked: bool,
}

impl Settings {
    /// The configuration of a session of what is registered.
    pub fn config(&self, registry: &Registry) -> SessionConfig {
        let (messages, fingerprints) = (registry.messages.clone(), registry.fingerprints.clone());
        let rules = Rules { tick_rate: self.rate, messages, fingerprints, ..Rules::new(registry.schema.clone()) };
        let mut config = SessionConfig::new(rules);
        (self.configure)(&mut config);
        config
    }
}

impl<I: Input + Send + Sync> ForetellPlugin<I> {
    /// With this number of ticks per second, from 1 to 1000.
    ///
    /// # Panics
    /// With another one.
    pub fn hz(rate: u16) -> ForetellPlugin<I> {
        let rate = TickRate::hz(rate);
        ForetellPlugin {
            rate,
            configure: Arc::new(|_| {}),
            messages: Vec::new(),
            rewound_for: None,
            hooks: Hooks::default(),
            checked: false,
        }
    }

    /// The same with other settings than the defaults of [`SessionConfig`]; `configure` is called at the start of each session. What it
    /// says of the rules has to be the same on both ends.
    #[must_use]
    pub fn configured(mut self, configure: impl Fn(&mut SessionConfig) + Send + Sync + 'static) -> ForetellPlugin<I> {
        self.configure = Arc::new(configure);
        self
    }

    /// The same with messages of this type: [`Say`](crate::Say) sends one, [`Received`](crate::Received) is one that has come. Those
    /// that are [in steps](foretell::Delivery::InStep) stand in [`StepMessages`](crate::StepMessages). In the same order on both ends.
    #[must_use]
    pub fn message<M: Message + Clone>(mut self) -> ForetellPlugin<I> {
        self.messages.push(MessageType { in_rules: Registry::message::<M>, in_app: messages::register::<I, M> });
        self
    }

    /// The same with others as a player saw them ([`StepCommands::rewound`](crate::StepCommands::rewound)) in the steps of such inputs:
    /// those by which a player shoots.
    #[must_use]
    pub fn rewound_for(mut self, shoots: fn(&I) -> bool) -> ForetellPlugin<I> {
        self.rewound_for = Some(shoots);
        self
    }

    /// The same with a say of the game's in who may join, as [`Simulate::admit`](foretell::Simulate::admit). By default everybody may.
    #[must_use]
    pub fn admit(mut self, admit: fn(&World, &Newcomer) -> Result<(), Reason>) -> ForetellPlugin<I> {
        self.hooks.admit = Some(admit);
        self
    }

    /// The same with rules of the game's own of what each player sees, and who is in which group: a resource. While the server has it
    /// not, [`ServerConfig::interest`](foretell::ServerConfig::interest) alone counts.
    #[must_use]
    pub fn interest<R: Resource + InterestRules>(mut self) -> ForetellPlugin<I> {
        self.hooks.interest = Some(|world| world.get_resource::<R>().map(|rules| rules as &dyn InterestRules));
        self
    }

    /// The same for development: a session panics where its steps can't be repeated, and says which system it is. At its start when a
    /// system of [`Simulation`] asks for a component or resource that is not registered: time, devices, what is drawn. In each tick
    /// by running it twice, the second time with entities in another order: when that comes to something else, because of a clock,
    /// a random number, a `Local`, the order of a query. It is seen where it is written: by which system, in which component and field.
    ///
    /// Not seen is what a system does with `Commands` to components that are not registered, what an exclusive system or a run
    /// condition asks for, and what is the same twice in a row and not on another machine. A tick costs twice as much, and more.
    #[must_use]
    pub fn checked(mut self) -> ForetellPlugin<I> {
        self.checked = true;
        self
    }
}

impl<I: Input + Send + Sync> Plugin for ForetellPlugin<I> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<StatesPlugin>() {
            app.add_plugins(StatesPlugin);
        }
        app.init_state::<Connection>();
        let world = app.world_mut();
        world.register_disabling_component::<Gone>();
        let mut registry = Registry::new();
        self.messages.iter().for_each(|known| (known.in_rules)(&mut registry));
        registry.constant::<Networked>();
        registry.constant::<Simulated>();
        registry.constant::<Driven<I>>();
        registry.constant::<Gone>();
        registry.constant::<CurrentStep>();
        registry.constant::<Directory>();
        registry.constant::<StepInputs<I>>();
        world.insert_resource(registry);
        world.insert_resource(Settings {
            rate: self.rate,
            configure: Arc::clone(&self.configure),
            hooks: self.hooks,
            checked: self.checked,
        });
        world.init_resource::<MessageTypes<I>>();
        world.insert_resource(RewoundFor(self.rewound_for));
        world.init_resource::<Directory>();
        world.insert_resource(StepInputs::<I>(Vec::new()));
        world.init_resource::<CurrentStep>();
        world.init_resource::<SavedComponents>();
        world.init_resource::<Datagrams>();
        world.init_resource::<Shown>();
        world.init_resource::<LocalPlayer>();
        world.init_resource::<Stats>();
        world.insert_resource(Pressed(I::default()));
        let mut simulation = Schedule::new(Simulation);
        simulation.set_executor(SingleThreadedExecutor::new());
        let ambiguity_detection = LogLevel::Error;
        simulation.set_build_settings(ScheduleBuildSettings { ambiguity_detection, ..Default::default() });
        app.add_schedule(simulation);
        app.add_schedule(Schedule::new(ReadInput));
        self.messages.iter().for_each(|known| (known.in_app)(app));
        app.add_systems(PreUpdate, session::run::<I>);
        app.add_systems(PostUpdate, display::write_transforms.before(TransformSystems::Propagate));
    }
}

/// What a game registers, after it has added [`ForetellPlugin`] and before a session begins. The order has to be the same on both ends.
///
/// # Panics
/// Each of them, where there is no plugin; `networked` also when the type is registered already.
pub trait ForetellApp {
    /// Entities with this component are told to other players, and it is saved, compared and rolled back. What of it is told to whom,
    /// and how it is shown, its derive says: [`State`].
    fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) -> &mut Self;

    /// It is told whose child an entity is (`ChildOf`), and saved and rolled back, where both have a name. The pose of a child is one
    /// in its parent's, as its `Transform` is. The order of children is another one on each end.
    fn networked_children(&mut self) -> &mut Self;

    /// Entities with this component have [bodies](crate::Bodies), in a world that `make` makes at the start of each session:
    /// gravity and scenery, the same on both ends. It is told as by [`networked`](ForetellApp::networked).
    #[cfg(feature = "rapier")]
    fn bodies<C: crate::BodyComponent>(&mut self, make: fn() -> foretell_rapier::Physics) -> &mut Self;

    /// This component is saved and rolled back, and never told: what the step needs to remember of an entity and can work out on both
    /// ends.
    fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut Self;

    /// The same for a resource. A client that joins has its own: what it is to know of the server's is a component.
    fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut Self;

    /// This component or resource never changes while a session runs, and is the same on both ends: steps may read it. Of account where
    /// the plugin is [checked](ForetellPlugin::checked).
    fn constant<C: Component>(&mut self) -> &mut Self;
}

/// What is registered, to be added to.
fn registry(app: &mut App) -> Mut<'_, Registry> {
    app.world_mut().get_resource_mut::<Registry>().expect("the game adds ForetellPlugin before it registers")
}

impl ForetellApp for App {
    fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) -> &mut App {
        registry(self).networked::<C>();
        self
    }

    fn networked_children(&mut self) -> &mut App {
        registry(self).children();
        self
    }

    #[cfg(feature = "rapier")]
    fn bodies<C: crate::BodyComponent>(&mut self, make: fn() -> foretell_rapier::Physics) -> &mut App {
        registry(self).bodies::<C>(make);
        self
    }

    fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut App {
        registry(self).rolled_back::<C>();
        self
    }

    fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut App {
        registry(self).rolled_back_resource::<R>();
        self
    }

    fn constant<C: Component>(&mut self) -> &mut App {
        registry(self).constant::<C>();
        self
    }
}
