//! What is shown: poses into `Transform`, for whoever draws.

use crate::directory::Directory;
use crate::entity::Networked;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Query, Res, Resource};
use bevy_ecs::query::With;
use bevy_transform::components::Transform;
use foretell::Views;
use foretell::motion::Pose;

/// What the player sees at the instant of the frame, by the session: each entity that is shown, with its pose, and its state at that
/// instant. Empty on a server.
#[derive(Resource, Default)]
pub struct Shown {
    pub(crate) views: Views,
}

impl Shown {
    /// All that is shown. An entity of several networked components has as many views.
    pub fn views(&self) -> &Views {
        &self.views
    }
}

/// Writes where entities are to be drawn, with the visual offset that hides corrections. Where nothing moves nothing is written.
pub(crate) fn write_transforms(
    shown: Res<Shown>,
    directory: Res<Directory>,
    mut transforms: Query<&mut Transform, With<Networked>>,
) {
    for view in shown.views.iter().filter(|view| view.component().has_pose()) {
        let found = directory.find(view.entity).map(|id| transforms.get_mut(id));
        if let Some(Ok(mut transform)) = found {
            let scale = transform.scale;
            transform.set_if_neq(transform_of(view.pose()).with_scale(scale));
        }
    }
}

/// A pose as Bevy has it; by arrays, as numbers are all that versions of its mathematics have in common.
#[expect(clippy::cast_possible_truncation, reason = "what is drawn is single precision")]
fn transform_of(pose: Pose) -> Transform {
    let position = pose.position.map(|metres| metres as f32);
    let mut transform = Transform::from_xyz(position[0], position[1], position[2]);
    transform.rotation = bevy_math::Quat::from_array(pose.rotation.map(|part| part as f32));
    transform
}
