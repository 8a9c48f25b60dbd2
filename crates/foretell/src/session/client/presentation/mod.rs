//! What the player sees: rows as motions, others at the playout cursor, offsets that hide corrections, lives of entities.

mod curves;
mod error_offsets;
mod followers;
mod lifecycles;
mod playout;
#[expect(clippy::module_inception, reason = "the part that the others are of")]
mod presentation;
mod remote_playback;
mod remote_window;
mod row_motion;
mod sample_window;
mod view;
mod visual_state;

pub use curves::Curve;
pub(super) use curves::Curves;
pub(super) use presentation::Presentation;
pub(super) use row_motion::RowBuffer;
pub use view::{Source, View};
pub(super) use visual_state::{HeldShown, Sources};
