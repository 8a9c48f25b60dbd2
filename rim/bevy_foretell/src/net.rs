//! Sessions over real networks: what `foretell_net` has, driven by the frames of an app. In a browser one joins, and can't be joined.

mod background;
mod connect;
#[cfg(not(target_arch = "wasm32"))]
mod serve;

pub(crate) use connect::Joined;
pub use connect::{Connect, insecure_token};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use serve::serve;
#[cfg(not(target_arch = "wasm32"))]
pub use serve::{Serve, Serving};
