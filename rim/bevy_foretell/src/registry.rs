//! What a game has registered: its columns, and what both ends have to agree on.

#[cfg(feature = "rapier")]
use crate::bodies::{BodyColumn, BodyComponent};
use crate::column::{Column, NetworkedColumn, add_to};
use crate::hierarchy::Parent;
use crate::rolled_back::{ResourceColumn, RolledBackColumn};
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::prelude::{Resource, World};
use foretell::session::Fingerprint;
use foretell::{Message, Messages, Schema, State};
#[cfg(feature = "rapier")]
use foretell_rapier::Physics;

/// Makes an empty column.
type MakeColumn = Box<dyn Fn() -> Box<dyn Column> + Send + Sync>;

/// What is registered, in the order of registration.
#[derive(Resource)]
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
    pub fn new() -> Registry {
        Registry {
            schema: Schema::default(),
            messages: Messages::new(),
            has_children: false,
            fingerprints: Vec::new(),
            columns: Vec::new(),
            constants: Vec::new(),
        }
    }

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
