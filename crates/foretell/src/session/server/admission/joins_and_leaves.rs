//! Who has come and gone since the world has last heard of it.

use crate::world::PlayerId;
use alloc::vec::Vec;

/// Players of whom the world hears with its next step.
#[derive(Debug, Default)]
pub(crate) struct Turnover {
    /// Ascending.
    joined: Vec<PlayerId>,
    /// Ascending.
    left: Vec<PlayerId>,
}

impl Turnover {
    pub(super) fn note_joined(&mut self, player: PlayerId) {
        self.joined.push(player);
        self.joined.sort_unstable();
    }

    /// The world never hears of one who was still to join.
    pub(super) fn note_left(&mut self, player: PlayerId) {
        if let Ok(unheard) = self.joined.binary_search(&player) {
            self.joined.remove(unheard);
        } else {
            self.left.push(player);
            self.left.sort_unstable();
        }
    }

    pub(crate) fn joined(&self) -> &[PlayerId] {
        &self.joined
    }

    pub(crate) fn left(&self) -> &[PlayerId] {
        &self.left
    }

    pub(super) fn has_left(&self, player: PlayerId) -> bool {
        self.left.binary_search(&player).is_ok()
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
