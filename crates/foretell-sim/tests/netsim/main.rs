//! The simulated network: by golden vectors, by its statistics, by a second way to reckon, and by sessions over it.

mod golden;
mod sessions;
mod statistics;
mod traces;
