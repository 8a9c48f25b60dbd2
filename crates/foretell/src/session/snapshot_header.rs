//! The header of a snapshot: what a server tells a client besides the state. Its parts, in the order in which they travel.

use super::authority_codec::{ANSWERS_MAX, Answer};
use super::baseline_ref::BaselineRef;
use super::datagram::NAMED_TICKS_BACK;
use super::step_events::STEP_EVENT_TICKS_BACK;
use crate::time::{Tick, TickRate, TickTime};
use crate::wire::{Malformed, Stream};
use alloc::vec::Vec;
use core::time::Duration;

/// How many ranges of substituted inputs one header may name.
pub(crate) const RANGES_MAX: usize = 64;
/// How many late messages one header may name.
pub(crate) const LATE_MESSAGES_MAX: usize = 16;
/// How many arrivals one header may tell of; of more the newest are told.
pub(crate) const ARRIVALS_MAX: usize = 64;
/// How many canonical ticks one header may name: those of more than the 2 s that a client compares.
pub(crate) const CANONICAL_MAX: usize = 8;

/// Server to client: the header of a datagram that holds a snapshot or a part of one. The rows follow, each after a bit 1,
/// and then a bit 0; and the news likewise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SnapshotHeader {
    /// How many parts there are, less one. Written as 0, and set when all parts are written.
    pub last_part: u8,
    /// Which part of the snapshot this is, from 0.
    pub part: u8,
    pub ticket: u8,
    /// Counts the datagrams of states to this client.
    pub number: u16,
    /// Whether not all that the client predicts of others has room in it: the rest it shows.
    pub is_crowded: bool,
    pub timing: SnapshotTiming,
    /// Tells the times apart that the same state is sent to a client; `None` for the first. Parts of two of them make no
    /// snapshot: they are cut at other rows.
    pub repeat: Option<u8>,
    pub inputs: InputReport,
    /// Of how many ticks before the snapshot's all news are told; `None` for all that the client does not know.
    pub news_ticks: Option<u32>,
    /// What became of the client's requests for authority, as far as it may not know; oldest first.
    pub answers: Vec<Answer>,
    pub exact: ExactReport,
    /// A digest of the rows, in their place.
    pub proof: Option<u32>,
    /// The rows are told as they differ from those of an earlier snapshot.
    pub baseline: Option<BaselineRef>,
}

impl SnapshotHeader {
    /// Sets the number of the last part in a datagram that was written with 0: bits 3 to 5 of its first byte.
    pub(crate) fn set_last_part(datagram: &mut [u8], last_part: u8) {
        datagram[0] |= last_part << 3;
    }

    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream_part(stream, &mut self.last_part)?;
        stream_part(stream, &mut self.part)?;
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.number)?;
        stream.bool(&mut self.is_crowded)?;
        self.timing.stream(stream)?;
        stream.optional(&mut self.repeat, |stream, number| stream.u8(number))?;
        self.inputs.stream(stream)?;
        stream.optional(&mut self.news_ticks, |stream, ticks| stream.small(ticks))?;
        if self.news_ticks > Some(STEP_EVENT_TICKS_BACK) {
            return Err(Malformed::OutOfRange("ticks of news"));
        }
        stream_length(stream, &mut self.answers, ANSWERS_MAX, "count of answers")?;
        self.answers.iter_mut().try_for_each(|answer| answer.stream(stream))?;
        self.exact.stream(stream)?;
        stream.optional(&mut self.proof, |stream, digest| stream.u32(digest))?;
        stream.optional(&mut self.baseline, |stream, baseline| baseline.stream(stream))
    }
}

/// Of which state a snapshot is, and when it was sent, by the server's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SnapshotTiming {
    /// The newest of the client's datagrams, and how long ago it came, in units of 64 µs (saturating).
    pub heard: Option<(u16, u16)>,
    /// The tick of the state.
    pub tick: u16,
    /// How much of the tick before it had passed when the snapshot was sent, in 1/256 (saturating).
    pub fraction: u8,
}

impl SnapshotTiming {
    /// Where the server's clock stood when the snapshot of `tick` was sent.
    pub(crate) fn sent(&self, tick: Tick) -> TickTime {
        let before = TickTime::start_of(tick) - TickTime::start_of(Tick::new(1));
        before + TickTime::from_millionths(i64::from(self.fraction) * 1_000_000 / 256)
    }

    /// How long the newest of the client's datagrams had been there when this was sent; `None` for longer than the header can say.
    pub(crate) fn held(&self) -> Option<Duration> {
        let (_, ago) = self.heard.filter(|(_, ago)| *ago < u16::MAX)?;
        Some(Duration::from_micros(u64::from(ago) * 64))
    }

    /// The server's clock when the newest of the client's datagrams came, and when this was sent; `None` where a server was so
    /// far behind, or heard nothing for so long, that the header can't say.
    pub(crate) fn arrived_and_answered(&self, tick: Tick, rate: TickRate) -> Option<(TickTime, TickTime)> {
        let micros = i64::try_from(self.held()?.as_micros()).unwrap_or(i64::MAX);
        let (held, sent) = (TickTime::from_millionths(micros * i64::from(rate.get())), self.sent(tick));
        (self.fraction < u8::MAX).then_some((sent - held, sent))
    }

    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.optional(&mut self.heard, |stream, (sequence, ago)| {
            stream.u16(sequence)?;
            stream.u16(ago)
        })?;
        stream.u16(&mut self.tick)?;
        stream.u8(&mut self.fraction)
    }
}

