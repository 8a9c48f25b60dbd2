//! Rigid bodies of Rapier: one world of them as a resource, and each as a component that is told.

use crate::column::{Column, Difference, Saved};
use crate::directory::Directory;
use crate::entity::Networked;
use crate::step::StepCommands;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::change_detection::{DetectChanges, Mut, Ref, Tick as ChangeTick};
use bevy_ecs::component::{Component, ComponentId, Mutable};
use bevy_ecs::prelude::{ParamSet, Query, ResMut, Resource, World};
use core::marker::PhantomData;
use foretell::Rows;
use foretell_rapier::{Blueprint, Body, Physics};

/// A component with a body: its state is told, and by its plan the body is made.
pub trait BodyComponent: Component<Mutability = Mutable> + Blueprint {}

impl<C: Component<Mutability = Mutable> + Blueprint> BodyComponent for C {}

/// The bodies of all entities with a component `C`: everything that Rapier's next step reads, rolled back bit by bit.
///
/// The component has the state of its body as of the last tick ([`Body`](foretell_rapier::Body), a field with `#[state(flatten)]`); what is
/// written into that does nothing. A body is pushed by [`Physics::body_mut`], between the systems [`prepare_bodies`] and
/// [`move_bodies`]; it is made where a component is spawned, made anew where its [design](Blueprint::design) changes, and goes with it.
#[derive(Resource, Deref, DerefMut)]
pub struct Bodies<C> {
    #[deref]
    physics: Physics,
    /// Whether they are those of another state, which components that have not changed may not go with.
    is_loaded: bool,
    of: PhantomData<fn(C)>,
}

impl<C> Bodies<C> {
    pub(crate) fn new(physics: Physics) -> Bodies<C> {
        Bodies { physics, is_loaded: false, of: PhantomData }
    }
}

/// Each component, and whose it is.
type Components<C> = (Ref<'static, Networked>, Ref<'static, C>);
/// The same, to be written.
type Written<C> = (&'static Networked, &'static mut C);

impl<C: BodyComponent> Bodies<C> {
    /// There is a body for each component, of its owner and by its design, and no other. Looks at what has changed since its system
    /// has run last, and at everything after a load.
    fn match_components(&mut self, step: &StepCommands, components: &Query<Components<C>>) {
        let (mut new, all) = (Vec::new(), core::mem::take(&mut self.is_loaded));
        let is_looked_at =
            |(of, component): &(Ref<Networked>, Ref<C>)| all || of.is_changed() || component.is_changed();
        for (of, component) in components.iter().filter(is_looked_at) {
            match (self.physics.owner(of.name()), component.body()) {
                (None, Some(_)) => new.push((*of, C::clone(&component))),
                (Some(_), None) => _ = self.physics.despawn(of.name()),
                (Some(owner), Some(_)) => {
                    self.physics.redesign(of.name(), &*component);
                    if owner != of.owner() {
                        self.physics.set_owner(of.name(), of.owner());
                    }
                }
                (None, None) => {}
            }
        }
        // What Rapier's next step comes to goes by the order in which bodies came.
        new.sort_unstable_by_key(|(of, _)| *of);
        new.iter().for_each(|(of, component)| self.physics.insert(of.owned(), component));
        let with_body = components.iter().filter(|(_, component)| component.body().is_some());
        if self.physics.entities().count() != with_body.count() {
            let has_component = |name| step.find(name).is_some_and(|id| components.contains(id));
            self.physics.retain(|of| has_component(of.entity));
        }
    }
}

/// A system that begins the tick of the bodies with a component `C`: before what pushes them, and after what spawns them where it is to be
/// pushed in the same tick.
pub fn prepare_bodies<C: BodyComponent>(
    step: StepCommands,
    mut bodies: ResMut<Bodies<C>>,
    components: Query<Components<C>>,
) {
    bodies.match_components(&step, &components);
    bodies.prepare(&step.as_step());
}

/// A system that ends it: Rapier's step, after which components have the state of their bodies.
#[expect(clippy::type_complexity, reason = "one query after the other")]
pub fn move_bodies<C: BodyComponent>(
    mut step: StepCommands,
    mut bodies: ResMut<Bodies<C>>,
    mut components: ParamSet<(Query<Components<C>>, Query<Written<C>>)>,
) {
    bodies.match_components(&step, &components.p0());
    bodies.advance(&step.as_step());
    bodies.each_contact(|one, other| step.touch_owned(one, other));
    let mut components = components.p1();
    for (name, now) in bodies.changed() {
        if let Some(Ok((_, mut component))) = step.find(name).map(|id| components.get_mut(id)) {
            set_body(&mut component, &now);
        }
    }
    // What a system has written into one does nothing, though its body sleeps.
    for (of, mut component) in components.iter_mut().filter(|(_, component)| component.is_changed()) {
        if let Some(now) = bodies.state(of.name()) {
            set_body(&mut component, &now);
        }
    }
}

fn set_body<C: BodyComponent>(component: &mut Mut<C>, now: &Body) {
    if component.body().is_some_and(|known| !known.same_bits(now))
        && let Some(body) = component.body_mut()
    {
        *body = *now;
    }
}

/// Saves and loads the bodies. Their components are what is replicated.
pub(crate) struct BodyColumn<C>(PhantomData<fn(C)>);

impl<C: BodyComponent> BodyColumn<C> {
    /// For a session that begins with these.
    pub fn new(world: &mut World, physics: Physics) -> BodyColumn<C> {
        world.insert_resource(Bodies::<C>::new(physics));
        BodyColumn(PhantomData)
    }
}

impl<C: BodyComponent> Column for BodyColumn<C> {
    fn component(&self, world: &mut World) -> ComponentId {
        world.register_component::<Bodies<C>>()
    }

    fn pull(&mut self, _: &mut World, _: ChangeTick) {}

    fn room(&self) -> Saved {
        Box::new(Physics::default())
    }

    fn save(&self, world: &World, into: &mut Saved) {
        if let Some(into) = into.downcast_mut::<Physics>() {
            into.clone_from(world.resource::<Bodies<C>>());
        }
    }

    fn load(&mut self, from: &Saved, world: &mut World, _: &Directory) {
        if let Some(from) = from.downcast_ref::<Physics>() {
            let mut bodies = world.resource_mut::<Bodies<C>>();
            bodies.physics.clone_from(from);
            bodies.is_loaded = true;
        }
    }

    fn difference(&self, saved: &Saved, world: &World, directory: &Directory) -> Option<Difference> {
        let (then, now) = (saved.downcast_ref::<Physics>()?, world.resource::<Bodies<C>>());
        let is_other = |name: &foretell::Entity| match (then.state(*name), now.state(*name)) {
            (Some(then), Some(now)) => !then.same_bits(&now),
            (then, now) => then.is_some() != now.is_some(),
        };
        let name = then.entities().chain(now.entities()).find(is_other)?;
        Some(Difference { what: format!("the body of {name:?}"), on: directory.find(name) })
    }

    fn adopt(&mut self, rows: &Rows, world: &mut World, _: &mut Directory) {
        world.resource_mut::<Bodies<C>>().physics.adopt::<C>(rows);
    }
}
