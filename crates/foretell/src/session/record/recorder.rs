//! Writing: what an endpoint is given, record by record, to a sink of the caller's.

use super::calls::EntityCall;
use super::format::{Content, LIMIT_BYTES, MAGIC, VERSION, put_frame, stream_entity, stream_instant, stream_long};
use super::settings::{Config, Start};
use crate::rollback::{Input, ROW_WORDS_MAX, Rows, Schema};
use crate::session::PeerId;
use crate::session::rowcode::{Ages, RowCode};
use crate::time::{Instant, Tick};
use crate::wire::{BitWriter, Stream, write_change};
use core::fmt;
use core::time::Duration;

/// Takes the bytes of a recording, in order; the last ones when the endpoint is dropped. What it does with them is the
/// caller's: the core does no I/O.
pub type Sink = Box<dyn FnMut(&[u8]) + Send + Sync>;

/// How long a recording may become, in bytes, if nothing else is said: 64 MiB, some hours of a client.
pub const RECORDED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How often there is a digest.
const DIGEST_EVERY: Duration = Duration::from_secs(1);

/// A sink, and how much it may get. Given to an endpoint right after it was made.
pub struct Recorder {
    sink: Sink,
    /// How many bytes are left, without those that say that the limit was reached.
    left: u64,
    over: bool,
    /// Whether it has begun, and an end is to be written: not when an update has begun and is not done.
    ends: bool,
    frame: Vec<u8>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("left", &self.left).field("over", &self.over).finish_non_exhaustive()
    }
}

impl Recorder {
    /// A recorder of at most [`RECORDED_BYTES_MAX`].
    pub fn new(sink: Sink) -> Recorder {
        Recorder::with_limit(sink, RECORDED_BYTES_MAX)
    }

    /// A recorder of at most `bytes`. When they are used up a last record says so, and nothing more is written.
    pub fn with_limit(sink: Sink, bytes: u64) -> Recorder {
        let left = bytes.saturating_sub(LIMIT_BYTES);
        Recorder { sink, left, over: false, ends: false, frame: Vec::new() }
    }

    fn begin(&mut self) {
        let head = MAGIC.len() as u64 + 1;
        self.over = self.left < head;
        self.ends = !self.over;
        if !self.over {
            self.left -= head;
            (self.sink)(&MAGIC);
            (self.sink)(&[VERSION]);
        }
    }

    fn put(&mut self, content: Content, body: &[u8]) {
        if self.over {
            return;
        }
        self.frame.clear();
        put_frame(content, body, &mut self.frame);
        self.over = self.frame.len() as u64 > self.left;
        if self.over {
            self.frame.clear();
            put_frame(Content::Limit, &[], &mut self.frame);
        } else {
            self.left -= self.frame.len() as u64;
        }
        (self.sink)(&self.frame);
    }
}

impl Drop for Recorder {
    /// Says that nothing follows because the endpoint is no more, and not because the program was stopped, or has panicked
    /// in an update.
    fn drop(&mut self) {
        if self.ends && !self.over {
            self.frame.clear();
            put_frame(Content::End, &[], &mut self.frame);
            (self.sink)(&self.frame);
        }
    }
}

/// What a server was told of a peer by the transport or the game, and a client of a player by the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) enum PeerCall {
    Join,
    Leave,
    Disconnected,
    Release,
    Predict,
    DontPredict,
}

pub(super) const PEER_CALLS: [PeerCall; 6] = [
    PeerCall::Join,
    PeerCall::Leave,
    PeerCall::Disconnected,
    PeerCall::Release,
    PeerCall::Predict,
    PeerCall::DontPredict,
];

/// A recorder at work in an endpoint.
#[derive(Debug)]
pub(in crate::session) struct Recorded<C> {
    recorder: Recorder,
    /// As it was recorded last.
    config: Option<C>,
    last: Instant,
    last_digest: Option<Instant>,
    body: Vec<u8>,
    /// How wide the words of an input are, in bits.
    widths: Vec<u8>,
    /// The inputs of the update under way, in words.
    given: Vec<u32>,
    first: Tick,
    count: u32,
}

impl<C: Config> Recorded<C> {
    pub(in crate::session) fn new(mut recorder: Recorder, mut start: Start, config: &C, widths: &[u8]) -> Recorded<C> {
        recorder.begin();
        let mut body = Vec::new();
        start.stream(&mut BitWriter::new(&mut body)).expect("an endpoint that exists was made as it may be");
        recorder.put(Content::Start, &body);
        let mut recorded = Recorded {
            recorder,
            config: None,
            last: Instant::ZERO,
            last_digest: None,
            body,
            widths: widths.to_vec(),
            given: Vec::new(),
            first: Tick::ZERO,
            count: 0,
        };
        recorded.note_config(config);
        recorded
    }

