//! A network in one process, in virtual time and from seeds (R9, D31). So far, the random numbers that it draws.

mod rng;

pub use rng::{Pcg32, SplitMix64};
