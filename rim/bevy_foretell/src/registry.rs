//! What a game has registered: its columns, and what both ends have to agree on.

use crate::column::{Column, NetworkedColumn, add_to};
use crate::rolled_back::{ResourceColumn, RolledBackColumn};
use crate::step::StepMessages;
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{Resource, World};
use foretell::{Message, Messages, Schema, State, Step};

/// Takes the messages of a type out of a step.
type TakeMessages<I> = fn(&Step<'_, I>, &mut World);

/// What is registered, in the order of registration.
#[derive(Resource)]
pub(crate) struct Registry {
    pub schema: Schema,
    pub messages: Messages,
    columns: Vec<fn() -> Box<dyn Column>>,
}

/// Messages in steps, of which the type is known only where they are registered.
#[derive(Resource)]
pub(crate) struct StepMessageTypes<I: 'static>(pub Vec<TakeMessages<I>>);

impl Registry {
    pub fn new() -> Registry {
        Registry { schema: Schema::default(), messages: Messages::new(), columns: Vec::new() }
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

    /// A set of columns of its own, without values.
    pub fn columns(&self) -> Vec<Box<dyn Column>> {
        self.columns.iter().map(|make| make()).collect()
    }
}

/// Puts the messages of type `M` of a step where systems find them.
pub(crate) fn take_messages<I, M: Message + Clone>(step: &Step<'_, I>, world: &mut World) {
    let messages = step.messages::<M>().map(|sent| (sent.player, sent.message.clone())).collect();
    world.insert_resource(StepMessages::<M>(messages));
}
