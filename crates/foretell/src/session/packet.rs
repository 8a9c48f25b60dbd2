//! The datagrams of a session. One function per kind runs over a [`Stream`] in both directions.
//!
//! Every datagram begins with 3 bits that say which message it is. PROTOCOL.md describes them all.

use super::authority::{ANSWERS_MAX, Answer};
use super::baseline::Baseline;
use super::received::Received;
use super::step_events::STEP_EVENT_TICKS_BACK;
use crate::time::{Tick, TickRate, TickTime};
use crate::wire::{Malformed, Stream};
use alloc::vec::Vec;

/// The largest datagram that is sent, in bytes: what passes every path that QUIC passes, and browsers too.
pub const DATAGRAM_MAX: usize = 1150;

/// Raised when the format changes.
pub(crate) const PROTOCOL_VERSION: u8 = 11;

/// How many datagrams one snapshot may take.
pub(crate) const PARTS_MAX: u8 = 8;

/// How many ticks back substituted inputs are named: longer than any client goes without a snapshot and still
/// compares.
pub(crate) const NAMED_TICKS_BACK: u32 = 1000;

/// Which message a datagram holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DatagramKind {
    Hello,
    Welcome,
    Refused,
    Inputs,
    Snapshot,
    Leave,
    Shown,
    Messages,
}

const DATAGRAM_KINDS: [DatagramKind; 8] = [
    DatagramKind::Hello,
    DatagramKind::Welcome,
    DatagramKind::Refused,
    DatagramKind::Inputs,
    DatagramKind::Snapshot,
    DatagramKind::Leave,
    DatagramKind::Shown,
    DatagramKind::Messages,
];

impl DatagramKind {
    pub(crate) fn write(self, stream: &mut impl Stream) {
        let at = DATAGRAM_KINDS.iter().position(|message| *message == self).expect("all messages are listed");
        stream.bits(&mut (at as u64), 3).expect("writing never fails");
    }

    pub(crate) fn read(stream: &mut impl Stream) -> Result<DatagramKind, Malformed> {
        let mut at = 0;
        stream.bits(&mut at, 3)?;
        usize::try_from(at).ok().and_then(|at| DATAGRAM_KINDS.get(at).copied()).ok_or(Malformed::OutOfRange("message"))
    }
}

/// Client to server: the head of a datagram of inputs. The inputs follow, oldest first, change-coded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputHead {
    pub ticket: u8,
    /// Counts the client's datagrams.
    pub sequence: u16,
    /// The tick of the newest complete snapshot it has.
    pub snapshot: Option<u16>,
    /// Which of the server's datagrams it has.
    pub received: Option<Received>,
    /// How far around its own entities it predicts those of others, in metres, and so needs them exactly and of one state; 0
    /// wherever they are, `None` where it does not.
    pub exact_within_m: Option<u32>,
    /// The tick of the newest input.
    pub newest: u16,
    /// How many inputs follow: `newest - count + 1 ..= newest`.
    pub count: u32,
    /// In exact sessions: the newest state whose digest was not the one of the client's own.
    pub asks: Option<u16>,
}

impl InputHead {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.sequence)?;
        stream.optional(&mut self.snapshot, |stream, tick| stream.u16(tick))?;
        stream.optional(&mut self.received, |stream, received| received.stream(stream))?;
        stream.optional(&mut self.exact_within_m, |stream, metres| stream.small(metres))?;
        stream.u16(&mut self.newest)?;
        stream.small(&mut self.count)?;
        stream.optional(&mut self.asks, |stream, tick| stream.u16(tick))?;
        if self.count > crate::rollback::INPUTS_KEPT { Err(Malformed::OutOfRange("count of inputs")) } else { Ok(()) }
    }
}

/// What a player looked at when an input was sampled: a point on the server's tick axis in 1/256 tick, its low 24 bits
/// (16 of the tick, 8 of the fraction). The next one is mostly one tick later, and then takes one bit.
pub(crate) fn stream_presented(
    stream: &mut impl Stream,
    presented: &mut Option<u32>,
    before: Option<u32>,
) -> Result<(), Malformed> {
    stream.optional(presented, |stream, at| {
        let expected = before.map(|before| before.wrapping_add(256) & 0xff_ffff);
        let mut same = expected == Some(*at);
        if expected.is_some() {
            stream.bool(&mut same)?;
        }
        if let (true, Some(expected)) = (same, expected) {
            *at = expected;
            return Ok(());
        }
        let mut bits = u64::from(*at);
        stream.bits(&mut bits, 24)?;
        #[expect(clippy::cast_possible_truncation, reason = "24 bits were read")]
        let read = bits as u32;
        *at = read;
        Ok(())
    })
}

/// A point on the tick axis as the low 24 bits of its 1/256 ticks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low bits are what is asked for")]
pub(crate) fn presented_bits(at: TickTime) -> u32 {
    (at.millionths().max(0) * 256 / 1_000_000) as u32 & 0xff_ffff
}

