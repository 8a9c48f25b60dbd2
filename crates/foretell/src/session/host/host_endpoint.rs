//! A server and the player of its program in one, as a game has it that hosts, or is played alone.

use super::local_player::{LocalPlayer, ServerSide};
use crate::session::client::{Frame, JoinDataTooLong, Show, Views};
use crate::session::server::{Server, ServerConfig};
use crate::session::{Outbox, PeerId, Rules, SendError};
use crate::time::{Instant, Tick};
use crate::wire::Malformed;
use crate::world::{Message, PlayerId, World};
use alloc::vec::Vec;

/// The server of a session in the program of one of its players: host mode, a listen server.
///
/// Driven as a [`Client`](crate::Client) is: [`receive`](Host::receive) every datagram as it comes,
/// [`update`](Host::update) once per rendered frame, but at least once per tick, send what the outbox holds, then
/// [`present`](Host::present). Nobody has to know in a step that this player is the host's: it is one of [`Step::joined`] and
/// [`Step::inputs`], by [`Received`](crate::InputStatus::Received) inputs of the very tick. They have no
/// [peer](Server::peer_of), can't be lost, and take one of the [places](ServerConfig::players_max).
///
/// *Fair?* The host's player is ahead of everybody by a way: their input counts without one, and they see the others in the newest
/// state there is. [`PlayerInput::presented`](crate::PlayerInput::presented) says of them, too, what they were looking at.
///
/// *Not there yet* in [shared mode](crate::Writer): the host's own player holds no entity by frame; what only they move, the
/// step moves. The others hold what they like.
///
/// [`Step::joined`]: crate::Step::joined
/// [`Step::inputs`]: crate::Step::inputs
pub struct Host<W: World> {
    server: Server<W>,
    player: LocalPlayer,
}

impl<W: World> Host<W> {
    /// A server whose tick 0 begins at `now`, with a player. `epoch` tells this server from an earlier one of the same address:
    /// give it another value at every start.
    ///
    /// # Panics
    /// When the rules have more than eight [fingerprints](Rules::fingerprints), or are [exact](Rules::exact) and can't be.
    pub fn new(rules: Rules, config: ServerConfig, epoch: u8, now: Instant) -> Host<W> {
        Host::of(Server::new(rules, config, epoch, now), Show::default())
    }

    /// A server, made as it has to be, with the player of this program, who is shown what there is as `show` says. The player takes a
    /// place with the first update or datagram: the server may have run before, and others be there.
    pub fn of(server: Server<W>, show: Show) -> Host<W> {
        Host { server, player: LocalPlayer::new(show) }
    }

    /// The same with what the game is to know of the player when they join, as [`LocalPlayer::with_data`].
    ///
    /// # Errors
    /// When it is longer than [`JOIN_DATA_MAX`](crate::world::JOIN_DATA_MAX), 1000 bytes.
    pub fn with_data(self, data: impl Into<Vec<u8>>) -> Result<Host<W>, JoinDataTooLong> {
        Ok(Host { player: self.player.with_data(data)?, ..self })
    }

    /// Takes in a datagram of another player's, as [`Server::receive`].
    ///
    /// # Errors
    /// [`Malformed`] when it is not a message of this protocol; it is counted and changes nothing.
    pub fn receive(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        let Host { server, player } = self;
        player.join(server);
        server.receive(now, peer, datagram)
    }

    /// Steps the world through all ticks that are due, and writes what is to be sent to the others. `input` is called once for each
    /// tick, just before it is stepped, in order; nothing of the session is called back from it.
    ///
    /// In the frame nothing is ever corrected or simulated again. What has happened to the others is in [`Server::frame`].
    pub fn update(
        &mut self,
        now: Instant,
        world: &mut W,
        input: &mut dyn FnMut(Tick) -> W::Input,
        outbox: &mut Outbox,
    ) -> Frame<'_> {
        let Host { server, player } = self;
        player.update(now, ServerSide { server, world, outbox }, input)
    }

    /// Fills `views` with every entity as it is to be drawn at `now`, as far as this player may see it. Reads only; call it after
    /// [`update`](Host::update), as often as frames are drawn.
    pub fn present(&self, now: Instant, views: &mut Views) {
        self.player.present(now, &self.server, views);
    }

    /// Sends a message of this player's to the server, which has it in its next update, or, where it is part of a step, in its next step.
    /// What the server [sends](Server::send) to this player is in the frame.
    ///
    /// # Errors
    /// [`SendError`]: nothing of it is sent.
    ///
    /// # Panics
    /// When the [rules](Rules::messages) have no such kind.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), SendError> {
        self.player.send(&mut self.server, message)
    }

    /// What the last update did, for this player.
    pub fn frame(&self) -> Frame<'_> {
        self.player.frame()
    }

    /// The player of this program; `None` before the first update, and where the session had no place left for them.
    pub fn player(&self) -> Option<PlayerId> {
        self.player.player()
    }

    /// The authority: who is there, how they fare, what the last update did for them.
    pub fn server(&self) -> &Server<W> {
        &self.server
    }

    /// The same, to be told what becomes of peers, to be configured, to be tapped. Update it by [`Host::update`] alone: in ticks that
    /// its own update steps nobody asks this player, and the gap policy makes up the input.
    pub fn server_mut(&mut self) -> &mut Server<W> {
        &mut self.server
    }
}
