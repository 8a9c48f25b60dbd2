//! Whose entities a client simulates: one predicate for its own player and for the others that it predicts.

use super::PlayerId;

/// The players whose entities a client simulates ahead of the authority, its own among them.
///
/// Invariant: `players` is ascending, each once, and holds `own`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicted {
    own: PlayerId,
    players: Vec<PlayerId>,
}

impl Predicted {
    /// The client's own player alone.
    pub fn own(player: PlayerId) -> Predicted {
        Predicted { own: player, players: vec![player] }
    }

    /// The client's own player.
    pub fn player(&self) -> PlayerId {
        self.own
    }

    /// Whether the entities of `player` are predicted; [`PlayerId::SERVER`] stands for what belongs to the server.
    pub fn contains(&self, player: PlayerId) -> bool {
        self.own == player || self.players.binary_search(&player).is_ok()
    }

    /// All players whose entities are predicted, ascending.
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// Predicts the entities of one more player.
    pub fn insert(&mut self, player: PlayerId) {
        if let Err(at) = self.players.binary_search(&player) {
            self.players.insert(at, player);
        }
    }

    /// Predicts the own player's entities alone again; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.players.clear();
        self.players.push(self.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_player_is_always_predicted_and_others_as_long_as_they_are_named() {
        let [server, other, own, last] = [0, 3, 5, 9].map(PlayerId::new);
        let mut predicted = Predicted::own(own);
        [last, server, other, own, other].into_iter().for_each(|player| predicted.insert(player));
        assert_eq!(predicted.players(), [server, other, own, last]);
        assert!(predicted.contains(server) && !predicted.contains(PlayerId::new(4)));
        predicted.clear();
        assert_eq!(predicted, Predicted::own(own));
        assert!(predicted.contains(own) && !predicted.contains(other));
    }
}
