//! Rows of others by their curve between the states that are known of them: as a client shows them, and as a server judges a shot
//! by them. Pure: states and a point in, a row out.

mod cubic_weights;
mod curve;
mod row_interpolator;
mod row_motion;

pub(crate) use cubic_weights::{LastSpan, Span};
pub use curve::{Curve, PoseSource};
pub(crate) use row_interpolator::{RowInterpolator, Sample};
pub(crate) use row_motion::{RowBuffer, ahead, apply, blend, placed_row, set_position, velocity_of};
