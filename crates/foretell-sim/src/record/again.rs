//! The endpoints of a replay: a client or a server that is given again what it was given.

use super::agreement::{ClientReplay, ServerReplay};
use super::digest::{client_digest, server_digest};
use super::format::{Content, SAID_TOO_LONG, stream_long, stream_owner};
use super::given_inputs::GivenInputs;
use super::peers::stream_peer_call;
use super::recorder::{NOT_PREDICTED, PREDICTED};
use super::rows::{NO_KEY, RowWidths};
use super::settings::Config;
use alloc::sync::Arc;
use alloc::vec::Vec;
use foretell::session::client::{Client, ClientCall, Frame};
use foretell::session::host::{LocalPlayer, ServerSide};
use foretell::session::server::{PeerCall, Server, ServerFrame, To};
use foretell::session::{Outbox, PeerId};
use foretell::time::{Instant, Tick};
use foretell::wire::{BitReader, Malformed, Stream};
use foretell::world::{PlayerId, ROW_WORDS_MAX, RemovedRow, Row, RowKey, Rows, World};

/// An endpoint that is run again.
pub(super) trait Again {
    type Config: Config;
    fn config(&mut self) -> &mut Self::Config;
    fn receive(&mut self, now: Instant, from: PeerId, datagram: &[u8]);
    /// Updates, with the inputs that the reader holds. Says for which tick there is an input on one side only.
    fn update(&mut self, now: Instant, reader: BitReader<'_>) -> Result<Option<Tick>, Malformed>;
    fn digest(&self) -> (Tick, u64);

    /// What was said of a peer, or of a player.
    fn call(&mut self, reader: BitReader<'_>) -> Result<(), Malformed>;

    /// A message of a kind of the rules is sent: to whom, or, where that is not said, to the server.
    fn send(&mut self, to: Option<To>, kind: usize, bytes: &Arc<[u8]>);

    /// How many kinds of messages there are.
    fn message_kinds(&self) -> usize;

    /// What only one of the two ends is given.
    fn other(&mut self, content: Content, reader: BitReader<'_>) -> Result<(), Malformed>;
}

/// A client that is run again.
pub(super) struct ClientAgain<'a, W: World> {
    pub client: Client<W>,
    pub world: W,
    pub outbox: Outbox,
    pub widths: Vec<u8>,
    pub rows: RowWidths,
    pub replay: ClientReplay,
    /// What the game does to its world after each update.
    pub after_update: &'a mut dyn FnMut(&mut W, &Frame<'_>),
}

impl<W: World> Again for ClientAgain<'_, W> {
    type Config = foretell::session::client::ClientConfig;

    fn config(&mut self) -> &mut Self::Config {
        self.client.config_mut()
    }

    fn receive(&mut self, now: Instant, _from: PeerId, datagram: &[u8]) {
        // A malformed one was recorded as any other, and is counted again.
        let _ = self.client.receive(now, datagram);
    }

    fn call(&mut self, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let (mut number, mut player) = (0, 0);
        reader.u8(&mut number)?;
        stream_long(&mut reader, &mut player)?;
        reader.finish()?;
        if number != PREDICTED && number != NOT_PREDICTED {
            return Err(Malformed::OutOfRange("call"));
        }
        let player = u16::try_from(player).map_err(|_| Malformed::OutOfRange("player"))?;
        self.client.predict(PlayerId::new(player), number == PREDICTED);
        Ok(())
    }

    fn send(&mut self, _to: Option<To>, kind: usize, bytes: &Arc<[u8]>) {
        // One that could not be sent was recorded as any other.
        let _ = self.client.send_bytes(kind, bytes);
    }

    fn message_kinds(&self) -> usize {
        self.client.rules().messages.kinds().len()
    }

    fn other(&mut self, content: Content, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        if content != Content::Entity {
            return Err(Malformed::OutOfRange("content"));
        }
        let mut call = ClientCall::Release(NO_KEY.entity);
        self.rows.stream_call(&mut reader, &mut call)?;
        reader.finish()?;
        self.client.call(&call);
        Ok(())
    }

    fn update(&mut self, now: Instant, reader: BitReader<'_>) -> Result<Option<Tick>, Malformed> {
        let ClientAgain { client, world, outbox, widths, replay, after_update, .. } = self;
        let mut given = GivenInputs::read(widths, reader)?;
        let frame = client.update(now, world, &mut |tick| given.take(tick), outbox);
        replay.corrections.extend(frame.corrections.iter().map(|correction| (now, *correction)));
        replay.events.extend(frame.events.iter().map(|event| (now, *event)));
        after_update(world, &frame);
        outbox.clear();
        Ok(given.differs())
    }

