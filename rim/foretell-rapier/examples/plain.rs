//! A game over Rapier alone: a cube pushes crates into a goal, which eats them. `ported.rs` is the same for many players.

use foretell_rapier::rapier3d::prelude::*;

#[derive(Clone, Copy, Default)]
struct Keys {
    right: i8,
    ahead: i8,
}

#[derive(Default)]
struct Game {
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
    points: u32,
}

impl Game {
    fn new() -> Game {
        let mut game = Game::default();
        let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
        game.colliders.insert(floor);
        let goal = ColliderBuilder::cuboid(3.0, 1.0, 0.5).translation(Vector::new(0.0, 1.0, 6.0)).sensor(true);
        game.goal = game.colliders.insert(goal);
        game.driver = game.add(Vector::new(0.0, 0.5, -2.0), RigidBodyBuilder::dynamic().linear_damping(1.0), 0.5);
        for nth in 0_u8..10 {
            let place = Vector::new(f32::from(nth % 5) - 2.0, 0.2, f32::from(nth / 5) + 1.0);
            game.add(place, RigidBodyBuilder::dynamic(), 0.2);
        }
        game
    }

    fn add(&mut self, place: Vector, body: RigidBodyBuilder, half: f32) -> RigidBodyHandle {
        let handle = self.bodies.insert(body.translation(place));
        let cube = ColliderBuilder::cuboid(half, half, half);
        self.colliders.insert_with_parent(cube, handle, &mut self.bodies);
        handle
    }

    fn step(&mut self, keys: Keys) {
        let push = Vector::new(f32::from(keys.right), 0.0, f32::from(keys.ahead)) * 12.0;
        self.bodies[self.driver].reset_forces(false);
        self.bodies[self.driver].add_force(push, true);
        self.pipeline.step(
            Vector::new(0.0, -9.81, 0.0),
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
        let inside = self.narrow_phase.intersection_pairs_with(self.goal).filter(|(_, _, inside)| *inside);
        let others = inside.map(|(one, other, _)| if one == self.goal { other } else { one });
        let eaten: Vec<_> = others.filter_map(|collider| self.colliders[collider].parent()).collect();
        for crate_ in eaten.into_iter().filter(|body| *body != self.driver) {
            let (joints, multibody_joints) = (&mut self.joints, &mut self.multibody_joints);
            let (islands, colliders) = (&mut self.islands, &mut self.colliders);
            self.bodies.remove(crate_, islands, colliders, joints, multibody_joints, &mut self.soft_bodies, true);
            self.points += 1;
        }
    }
}

fn main() {
    let mut game = Game::new();
    for tick in 0..600 {
        game.step(Keys { right: if tick % 100 < 10 { 1 } else { 0 }, ahead: if tick % 200 < 120 { 1 } else { -1 } });
    }
    println!("{} points", game.points);
}
