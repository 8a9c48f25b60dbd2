//! Running a recording again, and whether it came to the same.

use super::again::{Again, ClientAgain, ServerAgain};
use super::agreement::{Agreement, ClientReplay, Divergence, ServerReplay};
use super::format::{Content, Frame, Frames, rest, stream_instant, stream_long, stream_to};
use super::recording::{Ending, Recording, RecordingError};
use super::rows::RowWidths;
use super::settings::Config;
use super::start::Made;
use foretell::session::client::{self, Client, Joined};
use foretell::session::server::{Server, ServerFrame};
use foretell::session::{Outbox, PeerId, Rules};
use foretell::time::{Instant, Tick};
use foretell::wire::{BitReader, Malformed, Stream};
use foretell::world::{Input, PlayerId, Rows, World, word_bits};

impl Recording<'_> {
    /// Runs a client's recording again. `world` is as it was when the recording began: mostly without entities.
    ///
    /// # Errors
    /// When it is not a client's, or of another game. What is found wrong later is told by the [`Agreement`].
    pub fn replay_client<W: World>(self, game: Rules, world: W) -> Result<ClientReplay, RecordingError> {
        self.replay_client_with(game, world, |_, _| {})
    }

    /// The same of a game that changes its client's world between updates, as where a map comes as a message: `after_update` does
    /// to the world after each update what the game has done, by what the update tells.
    ///
    /// # Errors
    /// As [`replay_client`](Recording::replay_client).
    pub fn replay_client_with<W: World>(
        mut self,
        game: Rules,
        mut world: W,
        mut after_update: impl FnMut(&mut W, &client::Frame<'_>),
    ) -> Result<ClientReplay, RecordingError> {
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
        let (outbox, after_update) = (Outbox::new(), &mut after_update);
        let mut again = ClientAgain { client, world, outbox, widths, rows, replay, after_update };
        let (agreement, span) = run(self.frames, &mut again);
        Ok(ClientReplay { stats: again.client.stats(), agreement, span, ..again.replay })
    }

    /// Runs a server's recording again. `world` is as it was when the recording began, or one without entities: those
    /// that were there are recorded.
    ///
    /// # Errors
    /// When it is not a server's, or of another game. What is found wrong later is told by the [`Agreement`].
    pub fn replay_server<W: World>(self, game: Rules, world: W) -> Result<ServerReplay, RecordingError> {
        self.replay_server_with(game, world, |_, _| {})
    }

    /// The same of a game that changes of its world, between updates, what no row tells: `after_update` does to the world after each
    /// update what the game has done, by what the update tells. What rows tell is recorded.
    ///
    /// # Errors
    /// As [`replay_server`](Recording::replay_server).
    pub fn replay_server_with<W: World>(
        mut self,
        game: Rules,
        world: W,
        mut after_update: impl FnMut(&mut W, &ServerFrame<'_>),
    ) -> Result<ServerReplay, RecordingError> {
        let Made::Server { epoch, now } = self.start.made else { return Err(RecordingError::OtherEnd) };
        let rules = self.rules::<W::Input>(game)?;
        let (rows, outside) = (RowWidths::new(&rules), Rows::new(&rules.schema));
        let server = Server::new(rules, self.first_config()?, epoch, now);
        let (widths, replay) = (word_bits(W::Input::columns().iter()), ServerReplay::default());
        let (outbox, after_update) = (Outbox::new(), &mut after_update);
        let mut again = ServerAgain { server, local: None, world, outbox, widths, rows, outside, replay, after_update };
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
