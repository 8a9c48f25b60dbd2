//! The simulated network, by golden vectors and by its statistics.

mod golden;
mod statistics;