/// The inverse of [`presented_bits`], for a point near `anchor`.
pub(crate) fn presented_time(bits: u32, anchor: Tick) -> TickTime {
    let tick = Tick::widen(bits >> 8, 16, anchor);
    TickTime::start_of(tick) + TickTime::from_millionths(i64::from(bits & 0xff) * 1_000_000 / 256)
}

/// What a server did instead of applying an input. Also a range of ticks in which it did so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SubstitutedRange {
    /// How many ticks before the snapshot's tick the newest one lies, from 1.
    pub back: u32,
    /// How many ticks, going back, from 1.
    pub ticks: u32,
    /// 0 held, 1 repeated, 2 neutral.
    pub how: u64,
}

/// A datagram that brought new inputs, as the server saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputArrival {
    /// How many ticks its newest input was newer than the newest before; from 1. Those between were in it or could have
    /// been.
    pub count: u32,
    /// How long before its deadline the newest input came, in 1/64 tick (saturating); two's complement.
    pub margin: u16,
}

/// A message that was part of a later step than its client has it in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LateMessage {
    /// Which one of the client's session.
    pub number: u32,
    /// How many ticks before the snapshot's that step was.
    pub back: u32,
}

/// How many late messages one head may name.
pub(crate) const LATE_MESSAGES_MAX: usize = 16;

/// How many arrivals one head may tell of; of more the newest are told.
pub(crate) const ARRIVALS_MAX: usize = 64;

/// Server to client: the head of a datagram that tells nothing but rows to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ShownHead {
    pub ticket: u8,
    /// Counts the datagrams of states to this client.
    pub number: u16,
    /// The tick of the state.
    pub tick: u16,
}

impl ShownHead {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.number)?;
        stream.u16(&mut self.tick)
    }
}

/// Server to client: the head of a datagram that holds a snapshot or a part of one. The rows follow, each after a bit 1,
/// and then a bit 0; and the news likewise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SnapshotHead {
    pub ticket: u8,
    /// Counts the datagrams of states to this client.
    pub number: u16,
    /// Whether not all that the client predicts of others has room in it: the rest it shows.
    pub is_crowded: bool,
    /// The newest of the client's datagrams, and how long ago it came, in units of 64 µs (saturating).
    pub heard: Option<(u16, u16)>,
    /// The tick of the state.
    pub tick: u16,
    /// How much of the tick before it had passed when the snapshot was sent, in 1/256 (saturating).
    pub fraction: u8,
    /// Tells the times apart that the same state is sent to a client; `None` for the first. Parts of two of them make no
    /// snapshot: they are cut at other rows.
    pub repeat: Option<u8>,
    /// The newest input that has come.
    pub newest_input: Option<u16>,
    /// When inputs have come since the snapshot before; newest first.
    pub arrivals: Vec<InputArrival>,
    /// The newest input of the newest arrival.
    pub arrived: u16,
    /// Ticks whose input was substituted and that the client may not know of yet; newest first.
    pub substituted: Vec<SubstitutedRange>,
    /// Messages that were part of later steps than the client has them in, and it may not know of that; oldest first.
    pub late_messages: Vec<LateMessage>,
    /// Of how many ticks before the snapshot's all news are told; `None` for all that the client does not know.
    pub news_ticks: Option<u32>,
    /// What became of the client's requests for authority, as far as it may not know; oldest first.
    pub answers: Vec<Answer>,
    /// The canonical ticks that the client may not know of, ascending.
    pub canonical: Vec<u16>,
    /// In exact sessions, how many ticks before this state something has come about that no client can foresee; the newest
    /// such tick, as far as the client may not know of it.
    pub unforeseen: Option<u32>,
    /// A digest of the rows, in their place.
    pub proof: Option<u32>,
    /// The rows are told as they differ from those of an earlier snapshot.
    pub baseline: Option<Baseline>,
    /// Which part of the snapshot this is, from 0.
    pub part: u8,
    /// How many parts there are, less one. Written as 0, and set when all parts are written.
    pub last_part: u8,
}

/// How many canonical ticks one head may name: those of more than the 2 s that a client compares.
pub(crate) const CANONICAL_MAX: usize = 8;

/// How many ranges of substituted inputs one head may name.
pub(crate) const RANGES_MAX: usize = 64;

impl SnapshotHead {
    /// Sets the number of the last part in a datagram that was written with 0: bits 3 to 5 of its first byte.
    pub(crate) fn set_last_part(datagram: &mut [u8], last_part: u8) {
        datagram[0] |= last_part << 3;
    }

    /// Where the server's clock stood when the snapshot of `tick` was sent.
    pub(crate) fn sent(&self, tick: Tick) -> TickTime {
        let before = TickTime::start_of(tick) - TickTime::start_of(Tick::new(1));
        before + TickTime::from_millionths(i64::from(self.fraction) * 1_000_000 / 256)
    }

