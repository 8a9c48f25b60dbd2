//! What the player sees: others at the playout cursor, offsets that hide corrections, lives of entities.

mod error_offsets;
mod followers;
mod lifecycles;
mod playout_clock;
mod playout_reader;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod presentation;
mod remote_playback;
mod tick_interpolation;
mod unsmoothed_state;
mod view;
mod views;

pub(in crate::session) use lifecycles::Lifecycles;
pub(super) use presentation::Presentation;
pub(in crate::session) use tick_interpolation::StatePair;
pub(super) use unsmoothed_state::{Motion, Sources};
pub use view::View;
pub use views::{Views, ViewsIter};
