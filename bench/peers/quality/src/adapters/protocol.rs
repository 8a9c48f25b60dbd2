//! The scene as lightyear has it: components, inputs, and the systems of both ends, as in its examples.

use crate::scene::{Body, Keys};
use bevy::ecs::entity::{EntityMapper, MapEntities};
use bevy::prelude::*;
use lightyear::interpolation::plugin::InterpolationSystems;
use lightyear::interpolation::timeline::InterpolationTimeline;
use lightyear::prelude::client::input::InputSystems;
use lightyear::prelude::input::native::{ActionState, InputMarker, InputPlugin};
use lightyear::prelude::*;
use serde::{Deserialize, Serialize};

/// Where a body is.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Default, Debug)]
pub struct Position(pub [f32; 2]);

/// How it moves.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Default, Debug)]
pub struct Velocity(pub [f32; 2]);

/// What a player presses, as it is sent.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Default, Debug, Reflect)]
pub struct Direction {
    up: bool,
    down: bool,
    left: bool,
    right: bool,
}

/// What is pressed on this machine.
#[derive(Resource, Default)]
pub struct Pressed(pub Keys);

/// Where a client's clocks stand in a frame.
#[derive(Resource, Default)]
pub struct Clocks {
    /// Whether it is in step with the server.
    pub is_synced: bool,
    /// The newest simulated tick, and how much of the next one has passed.
    pub own: (u32, f64),
    /// In which tick others are drawn.
    pub others: f64,
    /// For how many ticks an input waits.
    pub input_delay: u16,
}

/// What both ends have in common.
pub fn register(app: &mut App) {
    app.add_plugins(InputPlugin::<Direction>::default());
    app.component::<Position>().replicate().predict().add_linear_interpolation().add_correction();
    app.component::<Velocity>().replicate().predict();
}

/// The server's systems.
pub fn register_server(app: &mut App) {
    app.add_systems(FixedUpdate, walk_on_server);
}

/// The client's systems.
pub fn register_client(app: &mut App) {
    app.init_resource::<Pressed>().init_resource::<Clocks>();
    app.add_systems(FixedPreUpdate, press.in_set(InputSystems::WriteClientInputs));
    app.add_systems(FixedUpdate, walk_on_client);
    app.add_systems(Update, read_clocks.after(InterpolationSystems::All));
    app.add_observer(steer_controlled).add_observer(smooth_predicted);
}

fn walk_on_server(mut bodies: Query<'_, '_, (&mut Position, &mut Velocity, &ActionState<Direction>)>) {
    bodies.iter_mut().for_each(|(position, velocity, input)| walk(position, velocity, input));
}

fn walk_on_client(
    _timeline: SyncedLocalTimeline<'_, '_>,
    mut bodies: Query<'_, '_, (&mut Position, &mut Velocity, &ActionState<Direction>), With<Predicted>>,
) {
    bodies.iter_mut().for_each(|(position, velocity, input)| walk(position, velocity, input));
}

fn walk(mut position: Mut<'_, Position>, mut velocity: Mut<'_, Velocity>, input: &ActionState<Direction>) {
    let mut body = Body { position: position.0, velocity: velocity.0 };
    body.step(Keys::from(&input.0));
    position.set_if_neq(Position(body.position));
    velocity.set_if_neq(Velocity(body.velocity));
}

fn press(pressed: Res<'_, Pressed>, mut own: Query<'_, '_, &mut ActionState<Direction>, With<InputMarker<Direction>>>) {
    for mut input in &mut own {
        input.0 = Direction::from(pressed.0);
    }
}

fn steer_controlled(trigger: On<'_, '_, Add, Controlled>, mut commands: Commands<'_, '_>) {
    commands.entity(trigger.entity).insert(InputMarker::<Direction>::default());
}

/// As the renderers of its examples do it: what is predicted is drawn between two ticks.
fn smooth_predicted(trigger: On<'_, '_, Add, Predicted>, mut commands: Commands<'_, '_>) {
    commands.entity(trigger.entity).insert(FrameInterpolate);
}

/// After the interpolation and before clocks are set for the next frame: what is drawn is of these moments.
fn read_clocks(
    timeline: SyncedLocalTimeline<'_, '_>,
    fixed: Res<'_, Time<Fixed>>,
    others: Res<'_, InterpolationTimeline>,
    mut clocks: ResMut<'_, Clocks>,
) {
    *clocks = Clocks {
        is_synced: others.is_synced(),
        own: (timeline.current_tick().0, f64::from(fixed.overstep_fraction())),
        others: f64::from(others.tick().0) + f64::from(others.overstep().to_f32()),
        input_delay: timeline.input_delay(),
    };
}

impl Ease for Position {
    fn interpolating_curve_unbounded(start: Position, end: Position) -> impl Curve<Position> {
        let at = move |t: f32| Position(core::array::from_fn(|axis| start.0[axis] + (end.0[axis] - start.0[axis]) * t));
        FunctionCurve::new(Interval::UNIT, at)
    }
}

impl Diffable for Position {
    fn base_value() -> Position {
        Position::default()
    }

    fn diff(&self, new: &Position) -> Position {
        Position(core::array::from_fn(|axis| new.0[axis] - self.0[axis]))
    }

    fn apply_diff(&mut self, delta: &Position) {
        (0..2).for_each(|axis| self.0[axis] += delta.0[axis]);
    }
}

impl MapEntities for Direction {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

impl From<Keys> for Direction {
    fn from(Keys { up, down, left, right }: Keys) -> Direction {
        Direction { up, down, left, right }
    }
}

impl From<&Direction> for Keys {
    fn from(&Direction { up, down, left, right }: &Direction) -> Keys {
        Keys { up, down, left, right }
    }
}
