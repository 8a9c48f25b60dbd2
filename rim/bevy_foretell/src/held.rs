//! Shared mode: what the app of a player moves by itself, by frame, until it lets go.
//!
//! Invariant: after an update an entity has [`Held`] where this app moves it and sees it, and nowhere else.

use crate::NetEntity;
use crate::directory::Directory;
use crate::entity::{Gone, Networked};
use crate::events;
use crate::game_world::GameWorld;
use bevy_app::App;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{Allow, Entity, EntityEvent, On, ResMut, Resource, With, World};
use bevy_ecs::query::QueryState;
use foretell::session::Claim;
use foretell::session::client::{AuthorityChange, ClientEvent, FrameSampler};
use foretell::{Client, Input, Instant, State};

/// Asks for authority over an entity of the own player or the server's: `commands.trigger(RequestAuthority { entity, claim })`, outside of
/// steps. Mostly at once it has [`Held`]; what was just spawned here, when it is shown as the server has it. Nothing happens without a
/// session, in the app of a server or a host, and to an entity that is [`Gone`] or has no component that is
/// [registered](crate::ForetellPlugin::held) for it.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct RequestAuthority {
    /// Over which entity.
    pub entity: Entity,
    /// [`Claim::Ownership`] until it is released; [`Claim::Authority`] until it has come to rest, or somebody takes ownership.
    pub claim: Claim,
}

/// Gives an entity back: the server moves it on from where it was held last, which is what [`Held`] has when the
/// session runs next.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ReleaseAuthority {
    /// Which entity.
    pub entity: Entity,
}

/// What has become of a request for authority, or of the authority itself. Where a session ends or begins anew nothing is said about what
/// was held in it: [`Held`] is gone, for which Bevy has `On<Remove, Held<C>>`.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct AuthorityChanged {
    /// Over which entity.
    pub entity: Entity,
    /// What. With [`AuthorityChange::Began`] the entity has [`Held`]; when it is over it has it no more, if it was not asked for again
    /// meanwhile.
    pub what: AuthorityChange,
}

/// The state that this player's app gives an entity that it moves. It is there as long as the app moves the entity and sees it, and
/// begins as what is shown. What becomes another variant goes back to the server. What was out of view for long is another entity of Bevy's when it is seen
/// again, and held then. What is written into it before the session runs in a frame, in [`ReadInput`](crate::ReadInput), say, counts in
/// that frame: it is shown at once, and captured at ticks. Of it counts what is `#[state(writer = owner)]`. Steps find it in the
/// component itself, once a tick, as they do with what others move.
#[derive(Component, Deref, DerefMut, Debug)]
pub struct Held<C>
where
    C: Send + Sync + 'static,
{
    #[deref]
    state: C,
    sampler: FrameSampler<C>,
}

/// A client of this game.
type ClientOf<I> = Client<GameWorld<I>>;

/// What is done for a type that can be held.
trait HeldType<I: Input + Send + Sync>: Send + Sync {
    /// Whether an entity has it.
    fn is_on(&self, world: &World, entity: Entity) -> bool;
    /// Tells the client where all of it is in this frame.
    fn hold(&mut self, client: &mut ClientOf<I>, world: &mut World, now: Instant);
    /// The same of one that is given back: as it is now it is left.
    fn leave(&self, client: &mut ClientOf<I>, world: &World, now: Instant, entity: Entity);
    /// Takes `Held` from what the client does not move, or does not see; from all, where there is no client.
    fn remove_ended(&mut self, client: Option<&ClientOf<I>>, world: &mut World, now: Instant);
    /// Gives it to an entity that the client moves, if it is of this type, and seen.
    fn give(&self, client: &ClientOf<I>, world: &mut World, now: Instant, entity: Entity);
}

/// The types that can be held, and what waits to be asked for.
#[derive(Resource)]
pub(crate) struct HeldTypes<I: Input + Send + Sync> {
    types: Vec<Box<dyn HeldType<I>>>,
    /// By entity: for which claim; `None` gives it back.
    asked: Vec<(Entity, Option<Claim>)>,
}

impl<I: Input + Send + Sync> Default for HeldTypes<I> {
    fn default() -> HeldTypes<I> {
        HeldTypes { types: Vec::new(), asked: Vec::new() }
    }
}

/// Makes a type known.
///
/// # Panics
/// When an owner writes nothing of it.
pub(crate) fn register<I: Input + Send + Sync, C>(app: &mut App)
where
    C: Component<Mutability = Mutable> + State + Clone,
{
    let (is_shared, name) = (C::components().iter().any(|it| it.is_shared()), core::any::type_name::<C>());
    assert!(is_shared, "{name} can't be held: say `#[state(writer = owner)]` of the fields that its holder writes");
    let world = app.world_mut();
    let of: HeldOf<C> = HeldOf { held: world.query(), all: world.query_filtered() };
    world.resource_mut::<HeldTypes<I>>().types.push(Box::new(of));
}

/// Notes what is asked for.
pub(crate) fn observe<I: Input + Send + Sync>(app: &mut App) {
    app.add_observer(|of: On<RequestAuthority>, mut held: ResMut<HeldTypes<I>>| {
        held.asked.push((of.event().entity, Some(of.event().claim)));
    });
    app.add_observer(|of: On<ReleaseAuthority>, mut held: ResMut<HeldTypes<I>>| {
        held.asked.push((of.event().entity, None));
    });
}

