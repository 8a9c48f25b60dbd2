//! The numbers that players and their tickets get.

use crate::world::PlayerId;

/// What was given last.
#[derive(Debug)]
pub(super) struct PlayerNumbers {
    ticket: u8,
    player: u16,
}

impl PlayerNumbers {
    /// Tickets begin after the one that who joins without a handshake has.
    pub(super) fn new(epoch: u8) -> PlayerNumbers {
        PlayerNumbers { ticket: epoch, player: 0 }
    }

    /// The next ticket.
    pub(super) fn new_ticket(&mut self) -> u8 {
        self.ticket = self.ticket.wrapping_add(1);
        self.ticket
    }

    /// The next number that is not taken, of which `taken` are; after the highest comes 1 again.
    pub(super) fn new_player(&mut self, taken: usize, is_taken: impl Fn(PlayerId) -> bool) -> Option<PlayerId> {
        for _ in 0..=taken + 1 {
            self.player = self.player.checked_add(1).unwrap_or(1);
            let player = PlayerId::new(self.player);
            if !is_taken(player) {
                return Some(player);
            }
        }
        None
    }
}
