//! What a game has registered: its columns, and what both ends have to agree on.

#[cfg(feature = "rapier")]
use crate::bodies::{Bodies, BodyColumn, BodyComponent};
use crate::column::{Column, NetworkedColumn, add_to};
use crate::hierarchy::Parent;
use crate::rolled_back::{ResourceColumn, RolledBackColumn};
use bevy_app::App;
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::prelude::{Mut, Resource, World};
use foretell::session::Fingerprint;
use foretell::{Message, Messages, Schema, State};
#[cfg(feature = "rapier")]
use foretell_rapier::Physics;

/// Makes an empty column.
type MakeColumn = Box<dyn Fn() -> Box<dyn Column> + Send + Sync>;

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
    pub fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) {
        self.schema = add_to::<C>(core::mem::take(&mut self.schema));
        self.columns.push(Box::new(|| Box::new(NetworkedColumn::<C>::default())));
    }

    pub fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) {
        self.columns.push(Box::new(|| Box::new(RolledBackColumn::<C>::default())));
    }

    pub fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) {
        self.columns.push(Box::new(|| Box::new(ResourceColumn::<R>::default())));
    }

    pub fn message<M: Message>(&mut self) {
        self.messages = core::mem::take(&mut self.messages).with::<M>();
    }

    /// Entities with this component have bodies.
    #[cfg(feature = "rapier")]
    pub fn bodies<C: BodyComponent>(&mut self, make: fn() -> Physics) {
        self.networked::<C>();
        self.fingerprints.extend(make().fingerprints());
        self.columns.push(Box::new(move || Box::new(BodyColumn::<C>::new(make))));
    }

    /// Whose child an entity is.
    pub fn children(&mut self) {
        self.networked::<Parent>();
        self.constant::<ChildOf>();
        self.constant::<Children>();
        self.has_children = true;
    }

    /// Steps may ask for it.
    pub fn constant<C: Component>(&mut self) {
        self.constants.push(World::register_component::<C>);
    }

    /// What steps may ask for besides columns.
    pub fn constants(&self, world: &mut World) -> Vec<ComponentId> {
        self.constants.iter().map(|register| register(world)).collect()
    }

    /// A set of columns of its own, without values.
    pub fn columns(&self) -> Vec<Box<dyn Column>> {
        self.columns.iter().map(|make| make()).collect()
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
        registry(self).networked::<C>();
        self
    }

    fn networked_children(&mut self) -> &mut App {
        registry(self).children();
        self
    }

    #[cfg(feature = "rapier")]
    fn bodies<C: BodyComponent>(&mut self, make: fn() -> Physics) -> &mut App {
        registry(self).bodies::<C>(make);
        self.insert_resource(Bodies::<C>::new(make()));
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
