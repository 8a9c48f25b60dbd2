//! Running a recording again, and whether it came to the same.

use super::agreement::{Agreement, Divergence};
use super::digest::{client_digest, server_digest};
use super::format::{Content, Frame, Frames, rest, stream_instant, stream_long, stream_owner, stream_to};
use super::given_inputs::GivenInputs;
use super::peers::stream_peer_call;
use super::recorder::{NOT_PREDICTED, PREDICTED};
use super::recording::{Ending, Recording, RecordingError};
use super::rows::{NO_KEY, RowWidths};
use super::settings::Config;
use super::start::Made;
use alloc::sync::Arc;
use alloc::vec::Vec;
use foretell::session::client::{Client, ClientCall, ClientEvent, ClientStats, Corrected, Joined};
use foretell::session::host::{LocalPlayer, ServerSide};
use foretell::session::server::{LateInput, PeerCall, PeerStats, Server, ServerEvent, To};
use foretell::session::{Outbox, PeerId, Rules};
use foretell::time::{Instant, Tick};
use foretell::wire::{BitReader, Malformed, Stream};
use foretell::world::{Input, PlayerId, ROW_WORDS_MAX, RemovedRow, Row, RowKey, Rows, World, word_bits};

/// What a client's recording came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClientReplay {
    /// What was corrected, with the instant of the update, in order.
    pub corrections: Vec<(Instant, Corrected)>,
    /// What happened, with the instant of the update, in order.
    pub events: Vec<(Instant, ClientEvent)>,
    /// The counters at the end.
    pub stats: ClientStats,
    /// The instants of the first update and of the last; `None` when there was none.
    pub span: Option<(Instant, Instant)>,
    /// Whether it came to the same.
    pub agreement: Agreement,
}

/// What a server's recording came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ServerReplay {
    /// What happened, with the instant of the update, in order.
    pub events: Vec<(Instant, ServerEvent)>,
    /// Inputs that came too late, with the instant of the update, in order.
    pub late: Vec<(Instant, LateInput)>,
    /// The counters of the players that are there at the end.
    pub players: Vec<(PlayerId, PeerStats)>,
    /// The instants of the first update and of the last; `None` when there was none.
    pub span: Option<(Instant, Instant)>,
    /// Whether it came to the same.
    pub agreement: Agreement,
}

impl Recording<'_> {
    /// Runs a client's recording again. `world` is as it was when the recording began: mostly without entities.
    ///
    /// # Errors
    /// When it is not a client's, or of another game. What is found wrong later is told by the [`Agreement`].
    pub fn replay_client<W: World>(mut self, game: Rules, mut world: W) -> Result<ClientReplay, RecordingError> {
        if self.is_of_server() {
            return Err(RecordingError::OtherEnd);
        }
        let rules = self.rules::<W::Input>(game)?;
        let config = self.first_config()?;
        let rows = RowWidths::new(&rules);
        let client = match self.start.made {
            Made::Joined { player, epoch, now } => {
                Client::joined(rules, config, Joined { player: PlayerId::new(player), epoch, now }, &mut world)
            }
            Made::Client(request) => Client::new(rules, config, request),
            Made::Server { .. } => return Err(RecordingError::OtherEnd),
        };
        let widths = word_bits(W::Input::columns().iter());
        let replay = ClientReplay::default();
        let mut again = ClientAgain { client, world, outbox: Outbox::new(), widths, rows, replay };
        let (agreement, span) = run(self.frames, &mut again);
        Ok(ClientReplay { stats: again.client.stats(), agreement, span, ..again.replay })
    }

    /// Runs a server's recording again. `world` is as it was when the recording began, or one without entities: those
    /// that were there are recorded.
    ///
    /// # Errors
    /// When it is not a server's, or of another game. What is found wrong later is told by the [`Agreement`].
    pub fn replay_server<W: World>(mut self, game: Rules, world: W) -> Result<ServerReplay, RecordingError> {
        let Made::Server { epoch, now } = self.start.made else { return Err(RecordingError::OtherEnd) };
        let rules = self.rules::<W::Input>(game)?;
        let (rows, outside) = (RowWidths::new(&rules), Rows::new(&rules.schema));
        let server = Server::new(rules, self.first_config()?, epoch, now);
        let (widths, replay) = (word_bits(W::Input::columns().iter()), ServerReplay::default());
        let mut again =
            ServerAgain { server, local: None, world, outbox: Outbox::new(), widths, rows, outside, replay };
        let (agreement, span) = run(self.frames, &mut again);
        let server = &again.server;
        let players = server.players().filter_map(|player| Some((player, *server.stats(player)?))).collect();
        Ok(ServerReplay { players, agreement, span, ..again.replay })
    }

    fn first_config<C: Config + Default>(&mut self) -> Result<C, RecordingError> {
        let (mut config, end) = (C::default(), self.frames.at());
        let frame = self.frames.next().unwrap_or(Err(RecordingError::BreaksOff { at: end }))?;
        if frame.content != Content::Config {
            return Err(frame.damaged(Malformed::OutOfRange("place")));
        }
        let mut reader = BitReader::new(frame.body);
        config.stream(&mut reader).and_then(|()| reader.finish()).map_err(|what| frame.damaged(what))?;
        Ok(config)
    }
}

