//! The messages of all players: from each to the game, and from it to each.

use super::admission::{Member, Roster};
use super::config::Settings;
use super::peer::Peer;
use super::peer_messages::{Taken, To};
use super::replication::StepReport;
use super::update_log::UpdateLog;
use super::update_report::ServerEvent;
use crate::session::messages::{Inbox, MessagesDatagram};
use crate::session::{HitReceipt, Offence, PeerId, SendError};
use crate::time::{Instant, Tick};
use crate::wire::{BitReader, Malformed};
use crate::world::{Delivery, Input, Messages, PlayerId, ReceivedMessage};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What messages go through, and where they are told.
pub(super) struct MessageRouter<'a, I> {
    pub settings: &'a Settings,
    pub roster: &'a mut Roster<Peer<I>>,
    pub log: &'a mut UpdateLog,
    /// The tick that is stepped next.
    pub next: Tick,
}

impl<I: Input> MessageRouter<'_, I> {
    /// Takes in a datagram of messages, if who sends it has a place.
    pub fn receive(self, now: Instant, address: PeerId, reader: BitReader<'_>) -> Result<(), Malformed> {
        let datagram = MessagesDatagram::read(reader)?;
        let Some(player) = self.roster.speaker(address, datagram.header.ticket) else { return Ok(()) };
        let MessageRouter { settings: Settings { rules, config }, roster, log, .. } = self;
        let Some(Member { peer, .. }) = roster.member_mut(player) else { return Ok(()) };
        let (kinds, messages) = (&rules.messages, log.messages_mut());
        let mut inbox = Inbox { from: player, kinds, messages, senseless: 0 };
        let taken = peer.messages.receive(now, datagram, config.message_rate_max, &mut inbox);
        let offences = &mut peer.counters.stats.offences;
        offences.note_times(Offence::Message, inbox.senseless);
        match taken? {
            Taken::In(fates) => peer.replica.allowance().note(fates, now),
            Taken::OfAnother => log.note(ServerEvent::MessagesReset(player)),
            Taken::TooMuch => offences.note(Offence::Message),
        }
        Ok(())
    }

    /// Tells a receipt of a step to who shot and who was hit, where there is such a message and they see the other. Who sits here is told
    /// all of theirs: nothing of it leaves the server.
    pub fn tell_receipt(self, receipt: &HitReceipt, step: StepReport<'_>) {
        let MessageRouter { settings, roster, .. } = self;
        let Some(kind) = settings.rules.messages.find::<HitReceipt>() else { return };
        let (bytes, shooter, victim) = (Messages::encode(receipt), receipt.shooter(), receipt.victim.owner);
        let other = Some(victim).filter(|victim| *victim != shooter);
        for player in [shooter].into_iter().chain(other) {
            let Some(Member { place, peer, .. }) = roster.member(player) else { continue };
            if place.is_local() || peer.replica.may_hear_of(player, receipt, step) {
                // A player whose queue is full is not told.
                let _ = push(settings, roster, To::Player(player), Encoded { kind, bytes: &bytes });
            }
        }
    }

    /// Takes a message that is to be sent. The first of what stands against it, where it is for several.
    pub fn push(self, to: To, kind: usize, bytes: &Arc<[u8]>) -> Result<(), SendError> {
        push(self.settings, self.roster, to, Encoded { kind, bytes })
    }

    /// Takes a message of a player who sits here.
    pub fn take_here(self, player: PlayerId, kind: usize, bytes: &[u8]) -> Result<(), SendError> {
        let kind = &self.settings.rules.messages.kinds()[kind];
        let content = kind.decode(bytes).ok_or(SendError::Senseless)?;
        let message = ReceivedMessage::new(player, kind, content);
        if kind.delivery() != Delivery::InStep {
            self.log.messages_mut().push(message);
            return Ok(());
        }
        let Member { peer, .. } = self.roster.member_mut(player).ok_or(SendError::NotPlaying)?;
        let has_room = peer.step_messages.take_here(message, self.next);
        if has_room { Ok(()) } else { Err(SendError::Full) }
    }

    /// Moves the messages to a player who sits here.
    pub fn tell_here(self, player: PlayerId, into: &mut Vec<ReceivedMessage>) {
        if let Some(Member { peer, .. }) = self.roster.member_mut(player) {
            peer.messages.tell_here(into);
        }
    }
}

/// A message as it is sent.
struct Encoded<'a> {
    kind: usize,
    bytes: &'a Arc<[u8]>,
}

fn push<I: Input>(
    settings: &Settings,
    roster: &mut Roster<Peer<I>>,
    to: To,
    message: Encoded<'_>,
) -> Result<(), SendError> {
    let Encoded { kind, bytes } = message;
    let nobody = if matches!(to, To::Player(_)) { Err(SendError::NotPlaying) } else { Ok(()) };
    let (of, members) = (&settings.rules.messages.kinds()[kind], roster.joined_mut());
    let pushed = members.filter(|member| to.includes(member.player)).map(|Member { place, peer, .. }| {
        if place.is_local() {
            peer.messages.push_here(of, bytes)
        } else if place.is_lost() && of.delivery() == Delivery::Unreliable {
            Ok(())
        } else {
            peer.messages.push(kind, bytes.clone(), &settings.config)
        }
    });
    pushed.reduce(Result::and).unwrap_or(nobody)
}
