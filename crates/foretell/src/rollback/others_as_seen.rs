//! Others as a client's step finds them: what its player sees when the step's input is made, and when it is simulated again.

use crate::world::{
    AnyRow, ComponentId, Owned, PredictionSet, RewindMoment, RewindSource, Row, RowKey, Rows, Schema, copy,
};

/// The rows of others that were written before a step, and of those that are predicted the rows of the state before it: both are what
/// is drawn then, wherever the point.
pub(super) struct OthersAsSeen<'a> {
    pub proxies: &'a Rows,
    /// What the world has published.
    pub published: &'a Rows,
    pub predicted: &'a PredictionSet,
    pub schema: &'a Schema,
}

impl<'a> OthersAsSeen<'a> {
    /// A row of the world's that is predicted.
    fn predicted(&self, component: ComponentId, place: usize) -> Option<Row<'a>> {
        let row = self.published.component_row(component, place)?;
        let is_predicted = self.predicted.contains(row.owned()) && self.proxies.words(row.key()).is_none();
        is_predicted.then_some(row)
    }
}

impl RewindSource for OthersAsSeen<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn count(&self, component: ComponentId) -> usize {
        self.proxies.component(component).len() + self.published.component(component).len()
    }

    fn find(&self, key: RowKey) -> Option<usize> {
        let of_predicted =
            || Some(self.proxies.component(key.component).len() + self.published.place_in_component(key)?);
        self.proxies.place_in_component(key).or_else(of_predicted)
    }

    fn draw(&self, component: ComponentId, nth: usize, _by: &RewindMoment, into: &mut AnyRow) -> Option<Owned> {
        let proxies = self.proxies.component(component).len();
        let of_predicted = || self.predicted(component, nth - proxies);
        let row = self.proxies.component_row(component, nth).or_else(of_predicted)?;
        Some(copy(row, into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::{ME, MINE, Marble, Marbles, THEIRS, rows};
    use crate::time::{Tick, TickRate};
    use crate::world::{Entity, PlayerId, Side, Simulate, Step, World};
    use alloc::vec::Vec;

    fn seen(player: PlayerId, predicted: &PredictionSet) -> Vec<(Owned, i32)> {
        let (proxies, published) = (rows(&[(THEIRS, 5)]), rows(&[(MINE, 1), (THEIRS, 9)]));
        let schema = Marbles::schema();
        let others = OthersAsSeen { proxies: &proxies, published: &published, predicted, schema: &schema };
        let step = Step::<<Marbles as Simulate>::Input>::new(Tick::new(3), TickRate::default(), Side::Client(ME), &[]);
        let step = step.looking_back(&others, &[]);
        let past = step.rewound(player);
        assert_eq!(past.rewind(), RewindMoment::trusted(player, None, Tick::new(3)));
        let found: Vec<_> = past.states::<Marble>().map(|(of, marble)| (of, marble.at)).collect();
        let of = |entity: Entity| past.get::<Marble>(entity).map(|marble| marble.at);
        assert!(found.iter().all(|(owned, at)| of(owned.entity) == Some(*at)));
        found
    }

    #[test]
    fn a_step_finds_others_where_they_are_shown_and_never_what_is_the_players_own() {
        assert_eq!(seen(ME, &PredictionSet::own(ME)), [(THEIRS, 5)]);
        // Of another player whose input it knows it finds what is there for the one who plays.
        assert_eq!(seen(THEIRS.owner, &PredictionSet::own(ME)), [(MINE, 1)]);
    }
}
