//! Messages both ways over one connection: what is to be sent, what is under way, and what has come.

use super::fragment::write_fragment;
use super::in_flight::InFlight;
use super::incoming::{Incoming, MessageProgress};
use super::messages_header::{MessagesDatagram, MessagesHeader};
use super::outgoing::{Outgoing, SendError};
use crate::session::ack_bits::AckBits;
use crate::session::congestion_window::Fates;
use crate::session::datagram::{DATAGRAM_MAX, DatagramKind};
use crate::session::send_allowance::SendAllowance;
use crate::session::{Outbox, PeerId};
use crate::time::Instant;
use crate::wire::{BitWriter, Malformed};
use crate::world::PlayerId;
use crate::world::{Messages, ReceivedMessage};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// A client says that it is there until it hears that the server knows it, so often.
const OPENS_AGAIN: Duration = Duration::from_millis(100);
/// A datagram whose number is behind by more is a late copy.
const BEHIND_MAX: u16 = 1024;

/// What was sent and has come of messages, since the session began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageStats {
    /// Messages that were given to be sent, but for those in steps, which travel with the inputs.
    pub sent: u64,
    /// Messages that have come.
    pub received: u64,
    /// Bytes of datagrams of messages that were sent, headers and repetitions included.
    pub bytes_sent: u64,
    /// Bytes of datagrams of messages that have come, headers and repetitions included.
    pub bytes_received: u64,
    /// Fragments that were sent again.
    pub repeated: u64,
    /// How many bytes wait to be sent, or to be known to have come.
    pub waiting_bytes: usize,
    /// How many bytes have come of messages that can't be told yet: fragments of them are missing, or earlier ones.
    pub held_bytes: usize,
}

/// When messages are sent, where they go, and which kinds there are.
#[derive(Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub now: Instant,
    pub peer: PeerId,
    pub ticket: u8,
    pub kinds: &'a Messages,
    /// Whether a state is still to be sent: messages leave it its share.
    pub before_a_state: bool,
    /// In how many datagrams at most.
    pub datagrams_max: usize,
}

/// Where messages that have come are put.
pub(crate) struct Inbox<'a> {
    pub from: PlayerId,
    pub kinds: &'a Messages,
    pub messages: &'a mut Vec<ReceivedMessage>,
    /// How many were none of their kind.
    pub senseless: u64,
}

/// Lives as long as a client's session, on both ends.
pub(crate) struct MessageExchange {
    /// The tick in which the client's session began; a server does not know it before the client says so.
    opening: Option<u32>,
    is_client: bool,
    /// Whether the other end knows it.
    is_open: bool,
    /// When it was said last.
    opened: Option<Instant>,
    /// The number of the next datagram.
    next: u16,
    outgoing: Outgoing,
    incoming: Incoming,
    in_flight: InFlight,
    received: Option<AckBits>,
    /// Whether something has come of which the other end does not know.
    owes: bool,
    stats: MessageStats,
}

impl MessageExchange {
    /// A server's: it says nothing before its client does.
    pub(crate) fn of_server(messages: &Messages) -> MessageExchange {
        MessageExchange {
            opening: None,
            is_client: false,
            is_open: true,
            opened: None,
            next: 0,
            outgoing: Outgoing::new(messages),
            incoming: Incoming::new(messages),
            in_flight: InFlight::new(),
            received: None,
            owes: false,
            stats: MessageStats::default(),
        }
    }

    /// A client's, whose session began in the tick `opening`. Where there are no kinds of messages nothing is ever sent.
    pub(crate) fn of_client(messages: &Messages, opening: u32) -> MessageExchange {
        let is_open = messages.kinds().is_empty();
        MessageExchange { opening: Some(opening), is_client: true, is_open, ..MessageExchange::of_server(messages) }
    }

    /// What was sent and has come.
    pub(crate) fn stats(&self) -> MessageStats {
        let (waiting_bytes, held_bytes) = (self.outgoing.waiting_bytes(), self.incoming.kept_bytes());
        MessageStats { waiting_bytes, held_bytes, ..self.stats }
    }

    /// How many messages and datagrams it keeps.
    pub(crate) fn kept(&self) -> usize {
        self.outgoing.kept() + self.incoming.kept() + self.in_flight.kept()
    }

    /// How many bytes are under way.
    pub(crate) fn under_way(&self) -> u64 {
        self.in_flight.under_way()
    }

    /// The messages that have come in part.
    pub(crate) fn progress<'a>(&'a self, messages: &'a Messages) -> impl Iterator<Item = MessageProgress> + 'a {
        self.incoming.progress(messages)
    }

    /// Takes a message that is to be sent, where no more than `waiting_max` bytes wait then.
    pub(crate) fn push(&mut self, kind: usize, bytes: Arc<[u8]>, waiting_max: usize) -> Result<(), SendError> {
        self.outgoing.push(kind, bytes, waiting_max)?;
        self.stats.sent += 1;
        Ok(())
    }

    /// Nothing is sent for a while: what need not come is not sent any more.
    pub(crate) fn drop_unreliable(&mut self) {
        self.outgoing.drop_unreliable();
    }

    /// On a server: a client speaks whose session began in this tick. Whether what it is told is to begin anew, as another session of
    /// it was told before.
    pub(crate) fn is_of_another(&self, opening: u32) -> bool {
        self.opening.is_some_and(|known| known < opening)
    }

