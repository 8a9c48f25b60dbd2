//! What an entity is made of, as a function of its name and its state.

use crate::{Body, Link};
use foretell::world::ROW_WORDS_MAX;
use foretell::{Entity, State};
use rapier3d::dynamics::{GenericJoint, RigidBodyBuilder};
use rapier3d::geometry::ColliderBuilder;
use rapier3d::pipeline::ActiveEvents;

/// What [`Physics`](crate::Physics) has to know of the game's states: which of them have a body, and of what it is made.
pub trait Blueprint: State + Clone {
    /// The body in this state: its field with `#[state(flatten)]`, which all see who see any of the entity. `None` for variants that have
    /// none, with which the physics has nothing to do. Write it for a state that does not derive [`State`].
    fn body_mut(&mut self) -> Option<&mut Body> {
        self.part_mut()
    }

    /// The same, to look at.
    fn body(&self) -> Option<Body> {
        self.clone().body_mut().copied()
    }

    /// Body, colliders and joints of an entity: all of it that is not in its [`Body`]. It has to follow from the name and from
    /// columns of the state. Both ends call it, the client also for an entity that it hears of late, whenever
    /// [`design`](Blueprint::design) says that it is another, and where the state of an enum becomes another variant.
    fn plan(&self, entity: Entity) -> Plan;

    /// Which plan it is: a number that is another one whenever a column changes that [`plan`](Blueprint::plan) looks at, such as
    /// that column itself. The default, 0, is for plans that never change.
    ///
    /// What is changed of a body besides its [`Body`] is changed by this alone: its type, mass, damping, gravity scale or
    /// locked axes; the size, friction or sensor of a collider. The step sets the column and calls
    /// [`Physics::redesign`](crate::Physics::redesign), and rows that tell of it do the same on a client.
    fn design(&self) -> u64 {
        0
    }
}

/// By which plan a body is made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Design {
    /// Which variant the state is; 0 of a struct.
    variant: usize,
    /// What the state says.
    number: u64,
}

impl Design {
    pub fn of<S: Blueprint>(state: &S) -> Design {
        let mut words = [0; ROW_WORDS_MAX];
        let variant = if S::IS_CHOICE { (0..S::COMPONENTS).find(|nth| state.write(*nth, &mut words)) } else { None };
        Design { variant: variant.unwrap_or(0), number: state.design() }
    }
}

/// All that it takes to make a body.
pub(crate) struct Made {
    pub body: Body,
    pub design: Design,
    pub plan: Plan,
}

impl Made {
    /// Of a state; `None` where that has no body.
    pub fn of<S: Blueprint>(entity: Entity, state: &S) -> Option<Made> {
        let body = state.body()?;
        Some(Made { body, design: Design::of(state), plan: state.plan(entity) })
    }
}

/// # Panics
/// When a collider asks for something that does nothing here.
pub(crate) fn assert_supported(collider: &ColliderBuilder) {
    assert!(
        collider.active_hooks.is_empty(),
        "physics hooks are never called: they would have to be saved and rolled back with the world. Let a design, groups or \
         a sensor decide what touches what"
    );
    assert!(
        !collider.active_events.contains(ActiveEvents::CONTACT_FORCE_EVENTS),
        "contact-force events are never told: ask Physics::contacts after each step, which has the impulses"
    );
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
    ///
    /// # Panics
    /// When the collider asks for physics hooks, or for contact-force events: neither would ever come.
    /// [`Physics::contacts`](crate::Physics::contacts) has what the latter would tell.
    #[must_use]
    pub fn with(mut self, collider: ColliderBuilder) -> Plan {
        assert_supported(&collider);
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
