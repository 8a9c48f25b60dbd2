//! The plugin.

use crate::directory::Directory;
use crate::display::{self, Shown};
use crate::driver::Datagrams;
use crate::entity::{Driven, Gone, Networked, Simulated};
use crate::events::Connection;
use crate::held::{self, HeldTypes};
use crate::messages::{self, MessageTypes};
use crate::registry::{ForetellApp, Registry};
use crate::schedules::{ReadInput, RunSession, Simulation};
use crate::session::{self, LocalPlayer, Pressed, Removals, Stats};
use crate::settings::Settings;
use crate::step::{CurrentStep, StepInputs};
use crate::step_messages::StepMessageTypes;
use bevy_app::{App, Last, MainScheduleOrder, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{IntoScheduleConfigs, Resource, World};
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, SingleThreadedExecutor};
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_transform::TransformSystems;
use foretell::{Input, InterestRules, Message, Newcomer, Reason, SessionConfig, State, TickRate};
use std::sync::Arc;

/// Foretell in Bevy: one plugin for server, client, host and single player. `I` is what a player presses in a tick.
///
/// Add it once: after the plugins of Bevy, and before [what is registered](ForetellApp). Systems may be added to [`Simulation`] and
/// [`ReadInput`] before it as well, by plugins of the game. Nothing happens until a [`Play`](crate::Play) is inserted.
pub struct ForetellPlugin<I: 'static> {
    settings: Settings<I>,
    /// Each makes a type known, of messages or of what can be held.
    types: Vec<fn(&mut App)>,
}

impl<I: Input + Send + Sync> ForetellPlugin<I> {
    /// With this number of ticks per second, from 1 to 1000.
    ///
    /// # Panics
    /// With another one.
    pub fn hz(rate: u16) -> ForetellPlugin<I> {
        ForetellPlugin { settings: Settings::new(TickRate::hz(rate)), types: Vec::new() }
    }

    /// The same with other settings than the defaults of [`SessionConfig`]; `configure` is called at the start of each session. What it
    /// says of the rules has to be the same on both ends.
    #[must_use]
    pub fn configured(mut self, configure: impl Fn(&mut SessionConfig) + Send + Sync + 'static) -> ForetellPlugin<I> {
        self.settings.configure = Arc::new(configure);
        self
    }

    /// The same with messages of this type: [`Say`](crate::Say) sends one, [`Received`](crate::Received) is one that has come. Those
    /// that are [in steps](foretell::Delivery::InStep) stand in [`StepMessages`](crate::StepMessages). In the same order on both ends.
    #[must_use]
    pub fn message<M: Message + Clone>(mut self) -> ForetellPlugin<I> {
        self.types.push(messages::register::<I, M>);
        self
    }

    /// The same where the app of a player can [have authority](crate::RequestAuthority) over entities with this component, and move them by
    /// frame. It has to be [`networked`](ForetellApp::networked), too, and what the app may write of it is `#[state(writer = owner)]`; an entity has one
    /// such component. How fast an entity may be moved [`Schema::with_speed_max`](foretell::Schema::with_speed_max) says, in the [configuration](ForetellPlugin::configured).
    #[must_use]
    pub fn held<C: Component<Mutability = Mutable> + State + Clone>(mut self) -> ForetellPlugin<I> {
        self.types.push(held::register::<I, C>);
        self
    }

    /// The same with others as a player saw them ([`StepCommands::rewound`](crate::StepCommands::rewound)) in the steps of such inputs:
    /// those by which a player shoots.
    #[must_use]
    pub fn rewound_for(mut self, shoots: fn(&I) -> bool) -> ForetellPlugin<I> {
        self.settings.rewound_for = Some(shoots);
        self
    }

    /// The same with a say of the game's in who may join, as [`Simulate::admit`](foretell::Simulate::admit). By default everybody may.
    #[must_use]
    pub fn admit(mut self, admit: fn(&World, &Newcomer) -> Result<(), Reason>) -> ForetellPlugin<I> {
        self.settings.admit = Some(admit);
        self
    }

    /// The same with rules of the game's own of what each player sees, and who is in which group: a resource. While the server has it
    /// not, [`ServerConfig::interest`](foretell::ServerConfig::interest) alone counts.
    #[must_use]
    pub fn interest<R: Resource + InterestRules>(mut self) -> ForetellPlugin<I> {
        self.settings.interest = Some(|world| world.get_resource::<R>().map(|rules| rules as &dyn InterestRules));
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
        self.settings.checked = true;
        self
    }
}

impl<I: Input + Send + Sync> Plugin for ForetellPlugin<I> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<StatesPlugin>() {
            app.add_plugins(StatesPlugin);
        }
        app.init_state::<Connection>();
        app.world_mut().register_disabling_component::<Gone>();
        // What the session keeps in the world, and what it shows there.
        app.insert_resource(self.settings.clone());
        app.init_resource::<Registry>().init_resource::<Directory>().init_resource::<CurrentStep>();
        app.init_resource::<MessageTypes<I>>().init_resource::<StepMessageTypes<I>>();
        app.init_resource::<StepInputs<I>>().init_resource::<Pressed<I>>();
        app.init_resource::<Datagrams>()
            .init_resource::<Shown>()
            .init_resource::<LocalPlayer>()
            .init_resource::<Stats>()
            .init_resource::<Removals>();
        app.init_resource::<HeldTypes<I>>();
        app.add_observer(session::note_removal);
        held::observe::<I>(app);
        // What steps may ask for.
        app.constant::<Networked>().constant::<Simulated>().constant::<Driven<I>>().constant::<Gone>();
        app.constant::<CurrentStep>().constant::<Directory>().constant::<StepInputs<I>>();
        self.types.iter().for_each(|register| register(app));
        app.edit_schedule(Simulation, |simulation| {
            simulation.set_executor(SingleThreadedExecutor::new());
            let ambiguity_detection = LogLevel::Error;
            simulation.set_build_settings(ScheduleBuildSettings { ambiguity_detection, ..Default::default() });
        });
        app.init_schedule(ReadInput);
        app.world_mut().resource_mut::<MainScheduleOrder>().insert_after(PreUpdate, RunSession);
        app.add_systems(RunSession, session::run::<I>);
        app.add_systems(Last, session::leave_at_exit::<I>);
        app.add_systems(PostUpdate, display::write_transforms.before(TransformSystems::Propagate));
    }
}
