//! What an entity is made of, as a function of its name and its state.

use crate::{Body, Link};
use foretell::{Entity, State};
use rapier3d::dynamics::{GenericJoint, RigidBodyBuilder};
use rapier3d::geometry::ColliderBuilder;

/// What [`Physics`](crate::Physics) has to know of the game's states: which of them have a body, and of what it is made.
pub trait Blueprint: State {
    /// The body in this state; `None` for kinds that have none, with which the physics has nothing to do.
    fn body(&self) -> Option<Body>;

    /// Body, colliders and joints of a new entity. It has to follow from the name and from columns that never change: both
    /// ends call it, the client also for an entity that it hears of late. What a step changes of a body besides its
    /// [`Body`] (damping, a collider's friction) is for the step to set again in every tick from columns of the game's
    /// own.
    fn plan(&self, entity: Entity) -> Plan;
}

/// Of what an entity is made.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) body: RigidBodyBuilder,
    pub(crate) colliders: Vec<ColliderBuilder>,
    pub(crate) links: Vec<(Link, GenericJoint)>,
}

impl Plan {
    /// A body without colliders. Pose, velocities, sleep and `user_data` of the builder don't count: the first three come
    /// from the [`Body`], the last holds the entity.
    pub fn new(body: RigidBodyBuilder) -> Plan {
        Plan { body, colliders: Vec::new(), links: Vec::new() }
    }

    /// The same with one more collider. Give it [`ActiveEvents::COLLISION_EVENTS`](rapier3d::pipeline::ActiveEvents) to
    /// hear of its touches.
    #[must_use]
    pub fn with(mut self, collider: ColliderBuilder) -> Plan {
        self.colliders.push(collider);
        self
    }

    /// The same with a joint, which is there whenever both of its bodies are.
    #[must_use]
    pub fn linked(mut self, link: Link, joint: impl Into<GenericJoint>) -> Plan {
        self.links.push((link, joint.into()));
        self
    }
}
