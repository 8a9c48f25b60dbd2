//! Shared mode: what the app of a player moves by itself, by frame, until it lets go.

use crate::NetEntity;
use crate::directory::Directory;
use crate::driver::{Driver, End};
use crate::entity::Networked;
use crate::game_world::GameWorld;
use bevy_app::App;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{Entity, EntityEvent, On, ResMut, Resource, With, World};
use foretell::session::Claim;
use foretell::session::client::{AuthorityChange, ClientEvent, FrameSampler};
use foretell::{Client, Input, Instant, State};

/// Asks for authority over an entity of the own player or the server's: `commands.trigger(RequestAuthority { entity, claim })`. From then
/// on, mostly at once, it has [`Held`]. Only in the app of a client, and only for [types](crate::ForetellPlugin::held) that are registered as such.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct RequestAuthority {
    /// Over which entity.
    pub entity: Entity,
    /// [`Claim::Ownership`] until it is released; [`Claim::Authority`] until it has come to rest, or somebody takes ownership.
    pub claim: Claim,
}

/// Gives an entity back: the server moves it on from where it was held last.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ReleaseAuthority {
    /// Which entity.
    pub entity: Entity,
}

/// What has become of a request for authority, or of the authority itself.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct AuthorityChanged {
    /// Over which entity.
    pub entity: Entity,
    /// What. With [`AuthorityChange::Began`] the entity has [`Held`] already; when it is over it has it no more.
    pub what: AuthorityChange,
}

/// The state that this player's app gives an entity that it moves: written in any schedule before the session runs, [`ReadInput`](crate::ReadInput)
/// among them, in as many frames as one likes. It is there while the app has authority, and begins as what is shown. Of it counts what
/// is `#[state(writer = owner)]`. Steps find it in the component itself, once a tick, as they do with what others move.
#[derive(Component, Deref, DerefMut, Clone, Copy, PartialEq, Debug)]
pub struct Held<C>(pub C)
where
    C: Send + Sync + 'static;

/// What was held in the last frame.
#[derive(Component)]
struct Sampler<C: Send + Sync + 'static>(FrameSampler<C>);

/// A client of this game.
type ClientOf<I> = Client<GameWorld<I>>;

/// What is done for each type that can be held.
struct HeldType<I: Input + Send + Sync> {
    /// Says where all of it is in this frame.
    hold: fn(&mut ClientOf<I>, Instant, &mut World),
    /// Begins to hold an entity, where it is of this type.
    begin: fn(&ClientOf<I>, Instant, &mut World, Entity),
    /// Ends what is over; all, where there is no client.
    end: fn(Option<&ClientOf<I>>, Instant, &mut World),
}

impl<I: Input + Send + Sync> Clone for HeldType<I> {
    fn clone(&self) -> HeldType<I> {
        *self
    }
}

impl<I: Input + Send + Sync> Copy for HeldType<I> {}

/// The types that can be held, and what waits to be asked for.
#[derive(Resource)]
pub(crate) struct HeldTypes<I: Input + Send + Sync> {
    types: Vec<HeldType<I>>,
    /// By entity: for which claim; `None` gives it back.
    asked: Vec<(Entity, Option<Claim>)>,
}

impl<I: Input + Send + Sync> Default for HeldTypes<I> {
    fn default() -> HeldTypes<I> {
        HeldTypes { types: Vec::new(), asked: Vec::new() }
    }
}

