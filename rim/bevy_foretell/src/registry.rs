//! What a game has registered: its columns, and what both ends have to agree on.

#[cfg(feature = "rapier")]
use crate::bodies::{Bodies, BodyColumn, BodyComponent};
use crate::column::{Column, NetworkedColumn};
use crate::hierarchy::Parent;
use crate::rolled_back::RolledBackColumn;
use bevy_app::App;
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::prelude::{Mut, Resource, World};
use foretell::session::Fingerprint;
use foretell::{Messages, Schema, State};
#[cfg(feature = "rapier")]
use foretell_rapier::Physics;

/// Makes an empty column of a world.
type MakeColumn = Box<dyn Fn(&mut World) -> Box<dyn Column> + Send + Sync>;

/// What is registered, in the order of registration.
#[derive(Resource, Default)]
pub(crate) struct Registry {
    pub schema: Schema,
    pub messages: Messages,
    /// Whether it is told whose child an entity is.
    pub has_children: bool,
    /// What is known of engines that are simulated with.
    pub fingerprints: Vec<Fingerprint>,
    columns: Vec<MakeColumn>,
    /// What steps may ask for besides.
    constants: Vec<fn(&mut World) -> ComponentId>,
}

impl Registry {
    fn add_column<C: Column + 'static>(&mut self, make: impl Fn(&mut World) -> C + Send + Sync + 'static) {
        self.columns.push(Box::new(move |world| Box::new(make(world))));
    }

    /// A set of columns for a session that begins in this world, without values.
    pub fn columns(world: &mut World) -> Vec<Box<dyn Column>> {
        world.resource_scope(|world, registry: Mut<Registry>| registry.columns.iter().map(|make| make(world)).collect())
    }

    /// What steps may ask for besides columns.
    pub fn constants(world: &mut World) -> Vec<ComponentId> {
        world.resource_scope(|world, registry: Mut<Registry>| {
            registry.constants.iter().map(|register| register(world)).collect()
        })
    }
}

/// What a game registers, after it has added [`ForetellPlugin`](crate::ForetellPlugin) and before a session begins. The order has to be the same on both ends.
///
/// # Panics
/// Each of them, where there is no plugin; `networked` also when the type is registered already.
pub trait ForetellApp {
    /// Entities with this component are told to other players, and it is saved, compared and rolled back. What of it is told to whom,
    /// and how it is shown, its derive says: [`State`].
    fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) -> &mut Self;

    /// It is told whose child an entity is (`ChildOf`), and saved and rolled back, where both have a name. The pose of a child is one
    /// in its parent's, as its `Transform` is; for interest by distance it is where its root is, and is seen with that. Whose child an
    /// entity is, is replicated to everybody who sees it. The order of children is another one on each end.
    fn networked_children(&mut self) -> &mut Self;

    /// Entities with this component have [bodies](crate::Bodies), in a world that `make` makes at the start of each session:
    /// gravity and scenery, the same on both ends. It is replicated as by [`networked`](ForetellApp::networked). In a session that is not
    /// exact the client's tolerance becomes [`of_contacts`](foretell::Tolerance::of_contacts), if it is the default: a solver that was
    /// started otherwise differs by so little, and would be corrected in every tick.
    #[cfg(feature = "rapier")]
    fn bodies<C: BodyComponent>(&mut self, make: fn() -> Physics) -> &mut Self;

    /// This component is saved and rolled back, and never told: what the step needs to remember of an entity and both ends can work out
    /// from what is told. What goes by inputs can't be, as the server may have another in the place of one that comes late.
    fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut Self;

    /// The same for a resource. A client that joins has its own: what it is to know of the server's is a component.
    fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut Self;

    /// This component or resource never changes while a session runs, and is the same on both ends: steps may read it. Of account where
    /// the plugin is [checked](crate::ForetellPlugin::checked).
    fn constant<C: Component>(&mut self) -> &mut Self;
}

/// What is registered, to be added to.
fn registry(app: &mut App) -> Mut<'_, Registry> {
    app.world_mut().get_resource_mut::<Registry>().expect("the game adds ForetellPlugin before it registers")
}

impl ForetellApp for App {
    fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) -> &mut App {
        let mut registry = registry(self);
        registry.schema = core::mem::take(&mut registry.schema).with::<C>();
        registry.add_column(NetworkedColumn::<C>::new);
        self
    }

    fn networked_children(&mut self) -> &mut App {
        registry(self).has_children = true;
        self.networked::<Parent>().constant::<ChildOf>().constant::<Children>()
    }

    #[cfg(feature = "rapier")]
    fn bodies<C: BodyComponent>(&mut self, make: fn() -> Physics) -> &mut App {
        let physics = make();
        self.networked::<C>();
        let mut registry = registry(self);
        registry.fingerprints.extend(physics.fingerprints());
        registry.add_column(move |world| BodyColumn::<C>::new(world, make()));
        self.insert_resource(Bodies::<C>::new(physics))
    }

    fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut App {
        registry(self).add_column(RolledBackColumn::<C>::new);
        self
    }

    fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) -> &mut App {
        // To Bevy it is a component, too, of an entity of its own that stays.
        self.rolled_back::<R>()
    }

    fn constant<C: Component>(&mut self) -> &mut App {
        registry(self).constants.push(World::register_component::<C>);
        self
    }
}
