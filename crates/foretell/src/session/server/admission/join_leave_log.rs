//! Who has come and gone since the world has last heard of it.

use crate::world::{Leaver, Newcomer, PlayerId};
use alloc::vec::Vec;

/// Players of whom the world hears with its next step.
#[derive(Debug, Default)]
pub(crate) struct JoinLeaveLog {
    /// Ascending by player.
    joined: Vec<Newcomer>,
    /// Ascending by player.
    left: Vec<Leaver>,
}

impl JoinLeaveLog {
    pub(super) fn note_joined(&mut self, newcomer: Newcomer) {
        let at = self.joined.partition_point(|before| before.player < newcomer.player);
        self.joined.insert(at, newcomer);
    }

    /// The world never hears of one who was still to join.
    pub(super) fn note_left(&mut self, leaver: Leaver) {
        if let Ok(unheard) = self.joined.binary_search_by_key(&leaver.player, |joined| joined.player) {
            self.joined.remove(unheard);
        } else {
            let at = self.left.partition_point(|before| before.player < leaver.player);
            self.left.insert(at, leaver);
        }
    }

    pub(crate) fn joined(&self) -> &[Newcomer] {
        &self.joined
    }

    pub(crate) fn left(&self) -> &[Leaver] {
        &self.left
    }

    pub(super) fn has_joined(&self, player: PlayerId) -> bool {
        self.joined.binary_search_by_key(&player, |joined| joined.player).is_ok()
    }

    pub(super) fn has_left(&self, player: PlayerId) -> bool {
        self.left.binary_search_by_key(&player, |left| left.player).is_ok()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.joined.len() + self.left.len()
    }

    /// The world has heard of all. Whether there was anybody.
    pub(super) fn clear(&mut self) -> bool {
        let any = self.len() > 0;
        self.joined.clear();
        self.left.clear();
        any
    }
}