/// Makes a type known.
pub(crate) fn register<I: Input + Send + Sync, C>(app: &mut App)
where
    C: Component<Mutability = Mutable> + State + Clone,
{
    let of = HeldType { hold: hold::<I, C>, begin: begin::<I, C>, end: end::<I, C> };
    app.world_mut().resource_mut::<HeldTypes<I>>().types.push(of);
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

/// Asks for what the game has asked for, and says where all is that is held; before an update.
pub(crate) fn hold_all<I: Input + Send + Sync>(world: &mut World, driver: &mut dyn Driver<I>, now: Instant) {
    let mut held = world.resource_mut::<HeldTypes<I>>();
    let (types, asked) = (held.types.clone(), core::mem::take(&mut held.asked));
    let now = driver.now(now);
    let Some(End::Client(client)) = driver.end() else { return };
    types.iter().for_each(|of| (of.hold)(client, now, world));
    for (entity, claim) in asked {
        let Some(name) = world.get::<Networked>(entity).map(Networked::name) else { continue };
        match claim {
            Some(claim) => client.request(name, claim),
            None => client.release(name),
        }
    }
}

/// What an update has to say of authority.
pub(crate) fn changes(events: &[ClientEvent]) -> Vec<(NetEntity, AuthorityChange)> {
    let change = |event: &ClientEvent| match *event {
        ClientEvent::Authority { entity, what } => Some((entity, what)),
        _ => None,
    };
    events.iter().filter_map(change).collect()
}

/// Takes that in, and tells it.
pub(crate) fn tell<I: Input + Send + Sync>(
    world: &mut World,
    driver: &mut dyn Driver<I>,
    changes: Vec<(NetEntity, AuthorityChange)>,
    now: Instant,
) {
    let types = world.resource::<HeldTypes<I>>().types.clone();
    let now = driver.now(now);
    let client = match driver.end() {
        Some(End::Client(client)) => Some(&*client),
        _ => None,
    };
    types.iter().for_each(|of| (of.end)(client, now, world));
    let Some(client) = client else { return };
    for (name, what) in changes {
        let Some(entity) = world.resource::<Directory>().find(name) else { continue };
        if what == AuthorityChange::Began {
            types.iter().for_each(|of| (of.begin)(client, now, world, entity));
        }
        if world.get_entity(entity).is_ok() {
            world.trigger(AuthorityChanged { entity, what });
        }
    }
}

/// Nothing is held any more: the session has ended.
pub(crate) fn end_all<I: Input + Send + Sync>(world: &mut World, now: Instant) {
    let mut held = world.resource_mut::<HeldTypes<I>>();
    held.asked.clear();
    held.types.clone().iter().for_each(|of| (of.end)(None, now, world));
}

fn hold<I: Input + Send + Sync, C>(client: &mut ClientOf<I>, now: Instant, world: &mut World)
where
    C: Component + State + Clone,
{
    let until = client.tick_time(now);
    let mut all = world.query::<(&Networked, &Held<C>, &mut Sampler<C>)>();
    for (of, held, mut sampler) in all.iter_mut(world) {
        sampler.0.frame(&held.0, until, |tick, state| client.capture(of.name(), tick, state));
        client.show(of.name(), &held.0);
    }
}

fn begin<I: Input + Send + Sync, C>(client: &ClientOf<I>, now: Instant, world: &mut World, entity: Entity)
where
    C: Component + State + Clone,
{
    let Some(of) = world.get::<Networked>(entity) else { return };
    if let Some(state) = client.held::<C>(now, of.name()) {
        let sampler = Sampler(FrameSampler::new(state.clone(), client.tick_time(now)));
        world.entity_mut(entity).insert((Held(state), sampler));
    }
}

fn end<I: Input + Send + Sync, C>(client: Option<&ClientOf<I>>, now: Instant, world: &mut World)
where
    C: Component + State + Clone,
{
    let mut all = world.query_filtered::<(Entity, &Networked), With<Held<C>>>();
    let is_held = |of: &Networked| client.is_some_and(|client| client.held::<C>(now, of.name()).is_some());
    let over: Vec<_> = all.iter(world).filter(|(_, of)| !is_held(of)).map(|(entity, _)| entity).collect();
    over.into_iter().for_each(|entity| _ = world.entity_mut(entity).remove::<(Held<C>, Sampler<C>)>());
}
