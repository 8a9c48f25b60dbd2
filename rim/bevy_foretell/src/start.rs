//! How a session is begun, however the program plays.

use crate::driver::{ByHand, Driver, Over};
use crate::local::Locally;
#[cfg(feature = "net")]
use crate::net;
use crate::play::{JoinData, Play};
use crate::rig::headless;
use bevy_ecs::prelude::World;
use foretell::{Input, Instant, Session, SessionConfig, Start};

/// A session that has begun, or why it has not. What the game may know of its network is put into the world.
pub(crate) fn start<I: Input + Send + Sync>(
    play: Play,
    world: &mut World,
    config: SessionConfig,
    now: Instant,
) -> Result<Box<dyn Driver<I>>, String> {
    let config = match world.get_resource::<JoinData>().filter(|JoinData(data)| play.has_player() && !data.is_empty()) {
        Some(JoinData(data)) => config.with_data(&data[..]).map_err(|error| error.to_string())?,
        None => config,
    };
    Ok(match play {
        Play::Alone => Box::new(Over::new(Session::start(Start::Single, config, now), ByHand)),
        Play::ByHand(start) => Box::new(Over::new(Session::start(start, config, now), ByHand)),
        Play::Local(local) => {
            let server = headless(local.game, Play::ByHand(Start::Dedicated { epoch: 1 }));
            let session = Session::start(Start::Client { nonce: 1 }, config, now);
            Box::new(Over::new(session, Locally::new(server, local.conditions, now)))
        }
        #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
        Play::Serve(serve) => Box::new(net::serve(serve, false, world, config)?),
        #[cfg(all(feature = "net", not(target_arch = "wasm32")))]
        Play::Host(serve) => Box::new(net::serve(serve, true, world, config)?),
        #[cfg(feature = "net")]
        Play::Connect(connect) => Box::new(net::Joined::new(connect, config)?),
    })
}
