//! Bodies that are made anew by another plan, where they are.

use crate::blueprint::Design;
use crate::physics::{Changed, Slot};
use crate::{Blueprint, Physics, Plan};
use foretell::Entity;
use rapier3d::dynamics::RigidBodyType;
use rapier3d::geometry::ColliderBuilder;

impl Physics {
    /// Makes an entity's body and colliders as the plan of `state` says, where they were made by another: where
    /// [`Blueprint::design`] is another one, or the state another variant. Before [`advance`](Physics::advance), when a column has
    /// changed that the plan looks at. Whether it did.
    ///
    /// It stays where it is, as fast as it is and asleep or awake; forces that were added in this step stay, and so do its joints,
    /// without what their solver remembers. What touches it wakes, and its contacts begin anew without being told as touches.
    pub fn redesign<S: Blueprint>(&mut self, entity: Entity, state: &S) -> bool {
        let Ok(at) = self.find(entity) else { return false };
        let design = Design::of(state);
        if self.slots[at].design == design {
            return false;
        }
        self.remake(at, state.plan(entity));
        self.slots[at].design = design;
        true
    }

    fn remake(&mut self, at: usize, plan: Plan) {
        let Slot { entity, owner, handle: old, .. } = self.slots[at];
        let (state, before) = (self.state_at(at), &self.rapier.bodies[old]);
        let forces = (before.user_force(), before.user_torque());
        self.joints.detach(&self.rapier.impulse_joints, entity);
        self.wake_touched(old);
        self.rapier.remove(old);
        let kind = plan.body.body_type;
        let mut body = plan.body.user_data(u128::from(entity.bits())).build();
        state.put(&mut body);
        let handle = self.rapier.insert(body, plan.colliders.iter().map(ColliderBuilder::build));
        self.rapier.bodies[handle].add_force(forces.0, false);
        self.rapier.bodies[handle].add_torque(forces.1, false);
        let listens = self.rapier.listens(handle);
        let Slot { proxy, stranger, design, .. } = self.slots[at];
        // What is fixed is moved by nothing already, and is no proxy.
        let proxy = proxy.filter(|_| kind != RigidBodyType::Fixed);
        let (changed, drowsy) = (Changed::Outside, state.sleeping);
        self.slots[at] = Slot { entity, owner, handle, kind, proxy, changed, design, listens, stranger, drowsy };
        for (link, joint) in plan.links {
            self.declare(link, joint);
        }
        self.attach_joints();
    }
}
