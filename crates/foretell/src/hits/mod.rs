//! Shots: rays, spheres and capsules that are swept along a line, and what they hit first of spheres, capsules and boxes; and rules of
//! the game's for who is hit.
//!
//! Pure functions of their arguments in metres; the same bits on every platform. What is hit where a player saw it says
//! [`Step::rewound`](crate::Step::rewound).

mod cast;
mod minkowski_sum;
mod shape;
mod victim_rules;

pub use cast::{Cast, CastHit, Contact};
pub use shape::Shape;
pub use victim_rules::{Defence, Verdict, VictimNow, VictimRules};
