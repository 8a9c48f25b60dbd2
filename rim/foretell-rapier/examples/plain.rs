//! A game over Rapier alone: a cube pushes crates into a goal, which eats them. `ported.rs` is the same for many players.

use foretell_rapier::rapier3d::prelude::*;

/// What is pressed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keys {
    right: i8,
    ahead: i8,
}

impl Keys {
    /// In a tick, by somebody who drives to and fro.
    pub(crate) fn at(tick: u32) -> Keys {
        Keys { right: i8::from(tick % 100 < 10), ahead: if tick % 200 < 120 { 1 } else { -1 } }
    }

    fn force(self) -> Vector {
        Vector::new(f32::from(self.right), 0.0, f32::from(self.ahead)) * 12.0
    }
}

const GRAVITY: Vector = Vector::new(0.0, -9.81, 0.0);

/// The floor, and the goal.
fn scenery() -> [ColliderBuilder; 2] {
    let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
    let goal = ColliderBuilder::cuboid(3.0, 1.0, 0.5).translation(Vector::new(0.0, 1.0, 6.0)).sensor(true);
    [floor, goal]
}

fn driver() -> (RigidBodyBuilder, ColliderBuilder) {
    (RigidBodyBuilder::dynamic().linear_damping(1.0), ColliderBuilder::cuboid(0.5, 0.5, 0.5))
}

fn small() -> (RigidBodyBuilder, ColliderBuilder) {
    (RigidBodyBuilder::dynamic(), ColliderBuilder::cuboid(0.2, 0.2, 0.2))
}

/// Where a driver starts.
fn start() -> Vector {
    Vector::new(0.0, 0.5, -2.0)
}

/// Where the crates stand at first.
fn places() -> impl Iterator<Item = Vector> {
    (0_u8..10).map(|nth| Vector::new(f32::from(nth % 5) - 2.0, 0.2, f32::from(nth / 5) + 1.0))
}

#[derive(Default)]
pub(crate) struct Game {
    pipeline: PhysicsPipeline,
    parameters: IntegrationParameters,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
    ccd: CCDSolver,
    driver: RigidBodyHandle,
    goal: ColliderHandle,
    pub(crate) points: u32,
}

impl Game {
    pub(crate) fn new() -> Game {
        let mut game = Game::default();
        for collider in scenery() {
            game.goal = game.colliders.insert(collider);
        }
        game.driver = game.spawn(start(), driver());
        for place in places() {
            game.spawn(place, small());
        }
        game
    }

    fn spawn(&mut self, place: Vector, (body, collider): (RigidBodyBuilder, ColliderBuilder)) -> RigidBodyHandle {
        let handle = self.bodies.insert(body.translation(place));
        self.colliders.insert_with_parent(collider, handle, &mut self.bodies);
        handle
    }

    pub(crate) fn step(&mut self, keys: Keys) {
        let driver = &mut self.bodies[self.driver];
        driver.reset_forces(false);
        driver.add_force(keys.force(), true);
        self.pipeline.step(
            GRAVITY,
            &self.parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd,
            &(),
            &(),
        );
        for eaten in self.inside_goal() {
            let (joints, multibody_joints) = (&mut self.joints, &mut self.multibody_joints);
            let (islands, colliders) = (&mut self.islands, &mut self.colliders);
            self.bodies.remove(eaten, islands, colliders, joints, multibody_joints, &mut self.soft_bodies, true);
            self.points += 1;
        }
    }

    fn inside_goal(&self) -> Vec<RigidBodyHandle> {
        let inside = self.narrow_phase.intersection_pairs_with(self.goal).filter(|(_, _, inside)| *inside);
        let others = inside.map(|(one, other, _)| if one == self.goal { other } else { one });
        others.filter_map(|other| self.colliders[other].parent()).filter(|body| *body != self.driver).collect()
    }
}

fn main() {
    let mut game = Game::new();
    for tick in 0..600 {
        game.step(Keys::at(tick));
    }
    println!("{} points", game.points);
}
