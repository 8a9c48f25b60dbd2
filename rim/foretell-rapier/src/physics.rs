//! [`Physics`]: everything that Rapier's next step reads, by entity.

use crate::blueprint::{Design, Made, assert_supported};
use crate::link::Joints;
use crate::sets::{Pipeline, Rapier, named};
use crate::touch::{Touches, party};
use crate::{Blueprint, Body, BodyMut, Link, Party, Plan};
use foretell::{Entity, Owned, PlayerId, Step, Tick};
use rapier3d::dynamics::{
    GenericJoint, IntegrationParameters, RigidBody, RigidBodyBuilder, RigidBodyHandle, RigidBodyType,
};
use rapier3d::geometry::{Collider, ColliderBuilder, ColliderHandle};
use rapier3d::math::Vector;

/// Whether the next `publish` names a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Changed {
    /// It has been at rest since the last step.
    No,
    /// By the last step.
    InStep,
    /// By the game or by rows, maybe since the last step: named after the next one too.
    Outside,
}

/// One entity's body.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub entity: Entity,
    pub owner: PlayerId,
    pub handle: RigidBodyHandle,
    /// What its plan made it: what it is again when it is no proxy.
    pub kind: RigidBodyType,
    /// Its row, while it is a proxy.
    pub proxy: Option<Body>,
    pub changed: Changed,
    /// By which plan it was made.
    pub design: Design,
    /// Whether one of its colliders reports touches.
    pub listens: bool,
    /// Whether rows have brought it since the last step: what it touches then has begun before.
    pub stranger: bool,
    /// Whether rows or the game say that it sleeps, and Rapier has not put it to sleep as it is now.
    pub drowsy: bool,
}

impl Slot {
    pub fn owned(&self) -> Owned {
        Owned { entity: self.entity, owner: self.owner }
    }
}

/// A world of rigid bodies: everything that Rapier's next step reads, with entities in place of handles.
///
/// It is `Clone`: `save` is `into.clone_from(self)`, `load` is `self.clone_from(from)`, `take` swaps. It is `Default` because what is
/// saved has to be; a world to step is made by [`Physics::new`].
///
/// A client's holds the bodies that rows have named, no more: one that is told only what is near has a small world.
#[derive(Clone, Default)]
pub struct Physics {
    pub(crate) gravity: Vector,
    pub(crate) parameters: IntegrationParameters,
    pub(crate) rapier: Rapier,
    pub(crate) pipeline: Pipeline,
    /// The body that joints to places in the world hold on to: the first of all.
    pub(crate) anchor: RigidBodyHandle,
    /// Colliders without an entity, in the order in which they were given: the first of all.
    pub(crate) scenery: Vec<ColliderHandle>,
    /// Ascending by entity.
    pub(crate) slots: Vec<Slot>,
    /// Bodies that are gone, and when.
    pub(crate) gone: Vec<(Entity, Changed)>,
    pub(crate) joints: Joints,
    pub(crate) touches: Touches,
    /// The tick that has been prepared.
    pub(crate) prepared: Option<Tick>,
    /// The next step is the first one of rebuilt bodies.
    pub(crate) fresh: bool,
    /// Memory of [`advance`](Physics::advance): who is in the active set, by the index of the handle.
    pub(crate) awake: Vec<bool>,
}

impl Physics {
    /// A world with this gravity in m/s2 (an array or Rapier's vector, usually `[0.0, -9.81, 0.0]`), and with scenery: colliders that never move and
    /// belong to no entity, the same on both ends in the same order.
    ///
    /// # Panics
    /// When a collider asks for physics hooks or for contact-force events, which there are none of (see [`Plan::with`]).
    pub fn new(gravity: impl Into<Vector>, scenery: impl IntoIterator<Item = ColliderBuilder>) -> Physics {
        let mut physics = Physics { gravity: gravity.into(), ..Physics::default() };
        physics.anchor = physics.rapier.bodies.insert(RigidBodyBuilder::fixed());
        let scenery = scenery.into_iter().inspect(assert_supported);
        physics.scenery = scenery.map(|collider| physics.rapier.colliders.insert(collider)).collect();
        physics.run_pipeline();
        physics
    }

    /// The gravity in m/s2.
    pub fn gravity(&self) -> [f32; 3] {
        self.gravity.to_array()
    }

    /// Another gravity, from this step on. It is in no row: where it changes the step sets it in every tick, from a column of the
    /// game's own. It wakes nothing.
    pub fn set_gravity(&mut self, gravity: impl Into<Vector>) {
        self.gravity = gravity.into();
    }

    /// Rapier's parameters, to set once and the same on both ends. `dt` is set by [`prepare`](Physics::prepare).
    pub fn parameters_mut(&mut self) -> &mut IntegrationParameters {
        &mut self.parameters
    }

    /// Brings a new entity of `owner` into the world, with a body in the state and by the plan of `state`; its name, which is the
    /// same on both ends.
    ///
    /// # Panics
    /// When `state` has no body, and as [`Step::spawn`] does.
    pub fn spawn<I, S: Blueprint>(&mut self, step: &mut Step<'_, I>, owner: PlayerId, state: &S) -> Entity {
        let entity = step.spawn(owner);
        self.insert(Owned { entity, owner }, state);
        entity
    }