    fn digest(&self) -> (Tick, u64) {
        (self.client.tick(), client_digest(&self.client))
    }
}

/// A server that is run again.
pub(super) struct ServerAgain<'a, W: World> {
    pub server: Server<W>,
    /// The player who sits at it.
    pub local: Option<LocalPlayer>,
    pub world: W,
    pub outbox: Outbox,
    pub widths: Vec<u8>,
    pub rows: RowWidths,
    pub outside: Rows,
    pub replay: ServerReplay,
    /// What the game does to its world after each update.
    pub after_update: &'a mut dyn FnMut(&mut W, &ServerFrame<'_>),
}

impl<W: World> Again for ServerAgain<'_, W> {
    type Config = foretell::session::server::ServerConfig;

    fn config(&mut self) -> &mut Self::Config {
        self.server.config_mut()
    }

    fn receive(&mut self, now: Instant, from: PeerId, datagram: &[u8]) {
        // A malformed one was recorded as any other, and is counted again.
        let _ = self.server.receive(now, from, datagram);
    }

    fn update(&mut self, now: Instant, reader: BitReader<'_>) -> Result<Option<Tick>, Malformed> {
        let ServerAgain { server, local, world, outbox, widths, replay, after_update, .. } = self;
        let mut given = GivenInputs::read(widths, reader)?;
        if let Some(local) = local {
            local.update(now, ServerSide { server, world, outbox }, &mut |tick| given.take(tick));
        } else {
            server.update(now, world, outbox);
        }
        let frame = server.frame();
        replay.events.extend(frame.events.iter().map(|event| (now, *event)));
        replay.late.extend(frame.late.iter().map(|late| (now, *late)));
        after_update(world, &frame);
        outbox.clear();
        Ok(given.differs())
    }

    fn digest(&self) -> (Tick, u64) {
        (self.server.tick(), server_digest(&self.server))
    }

    fn call(&mut self, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let (mut call, mut peer) = (PeerCall::Join, PeerId::default());
        stream_peer_call(&mut reader, &mut call, &mut peer)?;
        reader.finish()?;
        match call {
            PeerCall::Join => {
                // Where there was no place left, there is none again.
                let _ = self.server.try_join(peer);
            }
            PeerCall::Leave => self.server.leave(peer),
            PeerCall::Disconnected => self.server.disconnected(peer),
            PeerCall::Release => self.server.release(peer),
            PeerCall::Identify(account) => self.server.identify(peer, account),
            PeerCall::Remove(player, reason) => self.server.remove(player, reason),
            PeerCall::JoinHere(show, data) => {
                let mut local = LocalPlayer::new(show).with_data(data).map_err(|_| SAID_TOO_LONG)?;
                local.join(&mut self.server);
                // Who sits there already stays, whatever else is asked.
                if self.local.is_none() || local.player().is_some() {
                    self.local = Some(local);
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, to: Option<To>, kind: usize, bytes: &Arc<[u8]>) {
        let ServerAgain { server, local, .. } = self;
        // One that could not be sent was recorded as any other.
        let _ = match (to, local) {
            (Some(to), _) => server.send_bytes(to, kind, bytes),
            (None, Some(local)) => local.send_bytes(server, kind, bytes),
            (None, None) => Ok(()),
        };
    }

    fn message_kinds(&self) -> usize {
        self.server.rules().messages.kinds().len()
    }

    /// Changes the world as the game did.
    fn other(&mut self, content: Content, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        if content != Content::Outside {
            return Err(Malformed::OutOfRange("content"));
        }
        self.outside.clear();
        while reader.take(1)? == 1 {
            let mut key = NO_KEY;
            self.rows.stream_key(&mut reader, &mut key)?;
            self.outside.name_removed(RemovedRow { key, owner: key.entity.spawned_for() });
        }
        while reader.take(1)? == 1 {
            let (mut key, mut row, mut owner) = (NO_KEY, [0; ROW_WORDS_MAX], PlayerId::SERVER);
            self.rows.stream_row(&mut reader, &mut key, &mut row)?;
            stream_owner(&mut reader, &mut owner)?;
            let RowKey { component, entity } = key;
            self.outside.set_words(Row { component, entity, owner, words: &row[..self.rows.words(key)] });
        }
        reader.finish()?;
        self.world.adopt(&self.outside);
        Ok(())
    }
}
