//! Scenes of lanes: methods side by side, each scene in an engine of its own beside the session.

mod architectures;
pub mod companion;
mod crowd;
mod engine;
mod input_lag;
mod peek;
mod physics;
mod remote_screen;
mod shared_mode;
mod stepping;
mod styles;
mod timer;
mod window;
