//! Places by player and by connection.

use super::place::Place;
use crate::session::PeerId;
use crate::world::{AccountName, Newcomer, PlayerId, Seat};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

/// A player, their place, and what else is kept for as long as they have it.
pub(crate) struct Member<P> {
    pub player: PlayerId,
    pub place: Place,
    pub peer: P,
}

impl<P> Member<P> {
    /// One who has joined over a connection without a handshake.
    #[cfg(test)]
    pub(crate) fn new(player: PlayerId, address: PeerId, peer: P) -> Member<P> {
        let mut place = Place::new(Some(address), None, 0, core::time::Duration::ZERO);
        place.join(core::time::Duration::ZERO, None);
        Member { player, place, peer }
    }
}

/// Everybody who has a place, and over which connections they play.
pub(super) struct Members<P> {
    /// Ascending by player.
    all: Vec<Member<P>>,
    /// Who is at the other end of each connection.
    addresses: BTreeMap<PeerId, PlayerId>,
    /// Whose account each connection is of, as far as that is known.
    accounts: BTreeMap<PeerId, AccountName>,
}

impl<P> Members<P> {
    pub(super) fn new() -> Members<P> {
        Members { all: Vec::new(), addresses: BTreeMap::new(), accounts: BTreeMap::new() }
    }

    /// Ascending by player.
    pub(super) fn all(&self) -> &[Member<P>] {
        &self.all
    }

    /// To be changed, ascending by player.
    pub(super) fn all_mut(&mut self) -> &mut [Member<P>] {
        &mut self.all
    }

    /// The index of a player.
    pub(super) fn find(&self, player: PlayerId) -> Option<usize> {
        self.all.binary_search_by_key(&player, |member| member.player).ok()
    }

    /// The index of who plays over a connection.
    pub(super) fn find_address(&self, address: PeerId) -> Option<usize> {
        self.find(*self.addresses.get(&address)?)
    }

    /// The same; where nobody does, of who was lost there last.
    pub(super) fn find_last_address(&self, address: PeerId) -> Option<usize> {
        let place = |at: &usize| &self.all[*at].place;
        let lost_there = |at: &usize| place(at).is_lost() && place(at).address() == Some(address);
        let lost_last = || (0..self.all.len()).filter(lost_there).max_by_key(|at| place(at).lost);
        self.find_address(address).or_else(lost_last)
    }

    /// Whether a player plays over a connection, now.
    fn plays_over(&self, player: PlayerId, address: PeerId) -> bool {
        self.addresses.get(&address) == Some(&player)
    }

    /// How many places there are of this sort that are such.
    pub(super) fn count(&self, seat: Seat, is_such: impl Fn(&Place) -> bool) -> usize {
        self.all.iter().filter(|member| member.place.seat() == seat && is_such(&member.place)).count()
    }

    /// The index of who of them was lost first; `None` where nobody is.
    pub(super) fn lost_first(&self, seat: Seat) -> Option<usize> {
        let lost = |at: &usize| self.all[*at].place.seat() == seat && self.all[*at].place.is_lost();
        (0..self.all.len()).filter(lost).min_by_key(|at| self.all[*at].place.lost)
    }

    /// Somebody who asks to join, each once, ascending by player.
    pub(super) fn take_asking(&mut self) -> Option<Newcomer> {
        let Members { all, accounts, .. } = self;
        all.iter_mut().find_map(|Member { player, place, .. }| {
            let account = place.address().and_then(|address| accounts.get(&address).copied());
            place.take_asking(*player, account)
        })
    }

    /// Whose account a connection is of, as far as that is known.
    pub(super) fn account(&self, address: PeerId) -> Option<AccountName> {
        self.accounts.get(&address).copied()
    }

    /// Whose account a connection is of from now on, for who joins over it; `None` is nobody's.
    pub(super) fn identify(&mut self, address: PeerId, account: Option<AccountName>) {
        self.accounts.remove(&address);
        self.accounts.extend(account.map(|account| (address, account)));
    }

    /// The nonce of who has moved away from a connection, so long ago that nothing of theirs is under way there.
    pub(super) fn moved_from(&self, address: PeerId, awake: Duration) -> Option<u64> {
        self.all.iter().find(|member| member.place.has_left(address, awake))?.place.nonce
    }

    pub(super) fn insert(&mut self, member: Member<P>) {
        self.addresses.extend(member.place.address().map(|address| (address, member.player)));
        let at = self.all.partition_point(|before| before.player < member.player);
        self.all.insert(at, member);
    }

    pub(super) fn remove(&mut self, at: usize) -> Member<P> {
        let member = self.all.remove(at);
        if let Some(address) = member.place.address() {
            self.disconnect(member.player, address);
        }
        member
    }

    /// A player plays over a connection from now on.
    pub(super) fn connect(&mut self, player: PlayerId, address: PeerId) {
        self.addresses.insert(address, player);
    }

    /// A player, if it is they who do, plays over a connection no more.
    pub(super) fn disconnect(&mut self, player: PlayerId, address: PeerId) {
        if self.plays_over(player, address) {
            self.addresses.remove(&address);
        }
    }
}
