//! Which place a newcomer gets: one that is free, or that of who was lost first; and which number.

use super::Server;
use crate::world::{PlayerId, World};

impl<W: World> Server<W> {
    /// Sees to it that there is a place left: in a full session the player who was lost first has left. `None` when nobody is
    /// lost.
    pub(super) fn make_room(&mut self) -> Option<()> {
        let places = usize::from(self.config.players_max);
        if self.peers.len() == places {
            let lost = self.peers.iter().enumerate().filter_map(|(index, peer)| Some((peer.lost?, index)));
            self.remove(lost.min()?.1);
        }
        (self.peers.len() < places).then_some(())
    }

    /// The next number that nobody has, nor has just given up; after the highest comes 1 again.
    pub(super) fn unused_player(&mut self) -> Option<PlayerId> {
        for _ in 0..=self.peers.len() + self.left.len() + 1 {
            self.admission.newest_player = self.admission.newest_player.checked_add(1).unwrap_or(1);
            let player = PlayerId::new(self.admission.newest_player);
            if self.find_player(player).is_none() && self.left.binary_search(&player).is_err() {
                return Some(player);
            }
        }
        None
    }
}
