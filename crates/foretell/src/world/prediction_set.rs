//! Whose entities a client simulates: one predicate for its own player and for the others that it predicts.

use super::{EntityMap, Owned, PlayerId};
use alloc::vec::Vec;

/// The players whose entities a client simulates ahead of the authority, its own among them, and single entities of
/// which it is otherwise.
///
/// Invariants: `players` is ascending, each once, and holds `own`; `stepped` likewise, and holds `players`.
#[derive(PartialEq, Eq, Debug)]
pub struct PredictionSet {
    own: PlayerId,
    players: Vec<PlayerId>,
    /// `players`, and those of whom a single entity is predicted.
    stepped: Vec<PlayerId>,
    /// Whether each of these is predicted, whosever it is.
    singles: EntityMap<bool>,
    /// Whether everything is predicted, whosever it is.
    all: bool,
}

impl Clone for PredictionSet {
    fn clone(&self) -> PredictionSet {
        let PredictionSet { own, players, stepped, singles, all } = self;
        let (players, stepped, singles) = (players.clone(), stepped.clone(), singles.clone());
        PredictionSet { own: *own, players, stepped, singles, all: *all }
    }

    fn clone_from(&mut self, from: &PredictionSet) {
        (self.own, self.all) = (from.own, from.all);
        self.players.clone_from(&from.players);
        self.stepped.clone_from(&from.stepped);
        self.singles.clone_from(&from.singles);
    }
}

impl PredictionSet {
    /// The client's own player alone.
    pub fn own(player: PlayerId) -> PredictionSet {
        PredictionSet {
            own: player,
            players: vec![player],
            stepped: vec![player],
            singles: EntityMap::new(),
            all: false,
        }
    }

    /// Whether anything of others is predicted.
    pub(crate) fn predicts_others(&self) -> bool {
        self.all || self.stepped.len() > 1
    }

    /// The client's own player.
    pub fn player(&self) -> PlayerId {
        self.own
    }

    /// Whether this entity is predicted.
    #[inline]
    pub fn contains(&self, of: Owned) -> bool {
        let single = self.singles.get(of.entity).copied();
        single.unwrap_or_else(|| self.all || self.contains_player(of.owner))
    }

    /// Whether it is seen at once that nothing is predicted of entities with these owners: mostly many of one player come in a row.
    pub(crate) fn has_surely_none_of(&self, owners: &[PlayerId]) -> bool {
        let Some(first) = owners.first() else { return true };
        let differ = owners.iter().fold(0, |found, owner| found | (owner.get() ^ first.get()));
        differ == 0 && self.singles.is_empty() && !self.contains_all_of(*first)
    }

    /// [`contains`](PredictionSet::contains) for one after another: mostly many of one player come in a row.
    pub(crate) fn in_order(&self) -> impl FnMut(Owned) -> bool {
        let mut last = (self.own, true);
        move |of| {
            if !self.singles.is_empty() {
                return self.contains(of);
            }
            if last.0 != of.owner {
                last = (of.owner, self.contains_all_of(of.owner));
            }
            last.1
        }
    }

    /// Whether the entities of `player` are predicted, those to come too.
    pub(crate) fn contains_all_of(&self, player: PlayerId) -> bool {
        self.all || self.contains_player(player)
    }

    /// Whether the entities of `player` are predicted, but for single ones; [`PlayerId::SERVER`] stands for what belongs
    /// to the server.
    pub fn contains_player(&self, player: PlayerId) -> bool {
        self.own == player || self.players.binary_search(&player).is_ok()
    }

    /// All players whose entities are predicted, ascending.
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// All players of whom any entity may be predicted, ascending: those whose inputs a step needs.
    pub fn stepped(&self) -> &[PlayerId] {
        &self.stepped
    }

    /// Predicts the entities of one more player.
    pub fn insert(&mut self, player: PlayerId) {
        for players in [&mut self.players, &mut self.stepped] {
            if let Err(at) = players.binary_search(&player) {
                players.insert(at, player);
            }
        }
    }

    /// Predicts everything; those whose inputs are needed are to be [inserted](PredictionSet::insert) still.
    pub fn insert_all(&mut self) {
        self.all = true;
        self.insert(PlayerId::SERVER);
    }

    /// Whether everything is predicted.
    pub(crate) fn has_all(&self) -> bool {
        self.all && self.singles.is_empty()
    }

    /// Predicts this entity, or does not, whatever holds for its player's others.
    pub fn insert_single(&mut self, of: Owned, yes: bool) {
        self.singles.insert(of.entity, yes);
        if let (true, Err(at)) = (yes, self.stepped.binary_search(&of.owner)) {
            self.stepped.insert(at, of.owner);
        }
    }

    /// Predicts the own player's entities alone again; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.players.clear();
        self.players.push(self.own);
        self.stepped.clone_from(&self.players);
        self.singles.clear();
        self.all = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Tick;
    use crate::world::Entity;

    #[test]
    fn the_own_player_is_always_predicted_and_others_as_long_as_they_are_named() {
        let [server, other, own, last] = [0, 3, 5, 9].map(PlayerId::new);
        let mut predicted = PredictionSet::own(own);
        [last, server, other, own, other].into_iter().for_each(|player| predicted.insert(player));
        assert_eq!(predicted.players(), [server, other, own, last]);
        assert!(predicted.contains_player(server) && !predicted.contains_player(PlayerId::new(4)));
        predicted.clear();
        assert_eq!(predicted, PredictionSet::own(own));
        assert!(predicted.contains_player(own) && !predicted.contains_player(other));
    }

    #[test]
    fn a_single_entity_may_be_otherwise_than_its_players_others() {
        let own = PlayerId::new(5);
        let entity = |player: u16, counter| {
            let owner = PlayerId::new(player);
            Owned { entity: Entity::new(owner, Tick::ZERO, counter), owner }
        };
        let mut predicted = PredictionSet::own(own);
        predicted.insert_single(entity(7, 1), true);
        predicted.insert_single(entity(5, 1), false);
        assert!(predicted.contains(entity(7, 1)) && !predicted.contains(entity(7, 0)));
        assert!(predicted.contains(entity(5, 0)) && !predicted.contains(entity(5, 1)));
        assert_eq!((predicted.players(), predicted.stepped()), (&[own][..], &[own, PlayerId::new(7)][..]));
        predicted.clear();
        assert_eq!(predicted, PredictionSet::own(own));
    }
}
