//! Joints between entities, by names that outlive Rapier's handles.

use crate::Physics;
use foretell::Entity;
use rapier3d::dynamics::{GenericJoint, ImpulseJointHandle};

/// The name of a joint: what it belongs to, what it holds on to, and which of several between the two it is. The same on
/// both ends, and the order in which a rebuild puts joints back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Link {
    /// To whom it belongs: it goes with this entity.
    pub of: Entity,
    /// To what it holds on; `None` for a place in the world. It rests while that entity is not there.
    pub to: Option<Entity>,
    /// Which one, where there are several: 0 for the first.
    pub number: u8,
}

impl Link {
    /// The first joint of `of` to `to`.
    pub fn new(of: Entity, to: Option<Entity>) -> Link {
        Link { of, to, number: 0 }
    }
}

/// A joint that there is to be.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub link: Link,
    /// As it was last seen, without impulses.
    pub data: GenericJoint,
    /// In Rapier's set, while both bodies are there.
    pub handle: Option<ImpulseJointHandle>,
}

/// A joint without what the solver remembers of it.
pub(crate) fn unworn(mut joint: GenericJoint) -> GenericJoint {
    joint.limits.iter_mut().for_each(|limit| limit.impulse = 0.0);
    joint.motors.iter_mut().for_each(|motor| motor.impulse = 0.0);
    joint
}

impl Physics {
    /// Joins `link.of` to `link.to`, in place of a joint of that name. Wakes both. The first frame of the joint is in the
    /// space of `link.of`.
    ///
    /// A joint that a step makes has to be in a column of the game's own too, from which its `adopt` calls this (where
    /// [`joint`](Physics::joint) has none: a joint that is made again has forgotten its impulses) and
    /// [`unlink`](Physics::unlink). A client that hears of the entity late knows of it by nothing else. One of a
    /// [`Plan`](crate::Plan) needs no column.
    pub fn link(&mut self, link: Link, joint: impl Into<GenericJoint>) {
        let at = self.declare(link, joint.into());
        self.attach(at, true);
    }

    /// Remembers a joint that there is to be; where it stands among them.
    pub(crate) fn declare(&mut self, link: Link, joint: GenericJoint) -> usize {
        self.unlink(link);
        let at = self.joints.partition_point(|known| known.link < link);
        self.joints.insert(at, Joint { link, data: unworn(joint), handle: None });
        at
    }

    /// Removes a joint and wakes what it held; `false` when there is none of that name.
    pub fn unlink(&mut self, link: Link) -> bool {
        let Ok(at) = self.joints.binary_search_by_key(&link, |known| known.link) else { return false };
        let joint = self.joints.remove(at);
        if let Some(handle) = joint.handle {
            self.rapier.impulse_joints.remove(handle, true);
        }
        true
    }

    /// The joint of this name; `None` also while one of its bodies is not there.
    pub fn joint(&self, link: Link) -> Option<&GenericJoint> {
        let at = self.joints.binary_search_by_key(&link, |known| known.link).ok()?;
        Some(&self.rapier.impulse_joints.get(self.joints[at].handle?)?.data)
    }

    /// The same, to drive its motors: from inputs and states of this tick, in every tick, as it is in no row. Wakes what
    /// it holds.
    pub fn joint_mut(&mut self, link: Link) -> Option<&mut GenericJoint> {
        let at = self.joints.binary_search_by_key(&link, |known| known.link).ok()?;
        Some(&mut self.rapier.impulse_joints.get_mut(self.joints[at].handle?, true)?.data)
    }

    /// Puts a joint into Rapier's set when both of its bodies are there.
    pub(crate) fn attach(&mut self, at: usize, wake: bool) {
        let Joint { link, data, handle: None } = &self.joints[at] else { return };
        let to = link.to.map_or(Some(self.anchor), |to| self.handle(to));
        let (Some(of), Some(to)) = (self.handle(link.of), to) else { return };
        let data = *data;
        self.joints[at].handle = Some(self.rapier.impulse_joints.insert(of, to, data, wake));
    }

    /// What becomes of joints when an entity goes: its own go with it, those of others rest.
    pub(crate) fn detach_from(&mut self, entity: Entity) {
        self.joints.retain(|joint| joint.link.of != entity);
        for joint in self.joints.iter_mut().filter(|joint| joint.link.to == Some(entity)) {
            joint.settle(&self.rapier.impulse_joints);
            joint.handle = None;
        }
    }
}

impl Joint {
    /// Keeps what the game has made of it.
    pub fn settle(&mut self, joints: &rapier3d::dynamics::ImpulseJointSet) {
        if let Some(joint) = self.handle.and_then(|handle| joints.get(handle)) {
            self.data = unworn(joint.data);
        }
    }
}
