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
pub enum Play {
    /// Alone: this program has the authority, and nothing is predicted.
    Alone,
    /// Alone as well, and as if it were over a network: predicted and corrected.
    Local(LocalServer),
    /// Nobody plays here, others join.
    #[cfg(feature = "net")]
    Serve(net::Serve),
    /// Who plays here has the authority, others join.
    #[cfg(feature = "net")]
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
            #[cfg(feature = "net")]
            Play::Serve(_) | Play::Host(_) => false,
            #[cfg(feature = "net")]
            Play::Connect(_) => true,
        }
    }

    #[cfg_attr(not(feature = "net"), expect(unused_variables, reason = "only a network says something of itself"))]
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
            #[cfg(feature = "net")]
            Play::Serve(serve) => served(world, net::serve(serve, config, false)?),
            #[cfg(feature = "net")]
            Play::Host(serve) => served(world, net::serve(serve, config, true)?),
            #[cfg(feature = "net")]
            Play::Connect(connect) => Box::new(net::Joined::new(connect, config)?),
        })
    }
}

/// A session that has begun, or why it has not.
pub(crate) type Begun<I> = Result<Box<dyn Driver<I>>, String>;

#[cfg(feature = "net")]
fn served<I: Input + Send + Sync>(
    world: &mut World,
    (session, serving): (Over<I, net::Port>, net::Serving),
) -> Box<dyn Driver<I>> {
    world.insert_resource(serving);
    Box::new(session)
}
