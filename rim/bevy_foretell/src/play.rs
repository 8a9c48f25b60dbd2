//! How a program plays.

use crate::driver::{ByHand, Driver, Over};
use crate::local::{LocalServer, Locally};
#[cfg(feature = "net")]
use crate::net;
use bevy_ecs::prelude::{Resource, World};
use foretell::{Input, Instant, Session, SessionConfig, Start};

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

impl Play {
    pub(crate) fn is_client(&self) -> bool {
        match self {
            Play::ByHand(start) => matches!(start, Start::Client { .. }),
            Play::Alone => false,
            Play::Local(_) => true,
            #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
            Play::Serve(_) | Play::Host(_) => false,
            #[cfg(feature = "net")]
            Play::Connect(_) => true,
        }
    }

    #[cfg_attr(
        any(not(feature = "net"), target_arch = "wasm32"),
        expect(unused_variables, reason = "only a network says something of itself")
    )]
    pub(crate) fn driver<I: Input + Send + Sync>(
        self,
        world: &mut World,
        config: SessionConfig,
        now: Instant,
    ) -> Begun<I> {
        let start = |start| Session::start(start, config.clone(), now);
        Ok(match self {
            Play::Alone => Box::new(Over::new(start(Start::Single), ByHand)),
            Play::ByHand(how) => Box::new(Over::new(start(how), ByHand)),
            Play::Local(local) => Box::new(Over::new(start(Start::Client { nonce: 1 }), Locally::new(local, now))),
            #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
            Play::Serve(serve) => served(world, net::serve(serve, config, false)?),
            #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
            Play::Host(serve) => served(world, net::serve(serve, config, true)?),
            #[cfg(feature = "net")]
            Play::Connect(connect) => Box::new(net::Joined::new(connect, config)?),
        })
    }
}

/// A session that has begun, or why it has not.
pub(crate) type Begun<I> = Result<Box<dyn Driver<I>>, String>;

#[cfg(all(feature = "net", not(target_arch = "wasm32")))]
fn served<I: Input + Send + Sync>(
    world: &mut World,
    (session, serving): (Over<I, net::Port>, net::Serving),
) -> Box<dyn Driver<I>> {
    world.insert_resource(serving);
    Box::new(session)
}
