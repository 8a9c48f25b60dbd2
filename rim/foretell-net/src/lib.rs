//! Foretell sessions over real networks.
#![forbid(unsafe_code)]

mod account;
mod admission;
mod brake;
mod bytes;
mod certificate;
mod clock;
mod control;
mod crowd;
mod development;
mod door;
mod gateway;
mod join;
mod join_url;
mod player;
mod quic;
mod serve;
mod ticket;
mod token;
mod transport;
mod window;

pub use account::{Account, NAME_MAX, UnixTime};
pub use admission::Access;
pub use brake::Brake;
pub use certificate::{CertificateHash, Certificates};
pub use clock::Clock;
pub use control::Refused;
pub use crowd::Limits;
pub use gateway::{Arrival, Gateway, GatewayConfig, Traffic};
pub use join::{ConnectError, Credential};
pub use player::{Connected, JoinConfig, Player, connect};
pub use serve::{Running, ServeConfig, Status, serve};
pub use ticket::Ticket;
pub use token::{Issuer, Token};
pub use transport::{Came, Closed, PathFacts, Transport, Unsent};
