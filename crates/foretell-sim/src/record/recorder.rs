//! Writing: what an endpoint is given, record by record, to a sink of the caller's.

use super::digest::{client_digest, server_digest};
use super::format::{
    Content, LIMIT_BYTES, MAGIC, VERSION, put_frame, stream_instant, stream_long, stream_owner, stream_to,
};
use super::peers::stream_peer_call;
use super::rows::RowWidths;
use super::settings::Settings;
use super::start::{Made, Start};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use foretell::session::PeerId;
use foretell::session::client::{ClientCall, ClientOrigin, ClientTap};
use foretell::session::server::{PeerCall, ServerTap, To};
use foretell::wire::{BitWriter, Stream, write_change};
use foretell::world::{Input, ROW_WORDS_MAX, Rows, World, word_bits};
use foretell::{Client, Instant, Server, Tick};

/// Takes the bytes of a recording, in order; the last ones when the endpoint is dropped. What it does with them is the
/// caller's: nothing here does I/O.
pub type Sink = Box<dyn FnMut(&[u8]) + Send + Sync>;

/// How long a recording may become, in bytes, if nothing else is said: 64 MiB, some hours of a client.
pub const RECORDED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How often there is a digest.
const DIGEST_EVERY: Duration = Duration::from_secs(1);

const NEVER_FAILS: &str = "writing never fails";

/// A sink, and how much it may get.
struct Output {
    sink: Sink,
    /// How many bytes are left, without those that say that the limit was reached.
    left: u64,
    over: bool,
    /// Whether it has begun, and an end is to be written: not when an update has begun and is not done.
    ends: bool,
    frame: Vec<u8>,
}