/// Forgets what was asked for: there is no client to ask.
pub(crate) fn forget_requests<I: Input + Send + Sync>(world: &mut World) {
    world.resource_mut::<HeldTypes<I>>().asked.clear();
}

/// Tells a client where all is that is held, at the instant of the update that is about to run; then asks for what the game has asked for.
pub(crate) fn hold<I: Input + Send + Sync>(client: &mut ClientOf<I>, world: &mut World, now: Instant) {
    let asked = core::mem::take(&mut world.resource_mut::<HeldTypes<I>>().asked);
    with_types(world, |types, world| {
        types.iter_mut().for_each(|of| of.hold(client, world, now));
        for (entity, claim) in asked {
            let Some(name) = world.get::<Networked>(entity).map(Networked::name) else { continue };
            match claim {
                Some(claim) if types.iter().any(|of| of.is_on(world, entity)) => client.request(name, claim),
                Some(_) => {}
                None => {
                    types.iter().for_each(|of| of.leave(client, world, now, entity));
                    client.release(name);
                }
            }
        }
    });
}

/// What an update has to say of authority.
pub(crate) fn changes(events: &[ClientEvent]) -> Vec<(NetEntity, AuthorityChange)> {
    let change = |event: &ClientEvent| match *event {
        ClientEvent::Authority { entity, what } => Some((entity, what)),
        _ => None,
    };
    events.iter().filter_map(change).collect()
}

/// Gives [`Held`] to what the client moves after an update, and to nothing else; then tells what has changed.
pub(crate) fn settle<I: Input + Send + Sync>(
    client: Option<&ClientOf<I>>,
    world: &mut World,
    changes: Vec<(NetEntity, AuthorityChange)>,
    now: Instant,
) {
    remove_ended(client, world, now);
    let moved = client.into_iter().flat_map(|client| client.moved().map(move |name| (client, name)));
    with_types(world, |types, world| {
        for (client, name) in moved {
            let there = world.resource::<Directory>().there(world, name);
            there.into_iter().for_each(|entity| types.iter().for_each(|of| of.give(client, world, now, entity)));
        }
    });
    for (name, what) in changes {
        events::with(world, name, |entity| AuthorityChanged { entity, what });
    }
}

/// Nothing is held any more: the session has ended.
pub(crate) fn end_all<I: Input + Send + Sync>(world: &mut World, now: Instant) {
    forget_requests::<I>(world);
    remove_ended::<I>(None, world, now);
}

fn remove_ended<I: Input + Send + Sync>(client: Option<&ClientOf<I>>, world: &mut World, now: Instant) {
    with_types(world, |types, world| types.iter_mut().for_each(|of| of.remove_ended(client, world, now)));
}

/// Calls with the types taken out of the world.
fn with_types<I: Input + Send + Sync>(
    world: &mut World,
    call: impl FnOnce(&mut Vec<Box<dyn HeldType<I>>>, &mut World),
) {
    let mut types = core::mem::take(&mut world.resource_mut::<HeldTypes<I>>().types);
    call(&mut types, world);
    world.resource_mut::<HeldTypes<I>>().types = types;
}

/// What of a type is held, also what is [`Gone`].
type AllHeld<C> = QueryState<(Entity, &'static Networked), (With<Held<C>>, Allow<Gone>)>;

/// A type that can be held.
struct HeldOf<C: Send + Sync + 'static> {
    held: QueryState<(&'static Networked, &'static mut Held<C>)>,
    all: AllHeld<C>,
}

impl<I: Input + Send + Sync, C> HeldType<I> for HeldOf<C>
where
    C: Component + State + Clone,
{
    fn is_on(&self, world: &World, entity: Entity) -> bool {
        world.get::<C>(entity).is_some() && world.get::<Gone>(entity).is_none()
    }

    fn hold(&mut self, client: &mut ClientOf<I>, world: &mut World, now: Instant) {
        let until = client.tick_time(now);
        for (of, mut held) in self.held.iter_mut(world) {
            // The game has written nothing.
            let Held { state, sampler } = held.bypass_change_detection();
            sampler.frame(state, until, |tick, state| client.capture(of.name(), tick, state));
            client.show(of.name(), state);
        }
    }

    fn leave(&self, client: &mut ClientOf<I>, world: &World, now: Instant, entity: Entity) {
        if let (Some(of), Some(held)) = (world.get::<Networked>(entity), world.get::<Held<C>>(entity)) {
            client.capture(of.name(), client.tick_time(now).tick().next(), &held.state);
        }
    }

    fn remove_ended(&mut self, client: Option<&ClientOf<I>>, world: &mut World, now: Instant) {
        let is_held = |of: &Networked| client.is_some_and(|client| client.held::<C>(now, of.name()).is_some());
        let over: Vec<_> = self.all.iter(world).filter(|(_, of)| !is_held(of)).map(|(entity, _)| entity).collect();
        for entity in over {
            // An observer of the one before may have despawned it.
            if let Ok(mut entity) = world.get_entity_mut(entity) {
                entity.remove::<Held<C>>();
            }
        }
    }

    fn give(&self, client: &ClientOf<I>, world: &mut World, now: Instant, entity: Entity) {
        let of = world.get::<Networked>(entity).filter(|_| world.get::<Held<C>>(entity).is_none());
        if let Some(state) = of.and_then(|of| client.held::<C>(now, of.name())) {
            let sampler = FrameSampler::new(state.clone(), client.tick_time(now));
            world.entity_mut(entity).insert(Held { state, sampler });
        }
    }
}
