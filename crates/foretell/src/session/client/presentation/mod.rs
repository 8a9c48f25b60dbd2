//! What the player sees: others at the playout cursor, offsets that hide corrections, lives of entities.

mod error_offsets;
mod followers;
mod lifecycles;
mod playout;
mod playout_samples;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod presentation;
mod remote_playback;
mod tick_interpolation;
mod view;
mod views;
mod visual_state;

pub(in crate::session) use lifecycles::Lifecycles;
pub(super) use presentation::Presentation;
pub(in crate::session) use tick_interpolation::StatePair;
pub use view::View;
pub use views::{Views, ViewsIter};
pub(super) use visual_state::{HeldShown, Sources};