    /// Gives an entity a body, in the state and by the plan of `state`: one that is in a table of the game already, one that a
    /// level begins with.
    ///
    /// # Panics
    /// When the entity has a body already, or `state` has none.
    pub fn insert<S: Blueprint>(&mut self, of: Owned, state: &S) {
        let made = Made::of(of.entity, state).expect("a state that is spawned has a body");
        self.put_in(of, made, false);
    }

    /// Removes an entity's body with its colliders, and the joints that belong to it, and wakes what it touched; `false`
    /// where there is none.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.take_out(entity)
    }

    /// Removes all bodies but those that `keep` names.
    pub fn retain(&mut self, mut keep: impl FnMut(Owned) -> bool) {
        let gone: Vec<_> = self.owned().filter(|of| !keep(*of)).collect();
        for of in gone {
            self.despawn(of.entity);
        }
    }

    /// Removes the bodies of players who have left before this step.
    pub fn remove_left<I>(&mut self, step: &Step<'_, I>) {
        if !step.left().is_empty() {
            self.retain(|of| !step.has_left(of.owner));
        }
    }

    /// Gives a body to another player, whose inputs drive it from then on, and on whose client it is predicted. `false` where
    /// there is none.
    pub fn set_owner(&mut self, entity: Entity, owner: PlayerId) -> bool {
        let Ok(at) = self.find(entity) else { return false };
        (self.slots[at].owner, self.slots[at].changed) = (owner, Changed::Outside);
        true
    }

    /// Every entity that has a body, ascending.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        self.slots.iter().map(|slot| slot.entity)
    }

    /// Every entity that has a body, and whose it is, ascending by entity.
    pub fn owned(&self) -> impl Iterator<Item = Owned> {
        self.slots.iter().map(Slot::owned)
    }

    /// Whose body it is; `None` where there is none.
    pub fn owner(&self, entity: Entity) -> Option<PlayerId> {
        self.find(entity).ok().map(|at| self.slots[at].owner)
    }

    /// Whether an entity has a body.
    pub fn contains(&self, entity: Entity) -> bool {
        self.find(entity).is_ok()
    }

    /// The state of an entity's body; of a proxy, what its row says.
    pub fn state(&self, entity: Entity) -> Option<Body> {
        self.find(entity).ok().map(|at| self.state_at(at))
    }

    /// Rapier's body of an entity, to look at.
    pub fn body(&self, entity: Entity) -> Option<&RigidBody> {
        self.rapier.bodies.get(self.handle(entity)?)
    }

    /// Rapier's body of an entity: to push it, or to put it somewhere. Forces that are added hold for the next step alone.
    pub fn body_mut(&mut self, entity: Entity) -> Option<BodyMut<'_>> {
        let at = self.find(entity).ok()?;
        let slot = &mut self.slots[at];
        slot.changed = Changed::Outside;
        Some(BodyMut::new(self.rapier.bodies.get_mut(slot.handle)?, &mut slot.drowsy))
    }

    /// Rapier's colliders of an entity, in the order of its plan.
    pub fn colliders(&self, entity: Entity) -> impl Iterator<Item = &Collider> {
        let handles = self.body(entity).map_or(&[][..], |body| body.colliders());
        handles.iter().map(|handle| &self.rapier.colliders[*handle])
    }

    /// Rapier's handle of an entity's body, for its own queries. Only the entity is a name that lasts: a handle is another
    /// one after a rebuild, and may differ between the ends.
    pub fn handle(&self, entity: Entity) -> Option<RigidBodyHandle> {
        self.find(entity).ok().map(|at| self.slots[at].handle)
    }

    /// The entity of a body; `None` for the scenery.
    pub fn entity(&self, handle: RigidBodyHandle) -> Option<Entity> {
        self.rapier.bodies.get(handle).filter(|_| handle != self.anchor).map(|body| named(body.user_data))
    }

    /// Joins `link.of` to `link.to`, in place of a joint of that name. Wakes both. The first frame of the joint is in the
    /// space of `link.of`.
    ///
    /// A joint that a step makes has to be in a column of the game's own too, from which its `adopt` calls this (where
    /// [`joint`](Physics::joint) has none: a joint that is made again has forgotten its impulses) and
    /// [`unlink`](Physics::unlink). A client that hears of the entity late knows of it by nothing else. One of a
    /// [`Plan`](crate::Plan) needs no column.
    pub fn link(&mut self, link: Link, joint: impl Into<GenericJoint>) {
        self.declare(link, joint.into());
        let Physics { joints, rapier, slots, anchor, .. } = self;
        joints.attach(&mut rapier.impulse_joints, link, |entity| body_of(slots, *anchor, entity));
    }

    /// Removes a joint and wakes what it held; `false` when there is none of that name.
    pub fn unlink(&mut self, link: Link) -> bool {
        self.joints.remove(&mut self.rapier.impulse_joints, link)
    }

    /// The joint of this name; `None` also while one of its bodies is not there.
    pub fn joint(&self, link: Link) -> Option<&GenericJoint> {
        Some(&self.rapier.impulse_joints.get(self.joints.handle(link)?)?.data)
    }

    /// The same, to drive its motors: from inputs and states of this tick, in every tick, as it is in no row. Wakes what
    /// it holds.
    pub fn joint_mut(&mut self, link: Link) -> Option<&mut GenericJoint> {
        Some(&mut self.rapier.impulse_joints.get_mut(self.joints.handle(link)?, true)?.data)
    }

    /// Remembers a joint that there is to be.
    pub(crate) fn declare(&mut self, link: Link, joint: GenericJoint) {
        self.joints.declare(&mut self.rapier.impulse_joints, link, joint);
    }

    /// Puts the joints into Rapier's set whose bodies are both there; they wake nothing.
    pub(crate) fn attach_joints(&mut self) {
        let Physics { joints, rapier, slots, anchor, .. } = self;
        joints.attach_all(&mut rapier.impulse_joints, |entity| body_of(slots, *anchor, entity));
    }

    /// Rapier's step. One without bodies is the first of all: in that Rapier numbers its islands anew, and mixes up which of
    /// them may sleep when there are bodies already.
    pub(crate) fn run_pipeline(&mut self) {
        self.rapier.step(&mut self.pipeline, self.gravity, &self.parameters);
    }

    /// Puts a body into a state, where it differs.
    pub(crate) fn put(&mut self, at: usize, state: &Body) {
        let handle = self.slots[at].handle;
        if state.same_bits(&Body::of(&self.rapier.bodies[handle])) {
            return;
        }
        self.slots[at].drowsy = true;
        if state.put(&mut self.rapier.bodies[handle]) {
            self.rapier.place_colliders(handle, &self.parameters);
        }
    }

    pub(crate) fn find(&self, entity: Entity) -> Result<usize, usize> {
        find(&self.slots, entity)
    }

    pub(crate) fn state_at(&self, at: usize) -> Body {
        let slot = &self.slots[at];
        slot.proxy.unwrap_or_else(|| Body::of(&self.rapier.bodies[slot.handle]))
    }

    /// A new body; whether rows have brought it.
    pub(crate) fn put_in(&mut self, of: Owned, made: Made, stranger: bool) {
        let Owned { entity, owner } = of;
        let Made { body: state, design, plan: Plan { body, colliders, links } } = made;
        let at = self.find(entity).expect_err("an entity has one body");
        let kind = body.body_type;
        let mut body = body.user_data(u128::from(entity.bits())).build();
        state.put(&mut body);
        let handle = self.rapier.insert(body, colliders.iter().map(ColliderBuilder::build));
        if stranger {
            // The server has made a step with it already: the next step's queries find it there.
            self.rapier.place_colliders(handle, &self.parameters);
        }
        let listens = self.rapier.listens(handle);
        let (proxy, changed, drowsy) = (None, Changed::Outside, state.sleeping);
        let slot = Slot { entity, owner, handle, kind, proxy, changed, design, listens, stranger, drowsy };
        self.slots.insert(at, slot);
        for (link, joint) in links {
            self.declare(link, joint);
        }
        self.attach_joints();
    }

    pub(crate) fn take_out(&mut self, entity: Entity) -> bool {
        let Ok(at) = self.find(entity) else { return false };
        self.wake_touched(self.slots[at].handle);
        let slot = self.slots.remove(at);
        self.joints.detach_from(&self.rapier.impulse_joints, entity);
        self.rapier.remove(slot.handle);
        self.gone.push((entity, Changed::Outside));
        true
    }

    /// Wakes what rests on a body that goes, at once: Rapier would in its next step, but not when it is rebuilt before that.
    pub(crate) fn wake_touched(&mut self, body: RigidBodyHandle) {
        let mut touched = Vec::new();
        for collider in self.rapier.bodies[body].colliders() {
            let pairs = self.rapier.narrow_phase.contact_pairs_with(*collider);
            for pair in pairs.filter(|pair| pair.has_any_active_contact()) {
                let other = if pair.collider1 == *collider { pair.collider2 } else { pair.collider1 };
                touched.extend(party(&self.rapier, other).and_then(Party::entity));
            }
        }
        for entity in touched {
            let Ok(at) = self.find(entity) else { continue };
            let other = &mut self.rapier.bodies[self.slots[at].handle];
            if other.is_dynamic() && other.is_sleeping() {
                other.wake_up(true);
                self.slots[at].changed = Changed::Outside;
            }
        }
    }
}

fn find(slots: &[Slot], entity: Entity) -> Result<usize, usize> {
    slots.binary_search_by_key(&entity, |slot| slot.entity)
}

/// The body that a joint to an entity, or to a place in the world, holds on to.
fn body_of(slots: &[Slot], anchor: RigidBodyHandle, to: Option<Entity>) -> Option<RigidBodyHandle> {
    to.map_or(Some(anchor), |entity| Some(slots[find(slots, entity).ok()?].handle))
}
