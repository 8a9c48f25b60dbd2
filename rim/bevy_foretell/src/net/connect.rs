//! A player of a server elsewhere, in programs and in browsers.

use crate::driver::{Driver, End};
use crate::game_world::GameWorld;
use crate::held;
use crate::net::background::{Background, Begun};
use core::task::{Context, Poll, Waker};
use foretell::{ClientState, Frame, Input, Instant, Rules, Schema, SessionConfig, Tick, Views};
use foretell_net::{Account, ConnectError, Connected, Credential, JoinConfig, Player, Token, UnixTime};

/// A player of a server elsewhere.
pub struct Connect {
    url: String,
    /// Or why there is none.
    credential: Result<Credential, String>,
    /// As what they come. Its `rules` and `client` do not count: the plugin's do; and its `data` only where neither [`JoinData`](crate::JoinData)
    /// nor the configuration says any.
    pub config: JoinConfig,
}

impl Connect {
    /// To the server at `url` (`Serving::url`), with a token or a ticket.
    pub fn to(url: &str, credential: impl Into<Credential>) -> Connect {
        Connect::with(url, Ok(credential.into()))
    }

    /// The same under a name, where the server lets in anybody. Of what is no name it is said when the session begins.
    pub(crate) fn under_any_name(url: &str, name: &str) -> Connect {
        let no_name = || format!("a name has 1 to 64 bytes and no control characters, unlike {name:?}");
        Connect::with(url, insecure_token(name).map(Credential::from).ok_or_else(no_name))
    }

    fn with(url: &str, credential: Result<Credential, String>) -> Connect {
        let config = JoinConfig::new(Rules::new(Schema::default()));
        Connect { url: url.to_owned(), credential, config }
    }
}

/// A token for a server that lets in anybody under any name (`Access::insecure_development`); `None` where that is no name: 1 to 64
/// bytes without control characters.
pub fn insecure_token(name: &str) -> Option<Token> {
    Some(Token::insecure(&Account::new(name)?, UnixTime::now()))
}

/// A connection that is being made.
type Connecting<I> = Begun<Result<Player<GameWorld<I>>, ConnectError>>;

/// How far a player is on the way to the server.
enum Way<I: Input + Send + Sync> {
    Connecting(Connecting<I>),
    Playing(Box<Player<GameWorld<I>>>),
    Failed(String),
}

impl<I: Input + Send + Sync> Way<I> {
    /// Looks whether the connection is there by now. Nobody has to wake it: each frame looks.
    fn look(&mut self) {
        if let Way::Connecting(connecting) = self {
            match connecting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => {}
                Poll::Ready(Ok(player)) => *self = Way::Playing(Box::new(player)),
                Poll::Ready(Err(why)) => *self = Way::Failed(why.to_string()),
            }
        }
    }
}

/// A player of a server elsewhere.
pub(crate) struct Joined<I: Input + Send + Sync> {
    way: Way<I>,
    background: Background,
}

impl<I: Input + Send + Sync> Joined<I> {
    pub fn new(connect: Connect, config: SessionConfig) -> Result<Joined<I>, String> {
        let Connect { url, credential, config: join } = connect;
        let credential = credential?;
        let data = if config.data().is_empty() { join.data } else { config.data().to_vec() };
        let config = JoinConfig { rules: config.rules, client: config.client, data, ..join };
        let connecting = async move { foretell_net::connect(&url, credential, config).await };
        let background = Background::new()?;
        Ok(Joined { way: Way::Connecting(background.begin(connecting)), background })
    }
}

/// A frame of a player who is not connected yet.
fn connecting() -> Frame<'static> {
    let (state, tick) = (ClientState::Joining, Tick::ZERO);
    Frame { state, tick, ticks: 0, resimulated: 0, corrections: &[], events: &[], messages: &[] }
}

impl<I: Input + Send + Sync> Driver<I> for Joined<I> {
    fn now(&self, now: Instant) -> Instant {
        match &self.way {
            Way::Playing(player) => player.clock().now(),
            _ => now,
        }
    }

    fn update(&mut self, _: Instant, game: &mut GameWorld<I>, input: &mut dyn FnMut() -> I) -> Frame<'_> {
        let Joined { way, background } = self;
        background.within(|| {
            way.look();
            match way {
                Way::Playing(player) => {
                    player.update_moving(game, |client, game, now| held::hold(client, game.world(), now), &mut |_| {
                        input()
                    })
                }
                Way::Connecting(_) | Way::Failed(_) => connecting(),
            }
        })
    }

    fn present(&self, _: Instant, views: &mut Views) {
        if let Way::Playing(player) = &self.way {
            player.present(views);
        }
    }

    fn end(&mut self) -> Option<End<'_, I>> {
        match &mut self.way {
            Way::Playing(player) => Some(End::Client(player.client_mut())),
            _ => None,
        }
    }

    fn failed(&self) -> Option<String> {
        match &self.way {
            Way::Failed(why) => Some(why.clone()),
            Way::Connecting(_) => None,
            Way::Playing(player) => match player.connected() {
                Connected::Yes | Connected::Rejoining => None,
                Connected::Closed(why) => Some(why.to_string()),
                Connected::Refused(why) => Some(why.to_string()),
                Connected::GivenUp => Some("the server has not answered for too long".to_owned()),
            },
        }
    }

    fn leave(self: Box<Self>, _: Instant, _: &mut GameWorld<I>) {
        let Joined { way, background } = *self;
        match way {
            Way::Playing(player) => background.finish(player.leave()),
            Way::Connecting(_) | Way::Failed(_) => background.abandon(),
        }
    }
}
