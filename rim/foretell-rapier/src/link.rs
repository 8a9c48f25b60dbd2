//! Joints between entities, by names that outlive Rapier's handles.

use foretell::Entity;
use rapier3d::dynamics::{GenericJoint, ImpulseJointHandle, ImpulseJointSet, RigidBodyHandle};

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
struct Joint {
    link: Link,
    /// As it was last seen, without impulses.
    data: GenericJoint,
    /// In Rapier's set, while both bodies are there.
    handle: Option<ImpulseJointHandle>,
}

/// The joints that there are to be. Ascending by link.
#[derive(Clone, Default, Debug)]
pub(crate) struct Joints(Vec<Joint>);

/// A joint without what the solver remembers of it.
fn unworn(mut joint: GenericJoint) -> GenericJoint {
    joint.limits.iter_mut().for_each(|limit| limit.impulse = 0.0);
    joint.motors.iter_mut().for_each(|motor| motor.impulse = 0.0);
    joint
}

impl Joints {
    /// Remembers a joint that there is to be, in place of one of that name.
    pub fn declare(&mut self, set: &mut ImpulseJointSet, link: Link, joint: GenericJoint) {
        self.remove(set, link);
        let at = self.0.partition_point(|known| known.link < link);
        self.0.insert(at, Joint { link, data: unworn(joint), handle: None });
    }

    /// Removes a joint and wakes what it held; `false` when there is none of that name.
    pub fn remove(&mut self, set: &mut ImpulseJointSet, link: Link) -> bool {
        let Ok(at) = self.find(link) else { return false };
        if let Some(handle) = self.0.remove(at).handle {
            set.remove(handle, true);
        }
        true
    }

    /// Rapier's name of a joint, while both of its bodies are there.
    pub fn handle(&self, link: Link) -> Option<ImpulseJointHandle> {
        self.0[self.find(link).ok()?].handle
    }

    /// Puts a joint into Rapier's set when both of its bodies are there, and wakes them. `body` is that of an entity, or the
    /// one that joints to places in the world hold on to.
    pub fn attach(
        &mut self,
        set: &mut ImpulseJointSet,
        link: Link,
        body: impl Fn(Option<Entity>) -> Option<RigidBodyHandle>,
    ) {
        if let Ok(at) = self.find(link) {
            self.0[at].attach(set, body, true);
        }
    }

    /// Puts all joints into Rapier's set whose bodies are both there, and wakes nothing.
    pub fn attach_all(&mut self, set: &mut ImpulseJointSet, body: impl Fn(Option<Entity>) -> Option<RigidBodyHandle>) {
        self.0.iter_mut().for_each(|joint| joint.attach(set, &body, false));
    }

    /// What becomes of joints when an entity goes: its own go with it, those of others rest.
    pub fn detach_from(&mut self, set: &ImpulseJointSet, entity: Entity) {
        self.0.retain(|joint| joint.link.of != entity);
        self.detach(set, entity);
    }

    /// Takes the joints of an entity and to it out of Rapier's set, in which they go with its body: they are put back with
    /// another one.
    pub fn detach(&mut self, set: &ImpulseJointSet, entity: Entity) {
        let of_it = |joint: &&mut Joint| joint.link.of == entity || joint.link.to == Some(entity);
        self.0.iter_mut().filter(of_it).for_each(|joint| joint.detach(set));
    }

    /// Takes all of them out of a set that is thrown away.
    pub fn detach_all(&mut self, set: &ImpulseJointSet) {
        self.0.iter_mut().for_each(|joint| joint.detach(set));
    }

    fn find(&self, link: Link) -> Result<usize, usize> {
        self.0.binary_search_by_key(&link, |known| known.link)
    }
}

impl Joint {
    fn attach(
        &mut self,
        set: &mut ImpulseJointSet,
        body: impl Fn(Option<Entity>) -> Option<RigidBodyHandle>,
        wake: bool,
    ) {
        if self.handle.is_none()
            && let (Some(of), Some(to)) = (body(Some(self.link.of)), body(self.link.to))
        {
            self.handle = Some(set.insert(of, to, self.data, wake));
        }
    }

    /// Keeps what the game has made of it.
    fn detach(&mut self, set: &ImpulseJointSet) {
        if let Some(joint) = self.handle.take().and_then(|handle| set.get(handle)) {
            self.data = unworn(joint.data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::{PlayerId, Tick};
    use rapier3d::dynamics::FixedJointBuilder;

    fn entity(counter: u16) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::ZERO, counter)
    }

    fn link(of: u16, to: u16) -> Link {
        Link::new(entity(of), Some(entity(to)))
    }

    /// All entities before this one have bodies.
    fn body(count: u16) -> impl Fn(Option<Entity>) -> Option<RigidBodyHandle> {
        let handle = |of: u16| RigidBodyHandle::from_raw_parts(u32::from(of), 0);
        move |of| (0..count).find(|counter| Some(entity(*counter)) == of).map(handle)
    }

    fn held(joints: &Joints, links: [Link; 3]) -> [bool; 3] {
        links.map(|link| joints.handle(link).is_some())
    }

    #[test]
    fn a_joint_holds_while_both_of_its_bodies_are_there() {
        let (mut joints, mut set) = (Joints::default(), ImpulseJointSet::new());
        let links = [link(0, 1), link(1, 2), link(2, 0)];
        links.iter().for_each(|link| joints.declare(&mut set, *link, FixedJointBuilder::new().into()));
        joints.attach_all(&mut set, body(2));
        assert_eq!((held(&joints, links), set.len()), ([true, false, false], 1));
        joints.attach_all(&mut set, body(3));
        assert_eq!((held(&joints, links), set.len()), ([true; 3], 3));
        joints.detach_from(&set, entity(2));
        assert_eq!(held(&joints, links), [true, false, false]);
        joints.attach_all(&mut ImpulseJointSet::new(), body(3));
        assert_eq!(held(&joints, links), [true, true, false], "that of the entity is gone with it, that to it rests");
    }

    #[test]
    fn a_joint_takes_the_place_of_one_of_its_name_and_is_removed_by_it() {
        let (mut joints, mut set) = (Joints::default(), ImpulseJointSet::new());
        for _ in 0..2 {
            joints.declare(&mut set, link(0, 1), FixedJointBuilder::new().into());
            joints.attach(&mut set, link(0, 1), body(2));
        }
        assert_eq!(set.len(), 1);
        assert!(joints.remove(&mut set, link(0, 1)) && !joints.remove(&mut set, link(0, 1)));
        assert_eq!(set.len(), 0);
    }
}
