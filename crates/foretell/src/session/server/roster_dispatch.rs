//! Who has come, gone or moved: each part that keeps something of a player is told.

use super::admission::{Roster, RosterChange};
use super::authority::AuthorityArbiter;
use super::exact_sessions::ExactSession;
use super::peer::Peer;
use super::stats::ServerTotals;
use super::update_log::UpdateLog;
use super::update_report::ServerEvent;
use crate::time::Tick;
use crate::world::{Input, Messages, PlayerId, Seat};

/// Who is here, and the parts that are told when that changes.
pub(super) struct RosterDispatch<'a, I> {
    /// Which kinds of messages there are.
    pub messages: &'a Messages,
    /// The tick that is stepped next.
    pub next: Tick,
    pub roster: &'a mut Roster<Peer<I>>,
    pub exact: &'a mut ExactSession,
    pub authority: &'a mut AuthorityArbiter,
    pub totals: &'a mut ServerTotals,
    pub log: &'a mut UpdateLog,
}

impl<I: Input> RosterDispatch<'_, I> {
    /// Tells all parts who has come, gone and moved.
    pub fn notify(mut self) {
        let next = self.next;
        while let Some(change) = self.roster.next_change() {
            let event = match change {
                RosterChange::Joined(player) => {
                    let seat = self.roster.member(player).map_or(Seat::Player, |member| member.place.seat());
                    if self.roster.member(player).is_some_and(|member| member.place.is_local()) {
                        self.exact.admit_local(player);
                    } else {
                        self.exact.admit(player, seat, next);
                    }
                    let peer = Peer::new(next, self.messages).seated(seat);
                    self.change_peer(player, |known| *known = peer);
                    self.totals.joins.joined += 1;
                    Some(ServerEvent::Joined(player))
                }
                RosterChange::Greeted { player, is_here } => {
                    self.exact.note_hello(player, next);
                    self.change_peer(player, |peer| peer.note_hello(is_here));
                    None
                }
                RosterChange::TakenOver { player, has_returned } => {
                    self.exact.take_over(player, next);
                    self.authority.take_over(player);
                    self.change_peer(player, Peer::take_over);
                    has_returned.then_some(ServerEvent::Rejoined(player))
                }
                RosterChange::Lost(player) => {
                    self.change_peer(player, Peer::note_lost);
                    Some(ServerEvent::Lost(player))
                }
                RosterChange::Returned(player) => {
                    self.change_peer(player, Peer::note_returned);
                    Some(ServerEvent::Rejoined(player))
                }
                RosterChange::Left { player, mut peer, was_lost, why } => {
                    self.exact.remove(player);
                    self.authority.remove(player);
                    if was_lost {
                        peer.counters.note_lost();
                    }
                    self.totals.inputs.add_past(peer.counters.stats.inputs);
                    Some(ServerEvent::Left { player, why })
                }
                RosterChange::Refused { peer, player, why } => {
                    self.totals.joins.note_refused(why);
                    Some(ServerEvent::Refused { peer, player, why })
                }
            };
            event.into_iter().for_each(|event| self.log.note(event));
        }
    }

    fn change_peer(&mut self, player: PlayerId, change: impl FnOnce(&mut Peer<I>)) {
        if let Some(member) = self.roster.member_mut(player) {
            change(&mut member.peer);
        }
    }
}