    /// On a server: from now on it is this client's.
    pub(crate) fn open(&mut self, opening: u32) {
        self.opening = self.opening.or(Some(opening));
    }

    /// The other end has a datagram that was sent then, of messages or not.
    pub(crate) fn note_reached(&mut self, sent: Instant) {
        self.in_flight.note_reached(sent);
    }

    /// Takes in a datagram. Returns how those fared that it tells of.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        datagram: MessagesDatagram<'_>,
        inbox: &mut Inbox<'_>,
    ) -> Result<Fates, Malformed> {
        let MessagesDatagram { header, bytes, fragments } = datagram;
        if self.opening != Some(header.opening) {
            return Ok(Fates::default());
        }
        self.stats.bytes_received += bytes as u64;
        let is_fresh = header.number.is_some_and(|number| self.is_fresh(number));
        match header.number {
            Some(_) if is_fresh => self.incoming.read(fragments, inbox.kinds)?,
            Some(_) => {}
            None => fragments.finish()?,
        }
        let is_opening = header.number.is_none() && header.received.is_none();
        self.owes |= header.number.is_some() || is_opening && !self.is_client;
        self.is_open = true;
        let outgoing = &mut self.outgoing;
        let fates = header.received.map(|received| {
            self.in_flight.settle(received, now, |fragment, has_come| {
                self.stats.repeated += u64::from(!has_come);
                outgoing.settle(fragment, has_come);
            })
        });
        if let Some(number) = header.number.filter(|_| is_fresh) {
            self.received = Some(self.received.map_or(AckBits::first(number), |received| received.with(number)));
            self.take(inbox);
        }
        Ok(fates.unwrap_or_default())
    }

    /// Whether a datagram of this number has not come before, as far as is known.
    fn is_fresh(&self, number: u16) -> bool {
        self.received.is_none_or(|received| {
            let is_late = received.is_newer_than(number.wrapping_add(BEHIND_MAX));
            !received.has(number) && !is_late
        })
    }

    fn take(&mut self, inbox: &mut Inbox<'_>) {
        let MessageExchange { incoming, stats, .. } = self;
        incoming.take(|kind, bytes| {
            let kind = &inbox.kinds.kinds()[kind];
            match kind.decode(bytes) {
                Some(content) => {
                    stats.received += 1;
                    inbox.messages.push(ReceivedMessage::new(inbox.from, kind, content));
                }
                None => inbox.senseless += 1,
            }
        });
    }

    /// Sends what may be sent now, and what the other end has to know. Returns how many bytes those are.
    pub(crate) fn send(&mut self, sending: Sending<'_>, allowance: &mut SendAllowance, outbox: &mut Outbox) -> u64 {
        let now = sending.now;
        let Some(opening) = self.opening else { return 0 };
        let MessageExchange { in_flight, outgoing, stats, .. } = self;
        let fates = in_flight.expire(now, |fragment| {
            stats.repeated += 1;
            outgoing.settle(fragment, false);
        });
        if fates.lost > 0 {
            allowance.note(fates, now);
        }
        let mut sent = 0;
        for _ in 0..sending.datagrams_max {
            let has_next = self.outgoing.has_next() && !self.in_flight.is_full();
            if !has_next || !allowance.takes_messages(sending.before_a_state) {
                break;
            }
            let bytes = self.write(sending, opening, outbox);
            allowance.spend_on_messages(bytes);
            sent += bytes as u64;
        }
        let opens = !self.is_open && self.opened.is_none_or(|opened| now.since(opened) >= OPENS_AGAIN);
        if self.owes || opens {
            sent += self.write_header(sending, opening, outbox) as u64;
        }
        self.stats.bytes_sent += sent;
        sent
    }

    /// Writes a datagram with as many fragments as fit into it.
    fn write(&mut self, sending: Sending<'_>, opening: u32, outbox: &mut Outbox) -> usize {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let header = self.header(sending, opening, Some(number));
        let mut names = Vec::new();
        let bytes = outbox.push(sending.peer, |bytes| {
            let mut writer = begin(bytes, header);
            let room = DATAGRAM_MAX - writer.bit_len().div_ceil(8) - 1;
            names = self.outgoing.fill(room, |name, message| {
                writer.put(1, 1);
                write_fragment(&mut writer, name, message, sending.kinds);
            });
            writer.put(0, 1);
        });
        self.in_flight.note_sent(number, bytes, sending.now, names);
        bytes
    }

    /// Writes one that only tells what has come.
    fn write_header(&mut self, sending: Sending<'_>, opening: u32, outbox: &mut Outbox) -> usize {
        let header = self.header(sending, opening, None);
        outbox.push(sending.peer, |bytes| {
            begin(bytes, header);
        })
    }

    fn header(&mut self, sending: Sending<'_>, opening: u32, number: Option<u16>) -> MessagesHeader {
        (self.owes, self.opened) = (false, Some(sending.now));
        let header = MessagesHeader { ticket: sending.ticket, opening, received: self.received, number };
        self.received.iter_mut().for_each(AckBits::note_told);
        header
    }
}

fn begin(bytes: &mut Vec<u8>, mut header: MessagesHeader) -> BitWriter<'_> {
    let mut writer = BitWriter::new(bytes);
    DatagramKind::Messages.write(&mut writer);
    header.stream(&mut writer).expect("writing never fails");
    writer
}
