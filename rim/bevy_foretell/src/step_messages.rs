//! Messages that belong to a step, as a resource.

use crate::registry::ForetellApp;
use bevy_app::App;
use bevy_ecs::prelude::{Mut, Resource, World};
use foretell::{Input, Message, PlayerId, Step};

/// The messages of type `M` that belong to a step ([`Delivery::InStep`](foretell::Delivery::InStep)), ascending by player, those of one as they were sent.
#[derive(Resource, Debug)]
pub struct StepMessages<M: Send + Sync + 'static>(Vec<(PlayerId, M)>);

impl<M: Send + Sync + 'static> StepMessages<M> {
    /// Each with who has sent it.
    pub fn iter(&self) -> impl Iterator<Item = (PlayerId, &M)> {
        self.0.iter().map(|(player, message)| (*player, message))
    }
}

/// Puts the messages of a type where systems find them, for each type.
#[derive(Resource)]
pub(crate) struct StepMessageTypes<I: 'static>(Vec<fn(&Step<'_, I>, &mut World)>);

impl<I> Default for StepMessageTypes<I> {
    fn default() -> StepMessageTypes<I> {
        StepMessageTypes(Vec::new())
    }
}

/// Makes a type known.
pub(crate) fn register<I: Input + Send + Sync, M: Message + Clone>(app: &mut App) {
    app.insert_resource(StepMessages::<M>(Vec::new()));
    app.world_mut().resource_mut::<StepMessageTypes<I>>().0.push(take::<I, M>);
    app.constant::<StepMessages<M>>();
}

fn take<I, M: Message + Clone>(step: &Step<'_, I>, world: &mut World) {
    let messages = step.messages::<M>().map(|sent| (sent.player, sent.message.clone())).collect();
    world.insert_resource(StepMessages::<M>(messages));
}

/// Puts the messages of a step where systems find them.
pub(crate) fn begin_step<I: Input + Send + Sync>(step: &Step<'_, I>, world: &mut World) {
    if !world.resource::<StepMessageTypes<I>>().0.is_empty() {
        world.resource_scope(|world, types: Mut<StepMessageTypes<I>>| {
            types.0.iter().for_each(|take| take(step, world));
        });
    }
}
