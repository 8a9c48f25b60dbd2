//! Whole sessions between apps: a game of cubes over simulated links.

#[cfg(feature = "rapier")]
mod bodies;
#[cfg(feature = "rapier")]
mod body_states;
mod changes;
mod checked;
mod children;
mod cubes;
mod example;
mod golden;
mod held;
#[expect(clippy::type_complexity, reason = "what a system queries is said where it does")]
mod hierarchies;
mod histories;
mod joining;
mod networks;
mod scenarios;
mod sessions;
mod steps;