/// What has become of the client's inputs, and of its messages in steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputReport {
    /// The newest input that has come.
    pub newest: Option<u16>,
    /// When inputs have come since the snapshot before; newest first.
    pub arrivals: Vec<InputArrival>,
    /// The newest input of the newest arrival.
    pub arrived: u16,
    /// Ticks whose input was substituted and that the client may not know of yet; newest first.
    pub substituted: Vec<SubstitutedRange>,
    /// Messages that were part of later steps than the client has them in, and it may not know of that; oldest first.
    pub late_messages: Vec<LateMessage>,
}

impl InputReport {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.optional(&mut self.newest, |stream, tick| stream.u16(tick))?;
        self.stream_arrivals(stream)?;
        stream_length(stream, &mut self.substituted, RANGES_MAX, "count of substituted ranges")?;
        self.substituted.iter_mut().try_for_each(|range| range.stream(stream))?;
        stream_length(stream, &mut self.late_messages, LATE_MESSAGES_MAX, "count of late messages")?;
        self.late_messages.iter_mut().try_for_each(|late| late.stream(stream))
    }

    fn stream_arrivals(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream_length(stream, &mut self.arrivals, ARRIVALS_MAX, "count of arrivals")?;
        if self.arrivals.is_empty() {
            return Ok(());
        }
        // Mostly the newest input that was taken is also the newest that came.
        let mut is_newest = self.newest == Some(self.arrived);
        stream.bool(&mut is_newest)?;
        match self.newest {
            Some(newest) if is_newest => self.arrived = newest,
            None if is_newest => return Err(Malformed::OutOfRange("newest input")),
            _ => stream.u16(&mut self.arrived)?,
        }
        self.arrivals.iter_mut().try_for_each(|arrival| arrival.stream(stream))
    }
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

impl InputArrival {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.small(&mut self.count)?;
        stream.u16(&mut self.margin)?;
        if self.count == 0 { Err(Malformed::OutOfRange("inputs of an arrival")) } else { Ok(()) }
    }
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

impl SubstitutedRange {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.small(&mut self.back)?;
        stream.small(&mut self.ticks)?;
        stream.bits(&mut self.how, 2)?;
        let reaches = self.back.checked_add(self.ticks).is_some_and(|end| end <= 2 * NAMED_TICKS_BACK);
        let is_possible = self.back > 0 && self.ticks > 0 && self.how < 3 && reaches;
        if is_possible { Ok(()) } else { Err(Malformed::OutOfRange("substituted range")) }
    }
}

/// A message that was part of a later step than its client has it in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LateMessage {
    /// Which one of the client's session.
    pub number: u32,
    /// How many ticks before the snapshot's that step was.
    pub back: u32,
}

impl LateMessage {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u32(&mut self.number)?;
        stream.small(&mut self.back)?;
        let is_possible = (1..=NAMED_TICKS_BACK).contains(&self.back);
        if is_possible { Ok(()) } else { Err(Malformed::OutOfRange("tick of a late message")) }
    }
}

/// What the clients of an exact session can't know by themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ExactReport {
    /// The canonical ticks that the client may not know of, ascending.
    pub canonical: Vec<u16>,
    /// How many ticks before this state something has come about that no client can foresee; the newest such tick, as far as
    /// the client may not know of it.
    pub unforeseen: Option<u32>,
}

impl ExactReport {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let mut any = !self.canonical.is_empty();
        stream.bool(&mut any)?;
        if any {
            stream_length(stream, &mut self.canonical, CANONICAL_MAX, "count of canonical ticks")?;
            self.canonical.iter_mut().try_for_each(|tick| stream.u16(tick))?;
        } else {
            self.canonical.clear();
        }
        stream.optional(&mut self.unforeseen, |stream, back| stream.small(back))?;
        if self.unforeseen > Some(NAMED_TICKS_BACK) { Err(Malformed::OutOfRange("unforeseen tick")) } else { Ok(()) }
    }
}

/// How long a list is, at most `most`; one that is read gets that length.
fn stream_length<T: Clone + Default>(
    stream: &mut impl Stream,
    list: &mut Vec<T>,
    most: usize,
    what: &'static str,
) -> Result<(), Malformed> {
    let mut count = u32::try_from(list.len()).unwrap_or(u32::MAX);
    stream.small(&mut count)?;
    if count as usize > most {
        return Err(Malformed::OutOfRange(what));
    }
    list.resize(count as usize, T::default());
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "three bits were read")]
fn stream_part(stream: &mut impl Stream, part: &mut u8) -> Result<(), Malformed> {
    let mut bits = u64::from(*part);
    stream.bits(&mut bits, 3)?;
    *part = bits as u8;
    Ok(())
}
