//! A step: prepared, driven by the game, advanced.

use crate::physics::Changed;
use crate::{Body, Physics};
use foretell::{Role, Step};
use rapier3d::dynamics::RigidBodyType;
use rapier3d::math::Vector;

impl Physics {
    /// Begins a tick: at the start of the game's step, before it looks at bodies or pushes them. Rebuilds in a canonical
    /// tick, and makes proxies of what is not predicted here, and bodies again of what is.
    ///
    /// A proxy is where its row says, has the row's velocity for those that it meets, and is moved by nothing: Rapier calls
    /// that kinematic. When it is predicted again it goes on from there.
    pub fn prepare<I>(&mut self, step: &Step<'_, I>) {
        for slot in &mut self.slots {
            slot.changed = match slot.changed {
                Changed::Outside => Changed::InStep,
                _ => Changed::No,
            };
        }
        self.gone.retain(|(_, changed)| *changed == Changed::Outside);
        self.gone.iter_mut().for_each(|(_, changed)| *changed = Changed::InStep);
        #[expect(clippy::cast_possible_truncation, reason = "Rapier counts in f32")]
        {
            self.parameters.dt = step.seconds() as f32;
        }
        if step.canonical() {
            self.rebuild();
        }
        for at in 0..self.slots.len() {
            self.cast(at, step.role(self.slots[at].owned()) == Role::Proxy);
        }
        self.prepared = Some(step.tick());
    }

    /// Gives a body its role, and puts a proxy where its row says.
    fn cast(&mut self, at: usize, proxy: bool) {
        let slot = &mut self.slots[at];
        if slot.kind == RigidBodyType::Fixed || !(proxy || slot.proxy.is_some()) {
            return;
        }
        let row = slot.proxy.unwrap_or_else(|| Body::of(&self.rapier.bodies[slot.handle]));
        let kind = if proxy { RigidBodyType::KinematicVelocityBased } else { slot.kind };
        if self.rapier.bodies[slot.handle].body_type() != kind {
            self.rapier.bodies[slot.handle].set_body_type(kind, false);
            slot.drowsy = true;
        }
        slot.proxy = proxy.then_some(row);
        self.put(at, &row);
    }

    /// Ends a tick: Rapier's step, with all that the game has done to bodies since [`prepare`](Physics::prepare). Forces
    /// end with it.
    ///
    /// # Panics
    /// When this tick has not been prepared.
    pub fn advance<I>(&mut self, step: &Step<'_, I>) {
        assert!(self.prepared.take() == Some(step.tick()), "prepare comes before advance, in every tick");
        self.rouse();
        self.mark_awake();
        let idle = core::mem::take(&mut self.fresh).then(|| self.idle_times());
        self.run_pipeline();
        if let Some(idle) = idle {
            self.put_idle_times(&idle);
        }
        self.end_forces();
        self.mark_awake();
        self.note_touches();
    }

    /// Wakes what rows or the game have put to sleep: flagged alone, its contacts would not hold it, and it would fall through
    /// the floor. Rapier puts it to sleep again as soon as all that it touches is still. After a rebuild it sleeps already.
    fn rouse(&mut self) {
        for slot in &mut self.slots {
            if !core::mem::take(&mut slot.drowsy) {
                continue;
            }
            let body = &self.rapier.bodies[slot.handle];
            if body.is_sleeping() && body.is_dynamic() {
                self.rapier.bodies[slot.handle].wake_up(false);
            }
        }
    }

    /// Forces hold for one step: what persists would have to be in the rows. Whatever has one has been in the game's hands.
    fn end_forces(&mut self) {
        for slot in self.slots.iter().filter(|slot| slot.changed != Changed::No) {
            let body = &self.rapier.bodies[slot.handle];
            if body.user_force() != Vector::ZERO || body.user_torque() != Vector::ZERO {
                let body = &mut self.rapier.bodies[slot.handle];
                body.reset_forces(false);
                body.reset_torques(false);
            }
        }
    }

    /// Who is in Rapier's active set changes. Its flag alone does not tell: what rows or the game have put to sleep is in it
    /// until all that it touches sleeps too.
    fn mark_awake(&mut self) {
        let mut awake = core::mem::take(&mut self.awake);
        awake.clear();
        for handle in self.rapier.islands.active_bodies() {
            let at = handle.into_raw_parts().0 as usize;
            if awake.len() <= at {
                awake.resize(at + 1, false);
            }
            awake[at] = true;
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.changed == Changed::No) {
            let at = slot.handle.into_raw_parts().0 as usize;
            if awake.get(at) == Some(&true) {
                slot.changed = Changed::InStep;
            }
        }
        self.awake = awake;
    }
}
