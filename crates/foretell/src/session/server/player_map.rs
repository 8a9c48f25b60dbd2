//! `PlayerMap`: values by player, in the order of the players' numbers.

use crate::world::PlayerId;
use alloc::vec::Vec;

/// The value of one player.
struct Entry<T> {
    player: PlayerId,
    value: T,
}

/// A map from players to values. Ascending by player.
pub(super) struct PlayerMap<T> {
    entries: Vec<Entry<T>>,
}

impl<T> PlayerMap<T> {
    pub fn new() -> PlayerMap<T> {
        PlayerMap { entries: Vec::new() }
    }

    pub fn get(&self, player: PlayerId) -> Option<&T> {
        self.find(player).ok().map(|at| &self.entries[at].value)
    }

    pub fn get_mut(&mut self, player: PlayerId) -> Option<&mut T> {
        self.find(player).ok().map(|at| &mut self.entries[at].value)
    }

    /// The value of a player, which is `new` where there was none.
    pub fn get_or_insert_with(&mut self, player: PlayerId, new: impl FnOnce() -> T) -> &mut T {
        let at = self.find(player).unwrap_or_else(|at| {
            self.entries.insert(at, Entry { player, value: new() });
            at
        });
        &mut self.entries[at].value
    }

    pub fn remove(&mut self, player: PlayerId) {
        if let Ok(at) = self.find(player) {
            self.entries.remove(at);
        }
    }

    /// The players, ascending.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.entries.iter().map(|entry| entry.player)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    fn find(&self, player: PlayerId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&player, |entry| entry.player)
    }
}
