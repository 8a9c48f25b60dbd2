#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "rapier")]
mod bodies;
mod checked;
mod column;
mod directory;
mod display;
mod driver;
mod entity;
mod events;
mod game_world;
mod held;
mod hierarchy;
mod local;
mod messages;
#[cfg(feature = "net")]
mod net;
mod play;
mod plugin;
mod registry;
pub mod rig;
mod rolled_back;
mod schedules;
mod session;
mod settings;
mod start;
mod step;
mod step_messages;
#[cfg(feature = "net")]
mod told;
mod tree;

#[cfg(feature = "rapier")]
pub use bodies::{Bodies, BodyComponent, move_bodies, prepare_bodies};
pub use display::Shown;
pub use driver::Datagrams;
pub use entity::{Driven, Gone, Networked, Simulated};
pub use events::{
    Appeared, ChangeConfirmed, ChangeRefused, ClientSaid, Confirmed, Connection, Corrected, EffectCancelled,
    EffectHappened, Hidden, HitJudged, NotConnected, ServerSaid, Withdrawn,
};
/// The name of an entity, the same on both ends: Bevy has an `Entity` of its own.
pub use foretell::Entity as NetEntity;
pub use foretell::session::Claim;
pub use foretell::session::client::AuthorityChange;
pub use foretell::{EffectKind, Input, InterestRules, Message, Newcomer, PlayerId, Reason, Start, State, To};
#[cfg(all(feature = "net", not(target_arch = "wasm32")))]
pub use foretell_net::Access;
pub use game_world::{GameWorld, SavedWorld};
pub use held::{AuthorityChanged, Held, ReleaseAuthority, RequestAuthority};
pub use local::LocalServer;
pub use messages::{Received, Say, Unsent};
#[cfg(feature = "net")]
pub use net::{Connect, insecure_token};
#[cfg(all(feature = "net", not(target_arch = "wasm32")))]
pub use net::{Serve, Serving};
pub use play::{JoinData, Play};
pub use plugin::ForetellPlugin;
pub use registry::ForetellApp;
pub use schedules::{ReadInput, Simulation};
pub use session::{Leave, LocalPlayer, Pressed, RemovePlayer, Stats};
pub use step::{StepCommands, StepInputs};
pub use step_messages::StepMessages;
