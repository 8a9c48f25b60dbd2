//! Whole sessions between apps: a game of cubes over simulated links.

#[cfg(feature = "rapier")]
mod bodies;
mod changes;
mod checked;
mod children;
mod cubes;
mod example;
mod golden;
mod histories;
mod networks;
mod scenarios;
mod sessions;
mod steps;
