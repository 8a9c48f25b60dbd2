//! How a program plays.

use crate::local::LocalServer;
#[cfg(feature = "net")]
use crate::net;
use bevy_ecs::prelude::Resource;
use foretell::Start;

/// How this program plays: insert it, and the session begins with the next frame. While there is one, another replaces it: what was
/// there of the former is despawned. [`Leave`](crate::Leave) ends it.
#[derive(Resource)]
#[cfg_attr(
    all(feature = "net", target_arch = "wasm32"),
    expect(clippy::large_enum_variant, reason = "there is one, which is moved once")
)]
pub enum Play {
    /// Alone: this program has the authority, and nothing is predicted.
    Alone,
    /// Alone as well, and as if it were over a network: predicted and corrected.
    Local(LocalServer),
    /// Nobody plays here, others join. Not in a browser.
    #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
    Serve(net::Serve),
    /// Who plays here has the authority, others join. Not in a browser.
    #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
    Host(net::Serve),
    /// On a server elsewhere.
    #[cfg(feature = "net")]
    Connect(net::Connect),
    /// Over a network that the game has itself: it moves [`Datagrams`](crate::Datagrams).
    ByHand(Start),
}

/// What the game is to know of the player of this program when they join, whatever [`Play`] says: a name, a team, in a form of the game's
/// own; at most 1000 bytes: more than that ends with [`NotConnected`](crate::NotConnected). It comes in [`Newcomer::data`](foretell::Newcomer::data). Inserted
/// before or with the [`Play`], and for those after it as well.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default)]
pub struct JoinData(pub Vec<u8>);

impl Play {
    /// Whether somebody plays at this program.
    pub(crate) fn has_player(&self) -> bool {
        match self {
            Play::ByHand(Start::Dedicated { .. }) => false,
            #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
            Play::Serve(_) => false,
            _ => true,
        }
    }

    /// Whether a client of this program predicts.
    pub(crate) fn is_client(&self) -> bool {
        match self {
            Play::Local(_) | Play::ByHand(Start::Client { .. }) => true,
            #[cfg(feature = "net")]
            Play::Connect(_) => true,
            _ => false,
        }
    }
}