/// An endpoint that is run again.
trait Again {
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

/// How far a replay has come.
#[derive(Default)]
struct Progress {
    last: Instant,
    span: Option<(Instant, Instant)>,
    agreement: Agreement,
}

fn run(frames: Frames<'_>, again: &mut impl Again) -> (Agreement, Option<(Instant, Instant)>) {
    let mut progress = Progress::default();
    for frame in frames {
        let taken = frame.and_then(|frame| progress.take(&frame, again).map_err(|what| frame.damaged(what)));
        progress.agreement.broken = taken.err();
        if progress.agreement.broken.is_some() || progress.agreement.ending != Ending::Missing {
            break;
        }
    }
    (progress.agreement, progress.span)
}

impl Progress {
    fn take(&mut self, frame: &Frame<'_>, again: &mut impl Again) -> Result<(), Malformed> {
        let mut reader = BitReader::new(frame.body);
        match frame.content {
            Content::Start => return Err(Malformed::OutOfRange("place")),
            Content::Config => {
                let mut config = *again.config();
                config.stream(&mut reader)?;
                reader.finish()?;
                *again.config() = config;
            }
            Content::Datagram => {
                let (now, mut from) = (self.instant(&mut reader)?, 0);
                stream_long(&mut reader, &mut from)?;
                again.receive(now, PeerId(from), rest(frame.body, &reader));
            }
            Content::Update => {
                let now = self.instant(&mut reader)?;
                let other = again.update(now, reader)?;
                self.span = Some((self.span.map_or(now, |(first, _)| first), now));
                if let Some(tick) = other {
                    self.agreement.note(Divergence::Inputs { at: now, tick });
                }
            }
            Content::Peer => again.call(reader)?,
            Content::Message => {
                let (mut to, mut number) = (None, 0);
                stream_to(&mut reader, &mut to)?;
                reader.u8(&mut number)?;
                if usize::from(number) >= again.message_kinds() {
                    return Err(Malformed::OutOfRange("kind of message"));
                }
                again.send(to, usize::from(number), &rest(frame.body, &reader).into());
            }
            Content::Outside | Content::Entity => again.other(frame.content, reader)?,
            Content::Digest => self.compare(reader, again)?,
            Content::Limit | Content::End => {
                reader.finish()?;
                let is_limit = frame.content == Content::Limit;
                self.agreement.ending = if is_limit { Ending::Limit } else { Ending::Dropped };
            }
        }
        Ok(())
    }

    fn instant(&mut self, reader: &mut BitReader<'_>) -> Result<Instant, Malformed> {
        let mut now = Instant::ZERO;
        stream_instant(reader, &mut self.last, &mut now)?;
        Ok(now)
    }

    fn compare(&mut self, mut reader: BitReader<'_>, again: &impl Again) -> Result<(), Malformed> {
        let mut tick = 0;
        reader.u32(&mut tick)?;
        let recorded = reader.take(64)?;
        reader.finish()?;
        let tick = Tick::new(tick);
        let (came_to, digest) = again.digest();
        if (tick, recorded) == (came_to, digest) {
            self.agreement.digests += 1;
        } else {
            self.agreement.note(Divergence::Digest { at: self.last, tick, came_to });
        }
        Ok(())
    }
}

struct ClientAgain<W: World> {
    client: Client<W>,
    world: W,
    outbox: Outbox,
    widths: Vec<u8>,
    rows: RowWidths,
    replay: ClientReplay,
}

impl<W: World> Again for ClientAgain<W> {
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
        let ClientAgain { client, world, outbox, widths, replay, .. } = self;
        let mut given = GivenInputs::read(widths, reader)?;
        let frame = client.update(now, world, &mut |tick| given.take(tick), outbox);
        replay.corrections.extend(frame.corrections.iter().map(|correction| (now, *correction)));
        replay.events.extend(frame.events.iter().map(|event| (now, *event)));
        outbox.clear();
        Ok(given.differs())
    }

    fn digest(&self) -> (Tick, u64) {
        (self.client.tick(), client_digest(&self.client))
    }
}

struct ServerAgain<W: World> {
    server: Server<W>,
    /// The player who sits at it.
    local: Option<LocalPlayer>,
    world: W,
    outbox: Outbox,
    widths: Vec<u8>,
    rows: RowWidths,
    outside: Rows,
    replay: ServerReplay,
}

impl<W: World> Again for ServerAgain<W> {
    type Config = foretell::session::server::ServerConfig;

    fn config(&mut self) -> &mut Self::Config {
        self.server.config_mut()
    }

    fn receive(&mut self, now: Instant, from: PeerId, datagram: &[u8]) {
        // A malformed one was recorded as any other, and is counted again.
        let _ = self.server.receive(now, from, datagram);
    }

    fn update(&mut self, now: Instant, reader: BitReader<'_>) -> Result<Option<Tick>, Malformed> {
        let ServerAgain { server, local, world, outbox, widths, replay, .. } = self;
        let mut given = GivenInputs::read(widths, reader)?;
        if let Some(local) = local {
            local.update(now, ServerSide { server, world, outbox }, &mut |tick| given.take(tick));
        } else {
            server.update(now, world, outbox);
        }
        let frame = server.frame();
        replay.events.extend(frame.events.iter().map(|event| (now, *event)));
        replay.late.extend(frame.late.iter().map(|late| (now, *late)));
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
            PeerCall::JoinHere(show) => {
                let mut local = LocalPlayer::new(show);
                local.join(&mut self.server);
                // Who sits there stays, whoever asks besides.
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
