//! The messages of one player: both ways, with a limit on what comes.

use super::config::ServerConfig;
use crate::session::Outbox;
use crate::session::congestion_window::Fates;
use crate::session::messages::{Inbox, MessageExchange, MessageStats, MessagesDatagram, SendError, Sending};
use crate::session::send_allowance::SendAllowance;
use crate::time::Instant;
use crate::wire::Malformed;
use crate::world::{MessageKind, Messages, PlayerId, ReceivedMessage};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// So much of what may come in this time may come at once.
const SAVED: Duration = Duration::from_secs(2);

/// For whom a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// Everybody in the session.
    All,
    /// Everybody but this player.
    AllBut(PlayerId),
    /// This player. To a group sends [`send_to_group`](crate::Server::send_to_group).
    Player(PlayerId),
}

impl To {
    /// Whether it is for this player.
    pub(super) fn includes(self, player: PlayerId) -> bool {
        match self {
            To::All => true,
            To::AllBut(other) => other != player,
            To::Player(only) => only == player,
        }
    }
}

/// What has become of a datagram of messages.
pub(super) enum Taken {
    /// It was taken in: how those of the server's fared that it tells of.
    In(Fates),
    /// It is of another session of the client's than what it was told is for: that is begun anew.
    OfAnother,
    /// The player has sent more than they may.
    TooMuch,
}

/// Lives as long as the place.
pub(super) struct PeerMessages {
    exchange: MessageExchange,
    /// Those to a player who sits at the server, who is told them by the next update.
    here: Vec<ReceivedMessage>,
    /// How many bytes may come, as of `metered`.
    allowed: f64,
    metered: Option<Instant>,
}

impl PeerMessages {
    pub fn new(messages: &Messages) -> PeerMessages {
        PeerMessages { exchange: MessageExchange::of_server(messages), here: Vec::new(), allowed: 0.0, metered: None }
    }

    pub fn stats(&self) -> MessageStats {
        self.exchange.stats()
    }

    /// How much it keeps.
    pub fn kept(&self) -> usize {
        self.exchange.kept() + self.here.len()
    }

    pub fn under_way(&self) -> u64 {
        self.exchange.under_way()
    }

    /// The player is lost: they are told nothing, and what need not come would be old by the time that they are back.
    pub fn note_lost(&mut self) {
        self.exchange.drop_unreliable();
    }

    /// The client has a datagram that was sent then, of messages or not.
    pub fn note_reached(&mut self, sent: Instant) {
        self.exchange.note_reached(sent);
    }

    /// Takes a message that is to be sent.
    pub fn push(&mut self, kind: usize, bytes: Arc<[u8]>, config: &ServerConfig) -> Result<(), SendError> {
        self.exchange.push(kind, bytes, config.message_queue_max as usize)
    }

    /// Takes one to a player who sits at the server.
    pub fn push_here(&mut self, kind: &MessageKind, bytes: &[u8]) -> Result<(), SendError> {
        let content = kind.decode(bytes).ok_or(SendError::Senseless)?;
        self.here.push(ReceivedMessage::new(PlayerId::SERVER, kind, content));
        Ok(())
    }

    /// Moves those to them.
    pub fn tell_here(&mut self, into: &mut Vec<ReceivedMessage>) {
        into.append(&mut self.here);
    }

    /// Takes in a datagram. Beyond what may come it is as if it were lost: an honest client sends it again.
    pub fn receive(
        &mut self,
        now: Instant,
        datagram: MessagesDatagram<'_>,
        rate_max: u32,
        inbox: &mut Inbox<'_>,
    ) -> Result<Taken, Malformed> {
        let opening = datagram.header.opening;
        let passed = self.metered.replace(now).map_or(SAVED, |metered| now.since(metered));
        let rate = f64::from(rate_max);
        self.allowed = (self.allowed + rate * passed.as_secs_f64()).min(rate * SAVED.as_secs_f64());
        if self.allowed <= 0.0 {
            return Ok(Taken::TooMuch);
        }
        #[expect(clippy::cast_precision_loss, reason = "a datagram")]
        let bytes = datagram.bytes as f64;
        self.allowed -= bytes;
        if self.exchange.is_of_another(opening) {
            let mut exchange = MessageExchange::of_server(inbox.kinds);
            exchange.open(opening);
            exchange.receive(now, datagram, inbox)?;
            self.exchange = exchange;
            return Ok(Taken::OfAnother);
        }
        self.exchange.open(opening);
        self.exchange.receive(now, datagram, inbox).map(Taken::In)
    }

    /// Sends what may be sent now. Returns how many bytes those are.
    pub fn send(&mut self, sending: Sending<'_>, allowance: &mut SendAllowance, outbox: &mut Outbox) -> u64 {
        self.exchange.send(sending, allowance, outbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::datagram::DatagramKind;
    use crate::wire::{BitReader, BitWriter};
    use crate::world::Message;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Line(u8);

    impl Message for Line {
        const NAME: &'static str = "Line";
        const DELIVERY: crate::world::Delivery = crate::world::Delivery::Ordered;
        const BYTES_MAX: u32 = 8;
    }

    fn receive(messages: &mut PeerMessages, opening: u32, ends_well: bool) -> Result<Taken, Malformed> {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        DatagramKind::Messages.write(&mut writer);
        // Ticket, opening, nothing received, number 0; then whether a fragment follows.
        [(0, 8), (u64::from(opening), 32), (0, 1), (1, 1), (0, 16)]
            .iter()
            .for_each(|(value, bits)| writer.put(*value, *bits));
        writer.put(u64::from(!ends_well), 1);
        let mut reader = BitReader::new(&bytes);
        DatagramKind::read(&mut reader)?;
        let kinds = Messages::new().with::<Line>();
        let mut inbox = Inbox { from: PlayerId::new(1), kinds: &kinds, messages: &mut Vec::new(), senseless: 0 };
        messages.receive(Instant::ZERO, MessagesDatagram::read(reader)?, 32_000, &mut inbox)
    }

    #[test]
    fn a_malformed_datagram_of_a_later_session_forgets_nothing_of_this_one() {
        let mut messages = PeerMessages::new(&Messages::new().with::<Line>());
        assert!(matches!(receive(&mut messages, 5, true), Ok(Taken::In(_))));
        messages.push(0, Messages::encode(&Line(7)), &ServerConfig::default()).expect("it has room");
        assert!(receive(&mut messages, 9, false).is_err());
        assert_eq!(messages.stats().waiting_bytes, 1, "it is still to be sent");
        assert!(matches!(receive(&mut messages, 9, true), Ok(Taken::OfAnother)));
        assert_eq!(messages.stats().waiting_bytes, 0);
    }
}
