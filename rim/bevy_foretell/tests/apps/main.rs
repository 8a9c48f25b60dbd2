//! Whole sessions between apps: a game of cubes over simulated links.

mod checked;
mod cubes;
mod example;
mod histories;
mod networks;
mod scenarios;
mod sessions;
mod steps;
