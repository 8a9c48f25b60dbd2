//! The client's messages: both ways, and how much of them may go up.

use super::client_settings::{ClientSettings, Moment};
use super::link::NamedDatagram;
use crate::session::congestion_window::Fates;
use crate::session::messages::{
    Inbox, MessageExchange, MessageProgress, MessageStats, MessagesDatagram, SendError, Sending,
};
use crate::session::send_allowance::{Budget, SendAllowance};
use crate::session::{Outbox, PeerId};
use crate::time::{Instant, Tick};
use crate::wire::Malformed;
use crate::world::{Messages, PlayerId, ReceivedMessage};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The least rate for messages upwards, in bytes per second, even when much is under way.
const LEAST: u32 = 1000;
/// In how many datagrams messages go up in a tick at most: servers over a network read few of a client's in each, and what is beyond costs
/// inputs.
const DATAGRAMS_MAX: usize = 2;

/// Lives as long as the session.
pub(super) struct ClientMessages {
    exchange: MessageExchange,
    allowance: SendAllowance,
    /// In which tick something was sent last, and when.
    sent: Option<(Tick, Instant)>,
}

impl ClientMessages {
    /// Of a session that begins in this tick.
    pub(super) fn new(messages: &Messages, begins: Tick) -> ClientMessages {
        let exchange = MessageExchange::of_client(messages, begins.get());
        ClientMessages { exchange, allowance: SendAllowance::new(), sent: None }
    }

    pub(super) fn stats(&self) -> MessageStats {
        self.exchange.stats()
    }

    /// How much it keeps.
    pub(super) fn kept(&self) -> usize {
        self.exchange.kept()
    }

    /// The messages that have come in part.
    pub(super) fn progress<'a>(&'a self, messages: &'a Messages) -> impl Iterator<Item = MessageProgress> + 'a {
        self.exchange.progress(messages)
    }

    /// Takes a message that is to be sent.
    pub(super) fn push(&mut self, kind: usize, bytes: Arc<[u8]>, settings: &ClientSettings) -> Result<(), SendError> {
        self.exchange.push(kind, bytes, settings.config.message_queue_max as usize)
    }

    /// Takes in a datagram.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        datagram: MessagesDatagram<'_>,
        kinds: &Messages,
        messages: &mut Vec<ReceivedMessage>,
    ) -> Result<(), Malformed> {
        let mut inbox = Inbox { from: PlayerId::SERVER, kinds, messages, senseless: 0 };
        let fates = self.exchange.receive(now, datagram, &mut inbox)?;
        self.allowance.note(fates, now);
        if inbox.senseless > 0 { Err(Malformed::OutOfRange("message")) } else { Ok(()) }
    }

    /// The server has named a datagram of inputs now. There are many of them, so it is known by them whether what goes up waits, and that
    /// it comes.
    pub(super) fn note_named(&mut self, now: Instant, NamedDatagram { sent, held }: NamedDatagram) {
        self.allowance.note(Fates { come: 1, newest_sent: Some(sent + held), ..Fates::default() }, now);
        self.exchange.note_reached(sent);
    }

    /// Sends what may be sent now: once in a tick, however many frames that has. Returns how many bytes those are.
    pub(super) fn send(&mut self, moment: Moment<'_>, ticket: u8, outbox: &mut Outbox) -> u64 {
        let Moment { now, at, settings } = moment;
        let (tick, tick_length) = (at.tick(), Duration::from_secs_f64(settings.rules.tick_rate.seconds()));
        // A clock that waits for the server's stays in a tick for longer.
        if self.sent.is_some_and(|(in_tick, sent)| in_tick == tick && now.since(sent) < tick_length) {
            return 0;
        }
        let ClientMessages { exchange, allowance, .. } = self;
        let most = settings.config.message_rate;
        allowance.add(Budget { least: LEAST.min(most), most }, exchange.under_way(), now);
        let kinds = &settings.rules.messages;
        let (peer, datagrams_max) = (PeerId::default(), DATAGRAMS_MAX);
        let sending = Sending { now, peer, ticket, kinds, before_a_state: false, datagrams_max };
        let bytes = exchange.send(sending, allowance, outbox);
        if bytes > 0 {
            self.sent = Some((tick, now));
        }
        bytes
    }
}
