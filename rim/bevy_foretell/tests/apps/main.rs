//! Whole sessions between apps: a game of cubes over simulated links.

mod cubes;
mod histories;
mod scenarios;
mod sessions;
mod steps;
