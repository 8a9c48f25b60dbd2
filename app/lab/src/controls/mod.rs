//! What can be chosen in a run: controls, their codes, and what they mean to links, clients and servers.

mod catalogue;
mod control;
mod key;
mod mobile;
mod network_controls;
mod peek_controls;
pub mod presets;
mod scene;
mod scene_controls;
mod session_controls;
mod settings;

pub use catalogue::{CONTROLS, control, key_named};
#[cfg(test)]
pub use control::{Control, Range};
pub use key::Key;
pub use scene::Scene;
pub use settings::Settings;