    /// Whether it has become as long as it may.
    pub(in crate::session) fn is_over(&self) -> bool {
        self.recorder.over
    }

    pub(in crate::session) fn note_config(&mut self, config: &C) {
        if self.config.as_ref() != Some(config) {
            self.config = Some(*config);
            let mut config = *config;
            self.put(Content::Config, |writer, _| config.stream(writer).expect("writing never fails"));
        }
    }

    pub(in crate::session) fn note_datagram(&mut self, mut now: Instant, from: PeerId, datagram: &[u8]) {
        self.body.clear();
        let mut writer = BitWriter::new(&mut self.body);
        stream_instant(&mut writer, &mut self.last, &mut now).expect("writing never fails");
        stream_long(&mut writer, &mut { from.0 }).expect("writing never fails");
        self.body.extend_from_slice(datagram);
        self.recorder.put(Content::Datagram, &self.body);
    }

    pub(in crate::session) fn note_peer(&mut self, call: PeerCall, peer: PeerId) {
        let number = PEER_CALLS.iter().position(|known| *known == call).expect("all calls are listed");
        self.put(Content::Peer, |writer, _| {
            writer.put(number as u64, 8);
            stream_long(writer, &mut { peer.0 }).expect("writing never fails");
        });
    }

    pub(in crate::session) fn note_entity_call(&mut self, call: &EntityCall, code: &RowCode, schema: &Schema) {
        self.put(Content::Entity, |writer, _| call.write(writer, code, schema));
    }

    /// What the rows say that has changed, and what is gone.
    pub(in crate::session) fn note_outside(&mut self, rows: &Rows, code: &RowCode) {
        if rows.changed().is_empty() && rows.removed().is_empty() {
            return;
        }
        self.put(Content::Outside, |writer, _| {
            for entity in rows.removed().iter().filter(|entity| rows.words(**entity).is_none()) {
                writer.put(1, 1);
                stream_entity(writer, &mut { *entity }).expect("writing never fails");
            }
            writer.put(0, 1);
            for entity in rows.changed() {
                let Some(words) = rows.words(*entity) else { continue };
                writer.put(1, 1);
                code.write(writer, *entity, Ages::default(), words);
            }
            writer.put(0, 1);
        });
    }

    /// An update begins.
    pub(in crate::session) fn begin_update(&mut self, config: &C) {
        self.note_config(config);
        self.recorder.ends = false;
    }

    /// An input that the update under way was given.
    pub(in crate::session) fn note_input<I: Input>(&mut self, tick: Tick, input: &I) {
        if self.count == 0 {
            self.first = tick;
        }
        self.count += 1;
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words);
        self.given.extend_from_slice(&words[..self.widths.len()]);
    }

    /// An update at `now`, with its inputs. Says whether a digest is due.
    pub(in crate::session) fn note_update(&mut self, mut now: Instant) -> bool {
        let (mut last, mut count, first) = (self.last, self.count, self.first);
        let widths = core::mem::take(&mut self.widths);
        self.put(Content::Update, |writer, given| {
            stream_instant(writer, &mut last, &mut now).expect("writing never fails");
            writer.small(&mut count).expect("writing never fails");
            if count > 0 {
                writer.put(u64::from(first.get()), 32);
            }
            for nth in 0..count as usize {
                let words = |nth: usize| &given[nth * widths.len()..(nth + 1) * widths.len()];
                write_change(writer, &widths, (nth > 0).then(|| words(nth - 1)), words(nth));
            }
        });
        (self.last, self.count, self.widths) = (last, 0, widths);
        self.given.clear();
        self.recorder.ends = true;
        let due = self.last_digest.is_none_or(|last| now.since(last) >= DIGEST_EVERY);
        if due {
            self.last_digest = Some(now);
        }
        due
    }

    pub(in crate::session) fn note_digest(&mut self, tick: Tick, digest: u64) {
        self.put(Content::Digest, |writer, _| {
            writer.put(u64::from(tick.get()), 32);
            writer.put(digest, 64);
        });
    }

    fn put(&mut self, content: Content, write: impl FnOnce(&mut BitWriter<'_>, &[u32])) {
        self.body.clear();
        write(&mut BitWriter::new(&mut self.body), &self.given);
        self.recorder.put(content, &self.body);
    }
}
