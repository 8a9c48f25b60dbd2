//! The schedules that a game's systems are in, and the one in which the session runs them.

use bevy_ecs::schedule::ScheduleLabel;

/// The schedule that is one tick of the simulation: the same systems on server and client, and in each re-simulation. The session
/// runs it; as often as ticks are due, and as ticks are simulated again. Systems in it read nothing but what is registered, the
/// [step](crate::StepCommands) and constants.
///
/// Two systems of which one writes what the other uses have to be ordered, else the first run panics and names them: in another
/// order they might come to something else on the other end.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Simulation;

/// The schedule in which the game writes what its player presses into [`Pressed`](crate::Pressed): once in each frame, before its
/// ticks and after all of [`PreUpdate`](bevy_app::PreUpdate), in which Bevy reads the devices.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReadInput;

/// The schedule in which the session runs: directly after [`PreUpdate`](bevy_app::PreUpdate), and before states change.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RunSession;
