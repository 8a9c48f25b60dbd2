//! How a body is kept in components of Bevy: in one, or in three.

use bevy::prelude::*;
use foretell_crowd::Body;
use serde::{Deserialize, Serialize};

/// A way to keep a body.
pub trait Components: 'static {
    /// On an entity of the server's.
    type Bundle: Bundle;

    fn bundle(body: Body) -> Self::Bundle;

    /// Overwrites what an entity has.
    fn write(entity: EntityWorldMut<'_>, body: Body);

    /// All that a world has.
    fn bodies(world: &mut World) -> Vec<Body>;
}

/// All in one component.
pub struct One;

/// A component for each.
pub struct Three;

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
pub struct Whole {
    position: [f32; 3],
    rotation: [f32; 4],
    velocity: [f32; 3],
}

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
pub struct Position([f32; 3]);

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
pub struct Rotation([f32; 4]);

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
pub struct Velocity([f32; 3]);

impl Components for One {
    type Bundle = Whole;

    fn bundle(Body { position, rotation, velocity }: Body) -> Whole {
        Whole { position, rotation, velocity }
    }

    fn write(mut entity: EntityWorldMut<'_>, body: Body) {
        *entity.get_mut::<Whole>().expect("it has one") = One::bundle(body);
    }

    fn bodies(world: &mut World) -> Vec<Body> {
        let body = |whole: &Whole| {
            let Whole { position, rotation, velocity } = *whole;
            Body { position, rotation, velocity }
        };
        world.query::<&Whole>().iter(world).map(body).collect()
    }
}

impl Components for Three {
    type Bundle = (Position, Rotation, Velocity);

    fn bundle(Body { position, rotation, velocity }: Body) -> Self::Bundle {
        (Position(position), Rotation(rotation), Velocity(velocity))
    }

    fn write(mut entity: EntityWorldMut<'_>, body: Body) {
        entity.get_mut::<Position>().expect("it has one").0 = body.position;
        entity.get_mut::<Rotation>().expect("it has one").0 = body.rotation;
        entity.get_mut::<Velocity>().expect("it has one").0 = body.velocity;
    }

    fn bodies(world: &mut World) -> Vec<Body> {
        let body = |(position, rotation, velocity): (&Position, &Rotation, &Velocity)| {
            let (position, rotation, velocity) = (position.0, rotation.0, velocity.0);
            Body { position, rotation, velocity }
        };
        world.query::<(&Position, &Rotation, &Velocity)>().iter(world).map(body).collect()
    }
}