    /// The server's clock when the newest of the client's datagrams came, and when this was sent; `None` where a server was so
    /// far behind, or heard nothing for so long, that the head can't say.
    pub(crate) fn held(&self, tick: Tick, rate: TickRate) -> Option<(TickTime, TickTime)> {
        let (_, ago) = self.heard.filter(|(_, ago)| *ago < u16::MAX)?;
        let sent = self.sent(tick);
        let held = TickTime::from_millionths(i64::from(ago) * 64 * i64::from(rate.get()));
        (self.fraction < u8::MAX).then_some((sent - held, sent))
    }

    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream_part(stream, &mut self.last_part)?;
        stream_part(stream, &mut self.part)?;
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.number)?;
        stream.bool(&mut self.is_crowded)?;
        stream.optional(&mut self.heard, |stream, (sequence, ago)| {
            stream.u16(sequence)?;
            stream.u16(ago)
        })?;
        stream.u16(&mut self.tick)?;
        stream.u8(&mut self.fraction)?;
        stream.optional(&mut self.repeat, |stream, number| stream.u8(number))?;
        stream.optional(&mut self.newest_input, |stream, tick| stream.u16(tick))?;
        self.stream_arrivals(stream)?;
        self.stream_substituted(stream)?;
        self.stream_late_messages(stream)?;
        stream.optional(&mut self.news_ticks, |stream, ticks| stream.small(ticks))?;
        if self.news_ticks > Some(STEP_EVENT_TICKS_BACK) {
            return Err(Malformed::OutOfRange("ticks of news"));
        }
        let mut count = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        if count as usize > ANSWERS_MAX {
            return Err(Malformed::OutOfRange("count of answers"));
        }
        self.answers.resize(count as usize, Answer::default());
        self.answers.iter_mut().try_for_each(|answer| answer.stream(stream))?;
        self.stream_canonical(stream)?;
        stream.optional(&mut self.unforeseen, |stream, back| stream.small(back))?;
        if self.unforeseen > Some(NAMED_TICKS_BACK) {
            return Err(Malformed::OutOfRange("unforeseen tick"));
        }
        stream.optional(&mut self.proof, |stream, digest| stream.u32(digest))?;
        stream.optional(&mut self.baseline, |stream, baseline| baseline.stream(stream))
    }

    fn stream_late_messages(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut count = u32::try_from(self.late_messages.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        if count as usize > LATE_MESSAGES_MAX {
            return Err(Malformed::OutOfRange("count of late messages"));
        }
        self.late_messages.resize(count as usize, LateMessage::default());
        for late in &mut self.late_messages {
            stream.u32(&mut late.number)?;
            stream.small(&mut late.back)?;
            if late.back == 0 || late.back > NAMED_TICKS_BACK {
                return Err(Malformed::OutOfRange("tick of a late message"));
            }
        }
        Ok(())
    }

    fn stream_canonical(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut count = u32::try_from(self.canonical.len()).unwrap_or(u32::MAX);
        let mut any = count > 0;
        stream.bool(&mut any)?;
        if !any {
            self.canonical.clear();
            return Ok(());
        }
        stream.small(&mut count)?;
        if count as usize > CANONICAL_MAX {
            return Err(Malformed::OutOfRange("count of canonical ticks"));
        }
        self.canonical.resize(count as usize, 0);
        self.canonical.iter_mut().try_for_each(|tick| stream.u16(tick))
    }

    fn stream_arrivals(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut count = u32::try_from(self.arrivals.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        if count as usize > ARRIVALS_MAX {
            return Err(Malformed::OutOfRange("count of arrivals"));
        }
        if count == 0 {
            self.arrivals.clear();
            return Ok(());
        }
        // Mostly the newest input that was taken is also the newest that came.
        let mut is_newest = self.newest_input == Some(self.arrived);
        stream.bool(&mut is_newest)?;
        match self.newest_input {
            Some(newest) if is_newest => self.arrived = newest,
            None if is_newest => return Err(Malformed::OutOfRange("newest input")),
            _ => stream.u16(&mut self.arrived)?,
        }
        self.arrivals.resize(count as usize, InputArrival::default());
        for arrival in &mut self.arrivals {
            stream.small(&mut arrival.count)?;
            stream.u16(&mut arrival.margin)?;
            if arrival.count == 0 {
                return Err(Malformed::OutOfRange("inputs of an arrival"));
            }
        }
        Ok(())
    }

    fn stream_substituted(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut count = u32::try_from(self.substituted.len()).unwrap_or(u32::MAX);
        stream.small(&mut count)?;
        if count as usize > RANGES_MAX {
            return Err(Malformed::OutOfRange("count of substituted ranges"));
        }
        self.substituted.resize(count as usize, SubstitutedRange::default());
        for range in &mut self.substituted {
            stream.small(&mut range.back)?;
            stream.small(&mut range.ticks)?;
            stream.bits(&mut range.how, 2)?;
            let ends = range.back.checked_add(range.ticks);
            if range.back == 0
                || range.ticks == 0
                || range.how == 3
                || ends.is_none_or(|end| end > 2 * NAMED_TICKS_BACK)
            {
                return Err(Malformed::OutOfRange("substituted range"));
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "three bits were read")]
fn stream_part(stream: &mut impl Stream, part: &mut u8) -> Result<(), Malformed> {
    let mut bits = u64::from(*part);
    stream.bits(&mut bits, 3)?;
    *part = bits as u8;
    Ok(())
}
