//! Foretell sessions over real networks: WebTransport over QUIC, WebSocket where no UDP passes, players with tokens.
//!
//! [`serve`] runs a world on a port, [`serve_with`] with a hook between ticks, [`connect`] joins it. [`host`] does both in a player's
//! own program, and [`alone`] is the same without anybody else. A [`Gateway`] is all of a server's network for who has a loop
//! of their own, [`Transport`] what a session asks of a network.
//!
//! ```no_run
//! use foretell::{Rules, Views, World};
//! use foretell_net::{Access, Account, Issuer, JoinConfig, ServeConfig, Token, UnixTime};
//! use std::time::Duration;
//!
//! // Whoever knows the players gives them tokens: a login service, a matchmaker.
//! fn token(seed: &[u8; 32]) -> Token {
//!     let alice = Account::new("alice").expect("a name");
//!     Issuer::new(seed, "my game").issue(&alice, UnixTime::now(), Duration::from_secs(60))
//! }
//!
//! // The server knows the public key alone. It ends when it was told to drain, and is empty.
//! async fn server<W>(world: W, rules: Rules, public_key: [u8; 32]) -> std::io::Result<()>
//! where
//!     W: World<Input: Send, Saved: Send> + Send + 'static,
//! {
//!     let config = ServeConfig::new(rules, Access::new("my game", public_key));
//!     let server = foretell_net::serve("0.0.0.0:4433".parse().expect("an address"), world, config).await?;
//!     println!("players join {}", server.url("127.0.0.1"));
//!     server.ended().await
//! }
//!
//! // A player, with a frame each 16 ms.
//! async fn player<W: World + Default>(url: &str, token: Token, rules: Rules) -> Result<(), foretell_net::ConnectError> {
//!     let mut player = foretell_net::connect(url, token, JoinConfig::new(rules)).await?;
//!     let (mut world, mut views) = (W::default(), Views::new());
//!     loop {
//!         player.update(&mut world, &mut |_tick| W::Input::default());
//!         player.present(&mut views);
//!         for view in &views {
//!             println!("draw {} at {:?}", view.entity, view.pose().position);
//!         }
//!         tokio::time::sleep(Duration::from_millis(16)).await;
//!     }
//! }
//! ```
//!
//! **What a server trusts.** TLS proves the server to the client; a [`Token`] proves the player to the server, once, and a
//! [`ResumeTicket`] again after a broken connection. With [`Access::insecure_development`] anybody is anybody.
//!
//! **What it costs.** One datagram of at most 1150 bytes per client and tick, mostly; more where a snapshot has parts. A rate
//! limit is what limits it ([`RateLimit`]). What one connection can make a server keep is bounded.
#![forbid(unsafe_code)]

mod account;
mod bytes;
mod control;
mod credential;
mod development;
mod framing;
mod impairment;
mod inbox;
mod join;
mod join_url;
#[cfg(any(target_arch = "wasm32", test))]
mod pieces;
mod player;
mod rate_limit;
#[cfg(any(target_arch = "wasm32", test))]
mod silence;
mod token;
mod transport;

// One room for each platform; to the files above either is `platform`.
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
use browser as platform;
#[cfg(not(target_arch = "wasm32"))]
use native as platform;

pub use account::{Account, NAME_MAX, UnixTime};
pub use control::Refused;
pub use credential::{Credential, ResumeTicket, Token};
pub use impairment::Impairment;
pub use join::{ConnectError, Via};
pub use join_url::CertificateHash;
pub use platform::Clock;
pub use player::{Connected, JoinConfig, Player, connect};
pub use rate_limit::RateLimit;
pub use token::{Issuer, random_key};
pub use transport::{Came, Closed, PathFacts, Transport, Unsent};

#[cfg(not(target_arch = "wasm32"))]
pub use native::{
    admission::Access,
    certificate::Certificates,
    gateway::Gateway,
    hosting::{Hosting, alone, host},
    join_url::join_url,
    limits::Limits,
    listen::GatewayConfig,
    network::{first_to_go, network, network_bits, network_of},
    runtime::runtime,
    serve::{Running, ServeConfig, Status, epoch_of_now, serve, serve_with},
    server_tick::ServerTick,
    tick_times::TickTimes,
    traffic::{Arrival, Traffic},
};