impl Output {
    fn begin(&mut self) {
        let header = MAGIC.len() as u64 + 1;
        self.over = self.left < header;
        self.ends = !self.over;
        if !self.over {
            self.left -= header;
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

impl Drop for Output {
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

/// Writes down what an endpoint is given. Set as the tap of a [client](Client::set_tap) or of a [server](Server::set_tap)
/// right after it was made.
pub struct Recorder {
    output: Output,
    /// As they were recorded last.
    settings: Option<Settings>,
    last: Instant,
    last_digest: Option<Instant>,
    body: Vec<u8>,
    rows: RowWidths,
    given: Given,
}

/// The inputs of the update under way.
#[derive(Default)]
struct Given {
    /// How wide the words of an input are, in bits.
    widths: Vec<u8>,
    words: Vec<u32>,
    first: Tick,
    count: u32,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Output { left, over, .. } = &self.output;
        f.debug_struct("Recorder").field("left", left).field("over", over).finish_non_exhaustive()
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
        Recorder {
            output: Output { sink, left, over: false, ends: false, frame: Vec::new() },
            settings: None,
            last: Instant::ZERO,
            last_digest: None,
            body: Vec::new(),
            rows: RowWidths::default(),
            given: Given::default(),
        }
    }

    fn note_start(&mut self, mut start: Start, settings: Settings) {
        self.output.begin();
        self.put(Content::Start, |writer| {
            start.stream(writer).expect("an endpoint that exists was made as it may be");
        });
        self.note_settings(settings);
    }

    fn note_settings(&mut self, mut settings: Settings) {
        if self.settings != Some(settings) {
            self.settings = Some(settings);
            self.put(Content::Config, |writer| settings.stream(writer).expect(NEVER_FAILS));
        }
    }

    fn note_datagram(&mut self, mut now: Instant, from: PeerId, datagram: &[u8]) {
        self.body.clear();
        let mut writer = BitWriter::new(&mut self.body);
        stream_instant(&mut writer, &mut self.last, &mut now).expect(NEVER_FAILS);
        stream_long(&mut writer, &mut { from.0 }).expect(NEVER_FAILS);
        self.body.extend_from_slice(datagram);
        self.output.put(Content::Datagram, &self.body);
    }

    fn note_player(&mut self, call: u8, player: u64) {
        self.put(Content::Peer, |writer| {
            writer.put(u64::from(call), 8);
            stream_long(writer, &mut { player }).expect(NEVER_FAILS);
        });
    }

    /// A message, for whom: everybody, everybody but one, or one; or of who plays at this end, for the server.
    fn note_message(&mut self, to: Option<To>, kind: usize, message: &[u8]) {
        self.body.clear();
        let mut writer = BitWriter::new(&mut self.body);
        stream_to(&mut writer, &mut { to }).expect(NEVER_FAILS);
        writer.put(kind as u64, 8);
        self.body.extend_from_slice(message);
        self.output.put(Content::Message, &self.body);
    }

    /// What the rows say that has changed, and what is gone.
    fn note_outside(&mut self, rows: &Rows) {
        if rows.changed().is_empty() && rows.removed().is_empty() {
            return;
        }
        let widths = core::mem::take(&mut self.rows);
        self.put(Content::Outside, |writer| {
            for gone in rows.removed().iter().filter(|gone| rows.words(gone.key).is_none()) {
                writer.put(1, 1);
                widths.stream_key(writer, &mut { gone.key }).expect(NEVER_FAILS);
            }
            writer.put(0, 1);
            for changed in rows.changed().iter().filter_map(|key| rows.get(*key)) {
                let mut row = [0; ROW_WORDS_MAX];
                row[..changed.words.len()].copy_from_slice(changed.words);
                writer.put(1, 1);
                widths.stream_row(writer, &mut changed.key(), &mut row).expect(NEVER_FAILS);
                stream_owner(writer, &mut { changed.owner }).expect(NEVER_FAILS);
            }
            writer.put(0, 1);
        });
        self.rows = widths;
    }

    fn note_input<I: Input>(&mut self, tick: Tick, input: &I) {
        let given = &mut self.given;
        if given.count == 0 {
            given.first = tick;
        }
        given.count += 1;
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words);
        given.words.extend_from_slice(&words[..given.widths.len()]);
    }

    /// An update at `now`, with its inputs. Says whether a digest is due.
    fn note_update(&mut self, mut now: Instant) -> bool {
        let mut last = self.last;
        let mut given = core::mem::take(&mut self.given);
        self.put(Content::Update, |writer| {
            stream_instant(writer, &mut last, &mut now).expect(NEVER_FAILS);
            given.write(writer);
        });
        given.words.clear();
        given.count = 0;
        self.given = given;
        self.last = last;
        self.output.ends = true;
        // Also where the caller's clock was set back.
        let due = self.last_digest.is_none_or(|last| now < last || now.since(last) >= DIGEST_EVERY);
        if due {
            self.last_digest = Some(now);
        }
        due && !self.output.over
    }

    fn note_digest(&mut self, tick: Tick, digest: u64) {
        self.put(Content::Digest, |writer| {
            writer.put(u64::from(tick.get()), 32);
            writer.put(digest, 64);
        });
    }

    fn put(&mut self, content: Content, write: impl FnOnce(&mut BitWriter<'_>)) {
        self.body.clear();
        write(&mut BitWriter::new(&mut self.body));
        self.output.put(content, &self.body);
    }
}

impl Given {
    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.small(&mut { self.count }).expect(NEVER_FAILS);
        if self.count > 0 {
            writer.put(u64::from(self.first.get()), 32);
        }
        let size = self.widths.len();
        for nth in 0..self.count as usize {
            let words = |nth: usize| &self.words[nth * size..(nth + 1) * size];
            write_change(writer, &self.widths, (nth > 0).then(|| words(nth - 1)), words(nth));
        }
    }
}

impl<W: World> ClientTap<W> for Recorder {
    fn begin(&mut self, client: &Client<W>, origin: ClientOrigin) {
        self.rows = RowWidths::new(client.rules());
        self.given.widths = word_bits(W::Input::columns().iter());
        let start = Start::new::<W::Input>(client.rules(), Made::of_client(origin));
        self.note_start(start, Settings::Client(*client.config()));
    }

    fn receive(&mut self, client: &Client<W>, now: Instant, datagram: &[u8]) {
        self.note_settings(Settings::Client(*client.config()));
        self.note_datagram(now, PeerId::default(), datagram);
    }

    fn call(&mut self, _: &Client<W>, call: &ClientCall) {
        if let ClientCall::Predict(player, yes) = *call {
            return self.note_player(if yes { PREDICTED } else { NOT_PREDICTED }, u64::from(player.get()));
        }
        let rows = core::mem::take(&mut self.rows);
        self.put(Content::Entity, |writer| rows.stream_call(writer, &mut { *call }).expect(NEVER_FAILS));
        self.rows = rows;
    }

    fn send(&mut self, client: &Client<W>, kind: usize, bytes: &[u8]) {
        self.note_settings(Settings::Client(*client.config()));
        self.note_message(None, kind, bytes);
    }

    fn begin_update(&mut self, client: &Client<W>) {
        self.note_settings(Settings::Client(*client.config()));
        self.output.ends = false;
    }

    fn input(&mut self, tick: Tick, input: &W::Input) {
        self.note_input(tick, input);
    }

    fn end_update(&mut self, client: &Client<W>, now: Instant) {
        if self.note_update(now) {
            self.note_digest(client.tick(), client_digest(client));
        }
    }
}

/// What a client is told of a player, by its number in a recording: whose entities to predict, or not to.
pub(super) const PREDICTED: u8 = 4;
pub(super) const NOT_PREDICTED: u8 = 5;

impl<W: World> ServerTap<W> for Recorder {
    fn begin(&mut self, server: &Server<W>, epoch: u8, now: Instant) {
        self.rows = RowWidths::new(server.rules());
        self.given.widths = word_bits(W::Input::columns().iter());
        let start = Start::new::<W::Input>(server.rules(), Made::Server { epoch, now });
        self.note_start(start, Settings::Server(*server.config()));
    }

    fn receive(&mut self, server: &Server<W>, now: Instant, peer: PeerId, datagram: &[u8]) {
        self.note_settings(Settings::Server(*server.config()));
        self.note_datagram(now, peer, datagram);
    }

    fn call(&mut self, server: &Server<W>, call: PeerCall, peer: PeerId) {
        self.note_settings(Settings::Server(*server.config()));
        self.put(Content::Peer, |writer| stream_peer_call(writer, &mut { call }, &mut { peer }).expect(NEVER_FAILS));
    }

    fn send(&mut self, server: &Server<W>, to: To, kind: usize, bytes: &[u8]) {
        self.note_settings(Settings::Server(*server.config()));
        self.note_message(Some(to), kind, bytes);
    }

    fn send_here(&mut self, server: &Server<W>, kind: usize, bytes: &[u8]) {
        self.note_settings(Settings::Server(*server.config()));
        self.note_message(None, kind, bytes);
    }

    fn begin_update(&mut self, server: &Server<W>) {
        self.note_settings(Settings::Server(*server.config()));
        self.output.ends = false;
    }

    fn input(&mut self, tick: Tick, input: &W::Input) {
        self.note_input(tick, input);
    }

    fn changed_outside(&mut self, server: &Server<W>) {
        self.note_outside(server.rows());
    }

    fn end_update(&mut self, server: &Server<W>, now: Instant) {
        if self.note_update(now) {
            self.note_digest(server.tick(), server_digest(server));
        }
    }
}
