//! What a game has registered: its columns, and what both ends have to agree on.

use crate::column::{Column, NetworkedColumn, add_to};
use crate::rolled_back::{ResourceColumn, RolledBackColumn};
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::prelude::{Resource, World};
use foretell::{Message, Messages, Schema, State};

/// What is registered, in the order of registration.
#[derive(Resource)]
pub(crate) struct Registry {
    pub schema: Schema,
    pub messages: Messages,
    columns: Vec<fn() -> Box<dyn Column>>,
    /// What steps may ask for besides.
    constants: Vec<fn(&mut World) -> ComponentId>,
}

impl Registry {
    pub fn new() -> Registry {
        Registry { schema: Schema::default(), messages: Messages::new(), columns: Vec::new(), constants: Vec::new() }
    }

    pub fn networked<C: Component<Mutability = Mutable> + State + Clone>(&mut self) {
        self.schema = add_to::<C>(core::mem::take(&mut self.schema));
        self.columns.push(|| Box::new(NetworkedColumn::<C>::default()));
    }

    pub fn rolled_back<C: Component<Mutability = Mutable> + Clone + PartialEq>(&mut self) {
        self.columns.push(|| Box::new(RolledBackColumn::<C>::default()));
    }

    pub fn rolled_back_resource<R: Resource<Mutability = Mutable> + Clone + PartialEq>(&mut self) {
        self.columns.push(|| Box::new(ResourceColumn::<R>::default()));
    }

    pub fn message<M: Message>(&mut self) {
        self.messages = core::mem::take(&mut self.messages).with::<M>();
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
